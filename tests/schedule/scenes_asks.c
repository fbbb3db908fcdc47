/* SPDX-License-Identifier: MIT */
/* Scenes of asks: one process asks, or holds and is to be told that it is wanted, and sleeps until
 * its descriptor is readable, while a helper of its own watches; others pass, or are killed. */
#include <errno.h>

#include "scenes.h"

static ay_region *second;

/* Until the ask of `expected` is decided; -EINPROGRESS was what ay_ask() said. */
static int await_decided(const ay_region *expected)
{
    int result;
    for (;;) {
        const ay_region *decided = ay_decided(space, &result);
        if (decided == expected)
            return result;
        if (decided || result)
            found("ay_decided: %d, %s", result, ay_message());
        await_readable(ay_fd(space));
    }
}

static void ask(void)
{
    const int result = ay_ask(region);
    heed(result == -EINPROGRESS ? await_decided(region) : result);
    stay();
}

static void prepare_ask(unsigned actor)
{
    prepare_x(actor);
    if (actor == 0 && ay_fd(space) < 0)
        found("ay_fd: %s", ay_message());
}

/* The first asks, twice: the second time its helper is there already. */
static void one_asks(unsigned actor)
{
    for (int times = 0; times < 2; times++)
        if (actor == 0)
            ask();
        else
            pass();
}

static void prepare_two_asks(unsigned actor)
{
    prepare_ask(actor);
    const ay_spec spec = {.name = "x"};
    if (actor == 0 && ay_region_open(space, &spec, &second) != 0)
        found("ay_region_open: %s", ay_message());
}

/* Two asks of one process, one behind the other: the second sleeps on a word that this process
 * alone changes. */
static void two_ask(unsigned actor)
{
    if (actor == 1) {
        pass();
        return;
    }
    const int first = ay_ask(region), behind = ay_ask(second);
    heed(first == -EINPROGRESS ? await_decided(region) : first);
    stay();
    region = second;
    heed(behind == -EINPROGRESS ? await_decided(second) : behind);
    stay();
}

/* One withdraws between two that stay. */
static void one_withdraws(unsigned actor)
{
    if (actor != 0) {
        pass();
        return;
    }
    const int result = ay_ask(region);
    point();
    if (result == -EINPROGRESS) {
        if (ay_withdraw(region) != 0)
            found("ay_withdraw: %s", ay_message());
    } else {
        heed(result);
        stay();
    }
    ask();
}

/* The first asks, and the other has two regions, whose class goes first. Once the ask has claimed,
 * and waits for both, one of them leaves, and is closed; the other stays, and somebody comes. */
static void prepare_readers_first(unsigned actor)
{
    open_space((ay_options){.places = 4, .precedence = AY_READERS_FIRST});
    const ay_spec spec = {.name = "x", .mode = actor == 0 ? AY_EXCLUSIVE : AY_SHARED};
    open_region(spec);
    if (actor == 0 && ay_fd(space) < 0)
        found("ay_fd: %s", ay_message());
    if (actor == 1 && ay_region_open(space, &spec, &second) != 0)
        found("ay_region_open: %s", ay_message());
}

static void one_of_two_closes(unsigned actor)
{
    if (actor == 0) {
        ask();
        return;
    }
    ay_region *leaver = region;
    heed(ay_enter(leaver));
    const int result = ay_try(second);
    if (result != -EBUSY) {
        heed(result);
        say_inside(1);
    }
    point();
    if (ay_leave(leaver) != 0)
        found("ay_leave: %s", ay_message());
    open_region((ay_spec){.name = "x"});
    ay_region_close(leaver);
    point();
    if (result != -EBUSY) {
        say_outside();
        if (ay_leave(second) != 0)
            found("ay_leave: %s", ay_message());
    }
}

/* The first has asked for two: one is decided, and another thread leaves it, while this one sees to
 * what is stirred. Both take up what asks know, and put it down. */
static void *leave_first(void *first)
{
    say_inside(1);
    point();
    say_outside();
    if (ay_leave(first) != 0)
        found("ay_leave: %s", ay_message());
    return NULL;
}

static void another_thread_leaves(unsigned actor)
{
    if (actor == 1) {
        pass();
        return;
    }
    ay_region *first = region;
    const int result = ay_ask(first), behind = ay_ask(second);
    heed(result == -EINPROGRESS ? await_decided(first) : result);
    start_thread(leave_first, first);
    region = second;
    heed(behind == -EINPROGRESS ? await_decided(second) : behind);
    stay();
    await_threads();
}

/* The first asks as a reader, and then as a writer: whom the one may be inside with, the other may
 * not. */
static void prepare_both_modes(unsigned actor)
{
    open_space((ay_options){.places = 4});
    room = 2;
    open_region((ay_spec){.name = "x", .mode = AY_SHARED});
    const ay_spec writes = {.name = "x"};
    if (actor == 0 && (ay_fd(space) < 0 || ay_region_open(space, &writes, &second) != 0))
        found("ay_region_open: %s", ay_message());
}

static void reader_and_writer_ask(unsigned actor)
{
    if (actor != 0) {
        pass_twice(actor);
        return;
    }
    ask();
    room = 1;
    region = second;
    ask();
}

