/* SPDX-License-Identifier: MIT */
/* The lane: which short way is open to a region's thread, and who is on it, in one word.
 *
 *                lane_open                 lane_take
 *   CLOSED ─────────────────> OPEN ────────────────────────> TAKEN ── lane_take_last ──> LAST
 *     │                        ^                               │
 *     │                        └───────── lane_return ─────────┘
 *     │   lane_open_retained               lane_take_again
 *     └──────────────────> RETAINED ───────────────────────> AGAIN
 *                              ^                               │
 *                              └────── lane_return_again ──────┘
 *   any ── lane_close ──> CLOSED
 *
 *   CLOSED    the long way
 *   OPEN      to one thread: nobody was about last time
 *   TAKEN     that thread is inside by the express lane, or finds out whether it may be
 *   LAST      likewise; but it leaves the long way, for it is time to retain the permission
 *   RETAINED  for one thread: it may go in again by the permission that it retains
 *   AGAIN     that thread is inside by it, or finds out whether it was recalled
 *
 * OPEN is the number of the thread; RETAINED the same number, by exclusive or with a constant; the
 * others are numbers that no thread has. So one comparison with the number of the calling thread
 * tells whether the way is open, and to it.
 *
 * Illegal: to open what is not closed; to take what is not open to me. The latter is asked by that
 * comparison, right before. It may be closed in any state, but not by another than the one on it:
 * one that was broken off in the middle, because its thread has ended, leaves it TAKEN.
 *
 * Only the thread that enters or leaves writes it; and while nobody does, who renews the place, or
 * says on whose behalf it enters.
 */
#ifndef AFTERYOU_MEMORY_COURTESY_LANE_H
#define AFTERYOU_MEMORY_COURTESY_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/assert.h"

struct lane {
    uint64_t state;
};

#define LANE_CLOSED   UINT64_MAX
#define LANE_TAKEN    (UINT64_MAX - 1)
#define LANE_AGAIN    (UINT64_MAX - 2)
#define LANE_LAST     (UINT64_MAX - 3)
#define LANE_RETAINED UINT64_C(0x5a5a5a5a5a5a5a5a)
/* Numbers of threads are below: then none is any state of another. */
#define LANE_THREADS  (UINT64_C(1) << 62)

_Static_assert((LANE_RETAINED & LANE_THREADS) != 0 && LANE_LAST > 2 * LANE_THREADS,
               "no two states are one number");

/* 0: OPEN to this thread. LANE_RETAINED: RETAINED, for this thread. Else: the long way. */
__attribute__((always_inline)) static inline uint64_t lane_for(const struct lane *lane,
                                                               uint64_t thread)
{
    return lane->state ^ thread;
}

static inline void lane_close(struct lane *lane)
{
    lane->state = LANE_CLOSED;
}

static inline void lane_open(struct lane *lane, uint64_t thread)
{
    assert_required(lane->state == LANE_CLOSED && thread != 0 && thread < LANE_THREADS);
    lane->state = thread;
}

static inline void lane_open_retained(struct lane *lane, uint64_t thread)
{
    assert_required(lane->state == LANE_CLOSED && thread != 0 && thread < LANE_THREADS);
    lane->state = thread ^ LANE_RETAINED;
}

static inline void lane_take(struct lane *lane)
{
    lane->state = LANE_TAKEN;
}

static inline void lane_take_last(struct lane *lane)
{
    assert_required(lane->state == LANE_TAKEN);
    lane->state = LANE_LAST;
}

static inline void lane_return(struct lane *lane, uint64_t thread)
{
    lane->state = thread;
}

static inline void lane_take_again(struct lane *lane)
{
    lane->state = LANE_AGAIN;
}

static inline void lane_return_again(struct lane *lane, uint64_t thread)
{
    lane->state = thread ^ LANE_RETAINED;
}

static inline bool lane_is_taken(const struct lane *lane)
{
    return lane->state == LANE_TAKEN;
}

static inline bool lane_is_taken_again(const struct lane *lane)
{
    return lane->state == LANE_AGAIN;
}

/* Somebody is inside by a short way, or finds out whether it may be. */
static inline bool lane_is_on(const struct lane *lane)
{
    return lane_is_taken(lane) || lane_is_taken_again(lane) || lane->state == LANE_LAST;
}

static inline bool lane_is_last(const struct lane *lane)
{
    return lane->state == LANE_LAST;
}

#endif
