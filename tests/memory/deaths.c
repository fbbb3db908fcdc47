/* SPDX-License-Identifier: MIT */
/* Deaths: of the one inside, told exactly once; of those who wait; by exec and by fork. The end of
 * a thread: threads.c. */
#include <pthread.h>

#include "harness.h"

/* A child that is inside, until it is killed. */
static pid_t start_inside(const char *protocol, ay_spec spec)
{
    int pipes[2];
    char byte;
    CHECK_EQUAL(pipe(pipes), 0);
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region *region = open_region(open_space(protocol), spec);
        const int result = ay_enter_for(region, PATIENCE_MS);
        CHECK(result >= 0);
        byte = (char)result;
        CHECK_EQUAL(write(pipes[1], &byte, 1), 1);
        for (;;)
            pause();
    }
    CHECK_EQUAL(read(pipes[0], &byte, 1), 1);
    close(pipes[0]);
    close(pipes[1]);
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

static void test_told_once(const char *protocol)
{
    unlink(test_space);
    ay_space *space = open_space(protocol);
    ay_region *a = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(count_told(a, 2), 0);
    for (int times = 0; times < 5; times++) {
        kill_and_reap(start_inside(protocol, (ay_spec){.name = "x"}));
        CHECK_EQUAL(count_told(a, 3), 1);
    }
    if (strcmp(protocol, "pair") != 0) {
        ay_region *b = open_region(space, (ay_spec){.name = "x"});
        kill_and_reap(start_inside(protocol, (ay_spec){.name = "x"}));
        CHECK_EQUAL(count_told(b, 1) + count_told(a, 1) + count_told(b, 2), 1);
    }
    ay_close(space);
}

/* The dead one's place is taken by others, with other resources, before anybody enters. */
static void test_place_reused(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    for (int round = 0; round < 3; round++) {
        kill_and_reap(start_inside(NULL, (ay_spec){.name = "x"}));
        ay_region *others[4];
        for (int at = 0; at < 4; at++) {
            others[at] = open_region(space, (ay_spec){.name = "other"});
            CHECK_EQUAL(count_told(others[at], 1), 0);
        }
        kill_and_reap(start_inside(NULL, (ay_spec){.name = "other"}));
        for (int at = 0; at < 4; at++)
            ay_region_close(others[at]);
        ay_region *x = open_region(space, (ay_spec){.name = "x"});
        ay_region *other = open_region(space, (ay_spec){.name = "other"});
        CHECK_EQUAL(count_told(x, 3), 1);
        CHECK_EQUAL(count_told(other, 3), 1);
        ay_region_close(x);
        ay_region_close(other);
    }
    /* Who was told, and closed its place, does not make it untold. */
    ay_region *late = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(count_told(late, 2), 0);
    ay_close(space);
}

/* Many die at once, in regions that several share: as many are told. */
static void test_many(ay_spec spec, int dying)
{
    unlink(test_space);
    pid_t pids[8];
    for (int at = 0; at < dying; at++)
        pids[at] = start_inside(NULL, spec);
    for (int at = 0; at < dying; at++)
        kill_and_reap(pids[at]);
    ay_space *space = open_space(NULL);
    ay_region *a = open_region(space, spec), *b = open_region(space, spec);
    CHECK_EQUAL(count_told(a, 1) + count_told(b, 1) + count_told(a, 10) + count_told(b, 10), dying);
    ay_close(space);
}

/* Who waits, and dies, is not told of; and those behind it go on. */
static void test_waiter_dies(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *a = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(a), 0);
    pid_t waiting[3];
    for (int at = 0; at < 3; at++) {
        waiting[at] = spawn();
        if (waiting[at] == 0) {
            ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
            const int result = ay_enter(region);
            ay_leave(region);
            _exit(result == 0 ? 0 : 1);
        }
        sleep_ms(30);
    }
    kill_and_reap(waiting[1]);
    CHECK_EQUAL(ay_leave(a), 0);
    expect_success(waiting[0]);
    expect_success(waiting[2]);
    CHECK_EQUAL(count_told(a, 1), 0);
    ay_close(space);
}

