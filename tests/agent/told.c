/* SPDX-License-Identifier: MIT */
/* The side of a local process that enters after a death on another machine: it is told, once. */
#include <signal.h>
#include <sys/wait.h>

#include "local.h"

static void *hear_that_it_was_told(void *arg)
{
    unsigned index;
    assert_int_equal(next_demand(&index).kind, DEMAND_TOLD);
    usleep(50 * 1000); /* it is busy, and who comes next has come */
    pages_death(&pages, 0, false);
    return arg;
}

/* The permission was there meanwhile. */
static void die_elsewhere(void)
{
    if (atomic_load(&pages.map->count) == 0)
        pages_name(&pages, 0, "thing", 5);
    pages_withdraw(&pages, 0);
    pages_death(&pages, 0, true);
    pages_grant(&pages, 0, PERMISSION_EXCLUSIVE, 0, 100, 0);
}

static unsigned count_demands(void)
{
    char bytes[sizeof(struct demand)];
    unsigned count = 0;
    while (recv(agent_socket, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        count++;
    return count;
}

/* It says so once, and is inside without an answer: should it die, its own death will be told. */
static void test_told_of_a_death_without_waiting_for_the_agent(void **state)
{
    (void)state;
    die_elsewhere();
    assert_int_equal(ay_enter_for(region, WAIT_MS), AY_AFTER_DEATH);
    assert_int_equal(count_demands(), 1);
    pages_death(&pages, 0, false);
    ay_leave(region);
}

/* Behind one that was told. */
static void *enter_next(void *result)
{
    ay_region *next;
    assert_int_equal(ay_region_open(space, &(ay_spec){.name = "thing"}, &next), 0);
    *(int *)result = ay_enter_for(next, WAIT_MS);
    ay_region_close(next);
    return NULL;
}

static int enter_told(bool asks)
{
    return asks ? ay_ask(region) : ay_enter_for(region, WAIT_MS);
}

/* However late the agent hears of it: who was told has not left before. */
static void test_death_elsewhere_is_told_once(void **state)
{
    (void)state;
    for (int asks = 0; asks < 2; asks++) {
        pthread_t next;
        int result = -1;
        die_elsewhere();
        assert_int_equal(enter_told(asks), AY_AFTER_DEATH);
        pages_state(&pages, asks ? AGENT_READY : AGENT_NO_QUORUM); /* the same, however it is */
        assert_int_equal(pthread_create(&next, NULL, enter_next, &result), 0);
        const pthread_t agent = begin_to_answer(hear_that_it_was_told, NULL);
        ay_leave(region);
        pthread_join(agent, NULL);
        pthread_join(next, NULL);
        assert_int_equal(result, 0);
    }
}

/* With the agent what was said is lost. It is not said again to the next one, which may announce
 * another death: that is told. */
static void test_another_agent_announces_a_death(void **state)
{
    (void)state;
    int result = -1;
    die_elsewhere();
    assert_int_equal(ay_enter_for(region, WAIT_MS), AY_AFTER_DEATH);
    forget_demands();
    atomic_fetch_add(&pages.map->pid, 1);
    assert_int_equal(ay_leave(region), 0);
    assert_int_equal(count_demands(), 0);
    enter_next(&result);
    assert_int_equal(result, AY_AFTER_DEATH);
}

/* It has the first of two, and waits for the other. */
static pid_t begin_to_enter_two(void)
{
    const pid_t child = fork();
    if (child != 0)
        return child;
    const ay_spec both = {.name = "thing", .also = (const char *const[]){"thing.other", NULL}};
    ay_space *own_space;
    ay_region *own_region;
    if (ay_open("cluster:c", NULL, &own_space) == 0 &&
        ay_region_open(own_space, &both, &own_region) == 0)
        ay_enter_for(own_region, WAIT_MS);
    _exit(1);
}

/* Before it is inside. Nobody knows any more of the death that it was told of: its own counts. */
static void test_killed_once_it_was_told(void **state)
{
    (void)state;
    unsigned index;
    die_elsewhere();
    const pid_t child = begin_to_enter_two();
    assert_true(child > 0);
    assert_int_equal(next_demand(&index).kind, DEMAND_TOLD);
    pages_death(&pages, index, false);
    const struct demand other = next_demand(&index);
    assert_int_equal(other.kind, DEMAND_PERMISSION);
    assert_int_equal(other.length, strlen("thing.other"));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(ay_enter_for(region, WAIT_MS), AY_AFTER_DEATH);
    ay_leave(region);
    assert_int_equal(ay_enter_for(region, WAIT_MS), 0);
    ay_leave(region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_told_of_a_death_without_waiting_for_the_agent),
        TEST(test_death_elsewhere_is_told_once),
        TEST(test_another_agent_announces_a_death),
        TEST(test_killed_once_it_was_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
