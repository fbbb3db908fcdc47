/* SPDX-License-Identifier: MIT */
/* The lock of `afteryou flock`, which the guardian takes once it is inside: it may be held by
 * flock(1), or by a descriptor. */
#include <errno.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/flock/file_lock.h"
#include "cli/run/run.h"

int lock_obtain(const struct run_words *asked, int64_t asked_ns)
{
    const int64_t timeout_ms = asked->timeout_ms;
    const int64_t deadline_ns = timeout_ms > 0 ? asked_ns + timeout_ms * 1000000 : timeout_ms;
    const int result = file_lock(asked->lock, asked->lock_operation, deadline_ns);
    if (result > 0)
        return EXIT_SIGNAL + result;
    if (result == -EWOULDBLOCK || result == -ETIMEDOUT) {
        if (!asked->quiet)
            say("flock", "'%s' not obtained: it is locked by flock(1), or by an open descriptor",
                asked->spec.name);
        return asked->refused;
    }
    if (result < 0) {
        say("flock", "cannot lock '%s': %s", asked->spec.name, strerror(-result));
        return EXIT_FAILED;
    }
    return 0;
}