static void test_exec(void)
{
    unlink(test_space);
    ay_region *a = open_region(open_space(NULL), (ay_spec){.name = "x"});
    int pipes[2];
    char byte;
    CHECK_EQUAL(pipe(pipes), 0);
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
        CHECK_EQUAL(ay_enter(region), 0);
        CHECK_EQUAL(write(pipes[1], "x", 1), 1);
        close(pipes[0]);
        close(pipes[1]);
        execl("/bin/sleep", "sleep", "1000", NULL);
        _exit(1);
    }
    CHECK_EQUAL(read(pipes[0], &byte, 1), 1);
    CHECK_EQUAL(ay_enter_for(a, PATIENCE_MS), AY_AFTER_DEATH);
    CHECK_EQUAL(ay_leave(a), 0);
    CHECK_EQUAL(kill(pid, 0), 0); /* the program lives on, without the region */
    kill_and_reap(pid);
}

/* A child owns nothing, and harms nothing: its end is not its parent's. */
static void test_fork(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *a = open_region(space, (ay_spec){.name = "x"}),
              *b = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(a), 0);
    const uint64_t fence = ay_fence(a);
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region *refused;
        CHECK_EQUAL(ay_leave(a), -EPERM);
        CHECK_EQUAL(ay_enter(b), -EPERM);
        CHECK_EQUAL(ay_try(b), -EPERM);
        CHECK_EQUAL(ay_fence(a), 0);
        CHECK_EQUAL(ay_region_open(space, &(ay_spec){.name = "x"}, &refused), -EPERM);
        ay_region *own = open_region(open_space(NULL), (ay_spec){.name = "x"});
        CHECK_EQUAL(ay_try(own), -EBUSY);
        ay_region_close(b);
        ay_close(space);
        CHECK_EQUAL(ay_try(own), -EBUSY);
        _exit(0);
    }
    expect_success(pid);
    CHECK_EQUAL(ay_fence(a), fence);
    CHECK_EQUAL(ay_try(b), -EBUSY);
    CHECK_EQUAL(ay_leave(a), 0);
    CHECK_EQUAL(ay_try(b), 0);
    ay_close(space);
}

/* The child outlives its parent: the parent's places are free all the same. */
static void test_orphan(void)
{
    unlink(test_space);
    int pipes[2];
    char byte;
    CHECK_EQUAL(pipe(pipes), 0);
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region *region = open_region(open_space("pair"), (ay_spec){.name = "x"});
        CHECK_EQUAL(ay_enter(region), 0);
        if (fork() == 0) {
            CHECK_EQUAL(write(pipes[1], "x", 1), 1);
            sleep_ms(3000);
            _exit(0);
        }
        for (;;)
            pause();
    }
    CHECK_EQUAL(read(pipes[0], &byte, 1), 1);
    kill_and_reap(pid);
    ay_space *space = open_space("pair");
    ay_region *one = open_region(space, (ay_spec){.name = "x"}),
              *two = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(count_told(one, 1) + count_told(two, 1), 1);
    ay_close(space);
}

static void *leave_elsewhere(void *region)
{
    CHECK_EQUAL(ay_leave(region), 0);
    return NULL;
}

/* The region is the process's: another thread may leave. */
static void test_other_thread_leaves(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *a = open_region(space, (ay_spec){.name = "x"}),
              *b = open_region(space, (ay_spec){.name = "x"});
    pthread_t thread;
    CHECK_EQUAL(ay_enter(a), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, leave_elsewhere, a), 0);
    pthread_join(thread, NULL);
    CHECK_EQUAL(ay_enter(b), 0);
    ay_close(space);
}

int main(void)
{
    static const char *const protocols[] = {"pair",   "races", "clock",   "bakery",
                                            "region", "forks", "courtesy"};
    begin_test("deaths");
    for (size_t at = 0; at < sizeof protocols / sizeof *protocols; at++)
        test_told_once(protocols[at]);
    test_place_reused();
    test_many((ay_spec){.name = "x", .slots = 8}, 5);
    test_many((ay_spec){.name = "x", .mode = AY_SHARED}, 4);
    test_many((ay_spec){.name = "x", .take = 1, .of = 8}, 5);
    test_waiter_dies();
    test_exec();
    test_fork();
    test_orphan();
    test_other_thread_leaves();
    return 0;
}
