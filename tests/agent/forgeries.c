/* SPDX-License-Identifier: MIT */
/* The agent, told what is not so: twice, in another's name, or nonsense. Nothing of it ends an
 * agent, and what is not a member's to say changes nothing. */
#include "scene.h"

/* Somebody started a second agent on a machine (with files of its own, or the lock on them would
 * have kept it out): it is not let in. */
static void test_one_agent_a_machine(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    world.machine[1].number = 0; /* machine 1 gives itself out as machine 0 */
    world_kill(&world, 1);
    world_start(&world, 1);
    world_want(&world, 2, PERMISSION_EXCLUSIVE);
    world_run(&world, SECONDS(10));
    assert_false(agent_is_member(&world.machine[1].agent));
    assert_true(world_holds(&world, 0));
    assert_false(world.machine[2].process[0].inside);
    world.machine[1].number = 1;
    end();
}

/* Whatever has been said is said again by somebody else, and by whoever said it: nobody is cut,
 * nothing is taken. */
static void test_parcels_are_not_taken_twice(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    uint64_t incarnation[3];
    for (unsigned machine = 0; machine < 3; machine++)
        incarnation[machine] = world.machine[machine].agent.incarnation;
    const size_t said = world.logged;
    for (size_t at = 0; at < said; at++)
        for (unsigned machine = 0; machine < 3; machine++) {
            const struct log_entry entry = world.log[at];
            struct parcel_head head;
            memcpy(&head, entry.bytes, sizeof head);
            if (entry.kind != LOGGED_PARCEL ||
                head.slot == NO_SLOT) /* a HELLO from there would be somebody's who is there */
                continue;
            world_deliver(&world.machine[machine], (struct address){9, 9}, entry.bytes,
                          entry.length);
            if (at < world.machine[machine].cursor)
                world_deliver(&world.machine[machine], entry.who, entry.bytes, entry.length);
        }
    for (unsigned machine = 0; machine < 3; machine++)
        assert_true(world.machine[machine].agent.incarnation == incarnation[machine]);
    assert_true(world_holds(&world, 0));
    world_leave(&world, 0);
    assert_true(enters(1, PERMISSION_EXCLUSIVE));
    end();
}

/* What does not make sense is passed over. */
static void test_nonsense_is_refused(void **state)
{
    (void)state;
    begin(3);
    for (unsigned count = 0; count < 20000; count++) {
        uint8_t bytes[160];
        const struct parcel_head head = {.magic = WIRE_MAGIC, .slot = NO_SLOT};
        const size_t length = sizeof head + world_draw(&world, sizeof bytes - sizeof head);
        for (size_t at = 0; at < length; at++)
            bytes[at] = (uint8_t)world_draw(&world, 256);
        memcpy(bytes, &head, sizeof head);
        if (length > sizeof head) { /* no HELLO nor FOUND: these would be believed */
            bytes[sizeof head] = (uint8_t)(RECORD_STATE + world_draw(&world, 30));
            memset(bytes + sizeof head + 2, 0, length > sizeof head + 5 ? 3 : 0);
        }
        world_deliver(&world.machine[0], (struct address){99, 99}, bytes, length);
    }
    assert_true(enters(0, PERMISSION_EXCLUSIVE));
    world_leave(&world, 0);
    assert_true(enters(1, PERMISSION_EXCLUSIVE));
    end();
}

/* Who forges is not kept from saying anything: but it ends nobody's agent, whatever it says. */
static void put_lie(struct parcel *lie, unsigned about)
{
    static const uint64_t numbers[] = {0, 1, 2, 63, 64, 255, 1 << 20, INT64_MAX, UINT64_MAX};
    const unsigned kind = (unsigned)world_draw(&world, RECORD_KINDS + 1);
    parcel_record(lie, (enum record_kind)kind);
    for (unsigned field = 0; field < about; field++) {
        const uint64_t value = world_draw(&world, 2)
                                   ? numbers[world_draw(&world, sizeof numbers / sizeof *numbers)]
                                   : world_draw(&world, UINT64_MAX);
        switch (world_draw(&world, 4)) {
        case 0:
            parcel_u8(lie, (uint8_t)value);
            break;
        case 1:
            parcel_u32(lie, (uint32_t)value);
            break;
        case 2:
            parcel_u64(lie, value);
            break;
        default:
            parcel_text(lie, RESOURCE, sizeof RESOURCE - 1);
        }
    }
    parcel_end_record(lie);
}

/* A whole message of the protocol, but with numbers that it cannot have. */
static void put_false_message(struct parcel *lie)
{
    static const uint64_t numbers[] = {0, 1, 63, 64, UINT32_MAX, UINT64_MAX};
    parcel_record(lie, RECORD_PROTOCOL);
    parcel_u32(lie, (uint32_t)world_draw(&world, 2));
    parcel_u64(lie, UINT64_MAX);
    parcel_u8(lie, (uint8_t)world_draw(&world, MESSAGE_KINDS + 1));
    parcel_u8(lie, (uint8_t)world_draw(&world, MODES + 1));
    parcel_u32(lie, (uint32_t)numbers[world_draw(&world, 6)]);
    for (unsigned field = 0; field < 4; field++)
        parcel_u64(lie, numbers[world_draw(&world, 6)]);
    const uint32_t words = (uint32_t[]){0, 1, 64, 193, 256, 1 << 20}[world_draw(&world, 6)];
    parcel_u32(lie, words);
    for (uint32_t at = 0; at < words && at < 256; at++)
        parcel_u64(lie, numbers[world_draw(&world, 6)]);
    parcel_end_record(lie);
}

