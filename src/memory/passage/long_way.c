/* SPDX-License-Identifier: MIT */
/* The long way: a passage from its request to its end, in whatever protocol, with all that may
 * happen on it: another thread, a deadline, a cluster's permission, deaths, a trace. */
#include "memory/passage/long_way.h"

#include <errno.h>

#include "common/assert.h"
#include "memory/file/named.h"
#include "memory/passage/annotate.h"
#include "memory/passage/passer.h"
#include "memory/passage/region.h"
#include "memory/remote/kind.h"

#ifdef ANNOTATES
char ay__annotated[1024];
#endif

/* Who slept on what told of the last thread's end, while its word was idle, must learn of the new
 * one's. The word is another by now: whoever goes to sleep later sees that. */
static inline void rouse_after_change(struct registers *at)
{
    if (__builtin_expect(at->passage.moved != NULL, 0))
        ay__futex_wake(at->passage.moved);
    at->passage.moved = NULL;
}

void ay__stop_waiting(struct registers *at)
{
    assert_required(at->passage.queues && (at->passage.waited || !at->passage.asleep));
    at->habits.calm = !at->passage.waited;
    at->passage.queues = false;
    if (at->rivals.burdened)
        at->rivals.gathered = NEVER_GATHERED;
    if (at->passage.asleep) {
        at->passage.asleep = false;
        atomic_store(&at->fixed.own_cold->waiting, 0);
        atomic_store(&at->fixed.own_cold->conditional, 0);
    }
}

static int give_up(ay_region *region)
{
    struct registers *at = &region->at;
    if (__builtin_expect(at->near.cluster, 0)) /* seen inside already, if it was told of a death */
        atomic_store_explicit(&at->near.own->inside, 0, memory_order_release);
    at->fixed.protocol->leave(at);
    at->fixed.protocol->hooks->after_giving_up(at);
    if (__builtin_expect(region->remote.kind != NULL, 0) && region->remote.kind->give_up)
        region->remote.kind->give_up(region);
    at->near.mode = (uint8_t)at->fixed.spec->mode;
    ay__stop_waiting(at);
    rouse_after_change(at);
    if (__builtin_expect(ay__trace_file >= 0, 0))
        ay__trace(region, "abandon");
    return at->passage.reason;
}

/* Everybody's last fence, plus one: exact, because whoever conflicts with me is not inside now. */
static uint64_t greatest_fence(struct registers *at)
{
    uint64_t greatest = atomic_load_explicit(&at->near.own->fence, memory_order_relaxed);
    for (unsigned place = registers_next(at, 0); place < at->fixed.places;
         place = registers_next(at, place + 1)) {
        const uint64_t fence = atomic_load(&registers_hot(at, place)->fence);
        if (fence > greatest)
            greatest = fence;
    }
    return greatest;
}

/* What ay__fence() tells others; but the word that I have just stored is fetched from where only I
 * look. */
static uint64_t own_fence(const struct registers *at)
{
    const struct running_protocol *protocol = at->fixed.protocol;
    return protocol->number_bits
               ? protocol_number(protocol, at->mine.word) * AY_PLACES_MOST + at->fixed.self
               : atomic_load_explicit(&at->near.own->fence, memory_order_relaxed);
}

static int entered(ay_region *region)
{
    struct registers *at = &region->at;
    const bool had_to_wait = at->passage.asleep;
    annotate_enter(at->fixed.spec);
    if (!at->fixed.protocol->number_bits)
        atomic_store_explicit(&at->near.own->fence, greatest_fence(at) + 1, memory_order_release);
    access_point();
    atomic_store_explicit(&at->near.own->inside, 1, memory_order_release);
    at->passage.inside = true;
    at->fixed.protocol->hooks->after_entering(at, had_to_wait);
    ay__stop_waiting(at);
    rouse_after_change(at);
    at->habits.entered = true;
    atomic_store_explicit(&at->fixed.own_cold->since_ns, had_to_wait ? ay__now() : ay__coarse_now(),
                          memory_order_relaxed);
    atomic_store_explicit(&at->fixed.own_cold->since_fence, own_fence(at), memory_order_relaxed);
    int result = registers_has_news(at) ? ay__deaths_attend(region) : 0;
    if (__builtin_expect(at->near.cluster, 0) && ay__cluster_tells_death(region))
        result = AY_AFTER_DEATH;
    if (__builtin_expect(region->remote.kind != NULL, 0) && region->remote.kind->told)
        result = region->remote.kind->told(region, result);
    if (__builtin_expect(at->fixed.tells, 0))
        ay__wanted_tell(region);
    if (__builtin_expect(ay__trace_file >= 0, 0))
        ay__trace(region, "enter");
    return result;
}

