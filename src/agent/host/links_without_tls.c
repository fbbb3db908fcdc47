/* SPDX-License-Identifier: MIT */
/* Links where there is no GnuTLS: plain ones alone. */
#include "agent/host/links_parts.h"

#include <stdio.h>

struct tls_key *tls_open(const char *file, const char *cluster, char *trouble, size_t room)
{
    (void)file, (void)cluster;
    snprintf(trouble, room, "afteryou was built without GnuTLS: links can only be plain");
    return NULL;
}

void tls_close(struct tls_key *key)
{
    (void)key;
}

/* ---- never called: there is no key ---- */

bool tls_begin(struct link_channel *channel)
{
    channel_break(channel, "built without GnuTLS");
    return false;
}

void tls_end(struct tls_session *session)
{
    (void)session;
}

bool tls_shake_hands(struct link_channel *channel, bool *done)
{
    *done = false;
    return tls_begin(channel);
}

bool tls_seal(struct link_channel *channel, const void *bytes, size_t length)
{
    (void)bytes, (void)length;
    return tls_begin(channel);
}

bool tls_unseal(struct link_channel *channel, void *bytes, size_t room, size_t *length)
{
    (void)bytes, (void)room;
    *length = 0;
    return tls_begin(channel);
}
