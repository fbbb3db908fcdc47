/* SPDX-License-Identifier: MIT */
/* A process is killed of which a thread sleeps on the life of another: the kernel wakes one sleeper
 * of that, perhaps the one that dies as well. Then it wakes the next: here a process that sleeps on
 * the life and looks at nothing else, so that no timer of the library's stands in for the kernel.
 */
#include <pthread.h>
#include <sys/utsname.h>

#include "memory/passage/region.h"

#include "harness.h"

/* Who is woken is a matter of chance: where nothing is bequeathed, some of a hundred rounds are
 * lost. */
enum { ROUNDS = 100, ASKED = 60, SETTLE_MS = 10 };

struct board {
    _Atomic int inside, place, sleeps;
};

static struct board *board;

static ay_region *region_called(ay_space *space, const char *name)
{
    return open_region(space, (ay_spec){.name = name});
}

static void enter_and_say(ay_region *region)
{
    CHECK(ay_enter(region) >= 0);
    atomic_store(&board->place, (int)region->claim.place);
    atomic_store(&board->inside, 1);
}

static ay_region *region_of(ay_space *space, int number)
{
    char name[16];
    snprintf(name, sizeof name, "y%d", number);
    return region_called(space, name);
}

/* Inside of "x", and asks for what is held: its helper sleeps on its life, and on so much else that
 * it takes a while to be killed. */
static void hold_and_ask(void)
{
    ay_space *space = open_space(NULL);
    for (int number = 0; number < ASKED; number++)
        CHECK_EQUAL(ay_ask(region_of(space, number)), -EINPROGRESS);
    sleep_ms(SETTLE_MS);
    enter_and_say(region_called(space, "x"));
}

static void *wait_for_x(void *space)
{
    ay_region *region = region_called(space, "x");
    CHECK(ay_enter(region) >= 0);
    return NULL;
}

/* Inside of "x", and another of its threads waits for that. */
static void hold_and_wait(void)
{
    pthread_t thread;
    ay_space *space = open_space(NULL);
    ay_region *region = region_called(space, "x");
    CHECK(ay_enter(region) >= 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, wait_for_x, space), 0);
    AWAIT_TRUE(ay_wanted(region) > 0);
    sleep_ms(SETTLE_MS);
    atomic_store(&board->place, (int)region->claim.place);
    atomic_store(&board->inside, 1);
}

/* It exits with 0 once it is woken, or finds that the life has ended before it slept. */
static pid_t start_sleeper(void)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        const struct timespec patience = {.tv_sec = PATIENCE_MS / 1000};
        const struct vital vital =
            ay__vital(open_space(NULL), (unsigned)atomic_load(&board->place));
        CHECK(vital.alive);
        atomic_store(&board->sleeps, 1);
        const long woken =
            syscall(SYS_futex, vital.futex, FUTEX_WAIT, (uint32_t)vital.value, &patience, NULL, 0);
        _exit(woken == 0 || errno == EAGAIN ? 0 : 1);
    }
    AWAIT_TRUE(atomic_load(&board->sleeps));
    sleep_ms(SETTLE_MS);
    return pid;
}

static void test_bequeathed(void (*hold)(void))
{
    for (int round = 0; round < ROUNDS; round++) {
        unlink(test_space);
        *board = (struct board){0};
        ay_space *space = open_space(NULL);
        for (int number = 0; number < ASKED; number++)
            CHECK_EQUAL(ay_enter(region_of(space, number)), 0);
        const pid_t holder = spawn();
        if (holder == 0) {
            hold();
            for (;;)
                pause();
        }
        AWAIT_TRUE(atomic_load(&board->inside));
        const pid_t sleeper = start_sleeper();
        kill_and_reap(holder);
        int status;
        CHECK_EQUAL(waitpid(sleeper, &status, 0), sleeper);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            FAIL("round %d: the sleeper was not woken", round);
        ay_close(space);
    }
}

/* Since 6.2 it looks at the owner alone, and not at the whole word. */
static bool bequeaths(void)
{
    struct utsname system;
    unsigned major = 0, minor = 0;
    uname(&system);
    return sscanf(system.release, "%u.%u", &major, &minor) == 2 &&
           (major > 6 || (major == 6 && minor >= 2));
}

int main(void)
{
    if (!bequeaths()) {
        fprintf(stderr, "skipped: the kernel is older than 6.2\n");
        return SKIP;
    }
    begin_test("bequeathed");
    board = shared_memory(sizeof *board);
    test_bequeathed(hold_and_ask);
    test_bequeathed(hold_and_wait);
    return 0;
}