static __attribute__((noinline)) int refuse_numbers(ay_region *region)
{
    region->at.passage.reason =
        ay__fail(-EOVERFLOW,
                 "the numbers of the space %s are used up: remove it when nobody uses it (afteryou "
                 "spaces remove), and the next one begins anew",
                 region->at.fixed.space->path);
    return give_up(region);
}

/* Inside the region of the space: true once it is the cluster's as well. One who waits for that
 * stays inside, but for when the agent needs to come in. */
static __attribute__((noinline)) bool is_permitted(ay_region *region)
{
    AY__UNCANCELLED;
    struct registers *at = &region->at;
    for (;;)
        switch (ay__cluster_go_on(region)) {
        case CLUSTER_PERMITS:
            return true;
        case CLUSTER_GIVES_UP:
            return false;
        case CLUSTER_RESTS:
            if (!ay__cluster_rest(region))
                return false;
            break;
        case CLUSTER_MAKES_WAY:
            at->fixed.protocol->leave(at);
            break;
        case CLUSTER_COMES_BACK:
            if (!at->fixed.protocol->enter(at))
                return false;
            break;
        case CLUSTER_BEGINS_ANEW:
            break;
        }
}

/* It has a condition that others of the cluster can make true. */
static inline bool asks_in_cluster(const ay_region *region)
{
    return region->at.near.cluster && region->at.request.when &&
           region->remote.needed != PERMISSION_NONE;
}

/* Inside already, by this thread. From now on by the long way: to leave is to count. */
static int enter_again(ay_region *region)
{
    AY__UNCANCELLED;
    struct registers *at = &region->at;
    if (!at->fixed.reentrant)
        return ay__fail(-EDEADLK, "this region is already entered");
    const unsigned mode = at->request.weaker ? (uint32_t)at->request.mode : at->fixed.spec->mode;
    if (!modes_include(at->near.mode, mode))
        return ay__fail(-EDEADLK, "this region is already entered as %s: it can be converted to %s",
                        mode_name(at->near.mode), mode_name(mode));
    if (at->request.when) {
        at->passage.asking = true;
        const bool holds = at->request.when(at->request.argument);
        at->passage.asking = false;
        if (!holds)
            return ay__fail(-EDEADLK, "this region is already entered, and what it would wait for "
                                      "cannot become true before it is left");
    }
    ay__go_on_by_long_way(at);
    at->passage.depth++;
    return 0;
}

/* All that comes before the protocol's first step; or why there is none. */
static inline int begin(ay_region *region, int64_t deadline, int reason, const struct comer *comer)
{
    struct registers *at = &region->at;
    const void *moved = NULL;
    if (__builtin_expect(at->passage.asked, 0))
        return ay__fail(-EDEADLK, "this region is asked for: withdraw that first, or see to it "
                                  "that it is decided");
    if (comer || __builtin_expect(ay__thread == 0 || ay__thread != at->passer.thread, 0)) {
        const int error =
            comer ? ay__passer_follow(region, comer, &moved) : ay__passer_change(region, &moved);
        if (error)
            return error;
    }
    assert_invariant(L8, comer || at->passer.thread == ay__thread);
    if (at->passage.asking)
        return ay__fail(-EDEADLK,
                        "this region is being entered: what is asked meanwhile cannot enter it");
    if (region_is_inside(region)) {
        const int error = enter_again(region);
        return error ? error : PASSAGE_COUNTED;
    }
    at->passage = (struct this_passage){
        .deadline = deadline,
        .reason = reason,
        .give_up = reason,
        .conditional = (at->request.when && !asks_in_cluster(region)) || at->fixed.spec->take > 0,
        .queues = true,
        .unheard = AT_NOBODY,
        .moved = moved};
    at->mine.passage++;
    at->near.mode =
        (uint8_t)(at->request.weaker ? (uint32_t)at->request.mode : at->fixed.spec->mode);
    at->fixed.protocol->hooks->before_entering(at);
    if (__builtin_expect(numbers_used_up(at), 0))
        return refuse_numbers(region);
    if (at->habits.contended)
        ay__hold_back(at);
    if (__builtin_expect(ay__trace_file >= 0, 0))
        ay__trace(region, "request");
    return 0;
}

