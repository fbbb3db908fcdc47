/* SPDX-License-Identifier: MIT */
/* Names without end: what a full group says, when it has room again, and that names of earlier
 * groups are in nobody's way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "agent/core/parts.h"
#include "world.h"

#define SECONDS(count) ((int64_t)(count)*1000 * MS)

static struct world world;
static char wanted[64];

static void begin(void)
{
    world_begin(&world, 3, &carvalho_roucairol_protocol, 7);
    for (unsigned number = 0; number < 3; number++)
        world_start(&world, number);
    assert_true(world_until(&world, world_all_ready, SECONDS(20)));
}

static void end(void)
{
    assert_null(world.violation);
    assert_int_equal(world.refusals, 0);
    world_end(&world);
}

static void restart_all(void)
{
    for (unsigned number = 0; number < 3; number++)
        world_kill(&world, number);
    for (unsigned number = 0; number < 3; number++)
        world_start(&world, number);
    assert_true(world_until(&world, world_all_ready, SECONDS(20)));
}

static bool all_know_all(struct world *its)
{
    for (unsigned number = 0; number < 3; number++)
        if (its->machine[number].agent.group_count < NAMES)
            return false;
    return true;
}

static bool all_delivered(struct world *its)
{
    for (unsigned number = 0; number < 3; number++)
        if (its->machine[number].cursor < its->logged)
            return false;
    return true;
}

static void fill_group(const char *prefix)
{
    for (unsigned at = 0; world.machine[0].agent.group_count < NAMES; at++) {
        snprintf(wanted, sizeof wanted, "%s-%u", prefix, at);
        for (unsigned number = 0; number < 3; number++) /* so that it is in all pages */
            world_want_another(&world, number, wanted);
        if (at % 16 == 0)
            world_until(&world, all_delivered, SECONDS(5));
        assert_null(world.violation);
        assert_true(at < 2 * NAMES);
    }
    assert_true(world_until(&world, all_know_all, SECONDS(20)));
}

static bool last_has_it(struct world *its)
{
    return world_has(its, 2, wanted);
}

static void want_at_last(const char *name)
{
    snprintf(wanted, sizeof wanted, "%s", name);
    assert_true(world_want_another(&world, 2, wanted));
    assert_true(world_until(&world, last_has_it, SECONDS(20)));
}

static void test_a_full_group_says_so(void **state)
{
    (void)state;
    begin();
    fill_group("a");
    for (unsigned number = 0; number < 3; number++) {
        world.machine[number].full = false;
        for (unsigned times = 0; times < 3; times++) /* whoever asks again is told again */
            assert_false(world_want_another(&world, number, "one-more"));
        assert_true(world.machine[number].full);
        assert_false(world_has(&world, number, "one-more"));
    }
    want_at_last("a-0"); /* those that are there can be had */
    restart_all();
    for (unsigned number = 0; number < 3; number++)
        assert_false(world.machine[number].full); /* a new group has room */
    want_at_last("one-more");
    end();
}

/* Two want the last name at once: one gets it, the other is told. */
static void test_too_late_for_the_last_name(void **state)
{
    (void)state;
    begin();
    while (world.machine[0].agent.group_count < NAMES - 1) {
        snprintf(wanted, sizeof wanted, "c-%u", world.machine[0].agent.group_count);
        world_want_another(&world, 0, wanted);
        world_until(&world, all_delivered, SECONDS(5));
    }
    assert_int_equal(world.machine[0].agent.group_count, NAMES - 1);
    assert_true(world_want_another(&world, 0, "last"));
    assert_true(world_want_another(&world, 1, "too-late"));
    assert_true(world_until(&world, all_know_all, SECONDS(20)));
    world_run(&world, SECONDS(1));
    assert_true(world_has(&world, 0, "last") != world_has(&world, 1, "too-late"));
    assert_true(world.machine[world_has(&world, 0, "last")].full);
    end();
}

/* Two groups of names, so that the tables are full; then a machine that knows none of them creates
 * one more. */
static void test_names_of_earlier_groups_make_room(void **state)
{
    (void)state;
    begin();
    fill_group("a");
    restart_all();
    fill_group("b");
    assert_int_equal(world.machine[0].agent.resources, ENTRIES);
    for (unsigned number = 0; number < 3; number++)
        world_kill(&world, number);
    world_lose_pages(&world, 2);
    for (unsigned number = 0; number < 3; number++)
        world_start(&world, number);
    assert_true(world_until(&world, world_all_ready, SECONDS(20)));
    want_at_last("one-more");
    for (unsigned number = 0; number < 3; number++)
        assert_true(agent_is_member(&world.machine[number].agent));
    fill_group("c");
    end();
}

static void give_room(unsigned number, unsigned entries)
{
    world_feed(&world.machine[number], (struct agent_event){.kind = ON_ROOM, .entries = entries});
}

static uint64_t count_searches(void)
{
    return world.machine[2].agent.incarnations;
}

/* The memory of one machine is full, and it cannot know what the others do. It does not ask them
 * for everything over and over; and joins them when it has room. */
