/* SPDX-License-Identifier: MIT */
/* Opening, one instruction at a time: wherever an opener stands still, everybody else opens,
 * enters, leaves, forks; and wherever it is killed, they go on, and a death inside that it was
 * about to take note of is told once. By ptrace(2). */
#include <sys/ptrace.h>
#include <sys/user.h>

#include "harness.h"

enum { MANY = 2 * 1000 * 1000 };

struct board {
    _Atomic int opened, told;
    _Atomic int open_with[3]; /* by slots */
    _Atomic int agreed, refused;
};

static struct board *board;

/* Few places, for what is zeroed for each of them is stepped through byte by byte. */
static ay_space *open_small(void)
{
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.places = 16}, &space), 0);
    return space;
}

/* What the traced child does between two stops: the last one says that it is done. */
_Noreturn static void open_traced(ay_spec spec)
{
    ay_space *space = open_small();
    CHECK_EQUAL(ptrace(PTRACE_TRACEME, 0, NULL, NULL), 0);
    raise(SIGSTOP);
    ay_region *region;
    const int result = ay_region_open(space, &spec, &region);
    atomic_store(&board->opened, 1);
    if (spec.slots == 2)
        _exit(-result);
    CHECK_EQUAL(result, 0);
    const int entered = ay_enter_for(region, PATIENCE_MS);
    CHECK(entered >= 0);
    atomic_fetch_add(&board->told, entered);
    CHECK_EQUAL(ay_leave(region), 0);
    ay_close(space);
    _exit(0);
}

static pid_t start_traced(ay_spec spec)
{
    atomic_store(&board->opened, 0);
    const pid_t pid = spawn();
    if (pid == 0)
        open_traced(spec);
    int status;
    CHECK_EQUAL(waitpid(pid, &status, 0), pid);
    if (!WIFSTOPPED(status)) {
        fputs("skipped: ptrace(2) is not allowed here\n", stderr);
        exit(SKIP);
    }
    return pid;
}

static unsigned long address_of(pid_t pid)
{
#if defined(__x86_64__)
    struct user_regs_struct registers;
    CHECK_EQUAL(ptrace(PTRACE_GETREGS, pid, NULL, &registers), 0);
    return registers.rip;
#else
    static unsigned long count; /* no instruction repeats itself */
    (void)pid;
    return ++count;
#endif
}

/* To the next instruction. False: its opening is over. */
static bool step(pid_t pid)
{
    const unsigned long before = address_of(pid);
    int status;
    do {
        CHECK_EQUAL(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
        CHECK_EQUAL(waitpid(pid, &status, __WALL), pid);
        if (!WIFSTOPPED(status))
            FAIL("the opener ended in the middle: %x", (unsigned)status);
        if (atomic_load(&board->opened))
            return false;
    } while (address_of(pid) == before);
    return true;
}

/* In a process of its own, so that a wait without end is an end. */
static void go_on(const char *also, long steps)
{
    const pid_t pid = spawn(); /* to fork is one of the things that must go on */
    if (pid == 0) {
        alarm(PATIENCE_MS / 1000);
        ay_space *space = open_small();
        const char *const names[] = {"x", also};
        for (size_t which = 0; which < 2; which++) {
            ay_region *region = open_region(space, (ay_spec){.name = names[which]});
            const int entered = ay_enter_for(region, PATIENCE_MS);
            CHECK(entered >= 0);
            atomic_fetch_add(&board->told, entered);
            CHECK_EQUAL(ay_leave(region), 0);
            CHECK_EQUAL(ay_remove(test_space), -EBUSY);
            ay_region_close(region);
        }
        ay_close(space);
        _exit(0);
    }
    const int status = await_exit(pid);
    if (status != 0)
        FAIL("the opener stood still after %ld instructions: others ended with %x", steps,
             (unsigned)status);
}

/* Somebody who has been there all the time. */
static void pass(ay_region *region)
{
    const int entered = ay_enter_for(region, PATIENCE_MS);
    CHECK(entered >= 0);
    atomic_fetch_add(&board->told, entered);
    CHECK_EQUAL(ay_leave(region), 0);
}

static void die_inside(void)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region *region = open_region(open_small(), (ay_spec){.name = "x"});
        CHECK(ay_enter_for(region, PATIENCE_MS) >= 0);
        raise(SIGKILL);
    }
    await_exit(pid);
}

