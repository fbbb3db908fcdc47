/* SPDX-License-Identifier: MIT */
/* The agent on two planes: what goes over links, what becomes of it when they fail, and what nobody
 * overhears. */
#include "scene.h"

static void begin_linked(unsigned machines)
{
    begin(machines);
    assert_true(world_until(&world, world_all_linked, SECONDS(5)));
}

static void block_both_ways(unsigned machine, unsigned other, bool blocked)
{
    world_block(&world, machine, other, blocked);
    world_block(&world, other, machine, blocked);
}

static uint64_t relayed(void)
{
    uint64_t count = 0;
    for (unsigned machine = 0; machine < world.machines; machine++)
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            count += world.machine[machine].agent.peer[slot].relayed;
    return count;
}

static bool has_given_up(struct world *its)
{
    return !world_has(its, 0, RESOURCE);
}

static bool nothing_to_come(struct world *its)
{
    for (unsigned machine = 0; machine < its->machines; machine++)
        if (its->machine[machine].running && its->machine[machine].cursor < its->logged)
            return false;
    return true;
}

/* Nobody hears anything by the ledger: what is handed over goes by links alone. */
static void test_handed_over_by_links(void **state)
{
    (void)state;
    begin_linked(3);
    for (unsigned machine = 0; machine < 3; machine++) { /* the ledger says that all use it */
        assert_true(enters(machine, PERMISSION_EXCLUSIVE));
        world_leave(&world, machine);
    }
    for (unsigned machine = 0; machine < 3; machine++)
        world.machine[machine].deaf = true; /* to the ledger */
    for (unsigned round = 1; round < 5; round++) {
        assert_true(enters(round % 3, PERMISSION_EXCLUSIVE));
        world_leave(&world, round % 3);
    }
    end();
}

/* No link anywhere, or none between two, or one that carries one way only: everybody gets in. */
static void test_where_links_do_not_carry(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 4; which++) {
        if (which == 0) {
            world_begin(&world, 3, &carvalho_roucairol_protocol, 11);
            for (unsigned machine = 0; machine < 9; machine++)
                world_block(&world, machine / 3, machine % 3, true);
            for (unsigned machine = 0; machine < 3; machine++)
                world_start(&world, machine);
            assert_true(world_until(&world, world_all_ready, SECONDS(20)));
        } else {
            begin_linked(3);
            world_block(&world, 0, 1, true); /* the connection stays, and is silent */
            if (which == 2)
                world_block(&world, 1, 0, true);
            if (which == 3)
                assert_true(world_break(&world, 1, 0)); /* at one end: the other does not know */
        }
        for (unsigned round = 0; round < 9; round++) {
            assert_true(enters(round % 3, PERMISSION_EXCLUSIVE));
            world_leave(&world, round % 3);
        }
        assert_true(relayed() > 0);
        end();
    }
}

/* A connection breaks with messages unread, again and again. */
static void test_a_link_that_flaps(void **state)
{
    (void)state;
    begin_linked(3);
    const uint64_t incarnation = world.machine[1].agent.incarnation;
    for (unsigned round = 0; round < 60; round++) {
        world_want(&world, round % 3, PERMISSION_EXCLUSIVE);
        world_run(&world, (int64_t)world_draw(&world, 4) * MS);
        world_break(&world, round % 3, (round + 1) % 3);
        assert_true(enters(round % 3, PERMISSION_EXCLUSIVE));
        world_leave(&world, round % 3);
    }
    assert_true(world.machine[1].agent.incarnation == incarnation); /* nobody is cut for it */
    end();
}

/* What `holder` had said to the second machine comes now, and was its permission once: it keeps
 * what it holds, and the other one comes after it. */
static void assert_old_words_give_nothing(unsigned holder)
{
    assert_true(enters(holder, PERMISSION_EXCLUSIVE));
    world_want(&world, 1, PERMISSION_EXCLUSIVE);
    world_run(&world, SECONDS(1));
    world_block(&world, holder, 1, false); /* here it comes */
    world_run(&world, SECONDS(2));
    assert_true(world_holds(&world, holder));
    world_leave(&world, holder);
    whose = 1;
    assert_true(world_until(&world, is_inside, SECONDS(5)));
}

/* What was said to an agent before it was cut off reaches it when it is a member again: it was not
 * meant for that. */
