/* SPDX-License-Identifier: MIT */
/* What the message protocols are made of, each part against its definition: modes, sets, whom an
 * effect reaches, which messages make sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocols/messages/messages.h"
#include "protocols/messages/sets.h"
#include "protocols/modes.h"

/* a dot where both may be inside; EX PR PW CW CR NL */
static const char *const matrix[MODES] = {"xxxxx.", "x.xx..", "xxxx..",
                                          "xxx...", "x.....", "......"};

static void the_matrix_of_modes_is_that_of_vms(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < MODES; i++)
        for (unsigned j = 0; j < MODES; j++) {
            assert_int_equal(modes_conflict(i, j), matrix[i][j] == 'x');
            assert_int_equal(modes_conflict(i, j), modes_conflict(j, i));
        }
}

static bool includes(unsigned mode, unsigned weaker)
{
    for (unsigned other = 0; other < MODES; other++)
        if (matrix[weaker][other] == 'x' && matrix[mode][other] != 'x')
            return false;
    return true;
}

static void a_mode_includes_those_that_conflict_with_nothing_more(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < MODES; i++)
        for (unsigned j = 0; j < MODES; j++)
            assert_int_equal(modes_include(i, j), includes(i, j));
}

static void what_two_have_in_common_is_the_strongest_that_both_include(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < MODES; i++)
        for (unsigned j = 0; j < MODES; j++) {
            const unsigned common = modes_common(i, j);
            for (unsigned mode = 0; mode < MODES; mode++)
                assert_int_equal(includes(common, mode), includes(i, mode) && includes(j, mode));
        }
}

static void what_may_be_beside_a_mode_is_what_the_strongest_such_includes(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < MODES; i++)
        for (unsigned j = 0; j < MODES; j++)
            assert_int_equal(includes(modes_beside(i), j), matrix[i][j] != 'x');
}

static void modes_and_messages_have_names(void **unused)
{
    (void)unused;
    static const char *const modes[] = {"exclusive",        "shared",          "protected-write",
                                        "concurrent-write", "concurrent-read", "null"};
    static const char *const kinds[] = {"REQUEST", "REPLY", "ACK",   "RELEASE", "TOKEN",
                                        "WELCOME", "STATE", "WATCH", "CHANGED", "URGE"};
    for (unsigned i = 0; i < MODES; i++)
        assert_string_equal(mode_name(i), modes[i]);
    for (unsigned i = 0; i < MESSAGE_KINDS; i++)
        assert_string_equal(message_name(i), kinds[i]);
    assert_string_equal(mode_name(MODES), "unknown");
    assert_string_equal(message_name(MESSAGE_KINDS), "?");
}

enum { NODES = 200, WORDS = 8 };
static const uint64_t guard = UINT64_C(0x5afe5afe5afe5afe);

/* The set has these, and nothing was written behind it. */
static void assert_set(const uint64_t *set, uint64_t nodes, const bool *has)
{
    uint64_t size = 0;
    for (uint64_t j = 0; j < nodes; j++) {
        assert_int_equal(set_has(set, j), has[j]);
        size += has[j];
    }
    assert_int_equal(set_size(set, nodes), size);
    for (size_t w = (nodes + 63) / 64; w < WORDS; w++)
        assert_int_equal(set[w], guard);
}

static void sets_have_who_was_added_and_not_removed(void **unused)
{
    (void)unused;
    uint64_t chance = 1;
    for (uint64_t nodes = 1; nodes <= NODES; nodes++) {
        uint64_t set[WORDS];
        bool has[NODES] = {0};
        for (size_t w = 0; w < WORDS; w++)
            set[w] = w < (nodes + 63) / 64 ? 0 : guard;
        assert_int_equal(set_words(nodes), (nodes + 63) / 64);
        for (unsigned step = 0; step < 300; step++) {
            chance = chance * 6364136223846793005u + 1442695040888963407u;
            const uint64_t j = (chance >> 33) % nodes;
            has[j] = chance >> 63;
            if (has[j])
                set_add(set, j);
            else
                set_remove(set, j);
            assert_int_equal(set_has(set, j), has[j]);
        }
        assert_set(set, nodes, has);
    }
}

static void a_set_that_is_filled_has_all_and_no_more(void **unused)
{
    (void)unused;
    bool all[NODES];
    for (unsigned j = 0; j < NODES; j++)
        all[j] = true;
    for (uint64_t nodes = 1; nodes <= NODES; nodes++) {
        uint64_t set[WORDS];
        for (size_t w = 0; w < WORDS; w++)
            set[w] = guard;
        set_fill(set, nodes);
        assert_set(set, nodes, all);
    }
}

