/* SPDX-License-Identifier: MIT */
/* All peers, in the order of the tables. Those whose library was not there when this was built are
 * left out. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "peer.h"

static const struct peer *const others[] = {
    &peer_robust,
    &peer_mutex,
    &peer_inheriting,
    &peer_robust_inheriting,
    &peer_rwlock,
    &peer_posix_semaphore,
    &peer_sysv_semaphore,
    &peer_flock,
    &peer_record_lock,
#ifdef HAVE_CK
    &peer_fas,
    &peer_ticket,
    &peer_mcs,
#endif
#ifdef HAVE_NSYNC
    &peer_nsync,
#endif
};

static const size_t others_count = sizeof others / sizeof *others;

size_t peer_count(void)
{
    return others_count + peers_ours_count;
}

const struct peer *peer_at(size_t at)
{
    return at < others_count ? others[at] : &peers_ours[at - others_count];
}

const struct peer *peer_named(const char *name, size_t length)
{
    for (size_t at = 0; at < peer_count(); at++)
        if (strlen(peer_at(at)->name) == length && strncmp(peer_at(at)->name, name, length) == 0)
            return peer_at(at);
    return NULL;
}

int peer_fail(struct meeting *meeting, int error, const char *format, ...)
{
    if (atomic_flag_test_and_set(&meeting->told))
        return error; /* members may fail together */
    va_list words;
    va_start(words, format);
    vsnprintf(meeting->message, sizeof meeting->message, format, words);
    va_end(words);
    atomic_store(&meeting->said, true);
    return error;
}
