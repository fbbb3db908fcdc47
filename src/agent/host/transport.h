/* SPDX-License-Identifier: MIT */
/* What carries parcels between agents: a group of agreed order, with a word on quorum. One file
 * implements it with Corosync; one, where there is no Corosync, says so. */
#ifndef AFTERYOU_AGENT_HOST_TRANSPORT_H
#define AFTERYOU_AGENT_HOST_TRANSPORT_H

#include <poll.h>

#include "agent/core/agent.h"
#include "agent/host/wording.h"

struct transport_events {
    void *arg;
    void (*connected)(void *arg, struct address self, uint32_t nodes);
    void (*cut)(void *arg, enum cut_reason why);
    void (*delivered)(void *arg, struct address from, const void *bytes, size_t length);
    void (*left)(void *arg, struct address who, bool with_its_machine);
    void (*log)(void *arg, enum log_level level, const char *event, const char *details);
};

enum { TRANSPORT_FDS_MOST = 2, NODE_NAME_ROOM = 64, NODE_ADDRESS_ROOM = 64 };

struct transport;

/* NULL, and what is wrong in `trouble`, if there can be none. It connects by itself, and again
 * whenever it must. */
struct transport *transport_open(const char *cluster, const struct transport_events *events,
                                 char *trouble, size_t room);
void transport_close(struct transport *transport);
/* How many of `fds` were filled in. */
unsigned transport_fds(const struct transport *transport, struct pollfd *fds);
void transport_dispatch(struct transport *transport);
void transport_send(struct transport *transport, const void *bytes, size_t length);
/* So much is under way that what comes next, of whomever, will take its time: what is not urgent
 * should be sent later. */
bool transport_is_full(const struct transport *transport);
/* Tries again what could not be done; the nanoseconds after which it wants to be called again, at
 * the latest. */
int64_t transport_tick(struct transport *transport);
/* This machine's name as configured, or its number; "" before it was first connected. */
const char *transport_name(const struct transport *transport);
/* Its address in the group's network, in numbers: when it is connected; "": not known. */
const char *transport_address(const struct transport *transport);

#endif
