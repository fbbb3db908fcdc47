/* SPDX-License-Identifier: MIT */
/* What actors do in scenes: open, enter, stay, leave, give up; and the audit at the end. */
#include <errno.h>

#include "scenes.h"

char space_path[64];
ay_space *space;
ay_region *region;
unsigned room = 1;
_Atomic int *flag;

void open_space(ay_options options)
{
    if (ay_open(space_path, &options, &space) != 0)
        found("ay_open: %s", ay_message());
}

void open_region(ay_spec spec)
{
    if (ay_region_open(space, &spec, &region) != 0)
        found("ay_region_open: %s", ay_message());
}

void close_region(void)
{
    ay_region_close(region);
}

void heed(int result)
{
    if (result == AY_AFTER_DEATH)
        say_told();
    else if (result != 0)
        found("ay_enter: %d, %s", result, ay_message());
}

void stay(void)
{
    say_inside(room);
    if (room == 1)
        say_fence(ay_fence(region));
    point();
    say_outside();
    if (ay_leave(region) != 0)
        found("ay_leave: %s", ay_message());
}

void pass(void)
{
    heed(ay_enter(region));
    stay();
}

static bool stay_unless_late(int result)
{
    say_hurried(false);
    if (result == -ETIMEDOUT || result == -EBUSY)
        return false;
    heed(result);
    stay();
    return true;
}

bool pass_in_time(void)
{
    say_hurried(true);
    return stay_unless_late(ay_enter_for(region, DEADLINE_MS));
}

bool is_set(void *unused)
{
    (void)unused;
    return atomic_load(flag) != 0;
}

bool pass_when_set_in_time(void)
{
    say_hurried(true);
    return stay_unless_late(ay_enter_when(region, is_set, NULL, DEADLINE_MS));
}

/* ---- the end: nothing is wedged, and deaths were told as often as they happened ---- */

void audit_of(ay_spec spec, unsigned deaths, unsigned kills)
{
    open_space((ay_options){0});
    open_region(spec);
    unsigned told = told_so_far();
    while (told <= kills) {
        const int result = ay_enter_for(region, 10 * 1000);
        if (result != 0 && result != AY_AFTER_DEATH)
            found("in the end nobody can enter: %s", ay_message());
        ay_leave(region);
        if (result == 0)
            break;
        told++;
    }
    /* who is killed on its way in or out may count as inside for the library */
    if (told < deaths || told > kills)
        found("%u died inside, of %u that were killed; %u were told", deaths, kills, told);
}

/* ---- around a region "x" ---- */

void prepare_x(unsigned actor)
{
    (void)actor;
    open_space((ay_options){.places = 4});
    open_region((ay_spec){.name = "x"});
}

void pass_once(unsigned actor)
{
    (void)actor;
    pass();
}

void pass_twice(unsigned actor)
{
    pass_once(actor);
    pass_once(actor);
}

void audit_x(unsigned deaths, unsigned kills)
{
    audit_of((ay_spec){.name = "x"}, deaths, kills);
}

void prepare_slots(unsigned actor)
{
    (void)actor;
    room = 2;
    open_space((ay_options){.places = 4});
    open_region((ay_spec){.name = "x", .slots = 2});
}

void audit_slots(unsigned deaths, unsigned kills)
{
    audit_of((ay_spec){.name = "x", .slots = 2}, deaths, kills);
}
