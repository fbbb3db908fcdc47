/* SPDX-License-Identifier: MIT */
/* Scenes of permissions that stay after leaving, and are recalled by the keeper of whoever has
 * them. The keepers act too: each may be slow, or die with its process, at any of its steps. */
#include <errno.h>

#include "memory/passage/state.h"
#include "scenes.h"

static const ay_options retaining = {.places = 4, .retain = 1};

static void prepare_region(void)
{
    open_space(retaining);
    open_region((ay_spec){.name = "x"});
}

static void retain(void)
{
    heed(ay_enter(region));
    say_fence(ay_fence(region));
    ay_leave(region);
    if (atomic_load(&region->at.retention.grant) == 0)
        found("the permission is not retained");
}

/* The first has retained its permission. */
static void prepare_retained(unsigned actor)
{
    prepare_region();
    if (actor == 0)
        retain();
    else
        atomic_store(flag, 0);
}

/* Goes in again, and again, while the others recall. */
static void again_beside(unsigned actor)
{
    pass();
    if (actor == 0)
        pass();
}

/* The first does nothing: all is its keeper's. */
static void recall_only(unsigned actor)
{
    if (actor > 0)
        pass();
}

static void prepare_to_retain(unsigned actor)
{
    (void)actor;
    prepare_region();
}

/* Nobody has a permission yet: whoever leaves decides whether it may keep it. */
static void retain_beside(unsigned actor)
{
    (void)actor;
    pass();
    pass();
}

/* Closes while it retains, or was recalled and does not know it; the other may be aside then. */
static void close_beside(unsigned actor)
{
    if (actor == 0) {
        close_region();
        open_region((ay_spec){.name = "x"});
        heed(ay_enter(region));
        atomic_store(flag, 1);
        stay();
    } else {
        heed(ay_enter_when(region, is_set, NULL, -1));
        stay();
    }
}

static void close_only(unsigned actor)
{
    if (actor == 0)
        close_region();
    else
        pass();
}

static void rename_beside(unsigned actor)
{
    if (actor == 0) {
        close_region();
        open_region((ay_spec){.name = "y"});
        heed(ay_enter(region));
        ay_leave(region);
        heed(ay_enter(region));
        ay_leave(region);
    } else {
        pass();
    }
}

/* The rivals have deadlines, or only try: what they recall may come when they are gone. */
static void recall_and_give_up(unsigned actor)
{
    if (actor == 0) {
        pass();
        pass();
        return;
    }
    pass_in_time();
    const int result = ay_try(region);
    if (result != -EBUSY) {
        heed(result);
        stay();
    }
    pass();
}

/* Two regions, two permissions: the keeper takes back both, whichever was meant. */
static void prepare_two(unsigned actor)
{
    prepare_retained(actor);
    if (actor == 0) {
        ay_region *other;
        const ay_spec spec = {.name = "y"};
        if (ay_region_open(space, &spec, &other) != 0)
            found("ay_region_open: %s", ay_message());
        heed(ay_enter(other));
        ay_leave(other);
    } else if (actor == 2) {
        close_region();
        open_region((ay_spec){.name = "y"});
    }
}

static void pass_apart(unsigned actor)
{
    if (actor == 2) {
        heed(ay_enter(region));
        ay_leave(region);
    } else {
        pass();
    }
}

static void audit_apart(unsigned deaths, unsigned kills)
{
    (void)deaths;
    audit_of((ay_spec){.name = "y"}, 0, kills);
}

static void prepare_modes(unsigned actor)
{
    room = actor == 1 ? 1 : 3;
    open_space(retaining);
    open_region((ay_spec){.name = "x", .mode = actor == 1 ? AY_EXCLUSIVE : AY_SHARED});
    if (actor == 0) {
        heed(ay_enter(region));
        ay_leave(region);
    }
}

const struct scene scenes_retained[] = {
    {.name = "a recall",
     .actors = 2,
     .prepare = prepare_retained,
     .act = recall_only,
     .audit = audit_x,
     .threads = true},
    {.name = "a recall while it goes in again",
     .actors = 2,
     .prepare = prepare_retained,
     .act = again_beside,
     .audit = audit_x,
     .threads = true},
    {.name = "two recall",
     .actors = 3,
     .prepare = prepare_retained,
     .act = again_beside,
     .audit = audit_x,
     .threads = true},
    {.name = "two retain in turn",
     .actors = 2,
     .prepare = prepare_to_retain,
     .act = retain_beside,
     .audit = audit_x,
     .threads = true},
    {.name = "one closes while it retains",
     .actors = 2,
     .prepare = prepare_retained,
     .act = close_only,
     .audit = audit_x,
     .threads = true},
    {.name = "one closes while it retains, beside one aside",
     .actors = 2,
     .prepare = prepare_retained,
     .act = close_beside,
     .audit = audit_x,
     .threads = true,
     .immortal = true}, /* who is to set the flag must not die before */
    {.name = "one that retains changes its name",
     .actors = 2,
     .prepare = prepare_retained,
     .act = rename_beside,
     .audit = audit_apart,
     .threads = true},
    {.name = "a recall is given up",
     .actors = 2,
     .prepare = prepare_retained,
     .act = recall_and_give_up,
     .audit = audit_x,
     .threads = true,
     .hurried = true},
    {.name = "two permissions of one process",
     .actors = 3,
     .prepare = prepare_two,
     .act = pass_apart,
     .audit = audit_x,
     .threads = true},
    {.name = "a reader retains",
     .actors = 3,
     .prepare = prepare_modes,
     .act = pass_once,
     .audit = audit_x,
     .threads = true},
    {0},
};
