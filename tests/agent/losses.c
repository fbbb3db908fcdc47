/* SPDX-License-Identifier: MIT */
/* The agent when something is lost: permissions of those inside, the pages, the group; and who is
 * told of it. */
#include "scene.h"

/* A machine is cut off and back at once: who was inside there has the time to stop that it is
 * promised before anybody is inside. */
static void test_back_before_those_inside_have_stopped(void **state)
{
    (void)state;
    for (unsigned rival = 1; rival < 3; rival++) {
        begin(3);
        assert_true(enters(0, PERMISSION_EXCLUSIVE));
        world_want(&world, rival, PERMISSION_EXCLUSIVE);
        world_cut(&world, 0);
        world_run(&world, SECONDS(1) / 5);
        world_notice_cut(&world, 0);
        const int64_t told = world.now;
        assert_false(world_holds(&world, 0));
        world_heal(&world, 0);
        if (rival == 2) { /* its agent is even restarted meanwhile */
            world_run(&world, SECONDS(1) / 5);
            world_kill(&world, 0);
            world_start(&world, 0);
        }
        whose = rival;
        assert_true(world_until(&world, is_inside, SECONDS(20)));
        assert_true(world.now - told >= world.grace - world.lease);
        /* it has not been waited for as for a dead one */
        assert_true(agent_is_member(&world.machine[0].agent));
        assert_int_equal(world.machine[rival].agent.counters.burials, 0);
        end();
    }
}

/* It goes by itself at the moment when that time is over. */
static void test_gone_when_those_inside_have_stopped(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    world_cut(&world, 0);
    world_notice_cut(&world, 0);
    const int64_t told = world.now;
    world_heal(&world, 0);
    world_leave(&world, 0);
    world_run(&world, (world.grace - world.lease) / 2);
    assert_true(agent_is_member(&world.machine[0].agent));
    world.now = told + world.grace - world.lease;
    world_go(&world, 0);
    assert_true(enters(1, PERMISSION_EXCLUSIVE));
    assert_int_equal(world.machine[1].agent.counters.burials, 0);
    end();
}

static void cut_all(void)
{
    for (unsigned machine = 0; machine < 3; machine++) {
        world_cut(&world, machine);
        world_notice_cut(&world, machine);
    }
}

/* All enter, beginning with this one: the first is told of a death, and no other. */
static void only_the_first_is_told(unsigned first)
{
    for (unsigned turn = 0; turn < 6; turn++) {
        const unsigned machine = (first + turn) % 3;
        assert_true(enters(machine, PERMISSION_EXCLUSIVE));
        world_leave(&world, machine);
    }
    for (unsigned machine = 0; machine < 3; machine++)
        assert_int_equal(world.machine[machine].deaths_told, machine == first);
}

/* The majority is gone, somebody dies inside meanwhile, and a new group begins: who enters first in
 * it is told. */
static void test_told_of_a_death_in_a_new_group(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 3; first++)
        for (unsigned contested = 0; contested < 2; contested++) {
            begin(3);
            assert_true(enters(0, PERMISSION_EXCLUSIVE));
            if (contested) { /* its agent waits for it already */
                world_want(&world, 1, PERMISSION_EXCLUSIVE);
                world_run(&world, SECONDS(1));
                world.machine[1].process[0].wants = false;
            }
            cut_all();
            world_run(&world, SECONDS(1) / 2);
            world_die(&world, 0);
            /* what is owed may be long over */
            world_run(&world, first == 2 ? SECONDS(20) : SECONDS(1));
            for (unsigned machine = 0; machine < 3; machine++)
                world_heal(&world, machine);
            only_the_first_is_told(first);
            end();
        }
}

/* The same, and the agent that has found the death is killed before it is a member again: the next
 * finds it in the page. */
static void test_told_of_a_death_that_a_killed_agent_found(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 3; first++) {
        begin(3);
        assert_true(enters(0, PERMISSION_EXCLUSIVE));
        cut_all();
        world_die(&world, 0);
        world_run(&world, SECONDS(1) / 2);
        assert_false(world.machine[0].dead_inside); /* it has */
        world_kill(&world, 0);
        world_start(&world, 0);
        for (unsigned machine = 0; machine < 3; machine++)
            world_heal(&world, machine);
        only_the_first_is_told(first);
        end();
    }
}

/* A machine is cut off twice, and the second time before the time is over that those inside had to
 * stop: one of them has died meanwhile. */
static void test_told_of_a_death_between_two_cuts(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    const int64_t stop = world.grace - world.lease;
    for (unsigned times = 0; times < 2; times++) {
        world_cut(&world, 0);
        world_notice_cut(&world, 0);
        world_run(&world, times ? stop : stop / 10);
        world_heal(&world, 0);
        world_run(&world, stop / 4);
        assert_true(agent_is_member(&world.machine[0].agent));
        if (times == 0)
            world_die(&world, 0);
        world_run(&world, stop / 10);
    }
    only_the_first_is_told(1);
    end();
}

