/* SPDX-License-Identifier: MIT */
/* Regions that are entered again by the thread that is inside; and how many wait for what one
 * holds. */
#include <pthread.h>

#include "harness.h"

static void expect(int result, int expected, const char *words)
{
    if (result != expected || !strstr(ay_message(), words))
        FAIL("%d '%s', not %d '…%s…'", result, ay_message(), expected, words);
}

static bool is_true(void *unused)
{
    (void)unused;
    return true;
}

static bool is_false(void *unused)
{
    (void)unused;
    return false;
}

static bool enters(void *region)
{
    CHECK_EQUAL(ay_try(region), -EDEADLK);
    return true;
}

/* A plain region of the same name finds it taken until the last call. */
static void test_reentrant(const char *protocol, unsigned retain)
{
    ay_space *space;
    unlink(test_space);
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.protocol = protocol, .retain = retain}, &space),
                0);
    ay_region *counts = open_region(space, (ay_spec){.name = "x", .reentrant = 1}),
              *plain = open_region(space, (ay_spec){.name = "x"});
    /* the first passages go the long way, later ones a short one */
    for (int times = 0; times < 5; times++) {
        CHECK_EQUAL(ay_enter(counts), 0);
        const uint64_t fence = ay_fence(counts);
        CHECK_EQUAL(ay_enter(counts), 0);
        CHECK_EQUAL(ay_try(counts), 0);
        CHECK_EQUAL(ay_enter_for(counts, 0), 0);
        CHECK_EQUAL(ay_fence(counts), fence);
        for (int left = 0; left < 3; left++) {
            CHECK_EQUAL(ay_leave(counts), 0);
            expect(ay_try(plain), -EBUSY, "somebody");
        }
        CHECK_EQUAL(ay_leave(counts), 0);
        expect(ay_leave(counts), -EPERM, "not inside");
        CHECK_EQUAL(ay_enter_for(plain, PATIENCE_MS), 0);
        CHECK(ay_fence(plain) > fence);
        expect(ay_enter(plain), -EDEADLK, "already");
        CHECK_EQUAL(ay_leave(plain), 0);
        /* alone, so that the short way is open next time */
        CHECK_EQUAL(ay_enter_for(counts, PATIENCE_MS), 0);
        CHECK_EQUAL(ay_leave(counts), 0);
    }
    CHECK_EQUAL(ay_enter(counts), 0);
    CHECK_EQUAL(ay_enter(counts), 0);
    ay_region_close(counts); /* leaves, however often it was entered */
    CHECK_EQUAL(ay_enter_for(plain, PATIENCE_MS), 0);
    ay_close(space);
}

static void test_reentrant_conditions(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *counts = open_region(space, (ay_spec){.name = "x", .reentrant = 1});
    CHECK_EQUAL(ay_enter_when(counts, is_true, NULL, -1), 0);
    CHECK_EQUAL(ay_enter_when(counts, is_true, NULL, -1), 0);
    expect(ay_enter_when(counts, is_false, NULL, -1), -EDEADLK, "cannot become true");
    CHECK_EQUAL(ay_enter_when(counts, enters, counts, -1), 0);
    for (int times = 0; times < 3; times++)
        CHECK_EQUAL(ay_leave(counts), 0);
    expect(ay_leave(counts), -EPERM, "not inside");
    ay_region *wrong;
    expect(ay_region_open(space, &(ay_spec){.name = "x", .reentrant = 2}, &wrong), -EINVAL,
           "reentrant");
    ay_close(space);
}

static void *enter_too(void *region)
{
    expect(ay_enter(region), -EDEADLK, "already");
    return NULL;
}

/* It counts for one thread; and dies with it, whatever the count. */
static void *enter_twice_and_end(void *region)
{
    CHECK_EQUAL(ay_enter(region), 0);
    CHECK_EQUAL(ay_enter(region), 0);
    return NULL;
}

static void test_reentrant_threads(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *counts = open_region(space, (ay_spec){.name = "x", .reentrant = 1}),
              *plain = open_region(space, (ay_spec){.name = "x"});
    pthread_t thread;
    CHECK_EQUAL(ay_enter(counts), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, enter_too, counts), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(ay_leave(counts), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, enter_twice_and_end, counts), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(ay_enter_for(plain, PATIENCE_MS), AY_AFTER_DEATH);
    CHECK_EQUAL(ay_leave(plain), 0);
    CHECK_EQUAL(ay_enter_for(counts, PATIENCE_MS), 0);
    CHECK_EQUAL(ay_leave(counts), 0);
    CHECK_EQUAL(ay_try(plain), 0);
    ay_close(space);
}

static pid_t start_waiting(const char *protocol, ay_mode mode)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_space *space = open_space(protocol);
        ay_region *region = open_region(space, (ay_spec){.name = "x", .mode = mode});
        _exit(ay_enter(region) < 0);
    }
    return pid;
}

/* Who waits is counted until it enters, gives up or dies; who may come in beside me is not. */
static void test_wanted(const char *protocol, bool modes)
{
    enum { WAITING = 3 };
    pid_t waiting[WAITING];
    unlink(test_space);
    ay_space *space = open_space(protocol);
    ay_region *mine = open_region(space, (ay_spec){.name = "x", .mode = modes ? AY_SHARED : 0});
    CHECK_EQUAL(ay_wanted(mine), 0); /* outside */
    CHECK_EQUAL(ay_enter(mine), 0);
    CHECK_EQUAL(ay_wanted(mine), 0);
    if (modes) {
        ay_region *other = open_region(space, (ay_spec){.name = "x", .mode = AY_SHARED});
        CHECK_EQUAL(ay_enter(other), 0);
        CHECK_EQUAL(ay_wanted(mine), 0);
        ay_region_close(other);
    }
    for (unsigned at = 0; at < WAITING; at++) {
        waiting[at] = start_waiting(protocol, AY_EXCLUSIVE);
        AWAIT_TRUE(ay_wanted(mine) == at + 1);
    }
    kill_and_reap(waiting[0]);
    AWAIT_TRUE(ay_wanted(mine) == WAITING - 1);
    const pid_t child = spawn();
    if (child == 0)
        _exit(ay_wanted(mine) != 0);
    expect_success(child);
    CHECK_EQUAL(ay_leave(mine), 0);
    CHECK_EQUAL(ay_wanted(mine), 0);
    for (unsigned at = 1; at < WAITING; at++)
        expect_success(waiting[at]);
    CHECK(ay_enter_for(mine, PATIENCE_MS) >= 0);
    CHECK_EQUAL(ay_wanted(mine), 0);
    ay_close(space);
}

int main(void)
{
    begin_test("wanted");
    test_reentrant("courtesy", 0);
    test_reentrant("courtesy", 1);
    test_reentrant("bakery", 0);
    test_reentrant("pair", 0);
    test_reentrant_conditions();
    test_reentrant_threads();
    test_wanted("courtesy", false);
    test_wanted("courtesy", true);
    test_wanted("bakery", true);
    test_wanted("races", false);
    return 0;
}
