/* SPDX-License-Identifier: MIT */
/* Scenes with deadlines, which may pass at any moment: while one sleeps, when it was just woken, or
 * when it is the one that has to pass a wake-up on. */
#include <errno.h>

#include "scenes.h"

/* The last has a deadline; the one behind it in the queue has none. */
static void give_up_between(unsigned actor)
{
    if (actor == 1)
        pass_in_time();
    else
        pass();
}

static void all_give_up(unsigned actor)
{
    if (!pass_in_time())
        pass_once(actor);
}

static void try_beside(unsigned actor)
{
    for (int times = 0; times < 2; times++) {
        const int result = actor == 0 ? ay_enter(region) : ay_try(region);
        if (result == -EBUSY)
            continue;
        heed(result);
        stay();
    }
}

static void prepare_units(unsigned actor)
{
    room = 3;
    open_space((ay_options){.places = 4});
    open_region((ay_spec){.name = "x", .take = actor == 0 ? 2 : 1, .of = 2});
}

static void audit_units(unsigned deaths, unsigned kills)
{
    audit_of((ay_spec){.name = "x", .take = 1, .of = 2}, deaths, kills);
}

static void prepare_flag(unsigned actor)
{
    if (actor == 0)
        atomic_store(flag, 0);
    prepare_x(actor);
}

/* One waits for the flag in time, one without end; the last sets it. */
static void when_in_time(unsigned actor)
{
    if (actor == 0) {
        pass_when_set_in_time();
    } else if (actor == 1) {
        heed(ay_enter_when(region, is_set, NULL, -1));
        stay();
    } else {
        pass();
        heed(ay_enter(region));
        atomic_store(flag, 1);
        stay();
    }
}

/* Nobody sets it: the deadline ends it. */
static void when_in_vain(unsigned actor)
{
    if (actor == 0 && pass_when_set_in_time())
        found("entered, though the flag is not set");
    pass();
}

static void prepare_overtaking(unsigned actor)
{
    (void)actor;
    open_space((ay_options){.places = 4, .overtake = 2});
    open_region((ay_spec){.name = "x"});
}

static void prepare_by_class(unsigned actor)
{
    room = actor == 1 ? 1 : 3;
    open_space((ay_options){.places = 4, .precedence = AY_WRITERS_FIRST});
    open_region((ay_spec){.name = "x", .mode = actor == 1 ? AY_EXCLUSIVE : AY_SHARED});
}

/* Both readers wait for the writer: whoever is told of its end has to tell the other. */
static void prepare_readers(unsigned actor)
{
    room = actor == 0 ? 1 : 3;
    open_space((ay_options){.places = 4});
    open_region((ay_spec){.name = "x", .mode = actor == 0 ? AY_EXCLUSIVE : AY_SHARED});
}

const struct scene scenes_hurried[] = {
    {.name = "one gives up between two",
     .actors = 3,
     .prepare = prepare_x,
     .act = give_up_between,
     .audit = audit_x,
     .hurried = true},
    {.name = "two give up",
     .actors = 2,
     .prepare = prepare_x,
     .act = all_give_up,
     .audit = audit_x,
     .hurried = true},
    {.name = "one only tries",
     .actors = 2,
     .prepare = prepare_x,
     .act = try_beside,
     .audit = audit_x},
    {.name = "giving up with slots",
     .actors = 4,
     .prepare = prepare_slots,
     .act = give_up_between,
     .audit = audit_slots,
     .hurried = true},
    {.name = "giving up with units",
     .actors = 3,
     .prepare = prepare_units,
     .act = give_up_between,
     .audit = audit_units,
     .hurried = true},
    {.name = "a condition in time",
     .actors = 3,
     .prepare = prepare_flag,
     .act = when_in_time,
     .audit = audit_x,
     .immortal = true, /* who is to set the flag must not die before */
     .hurried = true},
    {.name = "a condition in vain",
     .actors = 2,
     .prepare = prepare_flag,
     .act = when_in_vain,
     .audit = audit_x,
     .hurried = true,
     .in_vain = true},
    {.name = "a reader gives up beside a reader",
     .actors = 3,
     .prepare = prepare_readers,
     .act = give_up_between,
     .audit = audit_x,
     .hurried = true},
    {.name = "giving up where one may overtake",
     .actors = 3,
     .prepare = prepare_overtaking,
     .act = give_up_between,
     .audit = audit_x,
     .hurried = true},
    {.name = "giving up where writers go first",
     .actors = 3,
     .prepare = prepare_by_class,
     .act = give_up_between,
     .audit = audit_x,
     .hurried = true},
    {0},
};
