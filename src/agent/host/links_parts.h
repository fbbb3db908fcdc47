/* SPDX-License-Identifier: MIT */
/* What the files of the links share: channels (one connection each), peers, strangers.
 *
 * A channel goes through its stages in order; accepted ones begin at STAGE_SECURES:
 *   STAGE_CONNECTS   dialled, TCP is not there yet
 *   STAGE_SECURES    the handshake of TLS
 *   STAGE_GREETS     the two hellos
 *   STAGE_UP         packets
 *   STAGE_OVER       closed; its memory is kept until nobody can be using it, see links_sweep()
 *
 *   H1  A callback is made only in links_dispatch() or links_tick().
 *   H2  up() and down() are told of a peer in turns.
 *   H3  A channel is a peer's link exactly while it is in STAGE_UP.
 */
#ifndef AFTERYOU_AGENT_HOST_LINKS_PARTS_H
#define AFTERYOU_AGENT_HOST_LINKS_PARTS_H

#include "agent/host/links.h"

enum {
    STRANGERS_MOST = 64, /* accepted, and not greeted yet */
    ACCEPTED_AT_ONCE = 16,
    WHY_ROOM = 128,
    RAW_ROOM = 1 << 16,   /* received at once */
    CLEAR_ROOM = 1 << 14, /* the most of one record of TLS */
    STORE_FIRST = 1 << 10,
    STORE_KEPT = 1 << 17
};

#define LINK_MS         INT64_C(1000000)
#define REDIAL_FIRST    (5 * LINK_MS)
#define REDIAL_MOST     (1000 * LINK_MS)
#define REFUSALS_EVERY  (10000 * LINK_MS) /* a line about strangers */
#define FAILURES_AFTER  (2000 * LINK_MS)  /* a line about a peer that cannot be dialled, */
#define FAILURES_EVERY  (60000 * LINK_MS) /* and the next one */
#define LISTENER_PAUSE  (100 * LINK_MS)   /* without descriptors */
#define RELISTEN        (2000 * LINK_MS)
#define TICK_MOST       (10000 * LINK_MS)
#define PINGS_A_SILENCE 4

enum link_stage { STAGE_CONNECTS, STAGE_SECURES, STAGE_GREETS, STAGE_UP, STAGE_OVER };

/* Bytes that wait are those from begin to end. */
struct link_store {
    uint8_t *bytes;
    size_t begin, end, room;
};

struct link_channel {
    struct link_channel *next; /* older ones */
    struct links *links;
    int fd;
    enum link_stage stage;
    bool dialled;
    bool broken;        /* set by channel_break(), never cleared: the next sweep ends it */
    bool waits;         /* for room in the kernel to send: set and cleared by channel_flush() */
    char why[WHY_ROOM]; /* it is broken */
    struct tls_session *tls; /* NULL: plain, or not there yet */
    const uint8_t *raw;      /* received and not yet taken by TLS, while channel_read() runs */
    size_t raw_left;
    struct link_store in, out;
    struct link_store unsealed; /* said, and not yet in `out`: sealed together, by the next flush */
    struct link_peer *peer;     /* of a dialled one; of an accepted one from STAGE_UP on */
    struct link_endpoint where;
    int64_t until; /* when it must be in STAGE_UP */
    int64_t heard, pinged;
    bool quiet; /* refused as others are now and then: set by the greeting, never cleared */
};

struct link_peer {
    uint32_t slot;
    uint64_t incarnation; /* 0: nobody */
    struct link_endpoint where;
    bool dial;
    bool told_up;                /* set with up(), cleared with down() or without a word */
    struct link_channel *link;   /* NULL: there is none */
    struct link_channel *trying; /* dialled, not yet up */
    int64_t up_since;
    int64_t redial, pause; /* when, and how long after the next failure */
    int64_t next_line;
    unsigned failures; /* since the last line */
    struct link_figures figures;
};