/* The first is inside twice, as a reader, by asks; the other waits, asleep on one of the two, and
 * then on the other. */
static void prepare_two_readers(unsigned actor)
{
    open_space((ay_options){.places = 4});
    room = actor == 0 ? 2 : 1;
    const ay_spec spec = {.name = "x", .mode = actor == 0 ? AY_SHARED : AY_EXCLUSIVE};
    open_region(spec);
    if (actor == 0 && (ay_fd(space) < 0 || ay_region_open(space, &spec, &second) != 0))
        found("ay_region_open: %s", ay_message());
}

/* Whichever is decided first. */
static ay_region *await_one(int *result)
{
    ay_region *decided;
    while (!(decided = ay_decided(space, result)))
        await_readable(ay_fd(space));
    return decided;
}

static void two_readers_ask(unsigned actor)
{
    if (actor == 1) {
        pass();
        return;
    }
    ay_region *inside[2] = {NULL, NULL}, *both[2] = {region, second};
    for (unsigned which = 0; which < 2; which++) {
        const int result = ay_ask(both[which]);
        inside[which] = result == -EINPROGRESS ? NULL : both[which];
        if (inside[which])
            heed(result);
    }
    for (unsigned left = 2; left > 0;) {
        int result = 0;
        if (!inside[0] && !inside[1])
            inside[0] = await_one(&result);
        heed(result);
        say_inside(room);
        point();
        say_outside();
        for (unsigned which = 2; which-- > 0; inside[which] = NULL) { /* it sleeps on the last */
            left -= inside[which] != NULL;
            if (inside[which] && ay_leave(inside[which]) != 0)
                found("ay_leave: %s", ay_message());
        }
    }
}

/* ---- told that one is wanted ---- */

/* All but the last are to be told, and stay until they are wanted; but if the last has been inside
 * nobody comes any more. */
static unsigned last_actor;

static void prepare_told(unsigned actor)
{
    last_actor = 1;
    atomic_store(flag, 0);
    open_space((ay_options){.places = 4});
    open_region((ay_spec){.name = "x", .tell_wanted = actor < last_actor});
    if (actor < last_actor && ay_fd(space) < 0)
        found("ay_fd: %s", ay_message());
}

static void prepare_told_readers(unsigned actor)
{
    last_actor = 2;
    atomic_store(flag, 0);
    room = 2;
    open_space((ay_options){.places = 4});
    open_region((ay_spec){.name = "x",
                          .mode = actor < last_actor ? AY_SHARED : AY_EXCLUSIVE,
                          .tell_wanted = actor < last_actor});
    if (actor < last_actor && ay_fd(space) < 0)
        found("ay_fd: %s", ay_message());
}

/* It asks who wants it only once the descriptor says so. */
static void await_wanted(void)
{
    int result;
    while (!atomic_load(flag)) {
        await_readable(ay_fd(space));
        if (ay_decided(space, &result) || result)
            found("ay_decided: %d, %s", result, ay_message());
        if (ay_wanted(region) > 0)
            return;
    }
}

static void give_way(unsigned actor)
{
    if (actor == last_actor)
        room = 1;
    heed(ay_enter(region));
    if (actor == last_actor)
        atomic_store(flag, 1);
    else
        await_wanted();
    stay();
}

const struct scene scenes_asks[] = {
    {.name = "one asks",
     .actors = 2,
     .prepare = prepare_ask,
     .act = one_asks,
     .audit = audit_x,
     .threads = true},
    {.name = "one asks, and hints are refused",
     .actors = 2,
     .prepare = prepare_ask,
     .act = one_asks,
     .audit = audit_x,
     .threads = true,
     .no_hints = true},
    {.name = "two asks of one process",
     .actors = 2,
     .prepare = prepare_two_asks,
     .act = two_ask,
     .audit = audit_x,
     .threads = true},
    {.name = "an ask is withdrawn",
     .actors = 3,
     .prepare = prepare_ask,
     .act = one_withdraws,
     .audit = audit_x,
     .threads = true},
    {.name = "one of two closes before an ask",
     .actors = 2,
     .prepare = prepare_readers_first,
     .act = one_of_two_closes,
     .audit = audit_x,
     .immortal = true,
     .threads = true},
    {.name = "another thread leaves before an ask",
     .actors = 2,
     .prepare = prepare_two_asks,
     .act = another_thread_leaves,
     .audit = audit_x,
     .immortal = true, /* what a thread was to leave would stay taken */
     .threads = true},
    {.name = "a reader and a writer ask",
     .actors = 2,
     .prepare = prepare_both_modes,
     .act = reader_and_writer_ask,
     .audit = audit_x,
     .threads = true},
    {.name = "two readers ask before a writer",
     .actors = 2,
     .prepare = prepare_two_readers,
     .act = two_readers_ask,
     .audit = audit_x,
     .immortal = true, /* one that is killed may have been inside twice */
     .threads = true},
    {.name = "a holder is told",
     .actors = 2,
     .prepare = prepare_told,
     .act = give_way,
     .audit = audit_x,
     .immortal = true,
     .threads = true},
    {.name = "two readers are told",
     .actors = 3,
     .prepare = prepare_told_readers,
     .act = give_way,
     .audit = audit_x,
     .immortal = true,
     .threads = true},
    {0},
};
