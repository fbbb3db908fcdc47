/* SPDX-License-Identifier: MIT */
/* Names that nobody uses are forgotten, and nothing is lost with them: neither who is inside, nor
 * fences, nor deaths; whatever one has heard alone before its ring broke. */
#include "scene.h"

static bool nobody_knows_a_name(struct world *its)
{
    for (unsigned number = 0; number < its->machines; number++)
        if (its->machine[number].running && its->machine[number].agent.group_count > 0)
            return false;
    return true;
}

static bool all_delivered(struct world *its)
{
    for (unsigned number = 0; number < its->machines; number++)
        if (its->machine[number].running && !its->machine[number].cut &&
            its->machine[number].cursor < its->logged)
            return false;
    return true;
}

/* Whoever uses it no longer; until all have heard so. */
static void closes(unsigned machine)
{
    world_run(&world, 50 * MS);
    world_close_all(&world, machine);
    world_run(&world, 50 * MS); /* it takes back what it has, and says so */
    assert_true(world_until(&world, all_delivered, SECONDS(2)));
}

static unsigned count_names(const struct machine *machine)
{
    unsigned count = 0;
    for (unsigned at = 0; at < machine->agent.resources; at++)
        count += machine->agent.resource[at].length > 0;
    for (unsigned at = 0; at < machine->pages; at++)
        count += machine->page[at].name[0] != '\0';
    return count;
}

/* The fences of a name that comes back are above all that it had. */
static void test_a_name_that_nobody_uses(void **state)
{
    (void)state;
    begin(3);
    for (unsigned round = 0; round < 12; round++) {
        const unsigned machine = round % 3;
        const uint64_t view = world.machine[0].agent.view;
        assert_true(enters(machine, PERMISSION_EXCLUSIVE));
        assert_true(round % 2 || enters(machine, PERMISSION_EXCLUSIVE));
        closes(machine); /* it is inside: nothing happens */
        assert_true(world_holds(&world, machine));
        world_leave(&world, machine);
        closes(machine);
        assert_true(nobody_knows_a_name(&world));
        for (unsigned number = 0; number < 3; number++)
            assert_int_equal(count_names(&world.machine[number]), 0);
        assert_true(world.machine[0].agent.view == view); /* names cost no views */
    }
    end();
}

/* A name of some length, to be had in turn by all; and then another in its entry. */
static void test_names_of_any_length(void **state)
{
    (void)state;
    begin(3);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned length = NAME_BRIEF - 2; length <= NAME_BRIEF + 2; length++) {
            char name[64] = "";
            memset(name, 'a' + (char)(length + round) % 26, length);
            for (unsigned machine = 0; machine < 3; machine++) {
                assert_true(world_want_another(&world, machine, name));
                world_run(&world, 200 * MS);
                assert_true(world_has(&world, machine, name));
                assert_false(world_has(&world, (machine + 1) % 3, name));
            }
        }
        for (unsigned machine = 0; machine < 3; machine++)
            closes(machine);
        assert_true(nobody_knows_a_name(&world));
        for (unsigned number = 0; number < 3; number++)
            assert_int_equal(count_names(&world.machine[number]), 0);
    }
    end();
}

/* While one uses it, all remember it; and it is had again without a word from the ledger by the one
 * that uses it. */
static void test_a_name_that_one_still_uses(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(1, PERMISSION_EXCLUSIVE));
    world_leave(&world, 1);
    assert_true(enters(2, PERMISSION_EXCLUSIVE));
    world_leave(&world, 2);
    closes(1);
    assert_int_equal(world.machine[0].agent.group_count, 1);
    assert_true(enters(2, PERMISSION_EXCLUSIVE));
    world_leave(&world, 2);
    assert_true(enters(1, PERMISSION_EXCLUSIVE));
    world_leave(&world, 1);
    closes(1);
    closes(2);
    assert_true(nobody_knows_a_name(&world));
    end();
}

