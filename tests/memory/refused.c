/* SPDX-License-Identifier: MIT */
/* futex_waitv refused, by an old kernel or by a container's profile, with whatever answer: all
 * promises hold, a wait still ends when it should, and one who waits still uses next to no CPU. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "harness.h"

enum { FUTEX_WAITV = 449, IDLE_MS = 500, SWITCHES_MOST = 150, CPU_MOST_MS = 50 };

/* From here on this process, and whatever thread it has, gets `answer` from futex_waitv. */
static void refuse_waitv(int answer)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAITV, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
        fprintf(stderr, "SKIP: no seccomp filter: %s\n", strerror(errno));
        _exit(SKIP);
    }
    errno = 0;
    if (syscall(FUTEX_WAITV, NULL, 0, 0, NULL, 0) >= 0 || errno != answer)
        FAIL("futex_waitv answers %d, not %d", errno, answer);
}

struct board {
    _Atomic int begun, inside, done;
};

static struct board *board;

static void start_test(void)
{
    unlink(test_space);
    *board = (struct board){0};
}

/* A child that enters, waits there if `stays`, and exits with what ay_enter said. */
static pid_t start_member(ay_spec spec, bool stays)
{
    const int begun = atomic_load(&board->begun), inside = atomic_load(&board->inside);
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region *region = open_region(open_space(NULL), spec);
        atomic_fetch_add(&board->begun, 1);
        const int result = ay_enter_for(region, PATIENCE_MS);
        atomic_fetch_add(&board->inside, 1);
        while (stays)
            pause();
        ay_leave(region);
        _exit(result >= 0 ? result : 100);
    }
    AWAIT_TRUE(atomic_load(&board->begun) > begun);
    if (stays)
        AWAIT_TRUE(atomic_load(&board->inside) > inside);
    else
        sleep_ms(30);
    return pid;
}

static void expect_exit(pid_t pid, int code)
{
    const int status = await_exit(pid);
    CHECK(WIFEXITED(status));
    CHECK_EQUAL(WEXITSTATUS(status), code);
}

static void test_holder_killed(void)
{
    start_test();
    const pid_t holder = start_member((ay_spec){.name = "x"}, true);
    const pid_t waiter = start_member((ay_spec){.name = "x"}, false);
    kill_and_reap(holder);
    expect_exit(waiter, AY_AFTER_DEATH);
}

/* The one in the middle of the queue dies, before its turn and at its turn: the last one comes in
 * all the same. */
static void test_waiter_killed(bool at_its_turn)
{
    start_test();
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(region), 0);
    const pid_t middle = start_member((ay_spec){.name = "x"}, false);
    const pid_t last = start_member((ay_spec){.name = "x"}, false);
    if (at_its_turn) {
        CHECK_EQUAL(kill(middle, SIGSTOP), 0);
        CHECK_EQUAL(ay_leave(region), 0);
        sleep_ms(20);
    }
    kill_and_reap(middle);
    if (!at_its_turn)
        CHECK_EQUAL(ay_leave(region), 0);
    expect_exit(last, 0);
    ay_close(space);
}

/* One of two slots, or of two units, becomes free by death, or by leaving. */
static void test_several_killed(ay_spec spec)
{
    start_test();
    const pid_t first = start_member(spec, true), second = start_member(spec, true);
    const pid_t waiter = start_member(spec, false);
    CHECK_EQUAL(atomic_load(&board->inside), 2);
    kill_and_reap(second);
    expect_exit(waiter, AY_AFTER_DEATH);
    kill_and_reap(first);
}

static void test_room_is_made(ay_spec spec)
{
    start_test();
    ay_space *space = open_space(NULL);
    ay_region *a = open_region(space, spec), *b = open_region(space, spec);
    CHECK_EQUAL(ay_enter(a), 0);
    CHECK_EQUAL(ay_enter(b), 0);
    const pid_t waiter = start_member(spec, false);
    CHECK_EQUAL(ay_leave(b), 0);
    expect_exit(waiter, 0);
    ay_close(space);
}

/* Many pass through, again and again, and some are killed wherever they are: the others get
 * through. */
static void test_crowd(void)
{
    enum { MEMBERS = 16, PASSAGES = 20, KILLED = 6 };
    start_test();
    pid_t members[MEMBERS];
    for (int which = 0; which < MEMBERS; which++) {
        members[which] = spawn();
        if (members[which] != 0)
            continue;
        ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
        atomic_fetch_add(&board->begun, 1);
        AWAIT_TRUE(atomic_load(&board->begun) == MEMBERS);
        for (int time = 0; time < PASSAGES; time++) {
            CHECK(ay_enter_for(region, PATIENCE_MS) >= 0);
            sleep_ms(1);
            CHECK_EQUAL(ay_leave(region), 0);
        }
        _exit(0);
    }
    AWAIT_TRUE(atomic_load(&board->begun) == MEMBERS);
    for (int which = 0; which < KILLED; which++) {
        sleep_ms(15);
        kill_and_reap(members[which]);
    }
    for (int which = KILLED; which < MEMBERS; which++)
        expect_success(members[which]);
}

