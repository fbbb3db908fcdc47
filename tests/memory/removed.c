/* SPDX-License-Identifier: MIT */
/* A space whose file is removed while it is in use: whoever enters next in the old file gets
 * -ESTALE. */
#include "harness.h"

static void expect_stale(ay_region *region)
{
    CHECK_EQUAL(ay_enter(region), -ESTALE);
    CHECK(strstr(ay_message(), "removed"));
    CHECK_EQUAL(ay_try(region), -ESTALE);
    CHECK_EQUAL(ay_enter_for(region, 10), -ESTALE);
    CHECK_EQUAL(ay_leave(region), -EPERM); /* it is not inside */
}

/* Off the processor: without a break, it is not told before the next. A sleep that is over before
 * it has begun is none, so this one is long. */
static void take_a_break(void)
{
    sleep_ms(10);
}

static void replace_space(void)
{
    CHECK_EQUAL(unlink(test_space), 0);
    ay_space *new;
    CHECK_EQUAL(ay_open(test_space, NULL, &new), 0);
    ay_close(new);
    take_a_break();
}

/* After so many passages: the first is by the long way, the next by the express lane, or with the
 * permission retained. */
static void test_passages_before(int passages, unsigned retain)
{
    unlink(test_space);
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = retain}, &space), 0);
    ay_region *region = open_region(space, (ay_spec){.name = "x"}), *late;
    for (int times = 0; times < passages; times++) {
        CHECK_EQUAL(ay_enter(region), 0);
        CHECK_EQUAL(ay_leave(region), 0);
    }
    replace_space();
    expect_stale(region);
    CHECK_EQUAL(ay_region_open(space, &(ay_spec){.name = "y"}, &late), -ESTALE);
    ay_close(space);
}

/* One that is inside is not put out; those who waited behind it do not go in. */
static void test_waiting(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    _Atomic int *waits = shared_memory(sizeof *waits);
    CHECK_EQUAL(ay_enter(region), 0);
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region *behind = open_region(open_space(NULL), (ay_spec){.name = "x"});
        atomic_store(waits, 1);
        CHECK_EQUAL(ay_enter_for(behind, PATIENCE_MS), -ESTALE);
        _exit(0);
    }
    AWAIT_TRUE(atomic_load(waits));
    sleep_ms(50);
    replace_space();
    CHECK(ay_valid(region));
    CHECK_EQUAL(ay_leave(region), 0);
    expect_success(pid);
    expect_stale(region);
    ay_close(space);
}

static bool count_and_refuse(void *asked)
{
    atomic_fetch_add((_Atomic int *)asked, 1);
    return false;
}

/* No condition is asked for in a file that was removed. */
static void test_condition(void)
{
    unlink(test_space);
    _Atomic int asked = 0;
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter_when(region, count_and_refuse, &asked, 0), -ETIMEDOUT);
    CHECK_EQUAL(asked, 1);
    replace_space();
    CHECK_EQUAL(ay_enter_when(region, count_and_refuse, &asked, 0), -ESTALE);
    CHECK(strstr(ay_message(), "removed"));
    CHECK_EQUAL(ay_enter_when(region, count_and_refuse, &asked, 10), -ESTALE);
    CHECK_EQUAL(ay_enter_when(region, count_and_refuse, &asked, -1), -ESTALE);
    CHECK_EQUAL(asked, 1);
    CHECK_EQUAL(ay_leave(region), -EPERM);
    ay_close(space);
}

/* Waits, for ever, for a condition that nobody will make true if `when`; otherwise for others. */
static pid_t start_waiter(ay_spec spec, bool when, _Atomic int *waiting)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region *region = open_region(open_space(NULL), spec);
        _Atomic int asked = 0;
        atomic_fetch_add(waiting, 1);
        CHECK_EQUAL(when ? ay_enter_when(region, count_and_refuse, &asked, -1) : ay_enter(region),
                    -ESTALE);
        _exit(0);
    }
    return pid;
}

/* Those who sleep learn of it by themselves, though nobody leaves and nobody wakes them. */
static void test_sleepers(void)
{
    enum { ASIDE = 12, KINDS = 3, WAITERS = ASIDE + KINDS };
    unlink(test_space);
    ay_space *space = open_space(NULL);
    _Atomic int *waiting = shared_memory(sizeof *waiting);
    const ay_spec held[KINDS] = {
        {.name = "alone"}, {.name = "units", .take = 3, .of = 4}, {.name = "slots", .slots = 2}};
    pid_t pid[WAITERS];
    for (int which = 0; which < WAITERS; which++) {
        const bool aside = which >= KINDS;
        for (unsigned holder = 0; !aside && holder < (held[which].slots ? held[which].slots : 1);
             holder++)
            CHECK_EQUAL(ay_enter(open_region(space, held[which])), 0);
        pid[which] = start_waiter(aside ? (ay_spec){.name = "when"} : held[which], aside, waiting);
    }
    AWAIT_TRUE(atomic_load(waiting) == WAITERS);
    sleep_ms(50);
    replace_space();
    for (int which = 0; which < WAITERS; which++)
        expect_success(pid[which]);
    ay_close(space);
}

/* To have asked in one space says nothing of another; and each thread asks for itself. */
static void test_two_spaces(void)
{
    unlink(test_space);
    char other_path[80];
    snprintf(other_path, sizeof other_path, "%s-other", test_space);
    ay_space *space = open_space(NULL), *other;
    CHECK_EQUAL(ay_open(other_path, NULL, &other), 0);
    ay_region *a = open_region(space, (ay_spec){.name = "x"}),
              *b = open_region(other, (ay_spec){.name = "x"});
    for (int times = 0; times < 10; times++) {
        CHECK_EQUAL(ay_enter(a), 0);
        CHECK_EQUAL(ay_enter(b), 0);
        CHECK_EQUAL(ay_leave(b), 0);
        CHECK_EQUAL(ay_leave(a), 0);
    }
    CHECK_EQUAL(unlink(test_space), 0);
    take_a_break();
    CHECK_EQUAL(ay_enter(b), 0);
    CHECK_EQUAL(ay_leave(b), 0);
    expect_stale(a);
    unlink(other_path);
    take_a_break();
    expect_stale(b);
    ay_close(space);
    ay_close(other);
}

/* One that never rests is told within the time that the kernel leaves it alone. */
static void test_without_a_break(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(region), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    CHECK_EQUAL(unlink(test_space), 0);
    const int64_t until = now_ms() + PATIENCE_MS;
    int result;
    while ((result = ay_enter(region)) == 0 && now_ms() < until)
        CHECK_EQUAL(ay_leave(region), 0);
    CHECK_EQUAL(result, -ESTALE);
    ay_close(space);
}

/* One that is inside keeps the mode that it has, and gets no stronger one. */
static void test_conversion(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter_as(region, AY_NULL, -1), 0);
    replace_space();
    const uint64_t fence = ay_fence(region);
    CHECK_EQUAL(ay_convert(region, AY_SHARED, -1), -ESTALE);
    CHECK_EQUAL(ay_convert(region, AY_EXCLUSIVE, 0), -ESTALE);
    CHECK(ay_fence(region) >= fence);
    CHECK_EQUAL(ay_leave(region), 0);
    ay_close(space);
}

int main(void)
{
    begin_test("removed");
    for (int passages = 0; passages < 5; passages++) {
        test_passages_before(passages, 0);
        test_passages_before(passages, 1);
    }
    test_waiting();
    test_condition();
    test_sleepers();
    test_two_spaces();
    test_without_a_break();
    test_conversion();
    return 0;
}
