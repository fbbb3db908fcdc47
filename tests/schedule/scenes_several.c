/* SPDX-License-Identifier: MIT */
/* Scenes in which several wait together: sleepers for slots, for units, aside; modes; and more
 * rivals than a watch has room for, in the build that has little. */
#include "scenes.h"

/* Three units: one wants two of them, the others one or all. */
static void prepare_units(unsigned actor)
{
    static const unsigned wants[] = {2, 1, 3, 1};
    room = 3;
    open_space((ay_options){.places = 4});
    open_region((ay_spec){.name = "x", .take = wants[actor], .of = 3});
}

static void audit_units(unsigned deaths, unsigned kills)
{
    audit_of((ay_spec){.name = "x", .take = 1, .of = 3}, deaths, kills);
}

static bool is_at_least(void *least)
{
    return atomic_load(flag) >= *(int *)least;
}

static void prepare_count(unsigned actor)
{
    if (actor == 0)
        atomic_store(flag, 0);
    prepare_x(actor);
}

/* A count that each raises: the second waits for the first, the third for the second. */
static void count_in_turn(unsigned actor)
{
    int least = (int)actor;
    heed(ay_enter_when(region, is_at_least, &least, -1));
    atomic_fetch_add(flag, 1);
    stay();
}

static void prepare_slots_and_count(unsigned actor)
{
    if (actor == 0)
        atomic_store(flag, 0);
    prepare_slots(actor);
}

static void prepare_modes(unsigned actor)
{
    static const ay_mode modes[] = {AY_EXCLUSIVE, AY_SHARED, AY_CONCURRENT_WRITE,
                                    AY_CONCURRENT_READ};
    room = modes[actor] == AY_EXCLUSIVE ? 1 : 4;
    open_space((ay_options){.places = 4});
    open_region((ay_spec){.name = "x", .mode = modes[actor]});
}

static void prepare_overtaking(unsigned actor)
{
    (void)actor;
    open_space((ay_options){.places = 4, .overtake = 2});
    open_region((ay_spec){.name = "x"});
}

static void prepare_by_priority(unsigned actor)
{
    open_space((ay_options){.places = 4, .precedence = AY_BY_PRIORITY});
    open_region((ay_spec){.name = "x", .priority = (int)actor});
}

/* Readers may go in before a writer that sleeps: then it finds several of them inside. */
static void prepare_readers_overtake(unsigned actor)
{
    room = actor == 0 ? 1 : 3;
    open_space((ay_options){.places = 4, .overtake = 8});
    open_region((ay_spec){.name = "x", .mode = actor == 0 ? AY_EXCLUSIVE : AY_SHARED});
}

static void prepare_readers(unsigned actor)
{
    room = actor == 0 ? 1 : 3;
    open_space((ay_options){.places = 4});
    open_region((ay_spec){.name = "x", .mode = actor == 0 ? AY_EXCLUSIVE : AY_SHARED});
}

/* The first stays inside until all others are done: it keeps nobody waiting who may be inside with
 * it. */
static void one_stays(unsigned actor)
{
    if (actor > 0) {
        pass();
        return;
    }
    heed(ay_enter(region));
    say_inside(room);
    linger();
    say_outside();
    ay_leave(region);
}

static void prepare_shared(unsigned actor)
{
    (void)actor;
    room = 3;
    open_space((ay_options){.places = 4});
    open_region((ay_spec){.name = "x", .mode = AY_SHARED});
}

static void prepare_small_units(unsigned actor)
{
    static const unsigned wants[] = {1, 2, 1, 2};
    room = 3;
    open_space((ay_options){.places = 4});
    open_region((ay_spec){.name = "x", .take = wants[actor], .of = 3});
}

const struct scene scenes_several[] = {
    {.name = "four pass", .actors = 4, .prepare = prepare_x, .act = pass_once, .audit = audit_x},
    {.name = "two slots for four",
     .actors = 4,
     .prepare = prepare_slots,
     .act = pass_once,
     .audit = audit_slots},
    {.name = "three units for four",
     .actors = 4,
     .prepare = prepare_units,
     .act = pass_once,
     .audit = audit_units},
    {.name = "two aside",
     .actors = 3,
     .prepare = prepare_count,
     .act = count_in_turn,
     .audit = audit_x,
     .immortal = true}, /* who is to raise the count must not die before */
    {.name = "two aside with slots",
     .actors = 3,
     .prepare = prepare_slots_and_count,
     .act = count_in_turn,
     .audit = audit_slots,
     .immortal = true},
    {.name = "four modes",
     .actors = 4,
     .prepare = prepare_modes,
     .act = pass_once,
     .audit = audit_x},
    {.name = "three that may overtake",
     .actors = 3,
     .prepare = prepare_overtaking,
     .act = pass_twice,
     .audit = audit_x},
    {.name = "readers overtake a writer",
     .actors = 3,
     .prepare = prepare_readers_overtake,
     .act = pass_twice,
     .audit = audit_x},
    {.name = "readers and a writer, twice",
     .actors = 3,
     .prepare = prepare_readers,
     .act = pass_twice,
     .audit = audit_x},
    {.name = "one of two slots stays taken",
     .actors = 4,
     .prepare = prepare_slots,
     .act = one_stays,
     .audit = audit_slots},
    {.name = "one of three units stays taken",
     .actors = 4,
     .prepare = prepare_small_units,
     .act = one_stays,
     .audit = audit_units},
    {.name = "a reader stays inside",
     .actors = 3,
     .prepare = prepare_shared,
     .act = one_stays,
     .audit = audit_x},
    {.name = "three by priority",
     .actors = 3,
     .prepare = prepare_by_priority,
     .act = pass_once,
     .audit = audit_x},
    {0},
};
