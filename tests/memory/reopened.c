/* SPDX-License-Identifier: MIT */
/* A place that one owner after the other has: what rivals remember of the last is not mistaken for
 * what the present one does, and what it retained is given back when it closes. */
#include <signal.h>

#include "harness.h"

enum { ROUNDS = 30, LIMIT_MS = 200, HOLD_MS = 20 };

/* Who is not woken looks up by itself after a quarter of a second, so a shorter limit passes. On a
 * loaded machine it may pass now and then all the same; without the wake-up it passes nearly
 * always. */
static void test_wake_up_of_a_new_owner(bool retain)
{
    unlink(test_space);
    _Atomic unsigned *asks = shared_memory(sizeof *asks), *entered = shared_memory(sizeof *entered);
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = retain}, &space), 0);
    ay_region *mine = open_region(space, (ay_spec){.name = "x"});
    const pid_t other = spawn();
    if (other == 0) {
        ay_space *its;
        CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = retain}, &its), 0);
        for (unsigned round = 1; round <= ROUNDS; round++) {
            ay_region *region = open_region(its, (ay_spec){.name = "x"});
            AWAIT_TRUE(atomic_load(asks) == round);
            if (ay_enter_for(region, LIMIT_MS) >= 0) {
                atomic_fetch_add(entered, 1);
                CHECK_EQUAL(ay_leave(region), 0);
            }
            ay_region_close(region);
            atomic_store(asks, 0);
        }
        _exit(0);
    }
    for (unsigned round = 1; round <= ROUNDS; round++) {
        CHECK(ay_enter(mine) >= 0);
        atomic_store(asks, round);
        sleep_ms(HOLD_MS);
        CHECK_EQUAL(ay_leave(mine), 0);
        AWAIT_TRUE(atomic_load(asks) == 0);
    }
    expect_success(other);
    if (atomic_load(entered) < ROUNDS / 3)
        FAIL("%u of %d were woken", atomic_load(entered), ROUNDS);
    ay_close(space);
}

/* A rival is asleep until the permission is given back; its owner closes the region instead. */
static void test_closing_gives_back_what_was_retained(void)
{
    unsigned woken = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unlink(test_space);
        _Atomic unsigned *asks = shared_memory(sizeof *asks);
        ay_space *space;
        CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = 1}, &space), 0);
        ay_region *region = open_region(space, (ay_spec){.name = "x"});
        for (unsigned passage = 0; passage < 3; passage++) {
            CHECK_EQUAL(ay_enter(region), 0);
            CHECK_EQUAL(ay_leave(region), 0);
        }
        CHECK_EQUAL(ay_enter(region), 0);
        const pid_t rival = spawn();
        if (rival == 0) {
            ay_space *its;
            CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = 1}, &its), 0);
            ay_region *x = open_region(its, (ay_spec){.name = "x"});
            atomic_store(asks, 1);
            const int result = ay_enter_for(x, LIMIT_MS);
            _exit(result >= 0 ? 0 : 1);
        }
        AWAIT_TRUE(atomic_load(asks) == 1);
        sleep_ms(2);
        CHECK_EQUAL(ay_leave(region), 0);
        ay_region_close(region);
        int status;
        CHECK_EQUAL(waitpid(rival, &status, 0), rival);
        woken += WIFEXITED(status) && WEXITSTATUS(status) == 0;
        ay_close(space);
    }
    if (woken < ROUNDS / 3)
        FAIL("%u of %d were woken", woken, ROUNDS);
}

/* The keeper slept on the word of a region that is closed now, and a stop makes it look again. */
static void test_stop_after_closing_what_may_retain(void)
{
    unlink(test_space);
    const pid_t victim = spawn();
    if (victim == 0) {
        ay_space *space;
        CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = 1}, &space), 0);
        ay_region *a = open_region(space, (ay_spec){.name = "a"});
        ay_region *b = open_region(space, (ay_spec){.name = "b"});
        CHECK_EQUAL(ay_enter(a), 0);
        CHECK_EQUAL(ay_leave(a), 0);
        sleep_ms(50); /* the keeper is asleep on both; if not, the test is only weaker */
        ay_region_close(b);
        CHECK_EQUAL(raise(SIGSTOP), 0);
        sleep_ms(50);
        CHECK_EQUAL(ay_enter(a), 0);
        _exit(0);
    }
    int status;
    CHECK_EQUAL(waitpid(victim, &status, WUNTRACED), victim);
    CHECK(WIFSTOPPED(status));
    CHECK_EQUAL(kill(victim, SIGCONT), 0);
    expect_success(victim);
}

static void test_no_fence_before_the_first_passage(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *first = open_region(space, (ay_spec){.name = "a"});
    CHECK_EQUAL(ay_fence(first), 0);
    CHECK_EQUAL(ay_enter(first), 0);
    CHECK_EQUAL(ay_leave(first), 0);
    CHECK(ay_fence(first) > 0);
    ay_region_close(first);
    ay_region *second = open_region(space, (ay_spec){.name = "b"});
    CHECK_EQUAL(ay_fence(second), 0);
    ay_close(space);
}

int main(void)
{
    begin_test("reopened");
    test_wake_up_of_a_new_owner(false);
    test_wake_up_of_a_new_owner(true);
    test_closing_gives_back_what_was_retained();
    test_stop_after_closing_what_may_retain();
    test_no_fence_before_the_first_passage();
    return 0;
}
