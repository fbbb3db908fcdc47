/* SPDX-License-Identifier: MIT */
/* A lock per record: thousands of regions of different names. Those of one name meet, wherever
 * their places are; fences never go back and deaths are told, though places pass from name to name;
 * and memory is used for what is open, not for what might be. */
#include <pthread.h>
#include <sys/stat.h>

#include "harness.h"

enum { RECORDS = 10000, SOME = 7 };

static size_t used_bytes(void)
{
    struct stat status;
    CHECK_EQUAL(stat(test_space, &status), 0);
    return (size_t)status.st_blocks * 512;
}

static ay_region *open_record(ay_space *space, int record)
{
    char name[32];
    snprintf(name, sizeof name, "record %d", record);
    return open_region(space, (ay_spec){.name = name});
}

static ay_region **open_records(ay_space *space)
{
    ay_region **regions = calloc(RECORDS, sizeof *regions);
    CHECK(regions);
    for (int record = 0; record < RECORDS; record++)
        regions[record] = open_record(space, record);
    return regions;
}

static void pass(ay_region *region)
{
    CHECK_EQUAL(ay_enter(region), 0);
    CHECK_EQUAL(ay_leave(region), 0);
}

static int count_inside(const ay_place *place, void *count)
{
    *(int *)count += place->state == AY_INSIDE;
    return 0;
}

/* Of another process: those that it is inside keep us out, the others don't; when it is killed,
 * each of its deaths inside is told, and to somebody who has that record. */
static void test_many(void)
{
    struct board {
        _Atomic int ready;
    } *board = shared_memory(sizeof *board);
    unlink(test_space);
    ay_space *space = open_space(NULL);
    const size_t empty = used_bytes();
    CHECK(empty < 64 * granule());
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region **regions = open_records(open_space(NULL));
        for (int record = 0; record < RECORDS; record++) {
            CHECK_EQUAL(ay_enter(regions[record]), 0);
            if (record % SOME)
                CHECK_EQUAL(ay_leave(regions[record]), 0);
        }
        atomic_store(&board->ready, 1);
        for (;;)
            pause();
    }
    AWAIT_TRUE(atomic_load(&board->ready));
    CHECK(used_bytes() - empty < 2 * (size_t)RECORDS * granule());
    ay_view view;
    int inside = 0;
    CHECK_EQUAL(ay_look(test_space, &view, count_inside, &inside), 0);
    CHECK_EQUAL(view.alive, RECORDS);
    CHECK_EQUAL(inside, (RECORDS + SOME - 1) / SOME);
    ay_region **regions = open_records(space);
    for (int record = 0; record < RECORDS; record++) {
        CHECK_EQUAL(ay_try(regions[record]), record % SOME ? 0 : -EBUSY);
        if (record % SOME)
            CHECK_EQUAL(ay_leave(regions[record]), 0);
    }
    kill_and_reap(pid);
    for (int record = 0; record < RECORDS; record++) {
        CHECK_EQUAL(ay_enter_for(regions[record], PATIENCE_MS), record % SOME ? 0 : AY_AFTER_DEATH);
        CHECK_EQUAL(ay_leave(regions[record]), 0);
    }
    /* whoever comes now takes the places of the dead, or of those that were closed, not new ones */
    CHECK_EQUAL(ay_look(test_space, &view, NULL, NULL), 0);
    const unsigned used = view.used;
    for (int record = 0; record < RECORDS; record++)
        ay_region_close(regions[record]);
    free(regions);
    regions = open_records(space);
    CHECK_EQUAL(ay_look(test_space, &view, NULL, NULL), 0);
    CHECK(view.used < used + used / 8);
    free(regions);
    ay_close(space);
}

/* A place passes from one name to another: the numbers that it drew for the first are known to who
 * has that name later, elsewhere. */
