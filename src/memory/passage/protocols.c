/* SPDX-License-Identifier: MIT */
/* The protocols of the papers, built for this engine: each passage inlined over the registers of
 * region.h. `courtesy` is in courtesy/hooks.c. */
#include <string.h>

#include "memory/passage/words.h"

#include "protocols/registers/bakery.h"
#include "protocols/registers/clock.h"
#include "protocols/registers/forks.h"
#include "protocols/registers/pair.h"
#include "protocols/registers/races.h"
#include "protocols/registers/region.h"

static uint64_t dead_is_zero(unsigned index, uint64_t value)
{
    (void)index;
    (void)value;
    return 0;
}

static uint64_t dead_bakery(unsigned index, uint64_t value)
{
    (void)index;
    return bakery_dead(value);
}

static uint64_t dead_region(unsigned index, uint64_t value)
{
    return index == 0 ? region_outside(value) : 0;
}

static struct region_rules region_rules(const struct registers *at)
{
    return (struct region_rules){.precedence = at->fixed.space->precedence ? REGION_BY_CLASS
                                                                           : REGION_IN_ORDER};
}

static bool enter_region(struct registers *at)
{
    struct region_passage my = {0};
    return region_run(&my, at, region_rules(at)) == PASSED;
}

static void leave_region(struct registers *at)
{
    struct region_passage my = {0};
    region_withdraw(&my, at, region_rules(at));
}

/* One that died is one that stopped outside: x is clear, and its forks are where it left them. */
static bool dead_bit_forks(unsigned index, bool value)
{
    return index != 0 && value;
}

_Static_assert(sizeof(struct fork_memory) <= sizeof((struct registers *)0)->kept,
               "what is remembered has room");

static bool enter_forks(struct registers *at)
{
    struct forks_passage my = {0};
    memcpy(&my.memory, at->kept, sizeof my.memory);
    const bool passed = forks_enter(&my, at) == PASSED;
    memcpy(at->kept, &my.memory, sizeof my.memory);
    return passed;
}

static void leave_forks(struct registers *at)
{
    struct forks_passage my = {0};
    memcpy(&my.memory, at->kept, sizeof my.memory);
    forks_leave(&my, at);
    memcpy(at->kept, &my.memory, sizeof my.memory);
}

#define PASSAGES(name)                                                                             \
    static bool enter_##name(struct registers *at)                                                 \
    {                                                                                              \
        struct name##_passage my = {0};                                                            \
        return name##_enter(&my, at) == PASSED;                                                    \
    }                                                                                              \
    static void leave_##name(struct registers *at)                                                 \
    {                                                                                              \
        struct name##_passage my = {0};                                                            \
        name##_leave(&my, at);                                                                     \
    }

PASSAGES(pair)
PASSAGES(races)
PASSAGES(clock)
PASSAGES(bakery)

static void nothing(struct registers *at)
{
    (void)at;
}

static int64_t for_ever(struct registers *at)
{
    (void)at;
    return INT64_MAX;
}

static void rouse_after_entering(struct registers *at, bool had_to_wait)
{
    (void)had_to_wait;
    ay__rouse(at);
}

/* Who stores says nothing of sleepers: the engine looks for them, before it sleeps itself, when it
 * is inside, and when it has left. */
static const struct passage_hooks hooks = {
    .before_entering = nothing,
    .before_awaiting = ay__rouse,
    .longest_await = for_ever,
    .after_entering = rouse_after_entering,
    .after_giving_up = ay__rouse,
    .before_leaving = nothing,
    .after_leaving = ay__rouse,
};

/* Of protocols whose passages go by every place, used or not. */
enum { PLACES_RACED = 4096 };

static const struct running_protocol others[] = {
    {.name = "pair",
     .places_most = 2,
     .places_default = 2,
     .granules = 2,
     .enter = enter_pair,
     .leave = leave_pair,
     .hooks = &hooks,
     .dead = dead_is_zero},
    {.name = "races",
     .places_most = PLACES_RACED,
     .places_default = 64,
     .granules = 2,
     .features = FEATURE_EVERY_PLACE,
     .enter = enter_races,
     .leave = leave_races,
     .hooks = &hooks,
     .dead = dead_is_zero},
    {.name = "clock",
     .places_most = PLACES_RACED,
     .places_default = 16, /* each passage goes round the whole clock: four ticks a place */
     .granules = 2,
     .features = FEATURE_EVERY_PLACE,
     .enter = enter_clock,
     .leave = leave_clock,
     .hooks = &hooks,
     .dead = dead_is_zero},
    {.name = "region",
     .places_most = 64,
     /* a two-process lock with every other place: cost and memory grow with them */
     .places_default = 16,
     .granules = 3,
     .features =
         FEATURE_NAMES | FEATURE_MODES | FEATURE_WHEN | FEATURE_PRECEDENCE | FEATURE_EVERY_PLACE,
     .enter = enter_region,
     .leave = leave_region,
     .hooks = &hooks,
     .dead = dead_region},
    {.name = "forks",
     .places_most = FORKS_PLACES_MOST,
     .places_default = 8,
     .granules = 3,
     .features = FEATURE_SLOTS | FEATURE_EVERY_PLACE,
     .enter = enter_forks,
     .leave = leave_forks,
     .hooks = &hooks,
     .dead = dead_is_zero,
     .dead_bit = dead_bit_forks},
    {.name = "bakery",
     .places_most = AY_PLACES_MOST,
     .places_default = AY_PLACES_MOST,
     .granules = 2,
     .features = FEATURE_NAMES | FEATURE_MODES,
     .enter = enter_bakery,
     .leave = leave_bakery,
     .hooks = &hooks,
     .number_shift = BAKERY_NUMBER_SHIFT,
     .number_bits = BAKERY_NUMBER_BITS,
     .dead = dead_bakery},
};

const struct running_protocol *ay__protocol_at(size_t at)
{
    if (at == 0)
        return &ay__courtesy;
    return at <= sizeof others / sizeof *others ? &others[at - 1] : NULL;
}

const struct running_protocol *ay__protocol(const char *name)
{
    const struct running_protocol *protocol;
    for (size_t at = 0; (protocol = ay__protocol_at(at)); at++)
        if (strcmp(protocol->name, name) == 0)
            return protocol;
    return NULL;
}