struct use {
    double cpu_ms;
    long switches;
};

static struct use usage(int who)
{
    struct rusage used;
    getrusage(who, &used);
    return (struct use){.cpu_ms = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
                                  (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-3,
                        .switches = used.ru_nvcsw};
}

static void check_idle(struct use before, const char *what)
{
    const struct use after = usage(RUSAGE_SELF);
    if (after.cpu_ms - before.cpu_ms > CPU_MOST_MS ||
        after.switches - before.switches > SWITCHES_MOST)
        FAIL("%s for %d ms took %.1f ms of CPU, and woke up %ld times", what, IDLE_MS,
             after.cpu_ms - before.cpu_ms, after.switches - before.switches);
}

static bool never(void *unused)
{
    (void)unused;
    return false;
}

/* A wait ends when it should, and costs little. */
static void test_idle(ay_spec spec, bool when)
{
    start_test();
    ay_space *space = open_space(NULL);
    ay_region *a = open_region(space, spec), *b = open_region(space, spec);
    if (!when) {
        CHECK_EQUAL(ay_enter(a), 0);
        if (spec.slots == 2 || spec.take)
            CHECK_EQUAL(ay_enter(b), 0);
    }
    const pid_t waiter = spawn();
    if (waiter == 0) {
        ay_region *region = open_region(open_space(NULL), spec);
        const struct use before = usage(RUSAGE_SELF);
        const int64_t begin = now_ms();
        CHECK_EQUAL(when ? ay_enter_when(region, never, NULL, IDLE_MS)
                         : ay_enter_for(region, IDLE_MS),
                    -ETIMEDOUT);
        CHECK(now_ms() - begin >= IDLE_MS);
        CHECK(now_ms() - begin < PATIENCE_MS / 2);
        check_idle(before, "waiting");
        _exit(0);
    }
    expect_success(waiter);
    ay_close(space);
}

static ay_region *open_retaining(void)
{
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = 1}, &space), 0);
    return open_region(space, (ay_spec){.name = "x"});
}

static void pass(ay_region *region, int times)
{
    for (int time = 0; time < times; time++) {
        CHECK_EQUAL(ay_enter(region), 0);
        CHECK_EQUAL(ay_leave(region), 0);
    }
}

/* Retained permission. The owner's keeper hears nobody: from the beginning, or from when the
 * program forbids itself the call. A rival comes in all the same, and the keeper rests. */
static void test_retained(int answer, bool later)
{
    start_test();
    const pid_t owner = spawn();
    if (owner == 0) {
        if (!later)
            refuse_waitv(answer);
        ay_region *region = open_retaining();
        pass(region, 3);
        if (later)
            refuse_waitv(answer);
        pass(region, 3000);
        atomic_store(&board->begun, 1);
        AWAIT_TRUE(atomic_load(&board->inside));
        const struct use before = usage(RUSAGE_SELF);
        sleep_ms(IDLE_MS);
        check_idle(before, "keeping");
        pass(region, 3000);
        atomic_store(&board->done, 1);
        for (;;)
            pause();
    }
    AWAIT_TRUE(atomic_load(&board->begun));
    ay_region *region = open_retaining();
    CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    atomic_store(&board->inside, 1);
    int status;
    while (!atomic_load(&board->done)) {
        if (waitpid(owner, &status, WNOHANG) != 0)
            FAIL("the owner ended with status %x", (unsigned)status);
        sleep_ms(1);
    }
    CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    kill_and_reap(owner);
    ay_region_close(region);
}

static void test_all_refused(int answer)
{
    const ay_spec plain = {.name = "x"}, slots = {.name = "x", .slots = 2},
                  units = {.name = "x", .take = 1, .of = 2};
    begin_test("refused");
    board = shared_memory(sizeof *board);
    test_retained(answer, false);
    test_retained(answer, true);
    refuse_waitv(answer); /* for all that follows, and in every child */
    test_holder_killed();
    test_waiter_killed(false);
    test_waiter_killed(true);
    test_several_killed(slots);
    test_several_killed(units);
    test_room_is_made(slots);
    test_room_is_made(units);
    test_crowd();
    test_idle(plain, false);
    test_idle(slots, false);
    test_idle(units, false);
    test_idle(plain, true);
}

int main(void)
{
    static const int answers[] = {EPERM, ENOSYS, EACCES};
    enum { ANSWERS = sizeof answers / sizeof *answers };
    pid_t pids[ANSWERS];
    for (int which = 0; which < ANSWERS; which++) {
        pids[which] = spawn();
        if (pids[which] == 0) {
            test_all_refused(answers[which]);
            exit(0);
        }
    }
    for (int which = 0; which < ANSWERS; which++) {
        const int status = await_exit(pids[which]);
        if (WIFEXITED(status) && WEXITSTATUS(status) == SKIP)
            return SKIP;
        CHECK_EQUAL(status, 0);
    }
    return 0;
}
