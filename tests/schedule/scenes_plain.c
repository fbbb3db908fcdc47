/* SPDX-License-Identifier: MIT */
/* Scenes of a few processes around one region: what the engine does around the protocol's text
 * (claiming, gathering, sleeping, waking, telling deaths). */
#include "scenes.h"

static void audit_y(unsigned deaths, unsigned kills)
{
    (void)deaths;
    audit_of((ay_spec){.name = "y"}, 0, kills);
}

/* Strangers no longer: rivals are gathered, and the express lane is open. */
static void prepare_warm(unsigned actor)
{
    prepare_x(actor);
    for (int times = 0; times < 2; times++) {
        ay_enter(region);
        say_fence(ay_fence(region));
        ay_leave(region);
    }
}

/* Gives its place back and takes another, or the same, between two passages. */
static void pass_and_move(unsigned actor)
{
    (void)actor;
    pass();
    close_region();
    open_region((ay_spec){.name = "x"});
    pass();
}

/* One comes and goes; the others stay, and remember it. */
static void one_moves(unsigned actor)
{
    if (actor == 0)
        pass_and_move(actor);
    else
        pass_twice(actor);
}

/* One that stays for long has the next one ready. */
static void pass_and_wake_next(unsigned actor)
{
    (void)actor;
    heed(ay_enter(region));
    if (ay_wake_next(region) != 0)
        found("ay_wake_next: %s", ay_message());
    stay();
}

/* Who stays for long is the writer: readers wait for it side by side. */
static void write_and_wake_next(unsigned actor)
{
    if (actor == 0)
        pass_and_wake_next(actor);
    else
        pass_once(actor);
}

static void prepare_space(unsigned actor)
{
    open_space((ay_options){.places = 4});
    if (actor > 0)
        open_region((ay_spec){.name = "x"});
}

/* The first opens its region beside those who pass. */
static void open_beside(unsigned actor)
{
    if (actor == 0)
        open_region((ay_spec){.name = "x"});
    pass();
}

static void prepare_to_open(unsigned actor)
{
    (void)actor;
    open_space((ay_options){.places = 4});
}

/* Both take a place at the same time. */
static void open_and_pass(unsigned actor)
{
    (void)actor;
    open_region((ay_spec){.name = "x"});
    pass();
}

/* The first moves from x to y, in the same place; the second knows it as a rival, and then not. */
static void change_names(unsigned actor)
{
    pass();
    if (actor == 0) {
        close_region();
        open_region((ay_spec){.name = "y"});
        heed(ay_enter(region));
        point();
        ay_leave(region);
    }
}

static void prepare_condition(unsigned actor)
{
    if (actor == 0)
        atomic_store(flag, 0);
    prepare_x(actor);
}

/* The second sets what the first waits for, at the end: until then each passage is news. */
static void wait_for_flag(unsigned actor)
{
    if (actor == 1) {
        pass();
        heed(ay_enter(region));
        atomic_store(flag, 1);
    } else {
        heed(ay_enter_when(region, is_set, NULL, -1));
    }
    stay();
}

static void prepare_unit(unsigned actor)
{
    (void)actor;
    open_space((ay_options){.places = 4});
    open_region((ay_spec){.name = "x", .take = 1, .of = 1});
}

static void audit_unit(unsigned deaths, unsigned kills)
{
    audit_of((ay_spec){.name = "x", .take = 1, .of = 1}, deaths, kills);
}

static void prepare_modes(unsigned actor)
{
    open_space((ay_options){.places = 4});
    room = actor == 0 ? 1 : 3;
    open_region((ay_spec){.name = "x", .mode = actor == 0 ? AY_EXCLUSIVE : AY_SHARED});
}

const struct scene scenes_plain[] = {
    {.name = "two pass", .actors = 2, .prepare = prepare_x, .act = pass_twice, .audit = audit_x},
    {.name = "two by the express lane",
     .actors = 2,
     .prepare = prepare_warm,
     .act = pass_twice,
     .audit = audit_x},
    {.name = "three pass", .actors = 3, .prepare = prepare_x, .act = pass_once, .audit = audit_x},
    {.name = "three wake the next",
     .actors = 3,
     .prepare = prepare_x,
     .act = pass_and_wake_next,
     .audit = audit_x},
    {.name = "a place changes its owner",
     .actors = 2,
     .prepare = prepare_x,
     .act = one_moves,
     .audit = audit_x},
    {.name = "two open",
     .actors = 2,
     .prepare = prepare_to_open,
     .act = open_and_pass,
     .audit = audit_x},
    {.name = "one opens",
     .actors = 3,
     .prepare = prepare_space,
     .act = open_beside,
     .audit = audit_x},
    {.name = "a place changes its name",
     .actors = 2,
     .prepare = prepare_x,
     .act = change_names,
     .audit = audit_y},
    {.name = "two slots",
     .actors = 3,
     .prepare = prepare_slots,
     .act = pass_once,
     .audit = audit_slots},
    {.name = "a condition",
     .actors = 2,
     .prepare = prepare_condition,
     .act = wait_for_flag,
     .audit = audit_x,
     .immortal = true}, /* who is to set it must not die before */
    {.name = "a unit", .actors = 3, .prepare = prepare_unit, .act = pass_once, .audit = audit_unit},
    {.name = "readers and a writer",
     .actors = 3,
     .prepare = prepare_modes,
     .act = pass_once,
     .audit = audit_x},
    {.name = "a writer wakes the next reader",
     .actors = 3,
     .prepare = prepare_modes,
     .act = write_and_wake_next,
     .audit = audit_x},
    {0},
};
