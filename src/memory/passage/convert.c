/* SPDX-License-Identifier: MIT */
/* Conversion: who is inside changes its mode (protocols/registers/courtesy/courtesy_convert.h).
 *
 * To become stronger is a passage of its own, as far as waiting goes: it has a deadline, sleeps, is
 * seen to sleep, and may close a cycle of waiting threads. But it is inside all the while, in the
 * mode that it had, and counts as such for whoever looks: for a death, for its units, for ay_leave.
 */
#include "memory/passage/convert.h"

#include <errno.h>

#include "memory/file/named.h"
#include "memory/passage/annotate.h"
#include "memory/passage/long_way.h"
#include "memory/passage/region.h"
#include "memory/remote/kind.h"

int ay__mode_is_allowed(const ay_region *region, ay_mode mode)
{
    const struct registers *at = &region->at;
    const struct public_spec *spec = at->fixed.spec;
    if ((unsigned)mode >= MODES)
        return ay__fail(-EINVAL, "there is no mode %d", (int)mode);
    if (!modes_include(spec->mode, mode))
        return ay__fail(-EINVAL, "the region was opened as %s, and cannot become %s",
                        mode_name(spec->mode), mode_name(mode));
    if ((unsigned)mode == spec->mode)
        return 0;
    if (!at->fixed.protocol->upgrade)
        return ay__fail(-ENOTSUP,
                        "under the protocol '%s' a region has the mode that it was opened with",
                        at->fixed.protocol->name);
    if (spec->slots > 1 || spec->take > 0)
        return ay__fail(-ENOTSUP, "a region with slots or units has one mode");
    if (at->fixed.space->retain)
        return ay__fail(-ENOTSUP, "where permissions are retained, a region has the mode that it "
                                  "was opened with: use a space without `retain`");
    return 0;
}

unsigned ay__mode_join(unsigned mode, unsigned other)
{
    return modes_include(mode, other)   ? mode
           : modes_include(other, mode) ? other
                                        : MODE_PROTECTED_WRITE;
}

/* To a weaker mode; its leaving of the stronger one stands in the trace already. */
static void lower(ay_region *region, unsigned mode)
{
    struct registers *at = &region->at;
    if (at->near.cluster)
        ay__cluster_leaves(region);
    annotate_leave(at->fixed.spec);
    at->near.mode = (uint8_t)mode;
    at->fixed.protocol->downgrade(at, mode);
    if (__builtin_expect(ay__trace_file >= 0, 0))
        ay__trace_converted(region, true);
}

static void downgrade(ay_region *region, unsigned mode)
{
    if (__builtin_expect(ay__trace_file >= 0, 0))
        ay__trace(region, "leave");
    lower(region, mode);
}

/* Waits for the stronger mode. 0: it has it; of its entry, the trace is told by the caller: after
 * the deaths that made way for it. */
static int upgrade(ay_region *region, unsigned mode, int64_t deadline)
{
    struct registers *at = &region->at;
    struct cold *own = at->fixed.own_cold;
    const int64_t since = atomic_load(&own->since_ns);
    const bool by_ask = at->passage.by_ask;
    at->passage = (struct this_passage){.deadline = deadline,
                                        .reason = -ETIMEDOUT,
                                        .give_up = -ETIMEDOUT,
                                        .queues = true,
                                        .inside = true,
                                        .depth = at->passage.depth,
                                        .by_ask = by_ask,
                                        .unheard = AT_NOBODY};
    at->mine.passage++;
    atomic_store(&own->held, at->near.mode); /* before the word shows the mode that it wants */
    if (by_ask)
        ay__ask_thread_holds(region);
    const enum conversion end = at->fixed.protocol->upgrade(at, mode);
    ay__stop_waiting(at);
    if (by_ask)
        ay__ask_holds(region);
    if (end == CONVERSION_MADE) {
        if (__builtin_expect(ay__trace_file >= 0, 0))
            ay__trace(region, "leave");
        annotate_enter(at->fixed.spec);
        at->near.mode = (uint8_t)mode;
        atomic_store(&own->since_ns, ay__now());
        atomic_store(&own->since_fence, ay_fence(region));
        return 0;
    }
    atomic_store(&own->since_ns, since);
    if (end == CONVERSION_REFUSED)
        return ay__fail(-EDEADLK,
                        "another that conflicts is becoming stronger too, and goes first");
    return at->passage.reason;
}

/* Others may be inside, in a new file; or on another machine. The agent does not come in any more
 * to lend a part of the permission: it is as it will be. */
static int check_upgraded(ay_region *region)
{
    struct registers *at = &region->at;
    const int error = named_disturbed(at) ? ay__named_ask(at) : 0;
    if (error || !at->near.cluster || region->remote.needed == PERMISSION_NONE)
        return error;
    if (ay__cluster_suffices(region))
        return ay__cluster_announce(region) ? 0 : at->passage.reason;
    return ay__fail(-EDEADLK,
                    "other machines may be inside beside it, which it cannot wait for "
                    "while it is inside: leave, and enter it as %s",
                    mode_name(at->near.mode));
}

int ay__convert_one(ay_region *region, unsigned mode, int64_t deadline)
{
    struct registers *at = &region->at;
    const unsigned least = ay__mode_join(at->near.mode, mode);
    int told = 0;
    ay__go_on_by_long_way(at);
    if (least != at->near.mode) {
        if (numbers_used_up(at))
            return ay__fail(-EOVERFLOW,
                            "the numbers of the space %s are used up: remove it when nobody uses "
                            "it (afteryou spaces remove)",
                            at->fixed.space->path);
        const unsigned had = at->near.mode;
        int error = upgrade(region, least, deadline);
        if (error)
            return error;
        error = check_upgraded(region);
        if (error) {
            lower(region, had);
            return error;
        }
        told = registers_has_news(at) ? ay__deaths_attend(region) : 0;
        if (__builtin_expect(ay__trace_file >= 0, 0))
            ay__trace_converted(region, false);
        if (at->fixed.tells) /* those who conflict with the new mode alone have not said so */
            ay__wanted_tell(region);
    }
    if (least != mode)
        downgrade(region, mode);
    return told;
}

int ay_convert(ay_region *region, ay_mode mode, int timeout_ms)
{
    AY__UNCANCELLED;
    struct registers *at = &region->at;
    if (region_is_strange(region))
        return ay__refuse_stranger();
    if (!region_is_entered(region))
        return ay__fail(-EPERM, "the caller is not inside the region");
    if (ay__thread != at->passer.thread)
        return ay__fail(-EPERM, "another thread has entered: it alone can change the mode");
    const int error = ay__mode_is_allowed(region, mode);
    if (error)
        return error;
    if (at->passage.asking)
        return ay__fail(-EDEADLK,
                        "this region is being converted: what is asked meanwhile cannot do so");
    if ((unsigned)mode == at->near.mode)
        return 0;
    const int64_t deadline = timeout_ms < 0    ? INT64_MAX
                             : timeout_ms == 0 ? INT64_MIN
                                               : ay__now() + (int64_t)timeout_ms * 1000000;
    const int result = region->remote.kind
                           ? region->remote.kind->convert(region, (unsigned)mode, deadline)
                           : ay__convert_one(region, (unsigned)mode, deadline);
    return result == -ETIMEDOUT
               ? ay__fail(-ETIMEDOUT, "not converted within %d ms: it stays as it was", timeout_ms)
               : result;
}