/* The machine on which somebody was inside is gone for good, and the others had no majority when it
 * went. */
static void test_told_of_a_machine_that_is_gone(void **state)
{
    (void)state;
    for (unsigned back = 0; back < 2; back++) {
        begin(3);
        assert_true(enters(0, PERMISSION_EXCLUSIVE));
        world_run(&world, SECONDS(1)); /* the others have heard of it */
        cut_all();
        world_die(&world, 0);
        world_run(&world, SECONDS(1));
        world_heal(&world, 1);
        world_heal(&world, 2);
        assert_true(enters(1, PERMISSION_EXCLUSIVE));
        assert_int_equal(world.machine[1].deaths_told, 1);
        world_leave(&world, 1);
        if (back) /* too late to say it once more */
            world_heal(&world, 0);
        world_run(&world, SECONDS(5));
        assert_true(enters(2, PERMISSION_EXCLUSIVE));
        assert_int_equal(world.machine[2].deaths_told, 0);
        end();
    }
}

/* Nobody died: nobody is told. */
static void test_a_new_group_without_a_death(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    cut_all();
    world_leave(&world, 0);
    world_run(&world, SECONDS(1));
    for (unsigned machine = 0; machine < 3; machine++)
        world_heal(&world, machine);
    assert_true(enters(1, PERMISSION_EXCLUSIVE));
    assert_int_equal(world.machine[1].deaths_told, 0);
    end();
}

/* A death is known to all, and nobody has been told, when all agents are killed. */
static void test_told_of_a_death_after_a_restart(void **state)
{
    (void)state;
    for (unsigned first = 1; first < 3; first++) {
        begin(3);
        assert_true(enters(0, PERMISSION_EXCLUSIVE));
        world_kill(&world, 0);
        world.machine[0].process[0].inside = false; /* with all its processes */
        world_run(&world, SECONDS(6));              /* buried */
        for (unsigned machine = 0; machine < 3; machine++)
            world_kill(&world, machine);
        for (unsigned machine = 0; machine < 3; machine++)
            world_start(&world, machine);
        only_the_first_is_told(first);
        end();
    }
}

/* An agent comes back with other pages than its predecessor had, whose processes may still be
 * inside: nobody enters before these have lost the region. */
static void test_other_pages(void **state)
{
    (void)state;
    for (unsigned rival = 0; rival < 3; rival++) {
        begin(3);
        assert_true(enters(0, PERMISSION_EXCLUSIVE));
        const int64_t killed = world.now - world.lease / 3;
        world_kill(&world, 0);
        world_lose_pages(&world, 0);
        world_start(&world, 0);
        enters_within_the_grace_only(rival, killed); /* the machine's own processes too */
        end();
    }
}

/* The same when all agents are killed, and the group begins anew: all are there, and one does not
 * know what its machine holds. */
static void test_other_pages_and_a_new_group(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    const int64_t killed = world.now - world.lease / 3;
    for (unsigned machine = 0; machine < 3; machine++)
        world_kill(&world, machine);
    world_lose_pages(&world, 0);
    for (unsigned machine = 0; machine < 3; machine++)
        world_start(&world, machine);
    enters_within_the_grace_only(1, killed);
    end();
}

/* Back with the pages that the group knows, before the grace has passed: it takes over as ever. */
static void test_other_pages_for_a_while(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    world_kill(&world, 0);
    struct machine before = world.machine[0];
    before.page = malloc(ENTRIES * sizeof *before.page);
    assert_non_null(before.page);
    memcpy(before.page, world.machine[0].page, ENTRIES * sizeof *before.page);
    world_lose_pages(&world, 0);
    world_start(&world, 0);
    world_run(&world, world.lease / 4);
    world_kill(&world, 0);
    struct machine *machine = &world.machine[0];
    machine->identity = before.identity;
    memcpy(machine->page, before.page, ENTRIES * sizeof *before.page);
    free(before.page);
    machine->pages = before.pages;
    machine->deadline = before.deadline;
    machine->process[0].inside = true;
    machine->orphan.inside = false;
    world_start(&world, 0);
    world_want(&world, 1, PERMISSION_EXCLUSIVE);
    world_run(&world, SECONDS(10));
    assert_true(world_holds(&world, 0));
    assert_false(world.machine[1].process[0].inside);
    end();
}

static bool last_is_member(struct world *its)
{
    return its->machine[2].running && agent_is_member(&its->machine[2].agent);
}

/* One alone hears its own CREATION before its ring breaks: when it is back, nobody uses its views
 * once more. */
