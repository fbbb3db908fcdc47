/* SPDX-License-Identifier: MIT */
/* Scenes of asks: one process asks, and sleeps until its descriptor is readable, while a helper of
 * its own watches; others pass, or are killed. */
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

const struct scene scenes_asks[] = {
    {.name = "one asks",
     .actors = 2,
     .prepare = prepare_ask,
     .act = one_asks,
     .audit = audit_x,
     .threads = true},
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
    {0},
};
