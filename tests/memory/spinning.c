/* SPDX-License-Identifier: MIT */
/* Waiting awake: how long is learnt from waits before, but a deadline holds, and a stay inside that
 * is suddenly long is waited for asleep. */
#include <sys/resource.h>

#include "harness.h"

struct board {
    _Atomic int ready, turn, done;
};

static struct board *board;

static ay_region *open_one(void)
{
    return open_region(open_space(NULL), (ay_spec){.name = "x"});
}

static void busy_us(int us)
{
    struct timespec now, begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

static double cpu_ms(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-3;
}

static void pass(ay_region *region, int times, int us)
{
    for (int time = 0; time < times; time++) {
        CHECK_EQUAL(ay_enter(region), 0);
        busy_us(us);
        CHECK_EQUAL(ay_leave(region), 0);
    }
}

/* Two that stay inside for a moment each, then one of them for long: the other's wait ends at its
 * deadline, and it has slept. */
static void test_long_after_short(int us)
{
    enum { PASSAGES = 2000, WAIT_MS = 300, CPU_MOST_MS = 50 };
    unlink(test_space);
    *board = (struct board){0};
    const pid_t other = spawn();
    if (other == 0) {
        ay_region *region = open_one();
        atomic_store(&board->ready, 1);
        pass(region, PASSAGES, us);
        AWAIT_TRUE(atomic_load(&board->ready) == 2);
        CHECK_EQUAL(ay_enter(region), 0);
        atomic_store(&board->turn, 1);
        AWAIT_TRUE(atomic_load(&board->done));
        CHECK_EQUAL(ay_leave(region), 0);
        _exit(0);
    }
    ay_region *region = open_one();
    AWAIT_TRUE(atomic_load(&board->ready) == 1);
    pass(region, PASSAGES, us);
    atomic_store(&board->ready, 2);
    AWAIT_TRUE(atomic_load(&board->turn));
    const double before = cpu_ms();
    const int64_t begin = now_ms();
    CHECK_EQUAL(ay_enter_for(region, WAIT_MS), -ETIMEDOUT);
    CHECK(now_ms() - begin >= WAIT_MS);
    if (cpu_ms() - before > CPU_MOST_MS)
        FAIL("a wait of %d ms took %.1f ms of CPU", WAIT_MS, cpu_ms() - before);
    atomic_store(&board->done, 1);
    CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    expect_success(other);
    ay_region_close(region);
}

/* More wait than there are processors, and the machine is busy: who gives its processor away gets
 * it back late. The deadline holds nevertheless. */
static void test_deadline_on_a_busy_machine(void)
{
    enum { WAITERS = 4, LOAD = 6, TRIES = 60, LIMIT_MS = 15 * 1000 };
    unlink(test_space);
    *board = (struct board){0};
    ay_region *region = open_one(), *own = open_one();
    pid_t waiters[WAITERS], load[LOAD];
    CHECK_EQUAL(ay_enter(region), 0);
    for (int which = 0; which < WAITERS; which++) {
        waiters[which] = spawn();
        if (waiters[which] == 0) {
            ay_region *mine = open_one();
            atomic_fetch_add(&board->ready, 1);
            _exit(ay_enter(mine) || ay_leave(mine));
        }
    }
    AWAIT_TRUE(atomic_load(&board->ready) == WAITERS);
    sleep_ms(50);
    for (int which = 0; which < LOAD; which++) {
        load[which] = spawn();
        while (load[which] == 0)
            ;
    }
    const int64_t begin = now_ms();
    for (int time = 0; time < TRIES; time++)
        CHECK_EQUAL(ay_enter_for(own, 1), -ETIMEDOUT);
    CHECK(now_ms() - begin < LIMIT_MS);
    for (int which = 0; which < LOAD; which++)
        kill_and_reap(load[which]);
    CHECK_EQUAL(ay_leave(region), 0);
    for (int which = 0; which < WAITERS; which++)
        expect_success(waiters[which]);
    ay_region_close(region);
    ay_region_close(own);
}

int main(void)
{
    begin_test("spinning");
    board = shared_memory(sizeof *board);
    test_long_after_short(1);
    test_long_after_short(10);
    test_long_after_short(60);
    test_deadline_on_a_busy_machine();
    return 0;
}
