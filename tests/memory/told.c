/* SPDX-License-Identifier: MIT */
/* Told of deaths: the very next entry, in whatever mode; each death once, however many there
 * are. */
#include "harness.h"

enum { PASSAGES = 20 };

/* A child that is inside, until it is killed. */
static pid_t start_inside(ay_spec spec)
{
    _Atomic bool *inside = shared_memory(sizeof *inside);
    const pid_t pid = spawn();
    if (pid == 0) {
        CHECK(ay_enter_for(open_region(open_space(NULL), spec), PATIENCE_MS) >= 0);
        atomic_store(inside, true);
        for (;;)
            pause();
    }
    AWAIT_TRUE(atomic_load(inside));
    munmap(inside, sizeof *inside);
    return pid;
}

/* Enters and leaves so often; how often was it told? */
static int count_told(ay_region *region, int times)
{
    int told = 0;
    while (times-- > 0) {
        const int result = ay_enter_for(region, PATIENCE_MS);
        CHECK(result >= 0);
        told += result == AY_AFTER_DEATH;
        CHECK_EQUAL(ay_leave(region), 0);
    }
    return told;
}

/* Whether one in this mode gets in while one in the other is inside. */
static bool may_be_together(ay_region *region)
{
    const int result = ay_try(region);
    CHECK(result == 0 || result == -EBUSY);
    if (result == 0)
        CHECK_EQUAL(ay_leave(region), 0);
    return result == 0;
}

/* The survivor comes and goes, by the shortest way there is, before the other comes, while it is
 * there, and after its death. */
static void test_mode(const ay_options *options, ay_mode dying, ay_mode surviving)
{
    unlink(test_space);
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, options, &space), 0);
    ay_region *survivor = open_region(space, (ay_spec){.name = "x", .mode = surviving});
    ay_region *stranger = open_region(space, (ay_spec){.name = "y", .mode = surviving});
    CHECK_EQUAL(count_told(survivor, PASSAGES), 0);
    for (int deaths = 0; deaths < 2; deaths++) {
        const pid_t pid = start_inside((ay_spec){.name = "x", .mode = dying});
        if (may_be_together(survivor))
            CHECK_EQUAL(count_told(survivor, PASSAGES), 0);
        kill_and_reap(pid);
        CHECK_EQUAL(count_told(stranger, 2), 0);
        if (count_told(survivor, 1) != 1)
            FAIL("mode %d was not told of the death of mode %d", (int)surviving, (int)dying);
        CHECK_EQUAL(count_told(survivor, PASSAGES), 0);
    }
    ay_close(space);
}

static void test_modes(const ay_options *options)
{
    for (ay_mode dying = AY_EXCLUSIVE; dying <= AY_NULL; dying++)
        for (ay_mode surviving = AY_EXCLUSIVE; surviving <= AY_NULL; surviving++)
            test_mode(options, dying, surviving);
}

/* With slots and units: the same. */
static void test_shared(ay_spec spec)
{
    unlink(test_space);
    ay_region *survivor = open_region(open_space(NULL), spec);
    CHECK_EQUAL(count_told(survivor, PASSAGES), 0);
    const pid_t pid = start_inside(spec);
    CHECK_EQUAL(count_told(survivor, PASSAGES), 0);
    kill_and_reap(pid);
    CHECK_EQUAL(count_told(survivor, 1), 1);
    CHECK_EQUAL(count_told(survivor, PASSAGES), 0);
}

/* Many die inside at once: as many entries are told, by whomever, and no more. */
static void test_many(ay_spec spec, int dying)
{
    unlink(test_space);
    pid_t *pids = calloc((size_t)dying, sizeof *pids);
    CHECK(pids != NULL);
    for (int at = 0; at < dying; at++)
        pids[at] = start_inside(spec);
    ay_space *space = open_space(NULL);
    ay_region *one = open_region(space, spec), *other = open_region(space, spec);
    for (int at = 0; at < dying; at++)
        kill(pids[at], SIGKILL);
    for (int at = 0; at < dying; at++)
        await_exit(pids[at]);
    CHECK_EQUAL(count_told(one, dying / 2), dying / 2);
    const int told_one = count_told(one, dying), told_other = count_told(other, dying);
    CHECK_EQUAL(told_other + told_one, dying - dying / 2);
    CHECK_EQUAL(count_told(other, PASSAGES) + count_told(one, PASSAGES), 0);
    ay_close(space);
    free(pids);
}

/* One after the other dies inside a resource of its own, all at the same place; each is kept
 * until somebody enters its resource. */
static void test_places_reused(int dying)
{
    unlink(test_space);
    char name[32];
    for (int at = 0; at < dying; at++) {
        snprintf(name, sizeof name, "resource %d", at);
        kill_and_reap(start_inside((ay_spec){.name = name}));
    }
    ay_space *space = open_space(NULL);
    for (int at = 0; at < dying; at++) {
        snprintf(name, sizeof name, "resource %d", at);
        ay_region *region = open_region(space, (ay_spec){.name = name});
        if (count_told(region, 2) != 1)
            FAIL("of %d deaths, number %d was not told once", dying, at);
        ay_region_close(region);
    }
    ay_close(space);
}

int main(void)
{
    begin_test("told");
    test_modes(&(ay_options){0});
    test_modes(&(ay_options){.retain = 1});
    test_modes(&(ay_options){.protocol = "region"});
    test_shared((ay_spec){.name = "x", .slots = 3});
    test_shared((ay_spec){.name = "x", .take = 1, .of = 3});
    test_many((ay_spec){.name = "x", .mode = AY_SHARED}, 100);
    test_many((ay_spec){.name = "x", .slots = 100}, 100);
    test_places_reused(40);
    return 0;
}
