/* SPDX-License-Identifier: MIT */
/* Peers: the mutexes of POSIX threads, process-shared: robust (the reference), normal,
 * priority-inheriting. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "loops.h"

static int make(struct meeting *meeting, int robust, int protocol)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    const int error = pthread_mutex_init((pthread_mutex_t *)meeting->room, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return error ? peer_fail(meeting, -error, "pthread_mutex_init: %s", strerror(error)) : 0;
}

static int make_robust(const struct peer *peer, struct meeting *meeting)
{
    (void)peer;
    return make(meeting, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
}

static int make_normal(const struct peer *peer, struct meeting *meeting)
{
    (void)peer;
    return make(meeting, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
}

static int make_inheriting(const struct peer *peer, struct meeting *meeting)
{
    (void)peer;
    return make(meeting, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
}

static int make_robust_inheriting(const struct peer *peer, struct meeting *meeting)
{
    (void)peer;
    return make(meeting, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_INHERIT);
}

static int join(const struct peer *peer, struct member *member)
{
    (void)peer;
    member->lock = member->meeting->room;
    return 0;
}

static inline void enter(struct member *member)
{
    if (__builtin_expect(pthread_mutex_lock(member->lock) == EOWNERDEAD, 0))
        pthread_mutex_consistent(member->lock);
}

static inline void leave(struct member *member)
{
    pthread_mutex_unlock(member->lock);
}

LOOPS(loops, enter, leave)

const struct peer peer_robust = {
    .name = "robust",
    .what = "pthread mutex, robust, process-shared: the reference",
    .can = PEER_RECOVERS,
    .loops = &loops,
    .make = make_robust,
    .join = join,
};

const struct peer peer_mutex = {
    .name = "mutex",
    .what = "pthread mutex, process-shared",
    .loops = &loops,
    .make = make_normal,
    .join = join,
};

const struct peer peer_inheriting = {
    .name = "mutex-pi",
    .what = "pthread mutex, priority-inheriting, process-shared",
    .loops = &loops,
    .make = make_inheriting,
    .join = join,
};

const struct peer peer_robust_inheriting = {
    .name = "robust-pi",
    .what = "pthread mutex, robust and priority-inheriting, process-shared",
    .can = PEER_RECOVERS,
    .loops = &loops,
    .make = make_robust_inheriting,
    .join = join,
};