static void test_fences(void)
{
    enum { PASSAGES = 1000, NAMES = 300 };
    unlink(test_space);
    ay_space *space = open_space(NULL);
    for (int record = 0; record < NAMES; record++) {
        ay_region *first = open_record(space, record);
        for (int times = 0; times < PASSAGES; times++)
            pass(first);
        CHECK_EQUAL(ay_enter(first), 0);
        const uint64_t fence = ay_fence(first);
        CHECK_EQUAL(ay_leave(first), 0);
        ay_region_close(first);
        ay_region *other = open_region(space, (ay_spec){.name = "other"}); /* at its place */
        ay_region *second = open_record(space, record);
        CHECK_EQUAL(ay_enter(second), 0);
        CHECK(ay_fence(second) > fence);
        CHECK_EQUAL(ay_leave(second), 0);
        ay_region_close(second);
        if (record % 2) /* so that the next one is somewhere else */
            ay_region_close(other);
    }
    ay_close(space);
}

/* Somebody dies inside; its place is another name's before anybody of its own looks. */
static void test_told(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    const pid_t pid = spawn();
    if (pid == 0) {
        CHECK_EQUAL(ay_enter(open_record(open_space(NULL), 1)), 0);
        raise(SIGKILL);
    }
    CHECK(WIFSIGNALED(await_exit(pid)));
    ay_region *other = open_record(space, 2), *mine = open_record(space, 1);
    pass(other);
    CHECK_EQUAL(ay_enter(mine), AY_AFTER_DEATH);
    CHECK_EQUAL(ay_leave(mine), 0);
    pass(mine);
    ay_close(space);
}

/* The same, and who is to be told was there all the time. */
static void test_told_one_who_waits(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *mine = open_record(space, 1);
    for (int times = 0; times < 100; times++)
        pass(mine); /* by the express lane, in the end */
    const pid_t pid = spawn();
    if (pid == 0) {
        CHECK_EQUAL(ay_enter(open_record(open_space(NULL), 1)), 0);
        raise(SIGKILL);
    }
    CHECK(WIFSIGNALED(await_exit(pid)));
    ay_region *other = open_record(space, 2);
    CHECK_EQUAL(ay_enter(mine), AY_AFTER_DEATH);
    CHECK_EQUAL(ay_leave(mine), 0);
    pass(mine);
    pass(other);
    ay_close(space);
}

/* One that waits for a condition, and one that makes it true, goes, and leaves its place to another
 * name: who waits asks again. */
static _Atomic int flag, asked;

static bool is_set(void *unused)
{
    (void)unused;
    atomic_fetch_add(&asked, 1);
    return atomic_load(&flag);
}

static void *wait_for_flag(void *region)
{
    CHECK_EQUAL(ay_enter_when(region, is_set, NULL, PATIENCE_MS), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    return NULL;
}

static void test_condition(void)
{
    enum { ROUNDS = 50 };
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *mine = open_record(space, 1);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread;
        atomic_store(&flag, 0);
        atomic_store(&asked, 0);
        CHECK_EQUAL(pthread_create(&thread, NULL, wait_for_flag, mine), 0);
        AWAIT_TRUE(atomic_load(&asked) > 0);
        ay_region *first = open_record(space, 1);
        CHECK_EQUAL(ay_enter(first), 0);
        atomic_store(&flag, 1);
        CHECK_EQUAL(ay_leave(first), 0);
        ay_region_close(first);
        ay_region *other = open_record(space, 2);
        pthread_join(thread, NULL);
        ay_region_close(other);
    }
    ay_close(space);
}

/* The page of a thread that has ended is another's at once. */
static void *pass_once(void *region)
{
    pass(region);
    return NULL;
}

static void test_threads(void)
{
    enum { THREADS = 300 };
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *region = open_record(space, 1);
    pass(region);
    const size_t before = used_bytes();
    for (int times = 0; times < THREADS; times++) {
        pthread_t thread;
        CHECK_EQUAL(pthread_create(&thread, NULL, pass_once, region), 0);
        pthread_join(thread, NULL);
    }
    CHECK(used_bytes() - before <= 2 * granule());
    ay_close(space);
}

int main(void)
{
    begin_test("records");
    test_many();
    test_fences();
    test_told();
    test_told_one_who_waits();
    test_condition();
    test_threads();
    return 0;
}