/* Wanted again when its FORGETTING is on its way. */
static void test_wanted_again_at_once(void **state)
{
    (void)state;
    begin(3);
    for (unsigned round = 0; round < 20; round++) {
        assert_true(enters(round % 3, PERMISSION_EXCLUSIVE));
        world_leave(&world, round % 3);
        world_close_all(&world, round % 3);
        world_run(&world, (int64_t)round * MS);
        assert_true(enters(round % 2 ? round % 3 : (round + 1) % 3, PERMISSION_EXCLUSIVE));
        world_leave(&world, whose);
    }
    for (unsigned machine = 0; machine < 3; machine++)
        closes(machine);
    assert_true(nobody_knows_a_name(&world));
    end();
}

/* Somebody died inside: the name is kept until somebody has been told. */
static void test_a_death_that_nobody_was_told_of(void **state)
{
    (void)state;
    begin(3);
    world.judge_deaths = true;
    for (unsigned round = 0; round < 3; round++) {
        assert_true(enters(round, PERMISSION_EXCLUSIVE));
        const unsigned told = world.machine[(round + 1) % 3].deaths_told;
        world_die(&world, round);
        closes(round);
        assert_false(nobody_knows_a_name(&world));
        assert_true(enters((round + 1) % 3, PERMISSION_EXCLUSIVE));
        assert_int_equal(world.machine[(round + 1) % 3].deaths_told, told + 1);
        world_run(&world, 100 * MS);
        world_leave(&world, (round + 1) % 3);
        closes((round + 1) % 3);
        assert_true(nobody_knows_a_name(&world));
    }
    end();
}

/* Its user was buried, and may have been inside. */
static void test_a_user_that_is_buried(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(2, PERMISSION_EXCLUSIVE));
    world_kill(&world, 2);
    world_run(&world, 2 * world.grace);
    assert_int_equal(world.machine[0].agent.group_count, 1);
    assert_true(enters(1, PERMISSION_EXCLUSIVE));
    assert_int_equal(world.machine[1].deaths_told, 1);
    world_run(&world, 100 * MS);
    world_leave(&world, 1);
    closes(1);
    world_run(&world, 100 * MS);
    assert_int_equal(world.machine[0].agent.group_count, 0);
    end();
}

/* An agent that is killed and comes back has what its predecessor had, and forgets it. */
static void test_what_was_inherited(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(2, PERMISSION_EXCLUSIVE));
    world_kill(&world, 2);
    world_start(&world, 2);
    world_run(&world, SECONDS(1));
    assert_true(world_holds(&world, 2));
    closes(2);
    assert_true(world_holds(&world, 2));
    world_leave(&world, 2);
    closes(2);
    world_run(&world, 100 * MS);
    assert_true(nobody_knows_a_name(&world));
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    end();
}

/* What the last step of the machine's agent said comes to itself alone. */
static void deliver_to_itself(unsigned number)
{
    static uint8_t bytes[1 << 16];
    struct machine *machine = &world.machine[number];
    for (unsigned at = 0; at < world.effects.count; at++) {
        const struct agent_effect sent = world.effects.effect[at];
        if (sent.kind != DO_SEND)
            continue;
        assert_true(sent.send.length <= sizeof bytes);
        memcpy(bytes, sent.send.bytes, sent.send.length);
        world_deliver(machine, (struct address){number, machine->pid}, bytes, sent.send.length);
        return;
    }
}

/* The machine is cut off, wants the resource, and hears what it says itself, as if its ring had
 * broken just then. */
static void wants_alone(unsigned number)
{
    assert_true(world_until(&world, all_delivered, SECONDS(2)));
    world_cut(&world, number);
    world_want_another(&world, number, RESOURCE);
    deliver_to_itself(number);
    world_want(&world, number, PERMISSION_EXCLUSIVE);
    world.machine[number].process[0].next_demand = INT64_MAX;
}

/* One that used it, and does no longer, hears its own CREATION alone, while the others forget the
 * name and make another of it. With its links, or without. */