static void test_a_member_that_lies(void **state)
{
    (void)state;
    static const struct message_protocol *const protocols[] = {&carvalho_roucairol_protocol,
                                                               &token_protocol, &lamport_protocol,
                                                               &ricart_agrawala_protocol};
    static uint8_t bytes[1 << 16];
    for (unsigned round = 0; round < 200; round++) {
        world_begin(&world, 3, protocols[round % 4], round + 1);
        for (unsigned number = 0; number < 3; number++)
            world_start(&world, number);
        assert_true(world_until(&world, world_all_ready, SECONDS(20)));
        assert_true(enters(round % 3, PERMISSION_EXCLUSIVE));
        struct machine *deceived = &world.machine[0];
        for (unsigned count = 0; count < 100; count++) {
            const uint32_t slot = (uint32_t)world_draw(&world, 3);
            const struct member liar = deceived->agent.member[slot];
            struct parcel lie = {.bytes = bytes, .room = sizeof bytes};
            parcel_begin(&lie);
            if (world_draw(&world, 2))
                put_lie(&lie, (unsigned)world_draw(&world, 12));
            else
                put_false_message(&lie);
            const struct parcel_head head = {.magic = WIRE_MAGIC,
                                             .slot = slot,
                                             .incarnation = liar.incarnation,
                                             .sequence = liar.sequence + 1};
            memcpy(bytes, &head, sizeof head);
            world_deliver(deceived, (struct address){liar.node, liar.pid}, lie.bytes, lie.length);
            world.now += MS;
        }
        world_end(&world); /* who was let in by lies is not judged */
    }
}

/* Over links: packets that have the right head, and then anything. */
static size_t forge_packets(uint8_t *bytes, size_t room, const struct agent *deceived,
                            uint64_t liar)
{
    static const uint64_t numbers[] = {0, 1, 2, 3, 63, 64, 1 << 20, UINT32_MAX, UINT64_MAX};
    struct parcel lie = {.bytes = bytes, .room = room};
    parcel_u32(&lie, LINK_MAGIC);
    parcel_u32(&lie, 0);
    parcel_u64(&lie, liar);
    parcel_u64(&lie, deceived->incarnation);
    for (unsigned packets = (unsigned)world_draw(&world, 4); packets > 0; packets--) {
        parcel_u64(&lie, world_draw(&world, 4)); /* its number, and how many it has taken */
        parcel_u64(&lie, world_draw(&world, 8) ? 0 : numbers[world_draw(&world, 9)]);
        parcel_u8(&lie, (uint8_t)(world_draw(&world, 2) ? RECORD_PROTOCOL
                                                        : world_draw(&world, RECORD_KINDS + 1)));
        parcel_u8(&lie, (uint8_t)world_draw(&world, MESSAGE_KINDS + 1));
        parcel_u8(&lie, (uint8_t)world_draw(&world, MODES + 1));
        parcel_u64(&lie, world_draw(&world, 4) ? deceived->group[0]->serial
                                               : numbers[world_draw(&world, 9)]);
        parcel_u64(&lie, world_draw(&world, 4) ? deceived->group[0]->identity : 1);
        for (unsigned field = 0; field < 5; field++)
            parcel_u64(&lie, numbers[world_draw(&world, 9)]);
    }
    return world_draw(&world, 3) ? lie.length : (size_t)world_draw(&world, lie.length + 1);
}

static void test_a_peer_that_lies(void **state)
{
    (void)state;
    static uint8_t bytes[1 << 12];
    for (unsigned round = 0; round < 200; round++) {
        begin(3);
        assert_true(enters(round % 3, PERMISSION_EXCLUSIVE));
        struct machine *deceived = &world.machine[0];
        for (unsigned count = 0; count < 100 && deceived->agent.group_count > 0; count++) {
            const uint32_t slot = (uint32_t)world_draw(&world, 4);
            const uint64_t liar = deceived->agent.peer[slot].incarnation;
            const size_t length = forge_packets(bytes, sizeof bytes, &deceived->agent, liar);
            world_feed(
                deceived,
                (struct agent_event){
                    .kind = ON_PACKET,
                    .link = {.slot = slot, .incarnation = liar, .bytes = bytes, .length = length}});
            world.now += MS;
        }
        world_end(&world); /* who was let in by lies is not judged */
    }
}

/* A page without a name says that it is granted: its machine keeps nothing by it, and nobody is
 * cut. */
static void test_a_kept_name_that_is_none(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(2, PERMISSION_EXCLUSIVE));
    const uint64_t first = world.machine[0].agent.incarnation,
                   second = world.machine[1].agent.incarnation;
    world_kill(&world, 2);
    assert_int_equal(world.machine[2].pages, 1);
    world.machine[2].page[0].name[0] = '\0';
    world.machine[2].process[0].inside = false;
    world_start(&world, 2);
    assert_true(world_until(&world, world_all_ready, SECONDS(20)));
    assert_true(world.machine[0].agent.incarnation == first);
    assert_true(world.machine[1].agent.incarnation == second);
    assert_true(enters(1, PERMISSION_EXCLUSIVE));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_agent_a_machine),
        cmocka_unit_test(test_parcels_are_not_taken_twice),
        cmocka_unit_test(test_nonsense_is_refused),
        cmocka_unit_test(test_a_member_that_lies),
        cmocka_unit_test(test_a_peer_that_lies),
        cmocka_unit_test(test_a_kept_name_that_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
