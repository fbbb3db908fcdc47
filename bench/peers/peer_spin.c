/* SPDX-License-Identifier: MIT */
/* Peers: three of Concurrency Kit's spin locks. They never sleep: with more members than
 * processors, they wait for the scheduler. */
#include <ck_spinlock.h>

#include "loops.h"

struct mcs {
    ck_spinlock_mcs_t queue;
    struct {
        _Alignas(APART) ck_spinlock_mcs_context_t node;
    } of[MEMBERS_MOST];
};

_Static_assert(sizeof(struct mcs) <= PEER_ROOM, "it has room");

static int make_fas(const struct peer *peer, struct meeting *meeting)
{
    (void)peer;
    ck_spinlock_fas_init((ck_spinlock_fas_t *)meeting->room);
    return 0;
}

static int make_ticket(const struct peer *peer, struct meeting *meeting)
{
    (void)peer;
    ck_spinlock_ticket_init((ck_spinlock_ticket_t *)meeting->room);
    return 0;
}

static int make_mcs(const struct peer *peer, struct meeting *meeting)
{
    (void)peer;
    ck_spinlock_mcs_init(&((struct mcs *)meeting->room)->queue);
    return 0;
}

static int join(const struct peer *peer, struct member *member)
{
    (void)peer;
    member->lock = member->meeting->room;
    return 0;
}

/* The nodes lie in memory that all have at the same address. */
static int join_mcs(const struct peer *peer, struct member *member)
{
    (void)peer;
    struct mcs *mcs = (struct mcs *)member->meeting->room;
    member->lock = &mcs->queue;
    member->context = &mcs->of[member->self].node;
    return 0;
}

static inline void enter_fas(struct member *member)
{
    ck_spinlock_fas_lock(member->lock);
}

static inline void leave_fas(struct member *member)
{
    ck_spinlock_fas_unlock(member->lock);
}

static inline void enter_ticket(struct member *member)
{
    ck_spinlock_ticket_lock(member->lock);
}

static inline void leave_ticket(struct member *member)
{
    ck_spinlock_ticket_unlock(member->lock);
}

static inline void enter_mcs(struct member *member)
{
    ck_spinlock_mcs_lock(member->lock, member->context);
}

static inline void leave_mcs(struct member *member)
{
    ck_spinlock_mcs_unlock(member->lock, member->context);
}

LOOPS(fas_loops, enter_fas, leave_fas)
LOOPS(ticket_loops, enter_ticket, leave_ticket)
LOOPS(mcs_loops, enter_mcs, leave_mcs)

const struct peer peer_fas = {
    .name = "ck-fas",
    .what = "Concurrency Kit, fetch-and-store spin lock",
    .loops = &fas_loops,
    .make = make_fas,
    .join = join,
};

const struct peer peer_ticket = {
    .name = "ck-ticket",
    .what = "Concurrency Kit, ticket spin lock",
    .loops = &ticket_loops,
    .make = make_ticket,
    .join = join,
};

const struct peer peer_mcs = {
    .name = "ck-mcs",
    .what = "Concurrency Kit, Mellor-Crummey and Scott's queue, spinning",
    .loops = &mcs_loops,
    .make = make_mcs,
    .join = join_mcs,
};
