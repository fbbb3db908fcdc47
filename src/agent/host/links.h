/* SPDX-License-Identifier: MIT */
/* Links: connections between the agents of two machines, each carrying packets both ways.
 *
 * A link belongs to a pair of incarnations. One side dials, the other accepts, and both know whom
 * they expect: links_peer() says so. A connection is TCP with TLS 1.3 by a key that all machines
 * have, and then a greeting that names both incarnations.
 *
 * What is promised of a link, between its up() and its down(): packets arrive whole, in order, each
 * once, and from nobody else. What is not: that the last ones before a break arrive. Who needs that
 * numbers and keeps them.
 *
 * Callbacks come out of links_dispatch() and links_tick() alone. In a callback every function may
 * be called but these two and links_close(). Nothing here waits: all of it is for one thread that
 * waits for links_fd() and the time that links_tick() says.
 */
#ifndef AFTERYOU_AGENT_HOST_LINKS_H
#define AFTERYOU_AGENT_HOST_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/host/wording.h"

enum {
    LINK_SLOTS = 64,            /* slots are below */
    LINK_PACKET_MOST = 1 << 20, /* bytes of one packet */
    LINK_QUEUE_MOST = 4 << 20,  /* bytes that wait for one peer, besides the kernel's */
    LINK_SILENCE_MS = 4000,
    LINK_ADDRESS_ROOM = 64
};

struct links;

struct links_options {
    const char *cluster;  /* its name: only agents of one cluster are linked */
    const char *key_file; /* NULL: neither authenticated nor encrypted */
    /* A numeric address to listen at, NULL: all, "": none before links_listen(). */
    const char *listen;
    uint16_t port; /* 0: any free one */
    /* A peer that was not heard of for so long is broken off, and so is a stranger that has not
     * been greeted. 0: LINK_SILENCE_MS. */
    unsigned silence_ms;
};

struct links_events {
    void *arg;
    /* In turns, up() first. down() is not told of what the caller itself has ended, by
     * links_forget() or links_self(). */
    void (*up)(void *arg, uint32_t slot, uint64_t incarnation);
    void (*down)(void *arg, uint32_t slot, uint64_t incarnation);
    void (*received)(void *arg, uint32_t slot, uint64_t incarnation, const void *bytes,
                     size_t length);
    void (*log)(void *arg, enum log_level level, const char *event, const char *details);
};

/* Where an agent can be reached. */
struct link_endpoint {
    uint8_t family; /* 4 or 6; 0: nowhere */
    uint8_t address[16];
    uint16_t port;
};

/* NULL, and what is wrong in `trouble`, if it cannot be. */
struct links *links_open(const struct links_options *options, const struct links_events *events,
                         char *trouble, size_t room);
void links_close(struct links *links);

/* There and nowhere else, as soon as it can: if the address is not to be had it tries again, and
 * says so in the log. */
void links_listen(struct links *links, const struct link_endpoint *where);
/* Where this one listens, or would: with family 0 if that is on all addresses. */
void links_endpoint(const struct links *links, struct link_endpoint *where);
/* Of a numeric address; false if `text` is none. */
bool link_endpoint_parse(const char *text, uint16_t port, struct link_endpoint *where);
void link_endpoint_print(const struct link_endpoint *where, char text[LINK_ADDRESS_ROOM]);

/* Who this agent is now; 0: nobody. All peers are forgotten, if it was somebody else before. */
void links_self(struct links *links, uint64_t incarnation);
/* From now on known, and accepted; or dialled, again and again until there is a link. An older
 * incarnation in its slot is forgotten. Of one that is known already nothing changes. `where` may
 * be nowhere, and the peer is not dialled then. */
void links_peer(struct links *links, uint32_t slot, uint64_t incarnation,
                const struct link_endpoint *where, bool dial);
/* Closed, and what was not yet received is thrown away. */
void links_forget(struct links *links, uint32_t slot, uint64_t incarnation);

/* It goes with the next links_flush(): what is said to a peer in one turn of the loop is one record
 * of TLS and one call of the kernel's. False: there is no link, or its queue is full, which ends
 * it: down() will be told. Nothing is sent then. */
bool links_send(struct links *links, uint32_t slot, uint64_t incarnation, const void *bytes,
                size_t length);

/* A ping follows what was said. TCP misses the last segment before a silence after 200 ms, and any
 * other as soon as one behind it has arrived. */
void links_nudge(struct links *links, uint32_t slot, uint64_t incarnation);
/* What was said goes out now; with links_dispatch() and links_tick() in any case. */
void links_flush(struct links *links);

/* Readable when links_dispatch() has something to do. */
int links_fd(const struct links *links);
void links_dispatch(struct links *links);
/* The nanoseconds after which it wants to be called again, at the latest. */
int64_t links_tick(struct links *links);

struct link_figures {
    bool up, dialled;
    uint64_t round_trip; /* nanoseconds, by packets of its own; smoothed; 0: not yet known */
    uint64_t packets_out, packets_in;
    uint64_t breaks; /* of links that were up */
};

/* False: there is no such peer. The numbers begin with links_peer(). */
bool links_figures(const struct links *links, uint32_t slot, struct link_figures *figures);
/* Of all peers there have been. */
uint64_t links_breaks(const struct links *links);
/* Whether they are authenticated and encrypted. */
bool links_are_secured(const struct links *links);

#endif
