/* SPDX-License-Identifier: MIT */
/* Scenes of places and who is behind them: claimed, closed, taken under another name, shared, left
 * behind by a thread that ended while its process goes on. */
#include <unistd.h>

#include "scenes.h"

/* All open, pass and close: places go from one to the other. */
static void prepare_nothing(unsigned actor)
{
    (void)actor;
    open_space((ay_options){.places = 4});
}

static void come_and_go(unsigned actor)
{
    (void)actor;
    open_region((ay_spec){.name = "x"});
    pass();
    close_region();
}

static void come_and_go_twice(unsigned actor)
{
    come_and_go(actor);
    if (actor == 0)
        come_and_go(actor);
}

/* One sleeps or is inside while the place beside it closes and comes back as a rival. */
static void prepare_names(unsigned actor)
{
    open_space((ay_options){.places = 4});
    open_region((ay_spec){.name = actor == 0 ? "y" : "x"});
}

static void become_a_rival(unsigned actor)
{
    if (actor == 0) {
        close_region();
        open_region((ay_spec){.name = "x"});
    }
    pass();
}

/* Threads of the first process: the one that entered ends, and another comes to the same region. */
static void *pass_in_thread(void *unused)
{
    pass();
    return unused;
}

static void *end_inside(void *unused)
{
    heed(ay_enter(region));
    say_inside(room);
    say_fence(ay_fence(region));
    point();
    return unused; /* inside: its death is told */
}

static void pass_by_thread(unsigned actor)
{
    if (actor == 0)
        start_thread(pass_in_thread, NULL);
    else
        pass();
}

static void end_by_thread(unsigned actor)
{
    if (actor == 0)
        start_thread(end_inside, NULL);
    else
        pass();
}

/* Another thread comes to the region after that: if the first ended in the middle, the place is
 * renewed. */
static void pass_after_thread(unsigned actor)
{
    if (actor == 0) {
        start_thread(end_inside, NULL);
        await_threads();
    }
    pass();
}

/* Each thread may end at any of its steps, also while it waits. */
static void pass_after_whatever(unsigned actor)
{
    if (actor == 0) {
        start_thread(pass_in_thread, NULL);
        await_threads();
    }
    pass();
}

/* A thread of the first has retained its permission, and ends; another comes. */
static void *retain_in_thread(void *unused)
{
    heed(ay_enter(region));
    say_fence(ay_fence(region));
    ay_leave(region);
    return unused;
}

static void prepare_retained_by_thread(unsigned actor)
{
    open_space((ay_options){.places = 4, .retain = 1});
    open_region((ay_spec){.name = "x"});
    if (actor == 0) {
        start_thread(retain_in_thread, NULL);
        await_threads();
    }
}

/* Aside, one waits for the flag. Who sets it is gone by then, or somebody else's rival. */
static void prepare_flag(unsigned actor)
{
    if (actor == 0)
        atomic_store(flag, 0);
    prepare_x(actor);
}

static void set_and_go(unsigned actor)
{
    if (actor == 1) {
        heed(ay_enter_when(region, is_set, NULL, -1));
        stay();
        return;
    }
    if (!region)
        open_region((ay_spec){.name = "x"});
    heed(ay_enter(region));
    atomic_store(flag, 1);
    stay();
    close_region();
    open_region((ay_spec){.name = "y"});
}

static void prepare_flag_for_newcomer(unsigned actor)
{
    if (actor > 0) {
        prepare_x(actor);
        return;
    }
    atomic_store(flag, 0);
    open_space((ay_options){.places = 4});
}

/* One aside sleeps on what tells of a thread's end. Another of that process comes, makes its
 * condition true, and ends inside. */
static void prepare_passed(unsigned actor)
{
    prepare_flag(actor);
    if (actor == 0) {
        heed(ay_enter(region));
        say_fence(ay_fence(region));
        ay_leave(region);
    }
}

static void *set_and_end(void *unused)
{
    heed(ay_enter(region));
    say_inside(room);
    say_fence(ay_fence(region));
    atomic_store(flag, 1);
    point();
    return unused;
}

static void set_by_thread(unsigned actor)
{
    if (actor == 0) {
        start_thread(set_and_end, NULL);
    } else {
        heed(ay_enter_when(region, is_set, NULL, -1));
        stay();
    }
}

/* By the express lane, which looks at rivals alone. */
static void warm(void)
{
    for (int times = 0; times < 2; times++) {
        ay_enter(region);
        say_fence(ay_fence(region));
        ay_leave(region);
    }
}

static void prepare_all_warm(unsigned actor)
{
    prepare_x(actor);
    warm();
}

static void prepare_one_warm(unsigned actor)
{
    open_space((ay_options){.places = 4});
    if (actor > 0) {
        open_region((ay_spec){.name = "x"});
        warm();
    }
}

