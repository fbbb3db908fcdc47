/* SPDX-License-Identifier: MIT */
/* Peer: nsync's mutex, which knows threads only: its members are threads of one process. */
#include <nsync.h>

#include "loops.h"

static int make(const struct peer *peer, struct meeting *meeting)
{
    (void)peer;
    nsync_mu_init((nsync_mu *)meeting->room);
    return 0;
}

static int join(const struct peer *peer, struct member *member)
{
    (void)peer;
    member->lock = member->meeting->room;
    return 0;
}

static inline void enter(struct member *member)
{
    nsync_mu_lock(member->lock);
}

static inline void leave(struct member *member)
{
    nsync_mu_unlock(member->lock);
}

static inline void enter_shared(struct member *member)
{
    nsync_mu_rlock(member->lock);
}

static inline void leave_shared(struct member *member)
{
    nsync_mu_runlock(member->lock);
}

LOOPS(loops, enter, leave)
LOOPS(shared_loops, enter_shared, leave_shared)

const struct peer peer_nsync = {
    .name = "nsync",
    .what = "nsync_mu, threads of one process",
    .can = PEER_READERS | PEER_THREADS,
    .loops = &loops,
    .shared_loops = &shared_loops,
    .make = make,
    .join = join,
};