static void test_said_to_an_earlier_incarnation(void **state)
{
    (void)state;
    begin_linked(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    world_want(&world, 1, PERMISSION_EXCLUSIVE);
    world_run(&world, SECONDS(1));
    world_block(&world, 0, 1, true);
    world.machine[1].deaf = true;
    world_leave(&world, 0);
    assert_true(world_until(&world, has_given_up, SECONDS(1)));
    world_blink(&world, 1); /* and does not hear by the ledger that it has it */
    world.machine[1].deaf = false;
    world.machine[1].process[0].wants = false;
    assert_old_words_give_nothing(0);
    end();
}

static bool last_has_given_up(struct world *its)
{
    return !world_has(its, 2, RESOURCE);
}

/* What an agent said before it was killed comes when there is another in its place. */
static void test_said_by_an_earlier_incarnation(void **state)
{
    (void)state;
    begin_linked(3);
    assert_true(enters(2, PERMISSION_EXCLUSIVE));
    world_leave(&world, 2);
    world_block(&world, 2, 1, true);
    world_want(&world, 1, PERMISSION_EXCLUSIVE);
    assert_true(world_until(&world, last_has_given_up, SECONDS(5)));
    world_kill(&world, 2); /* before it says it by the ledger */
    world_start(&world, 2);
    whose = 1;
    assert_true(world_until(&world, is_inside, SECONDS(5)));
    world_leave(&world, 1);
    assert_old_words_give_nothing(2);
    end();
}

static bool first_has_another(struct world *its)
{
    return world_has(its, 0, "another");
}

/* A request overtakes the CREATION of what it is about: it is held, not dropped. */
static void test_earlier_than_its_name(void **state)
{
    (void)state;
    begin_linked(3);
    world_until(&world, nothing_to_come, SECONDS(1));
    world.machine[0].deaf = true; /* the eldest, who has what is new */
    whose = 1;
    world_want(&world, 1, PERMISSION_EXCLUSIVE);
    world_run(&world, world.lease / 8);
    assert_false(world_holds(&world, 1));
    assert_true(world.machine[0].agent.held_length > 0);
    world.machine[0].deaf = false;
    assert_true(world_until(&world, is_inside, SECONDS(5)));
    assert_true(world_want_another(&world, 0, "another")); /* and the link goes on */
    assert_true(world_until(&world, first_has_another, SECONDS(5)));
    end();
}

static bool first_has_it(struct world *its)
{
    return world_has(its, 0, RESOURCE);
}

/* One misses the CREATION of what it wants itself, and takes its own for the first. */
static void test_a_creation_that_was_missed(void **state)
{
    (void)state;
    for (unsigned missing = 1; missing < 3; missing++) {
        begin_linked(3);
        world_until(&world, nothing_to_come, SECONDS(1));
        world_miss(&world, missing);
        world_want(&world, 0, PERMISSION_EXCLUSIVE);
        assert_true(world_until(&world, first_has_it, SECONDS(1)));
        assert_true(enters(0, PERMISSION_EXCLUSIVE));
        world_want(&world, missing, PERMISSION_EXCLUSIVE);
        world_run(&world, SECONDS(3));
        assert_true(world_holds(&world, 0));
        world_leave(&world, 0);
        assert_true(enters(missing, PERMISSION_EXCLUSIVE));
        end();
    }
}

static bool second_knows_a_name(struct world *its)
{
    return its->machine[1].agent.group_count > 0;
}

static bool first_holds_something(struct world *its)
{
    return its->machine[0].agent.peer[its->machine[1].agent.self].holds;
}

static bool two_are_linked(struct world *its)
{
    return agent_is_member(&its->machine[0].agent) && agent_is_member(&its->machine[1].agent) &&
           its->machine[0].agent.peer[its->machine[1].agent.self].link.up;
}

/* All are cut off while the third is inside; the first two find each other again, and will take it
 * for dead. */
static void begin_with_two_that_go_on_without_the_third(void)
{
    begin_linked(3);
    assert_true(enters(2, PERMISSION_EXCLUSIVE));
    world_run(&world, SECONDS(1));
    for (unsigned machine = 0; machine < 3; machine++) {
        world_cut(&world, machine);
        world_notice_cut(&world, machine);
    }
    world_heal(&world, 0);
    world_heal(&world, 1);
}

/* A name may come into being by a death that a new group counts: what was said about it earlier is
 * taken then. */
static void test_earlier_than_its_death(void **state)
{
    (void)state;
    begin_with_two_that_go_on_without_the_third();
    assert_true(world_until(&world, two_are_linked, SECONDS(10)));
    world_run(&world, world.machine[1].agent.doubts_due - world.now - 50 * MS);
    assert_int_equal(world.machine[1].agent.group_count, 0);
    world.machine[0].deaf = true;
    assert_true(world_until(&world, second_knows_a_name, SECONDS(1)));
    world_want(&world, 1, PERMISSION_EXCLUSIVE);
    assert_true(world_until(&world, first_holds_something, SECONDS(2)));
    world.machine[0].deaf = false;
    whose = 1;
    assert_true(world_until(&world, is_inside, SECONDS(5)));
    assert_false(first_holds_something(&world));
    end();
}

static bool others_have_both(struct world *its)
{
    return its->machine[0].agent.group_count == 2;
}

/* It creates another name instead, at the same place and with the same view: nobody takes the one
 * for the other, and nobody is cut for what it says, but itself. */
static void test_another_name_in_place_of_the_missed(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 20; which++) {
        const unsigned missing = 1 + which % 2, creator = 3 - missing;
        begin_linked(3);
        world_run(&world, (int64_t)which * 50 * MS);
        world_until(&world, nothing_to_come, SECONDS(1));
        const uint64_t incarnations[] = {world.machine[0].agent.incarnation,
                                         world.machine[creator].agent.incarnation};
        world_miss(&world, missing);
        assert_true(world_want_another(&world, creator, "other"));
        assert_true(world_until(&world, nothing_to_come, SECONDS(1)));
        world_want(&world, missing, PERMISSION_EXCLUSIVE);
        if (which % 4 >= 2) { /* and then, the others hear, it uses what it has missed */
            assert_true(world_want_another(&world, missing, RESOURCE));
            assert_true(world_want_another(&world, missing, "other"));
        }
        world_until(&world, others_have_both, SECONDS(1));
        world_run(&world, 20 * MS);
        world_want(&world, 0, PERMISSION_EXCLUSIVE);
        world_run(&world, SECONDS(3)); /* the judge looks: one of the two is inside */
        assert_null(world.violation);
        const unsigned first = world_holds(&world, 0) ? 0 : missing;
        assert_true(world_holds(&world, first));
        world_leave(&world, first);
        whose = missing - first;
        assert_true(world_until(&world, is_inside, SECONDS(20)));
        assert_true(world.machine[0].agent.incarnation == incarnations[0]);
        assert_true(world.machine[creator].agent.incarnation == incarnations[1]);
        end();
    }
}

