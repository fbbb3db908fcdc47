/* SPDX-License-Identifier: MIT */
/* ay_enter_unless: a wait that a signal may end, at once and without a trace; and that goes on,
 * where it was, if it may not. */
#include "harness.h"

static _Atomic int signals;

static void handle(int number)
{
    (void)number;
    atomic_fetch_add(&signals, 1);
}

static bool after_three(void *asked)
{
    ++*(int *)asked;
    return atomic_load(&signals) >= 3;
}

static bool is_true(void *unused)
{
    (void)unused;
    return true;
}

/* Signals every 20 ms from a child, until it is killed. */
static pid_t start_alarm(void)
{
    const pid_t parent = getpid(), pid = spawn();
    if (pid == 0)
        for (;;) {
            sleep_ms(20);
            kill(parent, SIGUSR1);
        }
    return pid;
}

static void test_protocol(const char *protocol, bool when)
{
    unlink(test_space);
    atomic_store(&signals, 0);
    _Atomic int *inside = shared_memory(sizeof *inside);
    const pid_t holder = spawn();
    if (holder == 0) {
        CHECK_EQUAL(ay_enter(open_region(open_space(protocol), (ay_spec){.name = "x"})), 0);
        atomic_store(inside, 1);
        for (;;)
            pause();
    }
    AWAIT_TRUE(atomic_load(inside));
    ay_space *space = open_space(protocol);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    const pid_t alarm = start_alarm();
    int asked = 0;
    CHECK_EQUAL(ay_enter_unless(region, after_three, when ? is_true : NULL, &asked, -1), -EINTR);
    CHECK(asked >= 1 && atomic_load(&signals) >= 3);
    CHECK_EQUAL(ay_leave(region), -EPERM);
    CHECK_EQUAL(ay_enter_for(region, 100), -ETIMEDOUT); /* the other calls sleep on */
    kill_and_reap(alarm);
    kill_and_reap(holder);
    CHECK_EQUAL(ay_enter_unless(region, after_three, NULL, &asked, PATIENCE_MS), AY_AFTER_DEATH);
    ay_close(space);
}

int main(void)
{
    begin_test("interrupted");
    CHECK(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle}, NULL) == 0);
    test_protocol("courtesy", false);
    test_protocol("courtesy", true);
    test_protocol("bakery", false);
    test_protocol("region", false);
    test_protocol("races", false);
    return 0;
}
