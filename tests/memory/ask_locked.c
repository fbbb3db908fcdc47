/* SPDX-License-Identifier: MIT */
/* Asks of a process that has locked its memory, so that the kernel takes none of it back: what one
 * kind of asker knew of many, and has put down, is nothing to another kind that comes to lie there.
 * More kinds take turns than a space keeps the knowledge of. */
#include "harness.h"

enum { OTHERS = 600, ROUNDS = 5 };

/* Beside a reader. */
static const struct {
    ay_mode mode;
    int result;
} kinds[] = {
    {AY_EXCLUSIVE, -EINPROGRESS},
    {AY_SHARED, 0},
    {AY_PROTECTED_WRITE, -EINPROGRESS},
    {AY_CONCURRENT_WRITE, -EINPROGRESS},
    {AY_CONCURRENT_READ, 0},
    {AY_NULL, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static ay_region *open_as(ay_space *space, ay_mode mode)
{
    return open_region(space, (ay_spec){.name = "x", .mode = mode});
}

static void ask_in_turn(ay_region **askers)
{
    for (unsigned which = 0; which < KINDS; which++) {
        CHECK_EQUAL(ay_ask(askers[which]), kinds[which].result);
        CHECK_EQUAL(kinds[which].result == 0 ? ay_leave(askers[which]) : ay_withdraw(askers[which]),
                    0);
    }
}

int main(void)
{
    ay_space *space;
    ay_region *askers[KINDS], *reader = NULL;
    begin_test("ask-locked");
    if (geteuid() != 0 || mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) {
        fprintf(stderr, "only root may lock as much memory as this takes\n");
        return SKIP;
    }
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.places = OTHERS + 2 * KINDS}, &space), 0);
    for (unsigned which = 0; which < OTHERS; which++)
        reader = open_as(space, AY_SHARED);
    for (unsigned which = 0; which < KINDS; which++)
        askers[which] = open_as(space, kinds[which].mode);
    CHECK_EQUAL(ay_enter(reader), 0);
    for (unsigned round = 0; round < ROUNDS; round++)
        ask_in_turn(askers);
    CHECK_EQUAL(ay_leave(reader), 0);
    ay_close(space);
    return 0;
}
