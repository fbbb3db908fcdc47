/* SPDX-License-Identifier: MIT */
/* The loops that are timed, written once and compiled for each peer with its own enter and leave in
 * line. */
#ifndef BENCH_PEERS_LOOPS_H
#define BENCH_PEERS_LOOPS_H

#include "ledger.h"
#include "peer.h"
#include "section.h"

/* What the members of a contended run do, shared by all of them. */
struct work {
    _Alignas(APART) _Atomic bool go, stop;
    uint64_t turns; /* of the section */
    _Alignas(APART) struct ledger ledger;
};

typedef void step(struct member *);

__attribute__((always_inline)) static inline void
loop_passages(struct member *member, uint64_t count, step *enter, step *leave)
{
    for (uint64_t at = 0; at < count; at++) {
        enter(member);
        leave(member);
    }
}

__attribute__((always_inline)) static inline uint64_t
loop_until_stop(struct member *member, struct work *work, step *enter, step *leave)
{
    uint64_t passages = 0;
    const uint64_t turns = work->turns;
    while (!atomic_load_explicit(&work->stop, memory_order_relaxed)) {
        enter(member);
        section(turns);
        leave(member);
        passages++;
    }
    return passages;
}

__attribute__((always_inline)) static inline uint64_t
loop_counted(struct member *member, struct work *work, step *enter, step *leave)
{
    uint64_t passages = 0;
    const uint64_t turns = work->turns;
    while (!atomic_load_explicit(&work->stop, memory_order_relaxed)) {
        ledger_ask(&work->ledger, member->self);
        enter(member);
        const uint64_t entries = ledger_enter(&work->ledger, member);
        section(turns);
        ledger_leave(&work->ledger, entries);
        leave(member);
        passages++;
    }
    return passages;
}

/* Defines `name`, the loops of a peer that enters and leaves so. */
#define LOOPS(name, enter_step, leave_step)                                                        \
    __attribute__((noinline)) static void name##_passages(struct member *member, uint64_t count)   \
    {                                                                                              \
        loop_passages(member, count, enter_step, leave_step);                                      \
    }                                                                                              \
    static uint64_t name##_until_stop(struct member *member, struct work *work)                    \
    {                                                                                              \
        return loop_until_stop(member, work, enter_step, leave_step);                              \
    }                                                                                              \
    static uint64_t name##_counted(struct member *member, struct work *work)                       \
    {                                                                                              \
        return loop_counted(member, work, enter_step, leave_step);                                 \
    }                                                                                              \
    static const struct loops name = {                                                             \
        .passages = name##_passages,                                                               \
        .until_stop = name##_until_stop,                                                           \
        .counted = name##_counted,                                                                 \
        .enter = enter_step,                                                                       \
    };

#endif