static void test_a_machine_without_room(void **state)
{
    (void)state;
    begin();
    assert_true(world_want_another(&world, 0, "first"));
    world_run(&world, SECONDS(1));
    give_room(2, world.machine[2].agent.resources);
    const uint64_t before = count_searches();
    assert_true(world_want_another(&world, 0, "second"));
    world_run(&world, SECONDS(20));
    assert_false(agent_is_member(&world.machine[2].agent));
    assert_in_range(count_searches() - before, 3, 8); /* each HELLO, and each that is put off */
    assert_true(world_has(&world, 0, "second"));
    give_room(2, ENTRIES);
    assert_true(world_until(&world, world_all_ready, SECONDS(60)));
    want_at_last("second");
    end();
}

/* The last of this machine's parcels that was a HELLO, or of another's that was a renewal. */
static void deliver_last(struct machine *to, unsigned from, enum record_kind wanted_kind)
{
    for (size_t at = world.logged; at-- > 0;) {
        const struct log_entry entry = world.log[at];
        struct parcel_head head;
        struct reader records, fields;
        enum record_kind kind;
        if (entry.kind == LOGGED_PARCEL && entry.who.node == from &&
            parcel_open(entry.bytes, entry.length, &head, &records) &&
            parcel_next(&records, &kind, &fields) && kind == wanted_kind) {
            world_deliver(to, entry.who, entry.bytes, entry.length);
            return;
        }
    }
    fail();
}

/* A newcomer to a group that is alive waits ever longer for a STATE that takes its time: another
 * HELLO would make it void. */
static void test_a_state_that_takes_long(void **state)
{
    (void)state;
    begin();
    struct machine *newcomer = &world.machine[2];
    world_kill(&world, 2);
    world_start(&world, 2);
    newcomer->deaf = true;
    for (unsigned seconds = 2; seconds <= 8; seconds *= 2) {
        const uint64_t before = count_searches();
        deliver_last(newcomer, 2, RECORD_HELLO);
        deliver_last(newcomer, 0, RECORD_RENEWAL);
        world_run(&world, SECONDS(seconds));
        assert_int_equal(count_searches(), before);
        world_run(&world, SECONDS(seconds) / 2);
        assert_int_equal(count_searches(), before + 1);
    }
    newcomer->deaf = false;
    assert_true(world_until(&world, world_all_ready, SECONDS(20)));
    end();
}

/* So too for a process that was told that there is no room. */
static void test_more_room_is_told(void **state)
{
    (void)state;
    begin();
    want_at_last("first");
    give_room(2, world.machine[2].agent.resources);
    assert_false(world_want_another(&world, 2, "second"));
    assert_true(world.machine[2].full);
    give_room(2, ENTRIES);
    assert_false(world.machine[2].full);
    want_at_last("second");
    end();
}

/* Those told last have as long to stop as those told first: nothing else is done before. */
static void test_all_are_told_first_that_it_is_lost(void **state)
{
    (void)state;
    enum { COUNT = 20 };
    begin();
    for (unsigned at = 0; at < COUNT; at++) {
        char name[16];
        snprintf(name, sizeof name, "name-%u", at);
        want_at_last(name);
    }
    world_cut(&world, 2);
    world_feed(&world.machine[2], (struct agent_event){.kind = ON_CUT, .cut = CUT_NO_QUORUM});
    unsigned withdrawn = 0;
    for (unsigned at = 0; at < world.effects.count; at++) {
        withdrawn += world.effects.effect[at].kind == DO_WITHDRAW;
        if (world.effects.effect[at].kind == DO_TAKE_BACK)
            assert_int_equal(withdrawn, COUNT);
    }
    assert_int_equal(withdrawn, COUNT);
    end();
}

/* What a process chose as a name ends no line of the log, and no value in it. */
static void test_names_in_the_log(void **state)
{
    (void)state;
    begin();
    snprintf(wanted, sizeof wanted, "evil\" event=\\\nlevel=\033[31m");
    assert_true(world_want_another(&world, 2, wanted));
    assert_true(world_until(&world, last_has_it, SECONDS(20))); /* granted */
    const struct resource *resource = names_find(&world.machine[2].agent, wanted, strlen(wanted));
    char name[NAME_ROOM];
    assert_non_null(resource);
    wording_name(resource, name);
    assert_string_equal(name, "evil\\\" event=\\\\?level=?[31m");
    assert_true(world_want_another(&world, 1, wanted)); /* released */
    world_run(&world, SECONDS(2));
    assert_true(world_has(&world, 1, wanted));
    world_cut(&world, 1);
    world_notice_cut(&world, 1); /* lost */
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_full_group_says_so),
        cmocka_unit_test(test_too_late_for_the_last_name),
        cmocka_unit_test(test_names_of_earlier_groups_make_room),
        cmocka_unit_test(test_a_machine_without_room),
        cmocka_unit_test(test_a_state_that_takes_long),
        cmocka_unit_test(test_more_room_is_told),
        cmocka_unit_test(test_all_are_told_first_that_it_is_lost),
        cmocka_unit_test(test_names_in_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