struct links {
    struct links_events events;
    char cluster[72];
    int64_t silence;
    uint64_t self;
    int epoll, bell, listener;
    struct link_endpoint listens;
    int64_t paused_until;      /* the listener; 0: it is not */
    int64_t relisten;          /* when it is tried again, if there is none */
    int64_t listening_line;    /* when the log may say again that there is none */
    bool telling;              /* set while links_dispatch() or links_tick() runs */
    bool any_broken, any_over; /* set with a channel's, cleared by links_sweep() */
    bool any_said; /* something is to be flushed: set with it, cleared by links_flush() */
    int64_t now;
    int64_t due;                   /* of what links_tick() has to do next */
    struct link_channel *channels; /* the newest first */
    unsigned strangers;
    uint64_t breaks;
    struct {
        unsigned count; /* since the last line */
        int64_t next_line;
        char from[LINK_ADDRESS_ROOM], why[WHY_ROOM];
    } refusals;
    struct tls_key *key; /* NULL: plain */
    struct link_peer peer[LINK_SLOTS];
    uint8_t raw[RAW_ROOM], clear[CLEAR_ROOM];
};

/* ---- links.c ---- */

void links_say(struct links *links, enum log_level level, const char *event, const char *format,
               ...) __attribute__((format(printf, 4, 5)));
/* links_tick() is to be called by then. */
void links_due(struct links *links, int64_t when);
/* Makes links_fd() readable, unless the caller is about to look anyway. */
void links_ring(struct links *links);
/* Ends what is broken, and frees what is over. */
void links_sweep(struct links *links);

/* ---- links_channel.c: bytes ---- */

/* False: out of memory. */
bool store_add(struct link_store *store, const void *bytes, size_t length);
void store_take(struct link_store *store, size_t length);

/* Takes `fd`, also when it fails: NULL. */
struct link_channel *channel_open(struct links *links, int fd, struct link_peer *peer,
                                  const struct link_endpoint *where);
/* TCP is there: TLS begins, or the greeting. */
void channel_begin(struct link_channel *channel);
void channel_read(struct link_channel *channel);
/* Sends as much as the kernel takes. */
void channel_flush(struct link_channel *channel);
/* With the next links_flush(). False: it is broken. */
bool channel_write(struct link_channel *channel, const void *bytes, size_t length);
/* Whatever is wrong with it, from wherever: it is ended by the next sweep. */
void channel_break(struct link_channel *channel, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void channel_close(struct link_channel *channel);
void channel_free(struct link_channel *channel);

/* ---- links_tls.c, or links_without_tls.c: TLS by a library, from memory to memory ---- */

/* NULL: `trouble` says. */
struct tls_key *tls_open(const char *file, const char *cluster, char *trouble, size_t room);
void tls_close(struct tls_key *key);
/* A new channel's session. Of this and those below false: it is broken. */
bool tls_begin(struct link_channel *channel);
void tls_end(struct tls_session *session);
/* Goes on with the handshake: `done` when the other side has proven that it has the key. */
bool tls_shake_hands(struct link_channel *channel, bool *done);
/* Adds bytes to `out`. */
bool tls_seal(struct link_channel *channel, const void *bytes, size_t length);
/* Makes of `raw` what can be made: at most `room` bytes; none when `raw` has no more. */
bool tls_unseal(struct link_channel *channel, void *bytes, size_t room, size_t *length);

/* ---- links_packets.c: what the bytes mean ---- */

/* In STAGE_GREETS: the dialling side speaks first. */
void greeting_begin(struct link_channel *channel);
/* Takes what is whole of the bytes in `in`. */
void packets_take(struct link_channel *channel);
bool packets_send(struct link_channel *channel, const void *bytes, size_t length);
void packets_ping(struct link_channel *channel);

/* ---- links_peers.c ---- */

struct link_peer *peer_find(struct links *links, uint64_t incarnation);
/* The greeting is done: this is its link from now on, instead of an older one. */
void peer_up(struct link_peer *peer, struct link_channel *channel);
/* Its channel, either one, is over. */
void peer_lost(struct link_peer *peer, struct link_channel *channel);
/* Dials, if it is time. */
void peer_tick(struct links *links, struct link_peer *peer);

/* ---- links_listener.c ---- */

bool listener_open(struct links *links, const char *address, uint16_t port, char *trouble,
                   size_t room);
void listener_accept(struct links *links);
void listener_tick(struct links *links);
/* A stranger that was turned away, or has gone. */
void listener_refused(struct links *links, const struct link_endpoint *from, const char *why);

/* ---- links_endpoint.c ---- */

struct sockaddr_storage;
/* The length of it; 0: nowhere. */
unsigned endpoint_to(const struct link_endpoint *where, struct sockaddr_storage *address);
void endpoint_of(const struct sockaddr_storage *address, struct link_endpoint *where);
bool endpoint_same_machine(const struct link_endpoint *one, const struct link_endpoint *other);

#endif