static void an_effect_reaches_those_it_names(void **unused)
{
    (void)unused;
    const uint64_t set[] = {1 << 0 | 1 << 2};
    for (uint32_t from = 0; from < 3; from++)
        for (uint32_t member = 0; member < 3; member++) {
            const struct effect all = {.to = TO_ALL}, group = {.to = TO_GROUP},
                                some = {.to = TO_SET, .set = set}, one = {.to = 1};
            assert_int_equal(effect_reaches(&all, from, member), member != from);
            assert_int_equal(effect_reaches(&group, from, member), 1);
            assert_int_equal(effect_reaches(&some, from, member), member != 1);
            assert_int_equal(effect_reaches(&one, from, member), member == 1);
        }
    assert_true(effect_is_to_one(&(struct effect){.to = 0}));
    assert_true(effect_is_to_one(&(struct effect){.to = (1 << 20) - 1}));
    assert_false(effect_is_to_one(&(struct effect){.to = 1 << 20}));
    assert_false(effect_is_to_one(&(struct effect){.to = TO_ALL}));
}

static size_t a_word_a_node_with_tokens(uint32_t nodes, unsigned kind)
{
    return kind == MESSAGE_TOKEN ? nodes : 0;
}

static void only_messages_of_the_protocol_make_sense(void **unused)
{
    (void)unused;
    enum { MEMBERS = 3 };
    const struct message_protocol bare = {0}, carries = {.carries = a_word_a_node_with_tokens};
    const struct message good = {.kind = MESSAGE_TOKEN, .mode = 5, .from = 2, .whom = 2};
    assert_true(message_makes_sense(&bare, MEMBERS, &good, 0));
    assert_true(message_makes_sense(&carries, MEMBERS, &good, MEMBERS));
    assert_false(message_makes_sense(&bare, MEMBERS, &good, 1));
    assert_false(message_makes_sense(&carries, MEMBERS, &good, 0));
    struct message bad[] = {good, good, good, good};
    bad[0].kind = MESSAGE_KINDS;
    bad[1].mode = MODES;
    bad[2].from = MEMBERS;
    bad[3].whom = MEMBERS;
    for (unsigned i = 0; i < 4; i++)
        assert_false(message_makes_sense(&bare, MEMBERS, &bad[i], 0));
}

static void some_messages_are_sent_on_behalf_of_the_receiver(void **unused)
{
    (void)unused;
    static const bool serves[MESSAGE_KINDS] = {[MESSAGE_REPLY] = true,
                                               [MESSAGE_ACK] = true,
                                               [MESSAGE_TOKEN] = true,
                                               [MESSAGE_CHANGED] = true};
    for (unsigned kind = 0; kind < MESSAGE_KINDS; kind++)
        assert_int_equal(message_serves_receiver(kind), serves[kind]);
}

static void a_node_is_inside_in_its_mode_or_in_what_it_keeps(void **unused)
{
    (void)unused;
    const struct node outside = {.status = NODE_OUTSIDE},
                      asked = {.status = NODE_WAITING, .asked = 1},
                      waits = {.status = NODE_WAITING, .mode = MODE_SHARED},
                      inside = {.status = NODE_INSIDE, .mode = MODE_SHARED},
                      keeps = {.status = NODE_WAITING, .kept = 1 + MODE_CONCURRENT_READ};
    assert_int_equal(node_inside(&outside), MODE_NULL);
    assert_int_equal(node_inside(&waits), MODE_NULL);
    assert_int_equal(node_inside(&inside), MODE_SHARED);
    assert_int_equal(node_inside(&keeps), MODE_CONCURRENT_READ);
    assert_false(node_has_requested(&outside));
    assert_false(node_has_requested(&waits));
    assert_true(node_has_requested(&asked));
    assert_true(node_has_requested(&inside));
    /* Agents send each other fences: where the view begins in them never changes. */
    assert_int_equal(FENCE_VIEW_SHIFT, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_matrix_of_modes_is_that_of_vms),
        cmocka_unit_test(a_mode_includes_those_that_conflict_with_nothing_more),
        cmocka_unit_test(what_two_have_in_common_is_the_strongest_that_both_include),
        cmocka_unit_test(what_may_be_beside_a_mode_is_what_the_strongest_such_includes),
        cmocka_unit_test(modes_and_messages_have_names),
        cmocka_unit_test(sets_have_who_was_added_and_not_removed),
        cmocka_unit_test(a_set_that_is_filled_has_all_and_no_more),
        cmocka_unit_test(an_effect_reaches_those_it_names),
        cmocka_unit_test(only_messages_of_the_protocol_make_sense),
        cmocka_unit_test(some_messages_are_sent_on_behalf_of_the_receiver),
        cmocka_unit_test(a_node_is_inside_in_its_mode_or_in_what_it_keeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