/* The opener stands still at every `stride`th instruction, and goes on again. */
static void test_standing_still(long stride, bool after_death)
{
    unlink(test_space);
    ay_space *space = open_small();
    ay_region *other = after_death ? NULL : open_region(space, (ay_spec){.name = "y"});
    ay_region *mine = after_death ? NULL : open_region(space, (ay_spec){.name = "x"});
    atomic_store(&board->told, 0);
    if (after_death)
        die_inside(); /* at place 0, which the opener takes */
    const pid_t pid = start_traced((ay_spec){.name = "x"});
    long steps = 0;
    while (step(pid) && steps < MANY)
        if (++steps % stride == 0) {
            if (mine) {
                pass(mine);
                pass(other);
            }
            go_on("z", steps);
        }
    CHECK_EQUAL(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
    expect_success(pid);
    CHECK_EQUAL(atomic_load(&board->told), after_death ? 1 : 0);
    CHECK(steps > 1000 && steps < MANY);
    printf("stood still at every %ldth of %ld instructions of an opening%s\n", stride, steps,
           after_death ? ", after a death inside" : "");
    ay_close(space);
}

/* Killed after so many instructions; the death before it is told once all the same. False: the
 * opening was over by then. */
static bool test_killed_after(long steps)
{
    unlink(test_space);
    atomic_store(&board->told, 0);
    die_inside();
    const pid_t pid = start_traced((ay_spec){.name = "x"});
    bool going = true;
    for (long at = 0; going && at < steps; at++)
        going = step(pid);
    kill_and_reap(pid);
    ay_space *space = open_small();
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    for (int times = 0; times < 3; times++)
        pass(region);
    if (atomic_load(&board->told) != 1)
        FAIL("killed after %ld instructions of an opening: the death inside was told %d times",
             steps, atomic_load(&board->told));
    ay_close(space);
    return going;
}

/* Two that disagree, of which one stands still in the middle: the other gets its way, or is told;
 * and never do both. False: the opening was over by then. */
static bool test_disagreeing_after(long steps)
{
    unlink(test_space);
    const pid_t pid = start_traced((ay_spec){.name = "x", .slots = 2});
    bool going = true;
    for (long at = 0; going && at < steps; at++)
        going = step(pid);
    ay_space *space = open_small();
    ay_region *region, *agreeing;
    const int result = ay_region_open(space, &(ay_spec){.name = "x"}, &region);
    /* what the one stopped wants is no obstacle to others who agree with me either */
    if (result == 0)
        CHECK_EQUAL(ay_region_open(space, &(ay_spec){.name = "x"}, &agreeing), 0);
    CHECK_EQUAL(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
    const int status = await_exit(pid);
    const int its = WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
    if ((result != 0 && result != -EINVAL) || (its != 0 && its != -EINVAL) ||
        (result == 0) == (its == 0))
        FAIL("stood still after %ld instructions: got %d, and the other %d", steps, its, result);
    ay_close(space);
    return going;
}

/* Many at once, half of which disagree with the other half. */
static void test_disagreeing_at_once(void)
{
    enum { PROCESSES = 4, ROUNDS = 300 };
    pid_t pids[PROCESSES];
    unlink(test_space);
    for (int which = 0; which < PROCESSES; which++) {
        pids[which] = spawn();
        if (pids[which] != 0)
            continue;
        const unsigned slots = 1 + (unsigned)which % 2;
        ay_space *space = open_small();
        for (int round = 0; round < ROUNDS; round++) {
            ay_region *region;
            const int result =
                ay_region_open(space, &(ay_spec){.name = "x", .slots = slots}, &region);
            CHECK(result == 0 || result == -EINVAL);
            atomic_fetch_add(result ? &board->refused : &board->agreed, 1);
            if (result)
                continue;
            atomic_fetch_add(&board->open_with[slots], 1);
            CHECK_EQUAL(atomic_load(&board->open_with[3 - slots]), 0);
            atomic_fetch_sub(&board->open_with[slots], 1);
            ay_region_close(region);
        }
        _exit(0);
    }
    for (int which = 0; which < PROCESSES; which++)
        expect_success(pids[which]);
    CHECK(atomic_load(&board->agreed) > 0);
    printf("opened with one slot or two: %d agreed, %d were refused\n", atomic_load(&board->agreed),
           atomic_load(&board->refused));
}

int main(int count, char **words)
{
    const long stride = count > 1 ? atol(words[1]) : 0;
    begin_test("opening");
    board = shared_memory(sizeof *board);
    test_standing_still(stride ? stride : 37, false);
    test_standing_still(stride ? stride : 41, true);
    long steps = 1;
    while (test_killed_after(steps))
        steps += stride ? stride : 997;
    printf("killed up to the %ldth instruction of an opening\n", steps);
    steps = 1;
    while (test_disagreeing_after(steps))
        steps += stride ? stride : 199;
    printf("disagreed with up to the %ldth instruction of an opening\n", steps);
    test_disagreeing_at_once();
    return 0;
}