/* The protocol has passed, or was given up. */
static inline int end(ay_region *region, bool passed)
{
    struct registers *at = &region->at;
    if (!passed)
        return give_up(region);
    at->passage.reason = at->passage.refused   ? at->passage.refused
                         : named_disturbed(at) ? ay__named_ask(at)
                                               : 0;
    return __builtin_expect(at->passage.reason, 0) ? give_up(region) : entered(region);
}

static inline bool pass(ay_region *region)
{
    return region->at.fixed.protocol->enter(&region->at) &&
           (__builtin_expect(!region->at.near.cluster, 1) || is_permitted(region));
}

static __attribute__((noinline)) int enter(ay_region *region, int64_t deadline, int reason)
{
    const int error = begin(region, deadline, reason, NULL);
    if (error)
        return error == PASSAGE_COUNTED ? 0 : error;
    if (__builtin_expect(region->remote.kind != NULL, 0) && region->remote.kind->enter)
        return region->remote.kind->enter(region);
    return end(region, pass(region));
}

bool ay__passage_pass(ay_region *region)
{
    return pass(region);
}

bool ay__passage_permitted(ay_region *region)
{
    return is_permitted(region);
}

int ay__passage_begin(ay_region *region, int64_t deadline, int reason)
{
    if (!region->leader)
        return begin(region, deadline, reason, NULL);
    const struct comer comer = ay__passer_of(region->leader);
    return begin(region, deadline, reason, &comer);
}

int ay__passage_begin_as(ay_region *region, const struct comer *comer, int64_t deadline, int reason)
{
    return begin(region, deadline, reason, comer);
}

int ay__passage_end(ay_region *region, bool passed)
{
    return end(region, passed);
}

static bool bury_shared(ay_region *region)
{
    return region->remote.kind ? region->remote.kind->bury_shared(region) : ay__bury_shared(region);
}

__attribute__((noinline)) int ay__enter_within(ay_region *region, int timeout_ms)
{
    AY__DEFERRED;
    if (timeout_ms < 0)
        return enter(region, INT64_MAX, 0);
    const int64_t deadline =
        timeout_ms == 0 ? INT64_MIN : ay__now() + (int64_t)timeout_ms * 1000000;
    int result = enter(region, deadline, -ETIMEDOUT);
    if (result == -ETIMEDOUT && bury_shared(region)) /* no kernel told us that they are gone */
        result = enter(region, INT64_MIN, -ETIMEDOUT);
    return result == -ETIMEDOUT ? ay__fail(-ETIMEDOUT, "not entered within %d ms", timeout_ms)
                                : result;
}

void ay__go_on_by_long_way(struct registers *at)
{
    if (lane_is_on(&at->lane))
        lane_close(&at->lane);
    at->passage.inside = true;
}

__attribute__((noinline)) int ay__leave_by_long_way(ay_region *region)
{
    AY__DEFERRED;
    struct registers *at = &region->at;
    if (!region_is_entered(region))
        return ay__fail(-EPERM, "the caller is not inside the region");
    if (ay__thread != at->passer.thread && !ay__vital(at->fixed.space, at->fixed.self).alive)
        return ay__fail(-EPERM, "the thread that entered has ended, and its passage with it");
    if (at->passage.depth > 0) {
        at->passage.depth--;
        return 0;
    }
    if (__builtin_expect(at->near.cluster, 0))
        ay__cluster_leaves(region);
    if (__builtin_expect(ay__trace_file >= 0, 0))
        ay__trace(region, "leave");
    at->fixed.protocol->hooks->before_leaving(at);
    annotate_leave(at->fixed.spec);
    access_point();
    atomic_store_explicit(&at->near.own->inside, 0, memory_order_release);
    at->passage.inside = false;
    const bool by_ask = at->passage.by_ask;
    if (__builtin_expect(by_ask, 0))
        ay__ask_leaves(region);
    at->fixed.protocol->leave(at);
    if (__builtin_expect(by_ask, 0))
        ay__ask_has_left(region);
    if (__builtin_expect(region->remote.kind != NULL, 0))
        region->remote.kind->leave(region);
    at->near.mode = (uint8_t)at->fixed.spec->mode;
    at->fixed.protocol->hooks->after_leaving(at);
    return 0;
}
