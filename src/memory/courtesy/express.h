/* SPDX-License-Identifier: MIT */
/* The short ways of `courtesy`, inlined: a passage that finds nobody in its way, or has retained
 * its permission, in a few nanoseconds.
 *
 * It runs the same text as the long way (courtesy_express, courtesy_depart, courtesy_again,
 * courtesy_pause). What is saved is the work around it: all that makes a region or a moment special
 * is asked beforehand, and the answer kept in the lane. No clock is read: nobody is told since
 * when.
 */
#ifndef AFTERYOU_MEMORY_COURTESY_EXPRESS_H
#define AFTERYOU_MEMORY_COURTESY_EXPRESS_H

#include "memory/passage/annotate.h"
#include "memory/passage/region.h"

#include "protocols/registers/courtesy/courtesy.h"

/* After so many passages it is time to see who is gone, and need not be looked at any more. */
enum { EXPRESS_GATHER = 1024 };

/* True: inside. False: the way was not free, and the word says EXPRESS; the long way goes on from
 * there. */
__attribute__((always_inline)) static inline bool express_enter(ay_region *region)
{
    struct registers *at = &region->at;
    struct courtesy_express my;
    region->at.lane = LANE_TAKEN;
    if (__builtin_expect(++at->mine.passage % EXPRESS_GATHER == 0, 0)) {
        at->rivals.gathered = NEVER_GATHERED;
        /* and to ask for the name of the file (named.h): no thread counts from there */
        region->at.passer.breaks = 0;
        if (numbers_used_up(at))
            return false; /* the long way says so */
        if (at->retention.may && !numbers_half_used(at))
            region->at.lane = LANE_RETAIN;
    }
    courtesy_express(&my, at, (struct courtesy_without){0});
    if (__builtin_expect(my.glance.busy, 0))
        return false;
    annotate_enter(at->fixed.spec);
    access_point();
    atomic_store_explicit(&at->near.own->inside, 1, memory_order_release);
    return true;
}

__attribute__((always_inline)) static inline void express_leave(ay_region *region)
{
    struct registers *at = &region->at;
    struct courtesy_departure my;
    region->at.lane = region->at.passer.thread;
    annotate_leave(at->fixed.spec);
    access_point();
    atomic_store_explicit(&at->near.own->inside, 0, memory_order_release);
    courtesy_depart(&my, at);
}

/* Retained permission (protocols/registers/courtesy/courtesy_retain.h). True: inside. */
__attribute__((always_inline)) static inline bool express_again(ay_region *region)
{
    struct courtesy_again my;
    region->at.lane = LANE_AGAIN;
    courtesy_again(&my, &region->at, (struct courtesy_without){0});
    annotate_enter(region->at.fixed.spec);
    return __builtin_expect(my.inside, 1);
}

/* The first half of courtesy_retreat. True: outside, and the permission is still there. False: it
 * was recalled; the other half gives it back. */
__attribute__((always_inline)) static inline bool express_pause(ay_region *region)
{
    struct courtesy_pause my;
    region->at.lane = region->at.passer.thread ^ LANE_RETAINED;
    annotate_leave(region->at.fixed.spec);
    courtesy_pause(&my, &region->at);
    return __builtin_expect(my.recalled != registers_own(&region->at, COURTESY_GRANT), 1);
}

static inline void express_settle(ay_region *region)
{
    struct courtesy_retirement my;
    courtesy_settle(&my, &region->at, true);
}

#endif
