/* SPDX-License-Identifier: MIT */
/* The agent, one scene at a time: joining, handing over, death, takeover, cuts. No Corosync: a
 * cluster in one process. */
#include "scene.h"

static void test_one_machine_alone(void **state)
{
    (void)state;
    begin(1);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    end();
}

static void test_no_majority_no_permission(void **state)
{
    (void)state;
    world_begin(&world, 3, &carvalho_roucairol_protocol, 3);
    world_start(&world, 0);
    whose = 0;
    world_want(&world, 0, PERMISSION_EXCLUSIVE);
    world_run(&world, SECONDS(30));
    assert_false(world.machine[0].process[0].inside);
    world_start(&world, 2); /* two of three are enough */
    assert_true(world_until(&world, is_inside, SECONDS(20)));
    end();
}

static void test_hand_over(void **state)
{
    (void)state;
    begin(3);
    for (unsigned round = 0; round < 30; round++) {
        assert_true(enters(round % 3, PERMISSION_EXCLUSIVE));
        world_leave(&world, round % 3);
    }
    end();
}

/* Who re-enters where the permission is sends nothing but renewals. */
static void test_reentry_needs_no_message(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(1, PERMISSION_EXCLUSIVE));
    const uint64_t sent = world.machine[1].agent.counters.sent;
    for (unsigned round = 0; round < 50; round++) {
        world_leave(&world, 1);
        assert_true(enters(1, PERMISSION_EXCLUSIVE));
    }
    assert_int_equal(world.machine[1].agent.counters.sent, sent);
    assert_int_equal(world.machine[1].agent.counters.grants, 1);
    end();
}

static void test_waits_for_holder(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    world_want(&world, 1, PERMISSION_EXCLUSIVE);
    world_run(&world, SECONDS(30));
    assert_true(world_holds(&world, 0));
    assert_false(world.machine[1].process[0].inside);
    assert_true(world.machine[1].page[0].busy > 0); /* who tries would have been told */
    world_leave(&world, 0);
    whose = 1;
    assert_true(world_until(&world, is_inside, SECONDS(5)));
    end();
}

static void test_readers_together(void **state)
{
    (void)state;
    begin(3);
    world.shared_percent = 100;
    for (unsigned machine = 0; machine < 3; machine++)
        assert_true(enters(machine, PERMISSION_SHARED));
    for (unsigned machine = 0; machine < 3; machine++)
        assert_true(world_holds(&world, machine));
    world_leave(&world, 0);
    world_want(&world, 0, PERMISSION_EXCLUSIVE); /* a stronger permission than the machine has */
    world_run(&world, SECONDS(5));
    assert_false(world.machine[0].process[0].inside);
    world_leave(&world, 1);
    world_leave(&world, 2);
    whose = 0;
    assert_true(world_until(&world, is_inside, SECONDS(10)));
    end();
}

static void test_agent_dies_for_good(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    const int64_t killed = world.now - world.lease / 3;
    world_kill(&world, 0);
    enters_within_the_grace_only(1, killed);
    assert_false(world_holds(&world, 0)); /* it knows, by the deadline */
    assert_int_equal(world.machine[1].deaths_told, 1);
    end();
}

static void test_agent_comes_back(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    world_want(&world, 1, PERMISSION_EXCLUSIVE);
    world_run(&world, SECONDS(1));
    for (unsigned times = 0; times < 3; times++) {
        world_kill(&world, 0);
        world_run(&world, world.lease / 4);
        world_start(&world, 0);
        world_run(&world, SECONDS(8));
        assert_true(world_holds(&world, 0));
        assert_false(world.machine[1].process[0].inside);
    }
    world_leave(&world, 0);
    whose = 1;
    assert_true(world_until(&world, is_inside, SECONDS(5)));
    end();
}

static void test_agent_comes_back_too_late(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    world_kill(&world, 0);
    world_run(&world, world.lease + SECONDS(1) / 2);
    assert_false(world_holds(&world, 0));
    world_start(&world, 0);
    world_run(&world, SECONDS(5));
    assert_false(world_holds(&world, 0)); /* lost is lost */
    assert_true(enters(1, PERMISSION_EXCLUSIVE));
    end();
}

static void test_agent_is_stopped(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    world.machine[0].stopped = true;
    assert_true(enters(1, PERMISSION_EXCLUSIVE));
    assert_false(world_holds(&world, 0));
    world.machine[0].stopped = false;
    world_run(&world, SECONDS(10));
    assert_true(world_holds(&world, 1));
    world_leave(&world, 0);
    world_leave(&world, 1);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    end();
}

static void test_machine_is_cut_off(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    world_cut(&world, 0);
    world_run(&world, SECONDS(1) / 2);
    world_notice_cut(&world, 0);
    assert_false(world_holds(&world, 0)); /* told at once */
    world_leave(&world, 0);
    world_want(&world, 0, PERMISSION_EXCLUSIVE);
    assert_true(enters(2, PERMISSION_EXCLUSIVE));
    world_run(&world, SECONDS(20));
    assert_false(world.machine[0].process[0].inside); /* no quorum: no permission */
    world_heal(&world, 0);
    world_leave(&world, 2);
    whose = 0;
    assert_true(world_until(&world, is_inside, SECONDS(20)));
    end();
}

static bool last_is_member_without_a_lease(struct world *its)
{
    const struct machine *last = &its->machine[2];
    return last->running && agent_is_member(&last->agent) && last->agent.deadline == 0;
}

