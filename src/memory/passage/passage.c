/* SPDX-License-Identifier: MIT */
/* Passages: ay_enter and its kin, ay_leave, and what the one inside may ask. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/courtesy/express.h"
#include "memory/file/named.h"
#include "memory/passage/annotate.h"
#include "memory/passage/region.h"
#include "memory/remote/cluster.h"

static int refuse_stranger(void)
{
    return ay__fail(-EPERM, "the region was opened by another process: a child opens its own");
}

static inline bool is_stranger(const ay_region *region)
{
    return region->at.near.mark != ay__mark.value;
}

/* The thread that was here last ended in the middle of a passage. As for one who claims the place:
 * what it left is read as dead, and a death inside is kept to be told. Under the mutex. */
static int renew(ay_region *region)
{
    struct registers *at = &region->at;
    const int error = ay__renew(at->fixed.space, &region->spec, &region->claim);
    if (error)
        return error;
    at->mine.word = atomic_load(&at->near.own->word);
    atomic_store(&at->retention.grant, 0);
    at->retention.wanted = at->habits.calm = false;
    at->rivals.news |= atomic_load(&at->near.own->inherited) != 0;
    region->at.lane = LANE_CLOSED;
    return 0;
}

/* Says by which pulse it lives (L8), and by what the last thread's end would have been told. Under
 * the mutex. */
static int come_as_another(ay_region *region, const void **moved)
{
    struct registers *at = &region->at;
    const struct vital last = ay__vital(at->fixed.space, at->fixed.self);
    if (last.alive && region_is_inside(region))
        return ay__fail(-EDEADLK, "this region is already entered");
    uint64_t pulse;
    int error = ay__pulse_take(at->fixed.space, at->fixed.self, &pulse);
    if (!error && !last.alive &&
        (region_is_inside(region) || !registers_is_idle(at, 0, atomic_load(&at->near.own->word))))
        error = renew(region);
    if (error)
        return error;
    access_point();
    atomic_store(&at->near.own->pulse, pulse);
    *moved = last.futex;
    atomic_store(&at->fixed.own_cold->tid, (uint32_t)syscall(SYS_gettid));
    atomic_store(&at->fixed.own_cold->thread, at->behalf ? at->behalf : ay__thread_name());
    at->passer = (struct passer){.thread = ay__thread, .undisturbed = ay__named_pointer()};
    return 0;
}

/* Another thread than last time. */
static int change_thread(ay_region *region, const void **moved)
{
    pthread_mutex_lock(&ay__process.mutex);
    const int error = come_as_another(region, moved);
    pthread_mutex_unlock(&ay__process.mutex);
    return error;
}

/* Who slept on what told of the last thread's end, while its word was idle, must learn of the new
 * one's. The word is another by now: whoever goes to sleep later sees that. */
static inline void rouse_after_change(struct registers *at)
{
    if (__builtin_expect(at->passage.moved != NULL, 0))
        ay__futex_wake(at->passage.moved);
    at->passage.moved = NULL;
}

/* Inside by a short way: whether that is all. One branch for everything that is hardly ever so;
 * see_to() tells what it was. */
__attribute__((always_inline)) static inline bool is_all(const ay_region *region)
{
    return __builtin_expect((region->at.rivals.news | region->at.rivals.company_count) == 0, 1);
}

/* Inside, by a short way: out again if the file was removed. */
static __attribute__((noinline)) int check_name(ay_region *region)
{
    AY__UNCANCELLED;
    const int error = ay__named_ask(region);
    if (error) {
        ay_leave(region);
        region->at.lane = LANE_CLOSED;
    }
    return error;
}