static bool last_is_member_without_a_lease(struct world *its)
{
    const struct machine *last = &its->machine[2];
    return last->running && agent_is_member(&last->agent) && last->agent.deadline == 0;
}

/* A member that can write to the ledger, and not read it, renews for ever. Who joins after it is
 * waited for by nobody, but waits for it. */
static void test_a_member_that_hears_nothing(void **state)
{
    (void)state;
    begin(3);
    world_kill(&world, 2);
    world_start(&world, 2);
    assert_true(world_until(&world, last_is_member_without_a_lease, SECONDS(5)));
    world.machine[2].deaf = true;
    world_kill(&world, 1);
    world_start(&world, 1);
    assert_true(enters(1, PERMISSION_EXCLUSIVE));
    world.machine[2].deaf = false;
    world_leave(&world, 1);
    assert_true(enters(2, PERMISSION_EXCLUSIVE));
    end();
}

/* Who waits for what an agent's predecessor has: it has asked before that came back, or asks
 * afterwards. */
static void test_wanted_of_a_ghost(void **state)
{
    (void)state;
    for (unsigned later = 0; later < 2; later++) {
        begin_linked(3);
        assert_true(enters(0, PERMISSION_EXCLUSIVE));
        if (!later) {
            world_want(&world, 1, PERMISSION_EXCLUSIVE);
            world_run(&world, SECONDS(1) / 2);
        }
        world_kill(&world, 0);
        world_start(&world, 0);
        world_run(&world, SECONDS(2));
        assert_true(world_holds(&world, 0));
        world_leave(&world, 0);
        assert_true(enters(1, PERMISSION_EXCLUSIVE));
        assert_int_equal(world.machine[1].deaths_told, 0);
        end();
    }
}

/* Somebody dies inside, and its agent goes by itself, or is killed when it has just found out: who
 * enters next is told. */
static void test_last_words(void **state)
{
    (void)state;
    for (unsigned killed = 0; killed < 2; killed++)
        for (unsigned first = 1; first < 3; first++) {
            begin_linked(3);
            assert_true(enters(0, PERMISSION_EXCLUSIVE));
            world_run(&world, SECONDS(1) / 10);
            world_die(&world, 0);
            if (killed) {
                block_both_ways(0, first, true);
                world_want(&world, first, PERMISSION_EXCLUSIVE);
                assert_true(world_until(&world, has_given_up, SECONDS(5)));
                world_kill(&world, 0); /* before it could say so */
                world_start(&world, 0);
            } else {
                world_go(&world, 0);
            }
            assert_true(enters(first, PERMISSION_EXCLUSIVE));
            assert_int_equal(world.machine[first].deaths_told, 1);
            world_leave(&world, first);
            assert_true(enters(3 - first, PERMISSION_EXCLUSIVE));
            assert_int_equal(world.machine[3 - first].deaths_told, 0);
            end();
        }
}