/* A newcomer hears nothing for the grace, and buries the others: but all have heard of them since.
 */
static void test_burials_of_the_living_are_void(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    world_kill(&world, 2);
    world_start(&world, 2);
    assert_true(world_until(&world, last_is_member_without_a_lease, SECONDS(5)));
    world.machine[2].deaf = true;
    world_run(&world, world.grace + SECONDS(1));
    assert_true(world_holds(&world, 0));
    world.machine[2].deaf = false;
    world_run(&world, SECONDS(5));
    assert_true(world_holds(&world, 0));
    end();
}

/* The agents of the majority begin anew while the last member is slow to answer them: it is alive,
 * so no other group begins. */
static void test_nobody_begins_beside_the_living(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    world_run(&world, SECONDS(1));
    for (unsigned other = 1; other < 3; other++)
        world_kill(&world, other);
    for (unsigned other = 1; other < 3; other++)
        world_start(&world, other);
    world.machine[0].deaf = true;
    world_run(&world, SECONDS(1) + 100 * MS);
    world.machine[0].deaf = false;
    for (unsigned times = 0; times < 50; times++) {
        world_run(&world, SECONDS(1) / 10);
        assert_true(world_holds(&world, 0));
    }
    end();
}

/* Whatever the transport calls a quorum: who sees the majority leave is cut at once. */
static void test_parted_from_the_majority(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    for (unsigned other = 1; other < 3; other++) {
        assert_true(world_holds(&world, 0));
        world_feed(&world.machine[0],
                   (struct agent_event){.kind = ON_LEFT,
                                        .left = {.who = {other, world.machine[other].pid},
                                                 .with_its_machine = true}});
    }
    assert_false(world_holds(&world, 0));
    end();
}

/* A ring of one machine that calls itself a quorum: its own renewals come back to it, and nobody
 * else hears them. */
static void test_a_lease_is_the_majority_s(void **state)
{
    (void)state;
    static uint8_t bytes[1 << 16];
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    struct machine *machine = &world.machine[0];
    const int64_t cut = world.now;
    world_cut(&world, 0);
    while (world_holds(&world, 0) && world.now < cut + 3 * world.lease) {
        world_run(&world, 10 * MS);
        world_feed(machine, (struct agent_event){.kind = ON_TICK});
        for (unsigned at = 0; at < world.effects.count; at++)
            if (world.effects.effect[at].kind == DO_SEND) {
                const size_t length = world.effects.effect[at].send.length;
                assert_true(length <= sizeof bytes);
                memcpy(bytes, world.effects.effect[at].send.bytes, length);
                world_deliver(machine, (struct address){0, machine->pid}, bytes, length);
                break;
            }
    }
    assert_true(world.now <= cut + world.lease + 50 * MS);
    end();
}

static bool first_has_something_to_come(struct world *its)
{
    return its->machine[0].cursor < its->logged;
}

/* A cut that Corosync never told of on the side that was cut off: the gap in the sequence is found.
 */
static void test_a_missed_message_is_found(void **state)
{
    (void)state;
    begin(3);
    const uint64_t incarnation = world.machine[0].agent.incarnation;
    assert_true(world_until(&world, first_has_something_to_come, SECONDS(3)));
    world.machine[0].cursor++;
    world_run(&world, SECONDS(3));
    assert_true(world.machine[0].agent.incarnation != incarnation);
    assert_true(enters(2, PERMISSION_EXCLUSIVE));
    world_leave(&world, 2);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    end();
}

static void test_everything_restarts(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    for (unsigned machine = 0; machine < 3; machine++)
        world_kill(&world, machine);
    for (unsigned machine = 0; machine < 3; machine++)
        world_start(&world, machine);
    /* the judge sees that the old one had lost, and that the fence has grown */
    assert_true(enters(1, PERMISSION_EXCLUSIVE));
    end();
}

static void test_options_must_agree(void **state)
{
    (void)state;
    world_begin(&world, 3, &carvalho_roucairol_protocol, 5);
    world_start(&world, 0);
    world_start(&world, 1);
    world_run(&world, SECONDS(15));
    world.lease += MS;
    world_start(&world, 2);
    world_run(&world, SECONDS(5));
    assert_true(world.refusals > 0);
    assert_false(agent_is_member(&world.machine[2].agent));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_machine_alone),
        cmocka_unit_test(test_no_majority_no_permission),
        cmocka_unit_test(test_hand_over),
        cmocka_unit_test(test_reentry_needs_no_message),
        cmocka_unit_test(test_waits_for_holder),
        cmocka_unit_test(test_readers_together),
        cmocka_unit_test(test_agent_dies_for_good),
        cmocka_unit_test(test_agent_comes_back),
        cmocka_unit_test(test_agent_comes_back_too_late),
        cmocka_unit_test(test_agent_is_stopped),
        cmocka_unit_test(test_machine_is_cut_off),
        cmocka_unit_test(test_burials_of_the_living_are_void),
        cmocka_unit_test(test_nobody_begins_beside_the_living),
        cmocka_unit_test(test_parted_from_the_majority),
        cmocka_unit_test(test_a_lease_is_the_majority_s),
        cmocka_unit_test(test_a_missed_message_is_found),
        cmocka_unit_test(test_everything_restarts),
        cmocka_unit_test(test_options_must_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