static void stop_waiting(struct registers *at)
{
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

static int give_up(ay_region *region)
{
    struct registers *at = &region->at;
    at->fixed.protocol->leave(at);
    if (!(at->fixed.protocol->features & FEATURE_SLEEP))
        ay__rouse(at);
    stop_waiting(at);
    rouse_after_change(at);
    if (__builtin_expect(ay__trace_file >= 0, 0))
        ay__trace(region, "abandon");
    return at->passage.reason;
}

/* It is inside, and somebody has died there. */
static __attribute__((noinline)) int attend(ay_region *region)
{
    AY__UNCANCELLED;
    ay__look_at_company(&region->at);
    return region->at.rivals.news && ay__deaths_tell(region) ? AY_AFTER_DEATH : 0;
}

static inline bool attends(const struct registers *at)
{
    return __builtin_expect(at->rivals.news || !registers_company_lives(at), 0);
}

static int entered(ay_region *region)
{
    struct registers *at = &region->at;
    const bool had_to_wait = at->passage.asleep;
    annotate_enter(at->fixed.spec);
    if (!at->fixed.protocol->number)
        atomic_store_explicit(&at->near.own->fence, greatest_fence(at) + 1, memory_order_release);
    if (at->fixed.spec->take > 0)
        ay__units_choose(at);
    else if (had_to_wait && at->fixed.protocol->features & FEATURE_SLEEP &&
             at->fixed.space->overtake == 0 && at->fixed.spec->slots == 1 && ay__spins(at))
        /* in strict order it will be the next, whoever comes, and waits awake until I leave */
        ay__wake_next(at);
    access_point();
    atomic_store_explicit(&at->near.own->inside, 1, memory_order_release);
    if (at->fixed.spec->take > 0)
        at->fixed.protocol->hold(at);
    else if (!(at->fixed.protocol->features & FEATURE_SLEEP))
        ay__rouse(at);
    stop_waiting(at);
    rouse_after_change(at);
    region->at.habits.entered = true;
    atomic_store_explicit(&at->fixed.own_cold->since_ns, had_to_wait ? ay__now() : ay__coarse_now(),
                          memory_order_relaxed);
    atomic_store_explicit(&at->fixed.own_cold->since_fence,
                          ay__fence(at->fixed.space, at->fixed.self), memory_order_relaxed);
    int result = attends(at) ? attend(region) : 0;
    if (__builtin_expect(at->near.cluster, 0) && ay__cluster_tells_death(region))
        result = AY_AFTER_DEATH;
    if (__builtin_expect(ay__trace_file >= 0, 0))
        ay__trace(region, "enter");
    return result;
}

/* Half of the numbers are used: no permission is retained any longer, which would use them fastest.
 * -EOVERFLOW: they are used up. */
static __attribute__((noinline)) int spare_numbers(ay_region *region)
{
    struct registers *at = &region->at;
    if (registers_own(at, COURTESY_GRANT) != 0)
        express_settle(region);
    at->retention.wanted = false;
    at->retention.recalled = true;
    if (!numbers_used_up(at))
        return 0;
    at->passage.reason = ay__fail(
        -EOVERFLOW,
        "the numbers of the space %s are used up: remove it when nobody uses it (afteryou spaces "
        "remove), "
        "and the next one begins anew",
        at->fixed.space->path);
    return give_up(region);
}

/* The long way. Not for strangers. */
static __attribute__((noinline)) int enter(ay_region *region, int64_t deadline, int reason)
{
    struct registers *at = &region->at;
    const void *moved = NULL;
    if (__builtin_expect(ay__thread == 0 || ay__thread != region->at.passer.thread, 0)) {
        const int error = change_thread(region, &moved);
        if (error)
            return error;
    }
    if (region_is_inside(region))
        return ay__fail(-EDEADLK, "this region is already entered");
    region->at.lane = LANE_CLOSED;
    at->passage = (struct this_passage){.deadline = deadline,
                                        .reason = reason,
                                        .give_up = reason,
                                        .conditional = at->request.when || at->fixed.spec->take > 0,
                                        .queues = true,
                                        .unheard = AT_NOBODY,
                                        .moved = moved};
    at->mine.passage++;
    if (__builtin_expect(numbers_half_used(at), 0)) {
        const int error = spare_numbers(region);
        if (error)
            return error;
    }
    if (at->habits.contended)
        ay__hold_back(at);
    if (__builtin_expect(ay__trace_file >= 0, 0))
        ay__trace(region, "request");
    if (!at->fixed.protocol->enter(at) ||
        (__builtin_expect(at->near.cluster, 0) && !ay__cluster_permit(region)))
        return give_up(region);
    at->passage.reason = named_disturbed(region) ? ay__named_ask(region) : 0;
    return __builtin_expect(at->passage.reason, 0) ? give_up(region) : entered(region);
}

/* The long way, for a passage that waits so long at most; for ever if that is negative. */
static __attribute__((noinline)) int enter_within(ay_region *region, int timeout_ms)
{
    AY__UNCANCELLED;
    if (timeout_ms < 0)
        return enter(region, INT64_MAX, 0);
    const int64_t deadline =
        timeout_ms == 0 ? INT64_MIN : ay__now() + (int64_t)timeout_ms * 1000000;
    int result = enter(region, deadline, -ETIMEDOUT);
    if (result == -ETIMEDOUT && ay__bury_shared(region)) /* no kernel told us that they are gone */
        result = enter(region, INT64_MIN, -ETIMEDOUT);
    return result == -ETIMEDOUT ? ay__fail(-ETIMEDOUT, "not entered within %d ms", timeout_ms)
                                : result;
}

static __attribute__((noinline)) int leave_the_lane(ay_region *region, int timeout_ms)
{
    region->at.lane = LANE_CLOSED;
    region->at.habits.calm = false;
    return enter_within(region, timeout_ms);
}

/* The way was free, but the permission of this machine is not at hand: the long way asks for it. */
static __attribute__((noinline)) int ask_the_agent(ay_region *region, int timeout_ms)
{
    express_leave(region);
    return leave_the_lane(region, timeout_ms);
}

/* Not all is as ever: the file may have lost its name, or somebody has died inside, or there is
 * company to look after. */
static __attribute__((noinline)) int see_to(ay_region *region, int timeout_ms)
{
    const int error = named_disturbed(region) ? check_name(region) : 0;
    if (error)
        return error;
    if (region->at.near.cluster && region->at.lane != LANE_AGAIN && !ay__cluster_at_hand(region))
        return ask_the_agent(region, timeout_ms);
    return attends(&region->at) || !registers_gathered(&region->at) ? attend(region) : 0;
}

/* By the express lane, and if it is not free the long way. Whatever is rare is a call at the very
 * end, so that nothing is kept for it. */
static __attribute__((noinline)) int enter_by_express(ay_region *region, int timeout_ms)
{
    if (!express_enter(region))
        return leave_the_lane(region, timeout_ms);
    if (!is_all(region))
        return see_to(region, timeout_ms);
    if (__builtin_expect(!region->at.near.cluster, 1) || ay__cluster_at_hand(region))
        return 0;
    return ask_the_agent(region, timeout_ms);
}

/* The same, where the file may have lost its name. */
static __attribute__((noinline)) int enter_by_express_and_ask(ay_region *region, int timeout_ms)
{
    return express_enter(region) ? see_to(region, timeout_ms) : leave_the_lane(region, timeout_ms);
}

/* The permission was recalled: the long way gives it back. */
static __attribute__((noinline)) int enter_recalled(ay_region *region, int timeout_ms)
{
    region->at.retention.recalled = true;
    region->at.lane = LANE_CLOSED;
    return enter_within(region, timeout_ms);
}

/* By the shortest way that is open to this thread. */
__attribute__((always_inline)) static inline int enter_by_any(ay_region *region, int timeout_ms)
{
    const uint64_t lane = region->at.lane ^ ay__thread;
    if (__builtin_expect(is_stranger(region), 0))
        return refuse_stranger();
    if (__builtin_expect(lane == 0, 1))
        return __builtin_expect(named_disturbed(region) == 0, 1)
                   ? enter_by_express(region, timeout_ms)
                   : enter_by_express_and_ask(region, timeout_ms);
    if (lane != LANE_RETAINED)
        return enter_within(region, timeout_ms);
    if (__builtin_expect(courtesy_is_half_used(region->at.mine.word), 0) || !express_again(region))
        return enter_recalled(region, timeout_ms);
    const struct registers *at = &region->at;
    if (__builtin_expect((named_disturbed(region) |
                          (atomic_load(at->near.claims) ^ at->rivals.gathered) | at->rivals.news |
                          at->rivals.company_count) == 0,
                         1))
        return 0;
    return see_to(region, timeout_ms);
}

int ay_enter(ay_region *region)
{
    return enter_by_any(region, -1);
}

int ay_enter_for(ay_region *region, int timeout_ms)
{
    return enter_by_any(region, timeout_ms);
}

int ay_try(ay_region *region)
{
    const int result = enter_by_any(region, 0);
    return result == -ETIMEDOUT ? ay__fail(-EBUSY, "somebody else is inside, or before me")
                                : result;
}

int ay_enter_when(ay_region *region, bool (*when)(void *), void *arg, int timeout_ms)
{
    struct registers *at = &region->at;
    if (is_stranger(region))
        return refuse_stranger();
    if (at->near.cluster)
        return ay__fail(-ENOTSUP,
                        "conditions are for the processes of one machine, not for a cluster");
    if (!(at->fixed.protocol->features & FEATURE_WHEN))
        return ay__fail(-ENOTSUP, "the protocol '%s' of this space hasn't got conditions",
                        at->fixed.protocol->name);
    at->request.when = when;
    at->request.argument = arg;
    const int result = enter_within(region, timeout_ms);
    at->request = (struct request){0};
    return result;
}

int ay_enter_unless(ay_region *region, bool (*interrupted)(void *), bool (*when)(void *), void *arg,
                    int timeout_ms)
{
    struct registers *at = &region->at;
    if (is_stranger(region))
        return refuse_stranger();
    at->request = (struct request){.interrupted = interrupted, .argument = arg};
    const int result =
        when ? ay_enter_when(region, when, arg, timeout_ms) : enter_by_any(region, timeout_ms);
    at->request = (struct request){0};
    return result;
}

/* The long way. Not for strangers. */
static __attribute__((noinline)) int leave(ay_region *region)
{
    AY__UNCANCELLED;
    struct registers *at = &region->at;
    if (!region_is_inside(region))
        return ay__fail(-EPERM, "not inside");
    if (ay__thread != region->at.passer.thread && !ay__vital(at->fixed.space, at->fixed.self).alive)
        return ay__fail(-EPERM, "the thread that entered has ended, and its passage with it");
    if (__builtin_expect(ay__trace_file >= 0, 0))
        ay__trace(region, "leave");
    at->retention.wanted =
        registers_own(at, COURTESY_GRANT) != 0 ||
        (region->at.near.plain && at->retention.may && !at->rivals.news &&
         (region->at.lane == LANE_RETAIN || (at->habits.calm && !at->retention.recalled)) &&
         ay__futex_several());
    region->at.lane = LANE_CLOSED;
    annotate_leave(at->fixed.spec);
    access_point();
    atomic_store_explicit(&at->near.own->inside, 0, memory_order_release);
    if (at->fixed.spec->take > 0)
        ay__units_give_back(at);
    at->fixed.protocol->leave(at);
    if (!(at->fixed.protocol->features & FEATURE_SLEEP))
        ay__rouse(at);
    if (region->at.near.plain && at->habits.calm && !at->rivals.news)
        region->at.lane = registers_own(at, COURTESY_GRANT) != 0
                              ? region->at.passer.thread ^ LANE_RETAINED
                              : region->at.passer.thread;
    return 0;
}

static __attribute__((noinline)) int leave_by_express(ay_region *region)
{
    express_leave(region);
    return 0;
}

static __attribute__((noinline)) int lose_permission(ay_region *region)
{
    express_settle(region);
    region->at.lane = LANE_CLOSED;
    region->at.retention.wanted = false;
    region->at.retention.recalled = true;
    return 0;
}

int ay_leave(ay_region *region)
{
    if (__builtin_expect(is_stranger(region), 0))
        return refuse_stranger();
    if (__builtin_expect(region->at.lane == LANE_TAKEN, 1))
        return leave_by_express(region);
    if (region->at.lane != LANE_AGAIN)
        return leave(region);
    return express_pause(region) ? 0 : lose_permission(region);
}

uint64_t ay_fence(const ay_region *region)
{
    if (is_stranger(region) || !region->at.habits.entered)
        return 0; /* the number in its word is that of the place's last owner */
    return region->at.near.cluster ? ay__cluster_fence(region)
                                   : ay__fence(region->at.fixed.space, region->at.fixed.self);
}

size_t ay_units(const ay_region *region, unsigned *units, size_t room)
{
    if (is_stranger(region) || !region_is_inside(region))
        return 0;
    size_t count = 0;
    for (unsigned unit = 0; unit < region->spec.of; unit++)
        if (atomic_load_explicit(&region->at.fixed.own_cold->units[unit / 64],
                                 memory_order_relaxed) >>
                unit % 64 &
            1) {
            if (count < room)
                units[count] = unit;
            count++;
        }
    return count;
}
