/* SPDX-License-Identifier: MIT */
/* The side of local processes that wait for a condition, with the test in place of the agent. */
#include <sched.h>

#include "local.h"

enum { TIMES = 20000 };

static struct permission *thing(void)
{
    return &pages.map->permission[0];
}

static void grant_thing(void)
{
    atomic_store(&pages.map->conditions, 1);
    pages_name(&pages, 0, "thing", 5);
    pages_grant(&pages, 0, PERMISSION_EXCLUSIVE, 0, 1, 0);
}

static void *arm_often(void *arg)
{
    _Atomic unsigned *seen = arg;
    for (unsigned times = 0; times < TIMES; times++) {
        pages_watch(&pages, 0, false, false, false);
        while (atomic_load(seen) < times)
            sched_yield();
        pages_watch(&pages, 0, true, false, false);
        while (atomic_load(seen) <= times)
            sched_yield();
    }
    return NULL;
}

/* P5: who sees it armed leaves, and another may come who has entered by the `granted` of before: it
 * sees that this is another. */
static void test_armed_is_seen_in_what_is_granted(void **state)
{
    (void)state;
    _Atomic unsigned seen = 0;
    unsigned missed = 0;
    grant_thing();
    const pthread_t agent = begin_to_answer(arm_often, &seen);
    for (unsigned times = 0; times < TIMES; times++) {
        unsigned spins = 0;
        uint64_t entered_by = 0, granted = atomic_load(&thing()->granted);
        while (!(atomic_load(&thing()->watch) & PERMISSION_ARMED)) {
            const uint64_t before = granted;
            granted = atomic_load(&thing()->granted);
            if (before == granted && !(granted & PERMISSION_CHANGING))
                entered_by = granted;
            if (++spins % 1000 == 0) /* there may be one core */
                sched_yield();
        }
        missed += entered_by == atomic_load(&thing()->granted);
        atomic_fetch_add(&seen, 1);
    }
    pthread_join(agent, NULL);
    assert_int_equal(missed, 0);
}

/* A successor, which may know nothing of conditions. */
static void test_another_agent_lets_in(void **state)
{
    (void)state;
    char trouble[PATH_MAX + 256];
    const struct pages_options options = {
        .cluster = "c", .protocol = "token", .lease = LEASE_MS * MS, .grace = 2 * LEASE_MS * MS};
    grant_thing();
    pages_watch(&pages, 0, false, true, false);
    pages_close(&pages);
    assert_int_equal(pages_open(&pages, &own, &options, trouble, sizeof trouble), 0);
    assert_int_equal(ay_enter_for(region, WAIT_MS), 0);
    ay_leave(region);
}

static bool is_so_the_second_time(void *times)
{
    if ((*(unsigned *)times)++ > 0)
        return true;
    pages_withdraw(&pages, 0);
    return false;
}

/* Its agent was killed as it began to say so: nothing is counted. It asks again by the next
 * permission, and does not sleep on what it asked by the last. */
static void test_lost_while_it_asks(void **state)
{
    (void)state;
    unsigned times = 0;
    uint64_t base = 100;
    grant_thing();
    const pthread_t agent = begin_to_answer(grant, &base);
    assert_int_equal(ay_enter_when(region, is_so_the_second_time, &times, WAIT_MS), 0);
    pthread_join(agent, NULL);
    assert_int_equal(times, 2);
    assert_true(ay_valid(region));
    ay_leave(region);
}

struct sleeper {
    _Atomic bool so;
    int result;
};

static bool is_so(void *arg)
{
    return atomic_load(&((struct sleeper *)arg)->so);
}

static void *enter_when_so(void *arg)
{
    struct sleeper *sleeper = arg;
    sleeper->result = ay_enter_when(region, is_so, sleeper, WAIT_MS);
    ay_leave(region);
    return NULL;
}

static void test_not_cancelled_while_it_waits(void **state)
{
    (void)state;
    struct sleeper sleeper = {.result = -1};
    unsigned index;
    grant_thing();
    const pthread_t thread = begin_to_answer(enter_when_so, &sleeper);
    assert_int_equal(next_demand(&index).kind, DEMAND_WATCH);
    assert_int_equal(pthread_cancel(thread), 0);
    assert_int_equal(next_demand(&index).kind, DEMAND_WATCH); /* it asks again */
    atomic_store(&sleeper.so, true);
    pages_watch(&pages, 0, false, false, true);
    pthread_join(thread, NULL);
    assert_int_equal(sleeper.result, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_armed_is_seen_in_what_is_granted),
        TEST(test_another_agent_lets_in),
        TEST(test_lost_while_it_asks),
        TEST(test_not_cancelled_while_it_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
