/* SPDX-License-Identifier: MIT */
/* Peer: the lock for readers and writers of POSIX threads, process-shared. */
#include <pthread.h>
#include <string.h>

#include "loops.h"

static int make(const struct peer *peer, struct meeting *meeting)
{
    (void)peer;
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    const int error = pthread_rwlock_init((pthread_rwlock_t *)meeting->room, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    return error ? peer_fail(meeting, -error, "pthread_rwlock_init: %s", strerror(error)) : 0;
}

static int join(const struct peer *peer, struct member *member)
{
    (void)peer;
    member->lock = member->meeting->room;
    return 0;
}

static inline void enter(struct member *member)
{
    pthread_rwlock_wrlock(member->lock);
}

static inline void enter_shared(struct member *member)
{
    pthread_rwlock_rdlock(member->lock);
}

static inline void leave(struct member *member)
{
    pthread_rwlock_unlock(member->lock);
}

LOOPS(loops, enter, leave)
LOOPS(shared_loops, enter_shared, leave)

const struct peer peer_rwlock = {
    .name = "rwlock",
    .what = "pthread rwlock, process-shared",
    .can = PEER_READERS,
    .loops = &loops,
    .shared_loops = &shared_loops,
    .make = make,
    .join = join,
};
