/* SPDX-License-Identifier: MIT */
/* Passages: ay_enter and its kin, and ay_leave. Each goes the shortest way that is open to its
 * thread. */
#include <errno.h>

#include "memory/courtesy/express.h"
#include "memory/passage/convert.h"
#include "memory/passage/long_way.h"
#include "memory/passage/region.h"
#include "memory/remote/cluster.h"

int ay__refuse_stranger(void)
{
    return ay__fail(-EPERM, "the region was opened by another process: a child opens its own");
}

__attribute__((always_inline)) static inline int enter(ay_region *region, int timeout_ms)
{
    const uint64_t lane = lane_for(&region->at.lane, ay__thread);
    if (__builtin_expect(region_is_strange(region), 0))
        return ay__refuse_stranger();
    if (__builtin_expect(lane == 0, 1))
        return __builtin_expect(named_disturbed(&region->at) == 0, 1)
                   ? ay__express_enter(region, timeout_ms)
                   : ay__express_enter_and_ask(region, timeout_ms);
    return lane == LANE_RETAINED ? express_enter_again(region, timeout_ms)
                                 : ay__enter_within(region, timeout_ms);
}

int ay_enter(ay_region *region)
{
    return enter(region, -1);
}

int ay_enter_for(ay_region *region, int timeout_ms)
{
    return enter(region, timeout_ms);
}

int ay_try(ay_region *region)
{
    const int result = enter(region, 0);
    return result == -ETIMEDOUT ? ay__fail(-EBUSY, "somebody else is inside, or before me")
                                : result;
}

int ay_enter_when(ay_region *region, bool (*when)(void *), void *arg, int timeout_ms)
{
    AY__DEFERRED; /* its request is never left behind */
    struct registers *at = &region->at;
    if (region_is_strange(region))
        return ay__refuse_stranger();
    const int error = at->near.cluster ? ay__cluster_offers_conditions(region) : 0;
    if (error)
        return error;
    if (!(at->fixed.protocol->features & FEATURE_WHEN))
        return ay__fail(-ENOTSUP, "the protocol '%s' of this space does not offer conditions",
                        at->fixed.protocol->name);
    const struct request before = at->request; /* of a passage whose `when` calls this */
    at->request.when = when;
    at->request.argument = arg;
    const int result = ay__enter_within(region, timeout_ms);
    at->request = before;
    return result;
}

int ay_enter_unless(ay_region *region, bool (*interrupted)(void *), bool (*when)(void *), void *arg,
                    int timeout_ms)
{
    AY__DEFERRED;
    struct registers *at = &region->at;
    if (region_is_strange(region))
        return ay__refuse_stranger();
    const struct request before = at->request;
    at->request = (struct request){.interrupted = interrupted, .argument = arg};
    const int result =
        when ? ay_enter_when(region, when, arg, timeout_ms) : enter(region, timeout_ms);
    at->request = before;
    return result;
}

int ay_enter_as(ay_region *region, ay_mode mode, int timeout_ms)
{
    AY__DEFERRED;
    struct registers *at = &region->at;
    if (region_is_strange(region))
        return ay__refuse_stranger();
    const int error = ay__mode_is_allowed(region, mode);
    if (error)
        return error;
    if ((unsigned)mode == at->fixed.spec->mode)
        return enter(region, timeout_ms);
    const struct request before = at->request;
    at->request = (struct request){.weaker = true, .mode = mode};
    const int result = ay__enter_within(region, timeout_ms);
    at->request = before;
    return result;
}

int ay_leave(ay_region *region)
{
    if (__builtin_expect(region_is_strange(region), 0))
        return ay__refuse_stranger();
    if (__builtin_expect(lane_is_taken(&region->at.lane), 1))
        return ay__express_leave(region);
    return lane_is_taken_again(&region->at.lane) ? express_leave_again(region)
                                                 : ay__leave_by_long_way(region);
}