static void come_beside(unsigned actor)
{
    if (actor == 0)
        open_region((ay_spec){.name = "x"});
    pass();
    if (actor > 0)
        pass();
}

static void rename_beside(unsigned actor)
{
    pass();
    if (actor == 0) {
        pass();
        close_region();
        open_region((ay_spec){.name = "y"});
    } else {
        pass();
    }
}

/* The first and the third change their names: whoever has x then meets the others. */
static void rename_to(const char *name)
{
    if (ay_region_rename(region, name) != 0)
        found("ay_region_rename: %s", ay_message());
}

static void prepare_renamed(unsigned actor)
{
    open_space((ay_options){.places = 4});
    open_region((ay_spec){.name = actor == 1 ? "x" : "y"});
}

static void rename_and_pass(unsigned actor)
{
    if (actor == 1) {
        pass();
        pass();
        return;
    }
    rename_to("x");
    pass();
    rename_to("y");
    heed(ay_enter(region));
    point();
    ay_leave(region);
}

/* The number that a place drew for x must be known to who comes later, though the place is y's. */
static void prepare_first_warm(unsigned actor)
{
    open_space((ay_options){.places = 4});
    if (actor == 0) {
        open_region((ay_spec){.name = "x"});
        warm();
    }
}

static void change_and_come(unsigned actor)
{
    if (actor == 0) {
        pass();
        close_region();
        open_region((ay_spec){.name = "y"});
    } else {
        open_region((ay_spec){.name = "x"});
        pass();
    }
}

/* The place is held by two processes, then by one again. Nobody is marked by the kernel meanwhile:
 * so nobody may die. */
static void share_beside(unsigned actor)
{
    if (actor > 0) {
        pass();
        return;
    }
    heed(ay_enter(region));
    say_inside(room);
    const int copy = ay_share(region);
    if (copy < 0)
        found("ay_share: %s", ay_message());
    point();
    if (ay_unshare(region) != 0)
        found("ay_unshare: %s", ay_message());
    close(copy);
    say_fence(ay_fence(region));
    say_outside();
    ay_leave(region);
    pass();
}

const struct scene scenes_places[] = {
    {.name = "all come and go",
     .actors = 3,
     .prepare = prepare_nothing,
     .act = come_and_go_twice,
     .audit = audit_x},
    {.name = "a place becomes a rival",
     .actors = 3,
     .prepare = prepare_names,
     .act = become_a_rival,
     .audit = audit_x},
    {.name = "a thread passes",
     .actors = 2,
     .prepare = prepare_x,
     .act = pass_by_thread,
     .audit = audit_x,
     .threads = true},
    {.name = "a thread ends inside",
     .actors = 3,
     .prepare = prepare_x,
     .act = end_by_thread,
     .audit = audit_x,
     .threads = true},
    {.name = "a thread comes after one that ended inside",
     .actors = 2,
     .prepare = prepare_x,
     .act = pass_after_thread,
     .audit = audit_x,
     .threads = true},
    {.name = "a thread comes after one that ended anywhere",
     .actors = 3,
     .prepare = prepare_x,
     .act = pass_after_whatever,
     .audit = audit_x,
     .threads = true},
    {.name = "a thread comes after one that retained",
     .actors = 2,
     .prepare = prepare_retained_by_thread,
     .act = pass_once,
     .audit = audit_x,
     .threads = true},
    {.name = "who set the flag is gone",
     .actors = 2,
     .prepare = prepare_flag,
     .act = set_and_go,
     .audit = audit_x,
     .immortal = true}, /* who is to set the flag must not die before */
    {.name = "who set the flag came and went",
     .actors = 2,
     .prepare = prepare_flag_for_newcomer,
     .act = set_and_go,
     .audit = audit_x,
     .immortal = true},
    {.name = "who set the flag has ended inside",
     .actors = 2,
     .prepare = prepare_passed,
     .act = set_by_thread,
     .audit = audit_x,
     .immortal = true,
     .threads = true},
    {.name = "one opens beside the express lane",
     .actors = 2,
     .prepare = prepare_one_warm,
     .act = come_beside,
     .audit = audit_x},
    {.name = "a rival beside the express lane changes its name",
     .actors = 2,
     .prepare = prepare_all_warm,
     .act = rename_beside,
     .audit = audit_x},
    {.name = "two are renamed beside a third",
     .actors = 3,
     .prepare = prepare_renamed,
     .act = rename_and_pass,
     .audit = audit_x},
    {.name = "one comes after a place has changed its name",
     .actors = 2,
     .prepare = prepare_first_warm,
     .act = change_and_come,
     .audit = audit_x},
    {.name = "a place is shared for a while",
     .actors = 2,
     .prepare = prepare_x,
     .act = share_beside,
     .audit = audit_x,
     .immortal = true},
    {0},
};
