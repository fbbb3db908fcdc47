/* SPDX-License-Identifier: MIT */
/* Passages: ay_enter and its kin, ay_leave, and what the one inside may ask. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/annotate.h"
#include "memory/cluster.h"
#include "memory/region.h"

static int refuse_stranger(void)
{
    return ay__fail(-EPERM, "the region was opened by another process: a child opens its own");
}

static inline bool is_stranger(const ay_region *region)
{
    return region->mark != *ay__process.mark;
}

/* To a few milliseconds, at a few nanoseconds. */
static int64_t coarse_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The number is made anew: this may be a child, with its parent's. */
static void change_thread(ay_region *region)
{
    const uint64_t thread = region->thread = ay__thread_anew();
    atomic_store(&region->at.own_cold->tid, (uint32_t)syscall(SYS_gettid));
    atomic_store(&region->at.own_cold->thread, thread);
}

static void stop_waiting(struct registers *at)
{
    at->calm = !at->waited;
    if (at->asleep) {
        at->asleep = false;
        atomic_store(&at->own_cold->waiting, 0);
        atomic_store(&at->own_cold->conditional, 0);
    }
}

/* Everybody's last fence, plus one: exact, because whoever conflicts with me is not inside now. */
static uint64_t greatest_fence(struct registers *at)
{
    uint64_t greatest = atomic_load_explicit(&at->own->fence, memory_order_relaxed);
    for (unsigned place = registers_next(at, 0); place < at->places; place = registers_next(at, place + 1)) {
        const uint64_t fence = atomic_load(&registers_hot(at, place)->fence);
        if (fence > greatest)
            greatest = fence;
    }
    return greatest;
}

/* The number of a protocol that has one grows with every conflicting passage, if the place is counted in. */
static inline uint64_t next_fence(struct registers *at)
{
    if (at->protocol->number_shift)
        return (registers_own(at, 0) >> at->protocol->number_shift) * AY_PLACES_MOST + at->self;
    return greatest_fence(at) + 1;
}

static int give_up(ay_region *region)
{
    struct registers *at = &region->at;
    at->protocol->leave(at);
    if (!(at->protocol->features & FEATURE_SLEEP))
        ay__rouse(at);
    stop_waiting(at);
    if (__builtin_expect(ay__trace_file >= 0, 0))
        ay__trace(region, "abandon");
    return at->reason;
}

static int entered(ay_region *region)
{
    struct registers *at = &region->at;
    const bool had_to_wait = at->asleep;
    annotate_enter(at->spec);
    const uint64_t fence = __builtin_expect(at->cluster, 0) ? ay__cluster_fence(region) : next_fence(at);
    atomic_store_explicit(&at->own->fence, fence, memory_order_release);
    if (at->spec->take > 0)
        ay__units_choose(at);
    access_point();
    atomic_store_explicit(&at->own->inside, 1, memory_order_release);
    if (at->spec->take > 0)
        at->protocol->hold(at);
    else if (!(at->protocol->features & FEATURE_SLEEP))
        ay__rouse(at);
    stop_waiting(at);
    atomic_store_explicit(&at->own_cold->since_ns, had_to_wait ? ay__now() : coarse_now(), memory_order_relaxed);
    region->inside = true;
    int result = __builtin_expect(at->news, 0) && ay__deaths_tell(region) ? AY_AFTER_DEATH : 0;
    if (__builtin_expect(at->cluster, 0) && ay__cluster_tells_death(region))
        result = AY_AFTER_DEATH;
    if (__builtin_expect(ay__trace_file >= 0, 0))
        ay__trace(region, "enter");
    return result;
}

static int enter(ay_region *region, int64_t deadline, int reason)
{
    struct registers *at = &region->at;
    if (is_stranger(region))
        return refuse_stranger();
    if (region->inside)
        return ay__fail(-EDEADLK, "this region is already entered");
    if (__builtin_expect(ay__thread == 0 || ay__thread != region->thread, 0))
        change_thread(region);
    at->deadline = deadline;
    at->give_up = reason;
    at->reason = reason;
    at->spins = 0;
    at->nap_ns = 0;
    at->waited = false;
    at->conditional = at->when || at->spec->take > 0;
    at->cycle = 0;
    at->passage++;
    if (__builtin_expect(ay__trace_file >= 0, 0))
        ay__trace(region, "request");
    if (!at->protocol->enter(at) || (__builtin_expect(at->cluster, 0) && !ay__cluster_permit(region)))
        return give_up(region);
    return entered(region);
}

int ay_enter(ay_region *region)
{
    return enter(region, INT64_MAX, 0);
}

int ay_try(ay_region *region)
{
    const int result = enter(region, INT64_MIN, -EBUSY);
    return result == -EBUSY ? ay__fail(-EBUSY, "somebody else is inside, or before me") : result;
}

int ay_enter_for(ay_region *region, int timeout_ms)
{
    if (timeout_ms < 0)
        return ay_enter(region);
    const int result =
        enter(region, timeout_ms == 0 ? INT64_MIN : ay__now() + (int64_t)timeout_ms * 1000000, -ETIMEDOUT);
    return result == -ETIMEDOUT ? ay__fail(-ETIMEDOUT, "not entered within %d ms", timeout_ms) : result;
}

int ay_enter_when(ay_region *region, bool (*when)(void *), void *arg, int timeout_ms)
{
    struct registers *at = &region->at;
    if (is_stranger(region))
        return refuse_stranger();
    if (at->cluster)
        return ay__fail(-ENOTSUP, "conditions are for the processes of one machine, not for a cluster");
    if (!(at->protocol->features & FEATURE_WHEN))
        return ay__fail(-ENOTSUP, "the protocol '%s' of this space hasn't got conditions", at->protocol->name);
    at->when = when;
    at->when_arg = arg;
    const int result = ay_enter_for(region, timeout_ms);
    at->when = NULL;
    return result;
}

int ay_leave(ay_region *region)
{
    struct registers *at = &region->at;
    if (is_stranger(region))
        return refuse_stranger();
    if (!region->inside)
        return ay__fail(-EPERM, "not inside");
    if (__builtin_expect(ay__trace_file >= 0, 0))
        ay__trace(region, "leave");
    region->inside = false;
    if (__builtin_expect(at->cluster, 0))
        ay__cluster_leaves(region);
    annotate_leave(at->spec);
    access_point();
    atomic_store_explicit(&at->own->inside, 0, memory_order_release);
    if (at->spec->take > 0)
        ay__units_give_back(at);
    at->protocol->leave(at);
    if (!(at->protocol->features & FEATURE_SLEEP))
        ay__rouse(at);
    return 0;
}

uint64_t ay_fence(const ay_region *region)
{
    if (is_stranger(region))
        return 0;
    return atomic_load_explicit(&region->at.own->fence, memory_order_relaxed);
}

size_t ay_units(const ay_region *region, unsigned *units, size_t room)
{
    if (is_stranger(region) || !region->inside)
        return 0;
    size_t count = 0;
    for (unsigned unit = 0; unit < region->spec.of; unit++)
        if (atomic_load_explicit(&region->at.own_cold->units[unit / 64], memory_order_relaxed) >> unit % 64 & 1) {
            if (count < room)
                units[count] = unit;
            count++;
        }
    return count;
}
