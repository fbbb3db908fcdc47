/* SPDX-License-Identifier: MIT */
/* A peer: one lock that is measured, behind one interface. To add one: write a file peer_NAME.c
 * like the others, list its peers in catalogue.c and the file in meson.build.
 *
 * A run of a peer: the bench makes a meeting in shared memory; make() puts the lock there. Then
 * each member (a process of its own; a thread, for peers that know no processes) joins with join(),
 * and from then on enters and leaves by the peer's loops (loops.h).
 */
#ifndef BENCH_PEERS_PEER_H
#define BENCH_PEERS_PEER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "afteryou.h"

enum {
    MEMBERS_MOST = 64,
    PLACES_OPEN_MOST = 256,
    /* bytes between what different members write: two cache lines, for they are fetched in pairs */
    APART = 128,
    PEER_ROOM = 16384,
    PATH_ROOM = 64,
    MESSAGE_ROOM = 256
};

/* What a peer can do, and so in which cases it takes part. */
enum peer_can {
    /* has places: others that have it open cost something, even if they do nothing */
    PEER_PLACES = 1 << 0,
    PEER_READERS = 1 << 1,  /* has a mode in which several may be inside */
    PEER_SLOTS = 1 << 2,    /* lets a given number in at once */
    PEER_RECOVERS = 1 << 3, /* the next one gets in when the holder is killed */
    PEER_THREADS = 1 << 4,  /* members are threads of one process */
    /* differs from another peer in its bound on overtaking alone: contended cases only */
    PEER_SWEEP = 1 << 5
};

/* One run of one peer, in memory that all members share. */
struct meeting {
    _Alignas(APART) char room[PEER_ROOM]; /* the peer's own; zero at first */
    /* for peers that need one: a path at which there is nothing yet */
    char file[PATH_ROOM];
    char message[MESSAGE_ROOM]; /* what went wrong first */
    atomic_flag told;           /* that message is being written */
    _Atomic bool said;          /* it has been */
    unsigned members;           /* or places open */
    /* 1, or for a peer with PEER_SLOTS how many may be inside */
    unsigned slots;
    int semaphore; /* SysV: its id */
};

/* One that enters. */
struct member {
    struct meeting *meeting;
    unsigned self;  /* 0 … members - 1 */
    bool reads;     /* enters shared; a peer with PEER_READERS only */
    void *lock;     /* what the peer's enter and leave need, at hand */
    void *context;  /* the same */
    int descriptor; /* the same */
};

struct work;

/* How a peer is measured: loops.h has the text of these, compiled once for each peer, so that its
 * calls are not slowed by a pointer to a function. */
struct loops {
    void (*passages)(struct member *, uint64_t count); /* enter, leave; nothing between */
    /* enter, section, leave, until told to stop: how often */
    uint64_t (*until_stop)(struct member *, struct work *);
    /* the same, and each entry is noted (ledger.h) */
    uint64_t (*counted)(struct member *, struct work *);
    void (*enter)(struct member *);
};

struct peer {
    const char *name; /* in tables and for --peer; without spaces */
    const char *what; /* one line */
    unsigned can;
    unsigned members_most;     /* 0: any number */
    const ay_options *options; /* ours: what the space is made with */
    const struct loops *loops;
    const struct loops *shared_loops; /* with PEER_READERS */
    /* 0, or a negative errno and words in meeting->message. */
    int (*make)(const struct peer *peer, struct meeting *meeting);
    int (*join)(const struct peer *peer, struct member *member);
    void (*unmake)(struct meeting *meeting); /* may be NULL; is called in a signal handler too */
    /* Whether that member has passed its doorway and is not inside yet; NULL where it cannot be
     * seen. */
    bool (*queued)(const struct member *self, unsigned other);
};

/* catalogue.c: all peers; the first is the reference, which ratios are to. */
size_t peer_count(void);
const struct peer *peer_at(size_t at);
const struct peer *peer_named(const char *name, size_t length); /* NULL: there is none */

/* Writes the message, if it is the first; returns `error`. */
__attribute__((format(printf, 3, 4))) int peer_fail(struct meeting *meeting, int error,
                                                    const char *format, ...);

/* What the files of peers offer. */
extern const struct peer peer_robust, peer_mutex, peer_inheriting, peer_robust_inheriting;
extern const struct peer peer_rwlock;
extern const struct peer peer_posix_semaphore, peer_sysv_semaphore;
extern const struct peer peer_flock, peer_record_lock;
extern const struct peer peer_fas, peer_ticket, peer_mcs;
extern const struct peer peer_nsync;
extern const struct peer peers_ours[];
extern const size_t peers_ours_count;

#endif