/* One goes on in views that the others have not heard of, and is gone with them: the group that
 * they begin has greater ones all the same. */
static void test_views_of_which_nobody_has_heard(void **state)
{
    (void)state;
    begin_linked(5);
    assert_true(enters(0, PERMISSION_SHARED));
    world_leave(&world, 0);
    for (unsigned machine = 1; machine < 4; machine++)
        world.machine[machine].deaf = true;
    for (unsigned times = 0; times < 6; times++) {
        world_kill(&world, 4);
        world_start(&world, 4);
        world_run(&world, 100 * MS);
    }
    assert_true(enters(0, PERMISSION_EXCLUSIVE)); /* a stronger permission, so another fence */
    world_kill(&world, 4);
    world_kill(&world, 0);
    for (unsigned machine = 1; machine < 4; machine++) {
        world_cut(&world, machine);
        world_notice_cut(&world, machine);
    }
    for (unsigned machine = 1; machine < 4; machine++) {
        world.machine[machine].deaf = false;
        world_heal(&world, machine);
    }
    assert_true(enters(1, PERMISSION_EXCLUSIVE));
    end();
}

/* Nobody died: an agent that is killed while its machine has nothing raises no alarm, whoever used
 * what last. */
static void test_no_alarm_without_a_death(void **state)
{
    (void)state;
    begin_linked(3);
    for (unsigned machine = 0; machine < 3; machine++) {
        assert_true(enters(machine, PERMISSION_EXCLUSIVE));
        world_leave(&world, machine);
    }
    world_run(&world, SECONDS(1) / 10);
    world_kill(&world, 1);
    world_start(&world, 1);
    assert_true(world_until(&world, world_all_ready, SECONDS(5)));
    world_go(&world, 2);
    for (unsigned round = 0; round < 4; round++) {
        assert_true(enters(round % 2, PERMISSION_EXCLUSIVE));
        assert_int_equal(world.machine[round % 2].deaths_told, 0);
        world_leave(&world, round % 2);
    }
    end();
}

static bool second_is_ready(struct world *its)
{
    return agent_is_ready(&its->machine[1].agent);
}

static bool second_has_it(struct world *its)
{
    return world_has(its, 1, RESOURCE);
}

/* Another death becomes known before anybody was told of the first: those who enter are told as
 * often, and no more. */
static void test_told_of_each_death_once(void **state)
{
    (void)state;
    begin_with_two_that_go_on_without_the_third();
    assert_true(world_until(&world, second_is_ready, SECONDS(10)));
    assert_true(world_want_another(&world, 1, RESOURCE)); /* and nobody enters */
    assert_true(world_until(&world, second_has_it, SECONDS(5)));
    world_die(&world, 2);
    world_run(&world, SECONDS(1));
    world_heal(&world, 2); /* it says so */
    world_run(&world, SECONDS(3));
    assert_true(world_has(&world, 1, RESOURCE));
    for (unsigned times = 0; times < 5; times++) {
        assert_true(enters(1, PERMISSION_EXCLUSIVE));
        world_leave(&world, 1);
        world_run(&world, SECONDS(1));
    }
    assert_int_equal(world.machine[1].deaths_told, 2);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handed_over_by_links),
        cmocka_unit_test(test_where_links_do_not_carry),
        cmocka_unit_test(test_a_link_that_flaps),
        cmocka_unit_test(test_said_to_an_earlier_incarnation),
        cmocka_unit_test(test_said_by_an_earlier_incarnation),
        cmocka_unit_test(test_earlier_than_its_name),
        cmocka_unit_test(test_earlier_than_its_death),
        cmocka_unit_test(test_a_creation_that_was_missed),
        cmocka_unit_test(test_another_name_in_place_of_the_missed),
        cmocka_unit_test(test_a_member_that_hears_nothing),
        cmocka_unit_test(test_wanted_of_a_ghost),
        cmocka_unit_test(test_last_words),
        cmocka_unit_test(test_views_of_which_nobody_has_heard),
        cmocka_unit_test(test_no_alarm_without_a_death),
        cmocka_unit_test(test_told_of_each_death_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
