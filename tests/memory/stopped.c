/* SPDX-License-Identifier: MIT */
/* Stopped processes: a pause is not a death. Who is stopped inside keeps the region; timeouts work
 * all the same; and one who waits uses no CPU. */
#include <sys/resource.h>

#include "harness.h"

struct board {
    _Atomic int inside, begun, passages;
};

static pid_t start_holder(const char *protocol, struct board *board)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region *region = open_region(open_space(protocol), (ay_spec){.name = "x"});
        CHECK_EQUAL(ay_enter(region), 0);
        atomic_store(&board->inside, 1);
        while (!atomic_load(&board->begun))
            sleep_ms(1);
        atomic_store(&board->inside, 0);
        CHECK_EQUAL(ay_leave(region), 0);
        _exit(0);
    }
    AWAIT_TRUE(atomic_load(&board->inside));
    return pid;
}

static void test_holder_stopped(const char *protocol)
{
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    ay_space *space = open_space(protocol);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    const pid_t holder = start_holder(protocol, board);
    CHECK_EQUAL(kill(holder, SIGSTOP), 0);
    sleep_ms(100);
    CHECK(atomic_load(&board->inside));
    CHECK_EQUAL(ay_try(region), -EBUSY);
    const int64_t begin = now_ms();
    /* longer than the doubt about a life lasts */
    CHECK_EQUAL(ay_enter_for(region, 700), -ETIMEDOUT);
    CHECK(now_ms() - begin >= 700);
    atomic_store(&board->begun, 1); /* it may leave now */
    CHECK_EQUAL(kill(holder, SIGCONT), 0);
    CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), 0);
    CHECK(!atomic_load(&board->inside));
    expect_success(holder);
    ay_close(space);
}

/* Who is stopped while it waits is waited for, once its turn has come: strict order. It holds
 * nothing up before that, and it can be killed. */
static void test_waiter_stopped(void)
{
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    ay_space *space = open_space(NULL);
    ay_region *a = open_region(space, (ay_spec){.name = "x"}),
              *b = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(a), 0);
    const pid_t waiter = spawn();
    if (waiter == 0) {
        ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
        atomic_store(&board->begun, 1);
        CHECK_EQUAL(ay_enter(region), 0);
        _exit(0);
    }
    AWAIT_TRUE(atomic_load(&board->begun));
    sleep_ms(50);
    CHECK_EQUAL(kill(waiter, SIGSTOP), 0);
    CHECK_EQUAL(ay_leave(a), 0);
    CHECK_EQUAL(ay_enter_for(b, 100), -ETIMEDOUT);
    kill_and_reap(waiter);
    CHECK_EQUAL(ay_enter_for(b, PATIENCE_MS), 0);
    ay_close(space);
}

/* `forks` with two slots: one process stopped, waiting or inside, wherever, does not keep the
 * others out. */
static void test_forks(void)
{
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    const ay_spec spec = {.name = "x", .slots = 2};
    ay_space *space = open_space("forks");
    ay_region *a = open_region(space, spec), *b = open_region(space, spec);
    for (int round = 0; round < 20; round++) {
        const pid_t stopped = spawn();
        if (stopped == 0) {
            ay_region *region = open_region(open_space("forks"), spec);
            for (;;) {
                CHECK(ay_enter(region) >= 0);
                atomic_fetch_add(&board->passages, 1);
                CHECK_EQUAL(ay_leave(region), 0);
            }
        }
        const int before = atomic_load(&board->passages);
        AWAIT_TRUE(atomic_load(&board->passages) > before + round);
        CHECK_EQUAL(kill(stopped, SIGSTOP), 0);
        for (int times = 0; times < 10; times++) {
            ay_region *region = times % 2 ? a : b;
            CHECK(ay_enter_for(region, PATIENCE_MS) >= 0);
            CHECK_EQUAL(ay_leave(region), 0);
        }
        kill_and_reap(stopped);
    }
    ay_close(space);
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static bool never(void *unused)
{
    (void)unused;
    return false;
}

enum { WAITS = 15 };

/* A second of waiting costs less than 5 ms of CPU: behind a holder, for units, and for a condition.
 * On a loaded machine one may cost a little more; whoever spins uses all of every second. */
static void test_idle_wait(const char *protocol, ay_spec spec, bool when)
{
    unlink(test_space);
    ay_space *space = open_space(protocol);
    ay_region *a = open_region(space, spec), *b = open_region(space, spec);
    if (!when)
        CHECK_EQUAL(ay_enter(a), 0);
    const pid_t waiter = spawn();
    if (waiter == 0) {
        ay_region *region = open_region(open_space(protocol), spec);
        double used = 1;
        for (unsigned times = 0; used >= 0.005 && times < WAITS; times++) {
            const double before = cpu_seconds();
            CHECK_EQUAL(when ? ay_enter_when(region, never, NULL, 1000)
                             : ay_enter_for(region, 1000),
                        -ETIMEDOUT);
            used = cpu_seconds() - before;
        }
        if (used >= 0.005)
            FAIL("%s: a second of waiting took %.1f ms of CPU", protocol ? protocol : "courtesy",
                 used * 1e3);
        _exit(0);
    }
    expect_success(waiter);
    (void)b;
    ay_close(space);
}

int main(void)
{
    static const char *const protocols[] = {"pair",   "races", "clock",   "bakery",
                                            "region", "forks", "courtesy"};
    begin_test("stopped");
    for (size_t at = 0; at < sizeof protocols / sizeof *protocols; at++)
        test_holder_stopped(protocols[at]);
    test_waiter_stopped();
    test_forks();
    test_idle_wait("region", (ay_spec){.name = "x"}, false);
    test_idle_wait("region", (ay_spec){.name = "x"}, true);
    test_idle_wait("forks", (ay_spec){.name = "x"}, false);
    test_idle_wait("races", (ay_spec){.name = "x"}, false);
    test_idle_wait("bakery", (ay_spec){.name = "x"}, false);
    test_idle_wait("courtesy", (ay_spec){.name = "x"}, false);
    test_idle_wait("courtesy", (ay_spec){.name = "x", .take = 3, .of = 4}, false);
    test_idle_wait("courtesy", (ay_spec){.name = "x"}, true);
    return 0;
}
