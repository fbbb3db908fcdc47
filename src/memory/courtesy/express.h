/* SPDX-License-Identifier: MIT */
/* The short ways of `courtesy`: a passage that finds nobody in its way (the express lane), or has
 * retained its permission, in a few nanoseconds.
 *
 * They run the same text as the long way (courtesy_dash, courtesy_pass, courtesy_depart,
 * courtesy_again, courtesy_pause). What is saved is the work around it: all that makes a region or
 * a moment special is asked beforehand, and the answer kept in the lane (lane.h). No clock is read:
 * nobody is told since when. Whatever is rare is a call at the very end, so that nothing is kept
 * for it.
 */
#ifndef AFTERYOU_MEMORY_COURTESY_EXPRESS_H
#define AFTERYOU_MEMORY_COURTESY_EXPRESS_H

#include "memory/file/named.h"
#include "memory/passage/annotate.h"
#include "memory/passage/words.h"

#include "protocols/registers/courtesy/courtesy.h"

/* express.c. Each enters, though it may take the long way in the end. */
int ay__express_enter(ay_region *region, int timeout_ms);
int ay__express_enter_and_ask(ay_region *region, int timeout_ms); /* whether the file has a name */
int ay__express_leave(ay_region *region);
int ay__express_recalled(ay_region *region, int timeout_ms); /* the long way gives it back */
int ay__express_see_to(ay_region *region, int timeout_ms);   /* inside, and not all is as ever */
int ay__express_lose(ay_region *region); /* outside, and the permission was recalled */

/* By a retained permission (protocols/registers/courtesy/courtesy_retain.h). True: inside. */
__attribute__((always_inline)) static inline bool express_again(ay_region *region)
{
    struct courtesy_again my;
    lane_take_again(&region->at.lane);
    courtesy_again(&my, &region->at, (struct courtesy_without){0});
    annotate_enter(region->at.fixed.spec);
    return __builtin_expect(my.inside, 1);
}

__attribute__((always_inline)) static inline int express_enter_again(ay_region *region,
                                                                     int timeout_ms)
{
    const struct registers *at = &region->at;
    if (__builtin_expect(courtesy_is_half_used(at->mine.word), 0) || !express_again(region))
        return ay__express_recalled(region, timeout_ms);
    if (__builtin_expect((named_disturbed(&region->at) |
                          (atomic_load(at->near.claims) ^ at->rivals.gathered) | at->rivals.news |
                          at->rivals.company_count) == 0,
                         1))
        return 0;
    return ay__express_see_to(region, timeout_ms);
}

/* The first half of courtesy_retreat. True: outside, and the permission is still there. False: it
 * was recalled; the other half gives it back. */
__attribute__((always_inline)) static inline bool express_pause(ay_region *region)
{
    struct courtesy_pause my;
    lane_return_again(&region->at.lane, region->at.passer.thread);
    annotate_leave(region->at.fixed.spec);
    courtesy_pause(&my, &region->at);
    return __builtin_expect(my.recalled != registers_own(&region->at, COURTESY_GRANT), 1);
}

__attribute__((always_inline)) static inline int express_leave_again(ay_region *region)
{
    return express_pause(region) ? 0 : ay__express_lose(region);
}

#endif
