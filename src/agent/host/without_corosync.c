/* SPDX-License-Identifier: MIT */
/* The transport where the program was built without Corosync's libraries: there is none. */
#include "agent/host/transport.h"

#include <stdio.h>

struct transport *transport_open(const char *cluster, const struct transport_events *events,
                                 char *trouble, size_t room)
{
    (void)events;
    snprintf(trouble, room,
             "this afteryou was built without Corosync's libraries (libcpg-dev, libquorum-dev, "
             "libvotequorum-dev, "
             "libcmap-dev), so it has no agent for '%s'",
             cluster);
    return NULL;
}

void transport_close(struct transport *transport)
{
    (void)transport;
}

unsigned transport_fds(const struct transport *transport, struct pollfd *fds)
{
    (void)transport;
    (void)fds;
    return 0;
}

void transport_dispatch(struct transport *transport)
{
    (void)transport;
}

void transport_send(struct transport *transport, const void *bytes, size_t length)
{
    (void)transport;
    (void)bytes;
    (void)length;
}

bool transport_is_full(const struct transport *transport)
{
    (void)transport;
    return false;
}

int64_t transport_tick(struct transport *transport)
{
    (void)transport;
    return INT64_MAX;
}

const char *transport_name(const struct transport *transport)
{
    (void)transport;
    return "";
}

const char *transport_address(const struct transport *transport)
{
    (void)transport;
    return "";
}
