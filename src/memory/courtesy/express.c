/* SPDX-License-Identifier: MIT */
/* The express lane, and what may come after a short way in: the long way, a name that the file has
 * lost, a death inside, the agent of a cluster. */
#include "memory/courtesy/express.h"

#include "memory/courtesy/retention.h"
#include "memory/passage/long_way.h"
#include "memory/remote/cluster.h"

/* After so many passages it is time to see who is gone, and need not be looked at any more. */
enum { EXPRESS_GATHER = 1024 };

/* To gather them is to look through the tags of all places: not for nothing. */
static bool one_has_changed(const struct registers *at)
{
    for (unsigned which = 0; which < at->rivals.run_count; which++) {
        const struct stretch *run = &at->rivals.runs[which];
        for (unsigned place = run->place; place < run->end; place++)
            if (!acquaintance_stands(acquaintance_of(&at->rivals.met, place)))
                return true;
    }
    return false;
}

/* Whether the passage may begin at all: if not, the long way says why. */
static bool take_stock(struct registers *at)
{
    if (one_has_changed(at))
        at->rivals.gathered = NEVER_GATHERED;
    /* and to ask for the name of the file (named.h): no thread counts from there */
    at->passer.breaks = 0;
    if (numbers_used_up(at))
        return false;
    if (at->retention.may && !numbers_half_used(at))
        lane_take_last(&at->lane);
    return true;
}

__attribute__((always_inline)) static inline void return_lane(ay_region *region)
{
    struct registers *at = &region->at;
    struct courtesy_departure my;
    lane_return(&at->lane, at->passer.thread);
    annotate_leave(at->fixed.spec);
    access_point();
    atomic_store_explicit(&at->near.own->inside, 0, memory_order_release);
    courtesy_depart(&my, at);
}

__attribute__((noinline)) int ay__express_leave(ay_region *region)
{
    return_lane(region);
    return 0;
}

/* The lane was not free. */
static __attribute__((noinline)) int enter_after_others(ay_region *region, int timeout_ms)
{
    region->at.habits.calm = false;
    return ay__enter_within(region, timeout_ms);
}

/* The way was free, but the permission of this machine is not at hand: the long way asks for it. */
static __attribute__((noinline)) int ask_the_agent(ay_region *region, int timeout_ms)
{
    return_lane(region);
    return enter_after_others(region, timeout_ms);
}

/* Inside, by a short way: out again if the file was removed. */
static __attribute__((noinline)) int check_name(ay_region *region)
{
    const int error = ay__named_ask(&region->at);
    if (!error)
        return 0;
    if (lane_is_taken_again(&region->at.lane))
        express_leave_again(region);
    else
        return_lane(region);
    lane_close(&region->at.lane);
    return error;
}

/* The file may have lost its name, or somebody has died inside, or there is company to look after.
 */
__attribute__((noinline)) int ay__express_see_to(ay_region *region, int timeout_ms)
{
    const int error = named_disturbed(&region->at) ? check_name(region) : 0;
    if (error)
        return error;
    if (region->at.near.cluster && !lane_is_taken_again(&region->at.lane) &&
        !ay__cluster_at_hand(region))
        return ask_the_agent(region, timeout_ms);
    return registers_has_news(&region->at) || !registers_gathered(&region->at)
               ? ay__deaths_attend(region)
               : 0;
}

static __attribute__((noinline)) int enter_clusters(ay_region *region, int timeout_ms)
{
    return ay__cluster_at_hand(region) ? 0 : ask_the_agent(region, timeout_ms);
}

/* The way was free. One branch for everything that is hardly ever so; ay__express_see_to() tells
 * what it was. `asks`: not 0: whether the file has a name. */
__attribute__((always_inline)) static inline int come_in(ay_region *region, int timeout_ms,
                                                         uint64_t asks)
{
    const struct registers *at = &region->at;
    annotate_enter(at->fixed.spec);
    access_point();
    atomic_store_explicit(&at->near.own->inside, 1, memory_order_release);
    if (__builtin_expect((asks | at->rivals.news | at->rivals.company_count) != 0, 0))
        return ay__express_see_to(region, timeout_ms);
    return __builtin_expect(at->near.cluster, 0) ? enter_clusters(region, timeout_ms) : 0;
}

/* Somebody is about. If the way is not free, the word says EXPRESS; the long way goes on from
 * there. */
static __attribute__((noinline)) int pass_others(ay_region *region, int timeout_ms)
{
    struct courtesy_express my;
    courtesy_pass(&my, &region->at, (struct courtesy_without){0});
    return my.glance.busy ? enter_after_others(region, timeout_ms)
                          : come_in(region, timeout_ms, named_disturbed(&region->at));
}

__attribute__((always_inline)) static inline int dash(ay_region *region, int timeout_ms,
                                                      uint64_t asks)
{
    struct courtesy_express my;
    courtesy_dash(&my, &region->at, (struct courtesy_without){0});
    return __builtin_expect(my.glance.busy, 0) ? pass_others(region, timeout_ms)
                                               : come_in(region, timeout_ms, asks);
}

static inline bool is_time(const struct registers *at)
{
    return __builtin_expect(at->mine.passage % EXPRESS_GATHER == 0, 0);
}

__attribute__((noinline)) int ay__express_enter(ay_region *region, int timeout_ms)
{
    if (is_time(&region->at))
        return ay__express_enter_and_ask(region, timeout_ms);
    lane_take(&region->at.lane);
    region->at.mine.passage++;
    return dash(region, timeout_ms, 0);
}

__attribute__((noinline)) int ay__express_enter_and_ask(ay_region *region, int timeout_ms)
{
    struct registers *at = &region->at;
    lane_take(&at->lane);
    if (is_time(at) && !take_stock(at))
        return enter_after_others(region, timeout_ms);
    at->mine.passage++;
    return dash(region, timeout_ms, 1);
}

__attribute__((noinline)) int ay__express_recalled(ay_region *region, int timeout_ms)
{
    region->at.retention.recalled = true;
    return ay__enter_within(region, timeout_ms);
}

__attribute__((noinline)) int ay__express_lose(ay_region *region)
{
    ay__retention_end(&region->at);
    lane_close(&region->at.lane);
    return 0;
}
