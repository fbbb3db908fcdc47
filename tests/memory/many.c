/* SPDX-License-Identifier: MIT */
/* More rivals than a sleeper can watch: what is given back, made true, or left by the dead is
 * obtained all the same, and who waits for it uses next to no processor. */
#include <sys/resource.h>

#include "harness.h"

enum { RIVALS = 80, ROUNDS = 10 };

struct board {
    _Atomic int opened, inside, leave, waits, flag;
};

static pid_t rivals[RIVALS];

/* They are there, and do nothing. */
static void start_rivals(ay_spec spec, struct board *board)
{
    for (int at = 0; at < RIVALS; at++)
        if ((rivals[at] = spawn()) == 0) {
            open_region(open_space(NULL), spec);
            atomic_fetch_add(&board->opened, 1);
            for (;;)
                pause();
        }
    AWAIT_TRUE(atomic_load(&board->opened) == RIVALS);
}

static void end_rivals(void)
{
    for (int at = 0; at < RIVALS; at++)
        kill_and_reap(rivals[at]);
}

/* Enters when it is told to, and leaves, or dies inside. */
static pid_t start_holder(ay_spec spec, struct board *board)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region *region = open_region(open_space(NULL), spec);
        CHECK(ay_enter(region) >= 0);
        atomic_store(&board->inside, 1);
        AWAIT_TRUE(atomic_load(&board->leave));
        atomic_store(&board->flag, 1);
        CHECK_EQUAL(ay_leave(region), 0);
        for (;;)
            pause();
    }
    AWAIT_TRUE(atomic_load(&board->inside));
    return pid;
}

static bool says_waits(void *context)
{
    struct board *board = context;
    atomic_store(&board->waits, 1);
    return atomic_load(&board->flag);
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static pid_t start_waiter(ay_spec spec, struct board *board)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region *region = open_region(open_space(NULL), spec);
        const double before = cpu_seconds();
        const int64_t begin = now_ms();
        const int result = spec.take ? ay_enter_for(region, PATIENCE_MS)
                                     : ay_enter_when(region, says_waits, board, PATIENCE_MS);
        CHECK(result >= 0);
        const double used = cpu_seconds() - before, took = (double)(now_ms() - begin) / 1e3;
        if (used > 0.05 + 0.1 * took)
            FAIL("%.2f s of waiting took %.2f s of CPU", took, used);
        CHECK_EQUAL(ay_leave(region), 0);
        _exit(0);
    }
    return pid;
}

static void test_given_back(bool dies)
{
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    const ay_spec spec = {.name = "x", .take = 1, .of = 1};
    start_rivals(spec, board);
    for (int round = 0; round < ROUNDS; round++) {
        atomic_store(&board->inside, 0);
        atomic_store(&board->leave, 0);
        const pid_t holder = start_holder(spec, board);
        const pid_t first = start_waiter(spec, board),
                    second = round % 2 ? start_waiter(spec, board) : 0;
        sleep_ms(20 + 10 * round); /* by now they are aside; if not, the test is only weaker */
        if (dies)
            kill_and_reap(holder);
        else
            atomic_store(&board->leave, 1);
        expect_success(first);
        if (second)
            expect_success(second);
        if (!dies)
            kill_and_reap(holder);
    }
    end_rivals();
}

static void test_made_true(void)
{
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    const ay_spec spec = {.name = "x"};
    start_rivals(spec, board);
    for (int round = 0; round < ROUNDS; round++) {
        atomic_store(&board->waits, 0);
        atomic_store(&board->inside, 0);
        atomic_store(&board->leave, 0);
        atomic_store(&board->flag, 0);
        const pid_t waiter = start_waiter(spec, board);
        AWAIT_TRUE(atomic_load(&board->waits));
        const pid_t changer = start_holder(spec, board);
        atomic_store(&board->leave, 1);
        expect_success(waiter);
        kill_and_reap(changer);
    }
    end_rivals();
}

int main(void)
{
    begin_test("many");
    test_given_back(false);
    test_given_back(true);
    test_made_true();
    return 0;
}
