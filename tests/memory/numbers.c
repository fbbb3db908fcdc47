/* SPDX-License-Identifier: MIT */
/* Numbers never wrap: near the end a passage is refused, and says what to do; until then fences
 * grow and nobody meets another inside. The number is put near the end by hand: nobody waits for
 * 2^48 passages. */
#include <fcntl.h>

#include "harness.h"

enum { NUMBER_SHIFT = 13, NUMBER_BITS = 48, GATHERS = 1024 };
#define SPARED (UINT64_C(1) << 30)
#define LAST   ((UINT64_C(1) << NUMBER_BITS) - SPARED)
#define HALF   (UINT64_C(1) << (NUMBER_BITS - 1))

static ay_space *open_retaining(unsigned retain)
{
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = retain}, &space), 0);
    return space;
}

/* A space whose first place has drawn that number, and is free. */
static void begin_at(uint64_t number, unsigned retain)
{
    unlink(test_space);
    ay_space *space = open_retaining(retain);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(region), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    ay_close(space);
    const int file = open(test_space, O_RDWR | O_CLOEXEC);
    const uint64_t word = number << NUMBER_SHIFT;
    CHECK(file >= 0);
    CHECK_EQUAL(pwrite(file, &word, sizeof word, (off_t)granule()), sizeof word);
    close(file);
}

static void expect_refused(ay_region *region)
{
    CHECK_EQUAL(ay_enter(region), -EOVERFLOW);
    CHECK(strstr(ay_message(), "spaces remove"));
    CHECK_EQUAL(ay_try(region), -EOVERFLOW);
    CHECK_EQUAL(ay_enter_for(region, 10), -EOVERFLOW);
    CHECK_EQUAL(ay_leave(region), -EPERM);
}

/* Passes until it is refused, `most` times at most; fences grow. */
static void pass_until_refused(ay_region *region, int most, int least)
{
    uint64_t fence = 0;
    int passed = 0, result;
    while ((result = ay_enter(region)) == 0) {
        CHECK(ay_fence(region) > fence);
        fence = ay_fence(region);
        CHECK(++passed <= most);
        CHECK_EQUAL(ay_leave(region), 0);
    }
    CHECK_EQUAL(result, -EOVERFLOW);
    CHECK(passed >= least);
    expect_refused(region);
}

static void test_end(unsigned retain)
{
    begin_at(LAST - 10, retain);
    ay_space *space = open_retaining(retain);
    ay_region *region = open_region(space, (ay_spec){.name = "x"}),
              *other = open_region(space, (ay_spec){.name = "x"});
    pass_until_refused(region, 3 * GATHERS, 1);
    /* One that has not drawn yet may enter still, a few times. */
    pass_until_refused(other, 3 * GATHERS, 0);
    expect_refused(region);
    ay_close(space);
    space = open_retaining(retain);
    expect_refused(open_region(space, (ay_spec){.name = "x"}));
    ay_close(space);
    unlink(test_space); /* a new one begins anew */
    space = open_retaining(retain);
    CHECK_EQUAL(ay_enter(open_region(space, (ay_spec){.name = "x"})), 0);
    ay_close(space);
}

/* Past the half nobody retains its permission: all goes on, fences grow, and no two are inside. */
static void test_half(void)
{
    begin_at(HALF - 3000, 1);
    ay_space *space = open_retaining(1);
    ay_region *region = open_region(space, (ay_spec){.name = "x"}),
              *other = open_region(space, (ay_spec){.name = "x"});
    uint64_t fence = 0;
    for (int times = 0; times < 10000; times++) {
        ay_region *mine = times % 500 ? region : other;
        CHECK_EQUAL(ay_enter(mine), 0);
        CHECK(ay_fence(mine) > fence);
        fence = ay_fence(mine);
        if (times % 100 == 0)
            CHECK_EQUAL(ay_try(mine == region ? other : region), -EBUSY);
        CHECK_EQUAL(ay_leave(mine), 0);
    }
    CHECK(fence / AY_PLACES_MOST > HALF);
    ay_close(space);
}

/* Units draw one more number when they are given back; slots draw tickets. */
static void test_others(ay_spec spec)
{
    begin_at(LAST - 10, 0);
    ay_space *space = open_retaining(0);
    pass_until_refused(open_region(space, spec), 20, 1);
    ay_close(space);
}

int main(void)
{
    begin_test("numbers");
    test_end(0);
    test_end(1);
    test_half();
    test_others((ay_spec){.name = "x", .take = 1, .of = 2});
    test_others((ay_spec){.name = "x", .slots = 2});
    return 0;
}
