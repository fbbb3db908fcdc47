/* SPDX-License-Identifier: MIT */
/* Rivals that are gone: whoever waits for a condition or for units remembers every rival it saw.
 * One that is no longer there, however it went, must neither keep the waiter from its deadline nor
 * keep it awake. */
#include <sys/resource.h>

#include "harness.h"

enum { LIMIT_MS = 300 };

struct board {
    _Atomic int opened, waits, leave_now, renamed;
};

/* How a rival goes. */
enum way { EXITS, CLOSES, IS_KILLED, IS_SUCCEEDED, WAYS };
static const char *const names[WAYS] = {"exited", "closed", "was killed",
                                        "was followed by another name"};

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static bool says_waits(void *board)
{
    atomic_store(&((struct board *)board)->waits, 1);
    return false;
}

static pid_t start_rival(ay_spec spec, enum way way, struct board *board)
{
    const pid_t pid = spawn();
    if (pid != 0)
        return pid;
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, spec);
    atomic_store(&board->opened, 1);
    if (way == IS_KILLED)
        for (;;)
            pause();
    AWAIT_TRUE(atomic_load(&board->leave_now));
    if (way == EXITS)
        _exit(0);
    ay_region_close(region);
    if (way == IS_SUCCEEDED) { /* the place is taken by a stranger, whose word changes */
        ay_region *stranger = open_region(space, (ay_spec){.name = "stranger"});
        for (int times = 0; times < 3; times++) {
            CHECK_EQUAL(ay_enter(stranger), 0);
            CHECK_EQUAL(ay_leave(stranger), 0);
        }
        CHECK_EQUAL(ay_enter(stranger), 0);
    }
    atomic_store(&board->renamed, 1);
    for (;;)
        pause();
}

/* The waiter's deadline holds, and it uses next to no processor meanwhile. */
static pid_t start_waiter(ay_spec spec, struct board *board, const char *name)
{
    const pid_t pid = spawn();
    if (pid != 0)
        return pid;
    ay_region *region = open_region(open_space(NULL), spec);
    const double before = cpu_seconds();
    const int64_t begin = now_ms();
    const int result = spec.take ? ay_enter_for(region, LIMIT_MS)
                                 : ay_enter_when(region, says_waits, board, LIMIT_MS);
    CHECK_EQUAL(result, -ETIMEDOUT);
    const int64_t took = now_ms() - begin;
    const double used = cpu_seconds() - before;
    CHECK(took >= LIMIT_MS);
    if (used >= 0.1)
        FAIL("a rival %s: %lld ms of waiting took %.0f ms of CPU", name, (long long)took,
             used * 1e3);
    _exit(0);
}

static void let_go(pid_t rival, enum way way, struct board *board)
{
    if (way == IS_KILLED) {
        kill_and_reap(rival);
        return;
    }
    atomic_store(&board->leave_now, 1);
    if (way == EXITS)
        expect_success(rival);
    else
        AWAIT_TRUE(atomic_load(&board->renamed));
}

/* `holder` keeps the units, or is just another rival that stays. */
static void test_gone(ay_spec spec, enum way way, bool while_waiting)
{
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    ay_space *space = open_space(NULL);
    ay_region *holder = open_region(space, spec);
    if (spec.take)
        CHECK_EQUAL(ay_enter(holder), 0);
    const pid_t rival = start_rival(spec, way, board);
    AWAIT_TRUE(atomic_load(&board->opened));
    pid_t waiter = 0;
    if (while_waiting) {
        waiter = start_waiter(spec, board, names[way]);
        if (!spec.take)
            AWAIT_TRUE(atomic_load(&board->waits));
        sleep_ms(50); /* by now it is aside; if not, the test is only weaker */
    }
    let_go(rival, way, board);
    if (!while_waiting)
        waiter = start_waiter(spec, board, names[way]);
    expect_success(waiter);
    if (way == CLOSES || way == IS_SUCCEEDED)
        kill_and_reap(rival);
    ay_close(space);
    munmap(board, sizeof *board);
}

static bool is_set(void *flag)
{
    return atomic_load((_Atomic int *)flag);
}

/* Nor is lost what a rival did that came after the look, entered, and was gone before the next: its
 * place is a stranger's by then. */
static void test_change_by_one_that_is_gone(int delay_ms)
{
    unlink(test_space);
    _Atomic int *flag = shared_memory(sizeof *flag);
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    const pid_t changer = spawn();
    if (changer == 0) {
        ay_space *its = open_space(NULL);
        sleep_ms(delay_ms);
        ay_region *x = open_region(its, (ay_spec){.name = "x"});
        CHECK_EQUAL(ay_enter(x), 0);
        atomic_store(flag, 1);
        CHECK_EQUAL(ay_leave(x), 0);
        ay_region_close(x);
        ay_region *stranger = open_region(its, (ay_spec){.name = "stranger"});
        CHECK_EQUAL(ay_enter(stranger), 0);
        for (;;)
            pause();
    }
    CHECK_EQUAL(ay_enter_when(region, is_set, flag, PATIENCE_MS), 0);
    kill_and_reap(changer);
    ay_close(space);
}

int main(void)
{
    begin_test("gone");
    for (enum way way = 0; way < WAYS; way++)
        for (int while_waiting = 0; while_waiting < 2; while_waiting++) {
            test_gone((ay_spec){.name = "x"}, way, while_waiting);
            test_gone((ay_spec){.name = "x", .take = 1, .of = 1}, way, while_waiting);
        }
    for (int times = 0; times < 200; times++)
        test_change_by_one_that_is_gone(times % 3);
    test_change_by_one_that_is_gone(100);
    return 0;
}
