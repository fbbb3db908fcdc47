/* SPDX-License-Identifier: MIT */
/* The side of local processes that wait for a condition, with the test in place of the agent. */
#include <sched.h>
#include <string.h>

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

/* What ay_enter_when() would return. */
static int ask_when(ay_region *asked, bool (*when)(void *), void *arg)
{
    int result = ay_ask_when(asked, when, arg, WAIT_MS);
    while (result == -EINPROGRESS) {
        struct pollfd decision = {.fd = ay_fd(space), .events = POLLIN};
        assert_int_equal(poll(&decision, 1, WAIT_MS), 1);
        const ay_region *decided = ay_decided(space, &result);
        if (!decided)
            result = -EINPROGRESS;
        else
            assert_ptr_equal(decided, asked);
    }
    return result;
}

static void test_lost_while_an_ask_asks(void **state)
{
    (void)state;
    unsigned times = 0;
    uint64_t base = 100;
    grant_thing();
    const pthread_t agent = begin_to_answer(grant, &base);
    assert_int_equal(ask_when(region, is_so_the_second_time, &times), 0);
    pthread_join(agent, NULL);
    assert_int_equal(times, 2);
    assert_true(ay_valid(region));
    ay_leave(region);
}

/* ---- several names ---- */

static ay_region *open_both(void)
{
    ay_region *both;
    const char *const also[] = {"first", NULL};
    atomic_store(&pages.map->conditions, 1);
    const ay_spec spec = {.name = "second", .also = also};
    assert_int_equal(ay_region_open(space, &spec, &both), 0);
    return both;
}

/* It may ask more than once. */
static unsigned await_demand(enum demand_kind kind, const char *name)
{
    unsigned index;
    for (;;) {
        const struct demand demand = next_demand(&index);
        if (demand.kind == kind && demand.length == strlen(name) &&
            memcmp(demand.name, name, demand.length) == 0)
            return index;
    }
}

static void grant_one(const char *name)
{
    pages_grant(&pages, await_demand(DEMAND_PERMISSION, name), PERMISSION_EXCLUSIVE, 0, 1, 0);
}

/* One is lost when it has just got the other. */
static void *lose_the_first(void *arg)
{
    const unsigned first = await_demand(DEMAND_PERMISSION, "first");
    pages_grant(&pages, first, PERMISSION_EXCLUSIVE, 0, 1, 0);
    const unsigned second = await_demand(DEMAND_PERMISSION, "second");
    pages_withdraw(&pages, first);
    pages_grant(&pages, second, PERMISSION_EXCLUSIVE, 0, 1, 0);
    grant_one("first");
    return arg;
}

static void test_one_of_several_is_lost(void **state)
{
    (void)state;
    ay_region *both = open_both();
    for (unsigned asks = 0; asks < 2; asks++) {
        const pthread_t agent = begin_to_answer(lose_the_first, NULL);
        assert_int_equal(asks ? ask_when(both, NULL, NULL) : ay_enter_for(both, WAIT_MS), 0);
        pthread_join(agent, NULL);
        assert_true(ay_valid(both));
        assert_int_equal(ay_leave(both), 0);
        for (unsigned index = 0; index < 2; index++)
            pages_withdraw(&pages, index);
    }
}

static _Atomic unsigned looks;

static bool is_so_after_two(void *arg)
{
    (void)arg;
    return atomic_fetch_add(&looks, 1) >= 2;
}

/* It sleeps at both names, and is asked again by either's count, and not before. */
static void *wake_by_each(void *arg)
{
    grant_one("first");
    grant_one("second");
    for (unsigned times = 0; times < 2; times++) {
        unsigned index[2];
        index[0] = await_demand(DEMAND_WATCH, "first");
        pages_watch(&pages, index[0], true, false, false);
        assert_int_equal(atomic_load(&looks), times + 1);
        index[1] = await_demand(DEMAND_WATCH, "second");
        pages_watch(&pages, index[1], true, false, false);
        await_demand(DEMAND_WATCH, "second"); /* asleep, it asks again from time to time */
        assert_int_equal(atomic_load(&looks), times + 1);
        pages_watch(&pages, index[!times], false, false, false);
        pages_watch(&pages, index[times], false, false, true);
    }
    return arg;
}

static void test_condition_of_several(void **state)
{
    (void)state;
    ay_region *both = open_both();
    for (unsigned asks = 0; asks < 2; asks++) {
        atomic_store(&looks, 0);
        const pthread_t agent = begin_to_answer(wake_by_each, NULL);
        assert_int_equal(asks ? ask_when(both, is_so_after_two, NULL)
                              : ay_enter_when(both, is_so_after_two, NULL, WAIT_MS),
                         0);
        pthread_join(agent, NULL);
        assert_int_equal(atomic_load(&looks), 3);
        assert_true(ay_valid(both));
        assert_int_equal(ay_leave(both), 0);
        for (unsigned index = 0; index < 2; index++)
            pages_withdraw(&pages, index);
        forget_demands();
    }
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
        TEST(test_lost_while_an_ask_asks),
        TEST(test_one_of_several_is_lost),
        TEST(test_condition_of_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