static void test_views_of_one_alone(void **state)
{
    (void)state;
    static uint8_t bytes[1 << 16];
    begin(3);
    struct machine *last = &world.machine[2];
    world_cut(&world, 2);
    assert_true(world_want_another(&world, 2, "other"));
    const struct agent_effect *sent = NULL;
    for (unsigned at = 0; at < world.effects.count; at++)
        if (world.effects.effect[at].kind == DO_SEND)
            sent = &world.effects.effect[at];
    assert_non_null(sent);
    const size_t length = sent->send.length;
    assert_true(length <= sizeof bytes);
    memcpy(bytes, sent->send.bytes, length);
    world_deliver(last, (struct address){2, last->pid}, bytes, length);
    assert_int_equal(last->agent.group_count, 1);
    const uint64_t view = last->agent.view;
    world_heal(&world, 2);
    assert_true(world_until(&world, last_is_member, SECONDS(10)));
    world_run(&world, SECONDS(1));
    for (unsigned machine = 0; machine < 3; machine++)
        assert_true(world.machine[machine].agent.member[last->agent.self].joined > view);
    end();
}

/* What is said over a link, and not acknowledged, is followed by something else, once, before it
 * goes by the ledger. */
static void test_a_link_that_carries_nothing(void **state)
{
    (void)state;
    begin(2);
    assert_true(!world.links || world_until(&world, world_all_linked, SECONDS(5)));
    world_block(&world, 0, 1, true);
    world_block(&world, 1, 0, true);
    for (unsigned machine = 0; machine < 2; machine++) {
        assert_true(enters(machine, PERMISSION_EXCLUSIVE));
        world_leave(&world, machine);
    }
    const unsigned nudges = world.machine[0].nudges + world.machine[1].nudges;
    assert_int_equal(nudges > 0, world.links);
    world_run(&world, SECONDS(1));
    assert_int_equal(world.machine[0].nudges + world.machine[1].nudges, nudges);
    end();
}

/* One that waited long has asked twice, and the agent hears so the second time when that one is
 * inside, or has lost that by then. It is not asked for again: one that has lost, and stays inside
 * for as long as it likes, would keep the others waiting. */
static void test_asked_for_once_more_by_one_that_has_lost(void **state)
{
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        begin(3);
        assert_true(enters(0, PERMISSION_EXCLUSIVE));
        const struct demand again = world.machine[0].said;
        assert_int_equal(again.kind, DEMAND_PERMISSION);
        world_want(&world, 1, PERMISSION_EXCLUSIVE);
        world_run(&world, SECONDS(1));
        assert_true(world.machine[0].agent.resource[0].taking_back);
        if (!late)
            world_say(&world, 0, &again);
        world_cut(&world, 0);
        world_notice_cut(&world, 0);
        if (late)
            world_say(&world, 0, &again);
        whose = 1;
        assert_true(world_until(&world, is_inside, SECONDS(20)));
        world_heal(&world, 0);
        world_leave(&world, 1);
        assert_true(world_until(&world, world_all_ready, SECONDS(20)));
        world_run(&world, SECONDS(2));
        assert_true(world_is_inside(&world, 0));
        assert_true(enters(2, PERMISSION_EXCLUSIVE));
        end();
    }
}

/* One inside waits for more, and gives up when what it has is lost: that is asked for no longer,
 * while another that has lost it stays inside. */
static void test_more_was_wanted_of_what_is_lost(void **state)
{
    (void)state;
    if (getenv("AGENT_TEST_RING"))
        return; /* all of it is given back first there, and the first is in the way */
    begin(3);
    assert_true(enters(1, PERMISSION_PROTECTED_WRITE));
    assert_true(enters(0, PERMISSION_CONCURRENT_READ));
    world_want_too(&world, 0, PERMISSION_PROTECTED_WRITE);
    world_run(&world, SECONDS(1));
    assert_int_equal(world.machine[0].agent.resource[0].wanted, PERMISSION_PROTECTED_WRITE);
    world_cut(&world, 0);
    world_notice_cut(&world, 0);
    world.machine[0].process[1].wants = false;
    world_heal(&world, 0);
    assert_true(world_until(&world, world_all_ready, SECONDS(20)));
    world_leave(&world, 1);
    world_run(&world, SECONDS(2));
    assert_true(world_is_inside(&world, 0));
    assert_true(enters(2, PERMISSION_EXCLUSIVE));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_link_that_carries_nothing),
        cmocka_unit_test(test_asked_for_once_more_by_one_that_has_lost),
        cmocka_unit_test(test_more_was_wanted_of_what_is_lost),
        cmocka_unit_test(test_back_before_those_inside_have_stopped),
        cmocka_unit_test(test_gone_when_those_inside_have_stopped),
        cmocka_unit_test(test_told_of_a_death_in_a_new_group),
        cmocka_unit_test(test_told_of_a_death_that_a_killed_agent_found),
        cmocka_unit_test(test_told_of_a_death_between_two_cuts),
        cmocka_unit_test(test_told_of_a_machine_that_is_gone),
        cmocka_unit_test(test_a_new_group_without_a_death),
        cmocka_unit_test(test_told_of_a_death_after_a_restart),
        cmocka_unit_test(test_other_pages),
        cmocka_unit_test(test_other_pages_and_a_new_group),
        cmocka_unit_test(test_other_pages_for_a_while),
        cmocka_unit_test(test_views_of_one_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
