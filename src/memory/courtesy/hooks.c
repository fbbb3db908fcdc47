/* SPDX-License-Identifier: MIT */
/* `courtesy`, built for this engine, and what it does around a passage of the long way: it closes
 * and opens the lane, chooses units, and wakes the next one early. */
#include "memory/courtesy/retention.h"
#include "memory/passage/words.h"

#include "protocols/registers/courtesy/courtesy.h"

static uint64_t dead(unsigned index, uint64_t value)
{
    (void)index;
    return courtesy_dead(value);
}

static bool is_aside(uint64_t value)
{
    return courtesy_state(value) == COURTESY_ASIDE;
}

static bool is_inside(uint64_t value)
{
    return courtesy_state(value) == COURTESY_INSIDE;
}

static bool is_upgrading(uint64_t value)
{
    return courtesy_state(value) == COURTESY_UPGRADES;
}

static unsigned mode_of(uint64_t value)
{
    return courtesy_mode(value);
}

static bool wants(uint64_t value)
{
    switch (courtesy_state(value)) {
    case COURTESY_UPGRADES:
    case COURTESY_CHOOSING:
    case COURTESY_QUEUED:
    case COURTESY_ASLEEP:
    case COURTESY_ASIDE:
    case COURTESY_CLAIMS:
    case COURTESY_EXPRESS:
        return true;
    default:
        return false;
    }
}

static bool enter(struct registers *at)
{
    struct courtesy_passage my;
    courtesy_begin(&my);
    return courtesy_enter(&my, at) == PASSED;
}

static void leave(struct registers *at)
{
    struct courtesy_passage my;
    if (at->fixed.spec->take > 0) {
        ay__units_give_back(at);
        courtesy_give_back(&my, at);
    } else {
        courtesy_leave(&my, at);
    }
}

static enum conversion upgrade(struct registers *at, unsigned mode)
{
    struct courtesy_passage my;
    courtesy_begin_upgrade(&my);
    if (courtesy_upgrade(&my, at, mode, (struct courtesy_without){0}) == PASSED)
        return my.conversion.refused ? CONVERSION_REFUSED : CONVERSION_MADE;
    courtesy_keep_mode(&my, at);
    return CONVERSION_GIVEN_UP;
}

static void downgrade(struct registers *at, unsigned mode)
{
    struct courtesy_passage my;
    courtesy_downgrade(&my, at, mode);
}

/* With half of the numbers used no permission is retained any longer, which would use them fastest.
 */
static void before_entering(struct registers *at)
{
    lane_close(&at->lane);
    if (__builtin_expect(courtesy_is_half_used(at->mine.word), 0))
        ay__retention_end(at);
}

/* It waits for one in the middle of a step, whom nobody wakes it after: it looks up again soon. */
static int64_t longest_await(struct registers *at)
{
    return ay__next_nap(at);
}

static void after_entering(struct registers *at, bool had_to_wait)
{
    struct courtesy_passage my;
    if (at->fixed.spec->take > 0) {
        ay__units_choose(at);
        courtesy_hold(&my, at);
    } else if (had_to_wait && at->habits.entered && at->fixed.space->overtake == 0 &&
               at->fixed.spec->slots == 1 && ay__spins(at)) {
        /* in strict order it will be the next, whoever comes, and waits awake until I leave; not
         * the first time: who comes once, one of a crowd perhaps, need not be quick */
        ay__wake_next(at, true);
    }
}

static void before_leaving(struct registers *at)
{
    ay__retention_decide(at);
    lane_close(&at->lane);
}

static void after_leaving(struct registers *at)
{
    if (!at->near.plain || !at->habits.calm || at->rivals.news)
        return;
    if (at->passer.thread == 0) /* decided by another than whose it is (ask.c): it is to say anew */
        return;
    if (registers_own(at, COURTESY_GRANT) != 0)
        lane_open_retained(&at->lane, at->passer.thread);
    else
        lane_open(&at->lane, at->passer.thread);
}

static void nothing(struct registers *at)
{
    (void)at;
}

static const struct passage_hooks hooks = {
    .before_entering = before_entering,
    .before_awaiting = nothing,
    .longest_await = longest_await,
    .after_entering = after_entering,
    .after_giving_up = nothing,
    .before_leaving = before_leaving,
    .after_leaving = after_leaving,
};

_Static_assert((COURTESY_QUEUED ^ COURTESY_ASLEEP) == 1, "one mask tells who waits");

const struct running_protocol ay__courtesy = {
    .name = "courtesy",
    .places_most = AY_PLACES_MOST,
    .places_default = AY_PLACES_MOST,
    .granules = 2,
    .features = FEATURE_NAMES | FEATURE_MODES | FEATURE_SLOTS | FEATURE_UNITS | FEATURE_WHEN |
                FEATURE_PRECEDENCE | FEATURE_OVERTAKE,
    .enter = enter,
    .leave = leave,
    .upgrade = upgrade,
    .downgrade = downgrade,
    .mode = mode_of,
    .upgrades = is_upgrading,
    .hooks = &hooks,
    .resumable = &ay__courtesy_resumable,
    .aside = is_aside,
    .inside = is_inside,
    .wants = wants,
    .number_shift = COURTESY_NUMBER_SHIFT,
    .number_bits = COURTESY_NUMBER_BITS,
    .express = true,
    .waits = COURTESY_QUEUED,
    .waits_mask = (1u << COURTESY_STATE_BITS) - 2,
    .dead = dead,
};