static void test_used_again_by_one_alone(void **state)
{
    (void)state;
    for (unsigned with_links = 0; with_links < 2; with_links++) {
        begin(3);
        assert_true(world_until(&world, world_all_linked, SECONDS(5)));
        assert_true(enters(1, PERMISSION_EXCLUSIVE));
        world_leave(&world, 1);
        assert_true(enters(2, PERMISSION_EXCLUSIVE));
        world_leave(&world, 2);
        closes(2);
        for (unsigned other = 0; other < 2 && !with_links; other++) {
            world_block(&world, other, 2, true);
            world_block(&world, 2, other, true);
        }
        wants_alone(2);
        world_run(&world, 50 * MS);
        world_close_all(&world, 1);
        world_want(&world, 0, PERMISSION_EXCLUSIVE);
        world_run(&world, 300 * MS); /* the judge looks: the first is inside, or nobody */
        assert_false(world.machine[2].process[0].inside);
        world_unblock_all(&world);
        world_heal(&world, 2);
        world.machine[2].process[0].next_demand = 0;
        world_run(&world, SECONDS(1));
        if (world.machine[0].process[0].inside)
            world_leave(&world, 0);
        whose = 2;
        assert_true(world_until(&world, is_inside, SECONDS(10)));
        end();
    }
}

/* The eldest hears its own CREATION alone, and lets its process in. When it comes back, the group
 * does not know the name, and keeps it for those who have to stop. */
static void test_a_name_of_one_alone(void **state)
{
    (void)state;
    begin(3);
    wants_alone(0);
    whose = 0;
    assert_true(world_until(&world, is_inside, SECONDS(1)));
    world_heal(&world, 0);
    world_want(&world, 1, PERMISSION_EXCLUSIVE);
    whose = 1;
    assert_true(world_until(&world, is_inside, SECONDS(20))); /* the judge looks at when */
    world_leave(&world, 0);
    world_leave(&world, 1);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    end();
}

/* One alone, the eldest, hears that ghosts of its own have ended, each of which is a change, then
 * its own CREATION; it lets its process in, and is buried. The next fence is above all the same. */
static void test_changes_of_one_that_is_buried(void **state)
{
    (void)state;
    enum { OTHERS = 100 };
    char name[16];
    begin(3);
    struct machine *first = &world.machine[0];
    for (unsigned at = 0; at < OTHERS; at++) {
        snprintf(name, sizeof name, "other-%u", at);
        assert_true(world_want_another(&world, 0, name));
        world_run(&world, 20 * MS);
        assert_true(world_has(&world, 0, name));
    }
    for (unsigned number = 0; number < 3; number++) {
        world_kill(&world, number);
        world_start(&world, number);
        assert_true(world_until(&world, world_all_ready, SECONDS(5)));
    }
    assert_true(world_until(&world, all_delivered, SECONDS(2)));
    const uint64_t view = first->agent.view;
    world_cut(&world, 0);
    for (unsigned at = 0; at < first->agent.resources; at++)
        if (first->agent.resource[at].granted) {
            world_lower(first, at, PERMISSION_EXCLUSIVE);
            world_feed(first, (struct agent_event){
                                  .kind = ON_TAKEN_BACK,
                                  .resource = at,
                                  .taken_back = {.withdrawn = true, .mode = PERMISSION_EXCLUSIVE}});
            deliver_to_itself(0);
        }
    assert_true(first->agent.view >= view + OTHERS);
    wants_alone(0);
    whose = 0;
    assert_true(world_until(&world, is_inside, SECONDS(1)));
    world_kill(&world, 0);
    assert_true(enters(1, PERMISSION_EXCLUSIVE)); /* the judge compares the fences */
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_any_length),
        cmocka_unit_test(test_a_name_that_nobody_uses),
        cmocka_unit_test(test_a_name_that_one_still_uses),
        cmocka_unit_test(test_wanted_again_at_once),
        cmocka_unit_test(test_a_death_that_nobody_was_told_of),
        cmocka_unit_test(test_a_user_that_is_buried),
        cmocka_unit_test(test_what_was_inherited),
        cmocka_unit_test(test_used_again_by_one_alone),
        cmocka_unit_test(test_a_name_of_one_alone),
        cmocka_unit_test(test_changes_of_one_that_is_buried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
