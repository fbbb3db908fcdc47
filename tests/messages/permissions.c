/* SPDX-License-Identifier: MIT */
/* Carvalho and Roucairol's algorithm, step by step: modes, conversions, newcomers, and groups of
 * more nodes than are searched. */
#include "harness.h"

static void the_null_mode_asks_nobody(void **unused)
{
    (void)unused;
    struct harness h;
    harness_begin(&h, &carvalho_roucairol_protocol, 3, false);
    harness_request(&h, 0, MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_forget(&h);
    harness_request(&h, 1, MODE_NULL);
    harness_release(&h, 1);
    assert_string_equal(h.trace, "1 requests\n"
                                 "1 enters, fence 1\n"
                                 "1 leaves\n");
}

/* A REPLY gives the mode asked for and every weaker one, and takes what conflicts with it. */
static void weaker_modes_are_given_too(void **unused)
{
    (void)unused;
    struct harness h;
    harness_begin(&h, &carvalho_roucairol_protocol, 2, false);
    for (unsigned mode = 0; mode < MODE_NULL; mode++) {
        harness_request(&h, 1, MODE_EXCLUSIVE); /* has all */
        harness_settle(&h);
        harness_release(&h, 1);
        harness_request(&h, 0, (enum mode)mode);
        harness_settle(&h);
        harness_release(&h, 0);
        for (unsigned other = 0; other < MODE_NULL; other++) {
            assert_int_equal(h.protocol->lacks(h.state[0], 1, other), !modes_include(mode, other));
            assert_int_equal(h.protocol->lacks(h.state[1], 0, other), modes_conflict(mode, other));
        }
    }
    assert_false(h.protocol->lacks(h.state[0], 1, MODE_NULL));
    h.protocol->shed(h.state[1]);
    h.protocol->shed(h.state[0]);
    for (unsigned mode = 0; mode < MODE_NULL; mode++) {
        assert_true(h.protocol->lacks(h.state[0], 1, mode));
        assert_true(h.protocol->lacks(h.state[1], 0, mode));
    }
    harness_forget(&h);
    harness_request(&h, 1, MODE_SHARED); /* nobody has them, so everybody gives them */
    harness_settle(&h);
    assert_string_equal(h.trace, "1 requests\n"
                                 "1 sends REQUEST(11) to 0\n"
                                 "0 sends REPLY to 1\n"
                                 "1 enters, fence 11\n");
}

static void who_is_deferred_is_known_with_its_mode(void **unused)
{
    (void)unused;
    struct harness h;
    harness_begin(&h, &carvalho_roucairol_protocol, 2, false);
    for (unsigned mode = 0; mode < MODE_NULL; mode++) {
        harness_request(&h, 0, MODE_EXCLUSIVE);
        harness_settle(&h);
        assert_false(set_has(h.protocol->deferred(h.state[0]), 1));
        harness_request(&h, 1, (enum mode)mode);
        harness_settle(&h);
        assert_true(set_has(h.protocol->deferred(h.state[0]), 1));
        assert_int_equal(h.protocol->deferred_mode(h.state[0], 1), mode);
        harness_release(&h, 0);
        harness_settle(&h);
        harness_release(&h, 1);
        assert_false(set_has(h.protocol->deferred(h.state[0]), 1));
    }
}

enum { GUARDS = 5 };

/* One node of many, which a test plays to. */
struct one_of_many {
    uint64_t state[256], room[64];
    struct effects effects;
};

static const struct effects *one_step(struct one_of_many *one, struct event event)
{
    one->effects = (struct effects){.room = one->room};
    carvalho_roucairol_protocol.step(one->state, &event, &one->effects);
    return &one->effects;
}

static const struct effects *one_hears(struct one_of_many *one, enum message_kind kind,
                                       uint32_t from, enum mode mode, uint64_t number)
{
    const struct message message = {
        .kind = (uint8_t)kind, .from = from, .mode = (uint8_t)mode, .number = number};
    return one_step(one, (struct event){.kind = EVENT_MESSAGE, .message = &message});
}

/* It asks all others, and is inside when the last has replied. */
static void one_enters(struct one_of_many *one, uint32_t nodes, enum mode mode)
{
    memset(one, 0, sizeof *one);
    const size_t words = carvalho_roucairol_protocol.words(nodes);
    assert_true(words + GUARDS < 256);
    memset(one->state + words, 0xff, GUARDS * sizeof *one->state);
    carvalho_roucairol_protocol.begin(one->state,
                                      &(struct beginning){.nodes = nodes, .agreed = true});
    const struct effects *effects =
        one_step(one, (struct event){.kind = EVENT_REQUEST, .mode = (uint8_t)mode});
    assert_int_equal(effects->count, 1);
    for (uint32_t j = 0; j < nodes; j++)
        assert_int_equal(effect_reaches(&effects->effect[0], 0, j), j != 0);
    for (uint32_t j = 1; j < nodes; j++)
        assert_int_equal(one_hears(one, MESSAGE_REPLY, j, mode, 0)->count, j == nodes - 1);
    assert_int_equal(effects->effect[0].kind, EFFECT_ENTERED);
}

static void assert_unwritten_behind(const struct one_of_many *one, uint32_t nodes)
{
    for (size_t w = 0; w < GUARDS; w++)
        assert_int_equal(one->state[carvalho_roucairol_protocol.words(nodes) + w], UINT64_MAX);
}

/* The one effect is a message of this kind, to this node alone. */
static void assert_sends(const struct effects *effects, enum message_kind kind, uint32_t nodes,
                         uint32_t to)
{
    assert_int_equal(effects->count, 1);
    assert_int_equal(effects->effect[0].message.kind, kind);
    for (uint32_t j = 0; j < nodes; j++)
        assert_int_equal(effect_reaches(&effects->effect[0], 0, j), j == to);
}

/* Among more than 256, what conversions need is not there, and nothing of it is touched. */
static void a_large_group_does_not_convert(void **unused)
{
    (void)unused;
    enum { NODES = 257, HEAD = sizeof(struct node) / sizeof(uint64_t) };
    struct one_of_many one;
    one_enters(&one, NODES, MODE_EXCLUSIVE);
    assert_int_equal(one_hears(&one, MESSAGE_REQUEST, 5, MODE_SHARED, 7)->count, 0);
    assert_int_equal(one_hears(&one, MESSAGE_REQUEST, 256, MODE_SHARED, 7)->count, 0);
    assert_int_equal(carvalho_roucairol_protocol.deferred_mode(one.state, 5), MODE_EXCLUSIVE);
    const struct event death = {.kind = EVENT_DIED, .node = 5, .view = 1};
    assert_int_equal(one_step(&one, death)->count, 0);
    assert_sends(one_step(&one, (struct event){.kind = EVENT_RELEASE}), MESSAGE_REPLY, NODES, 256);
    assert_sends(one_step(&one, (struct event){.kind = EVENT_REQUEST}), MESSAGE_REQUEST, NODES,
                 256);
    assert_int_equal(one.effects.effect[0].message.number, 8);
    assert_int_equal(one_hears(&one, MESSAGE_REPLY, 256, 0, 0)->count, 1);
    assert_int_equal(one_hears(&one, MESSAGE_REQUEST, 6, MODE_SHARED, 3)->count, 0);
    assert_unwritten_behind(&one, NODES);
    /* members, elders, deferred, a set for each of five modes; three bits of a mode, and earlier */
    assert_int_equal(carvalho_roucairol_protocol.words(NODES), HEAD + 8 * 5);
    assert_int_equal(carvalho_roucairol_protocol.words(256), HEAD + 12 * 4);
}

static void the_largest_group_that_converts(void **unused)
{
    (void)unused;
    enum { NODES = 256 };
    struct one_of_many one;
    one_enters(&one, NODES, MODE_CONCURRENT_READ);
    assert_int_equal(one_hears(&one, MESSAGE_REQUEST, 254, MODE_EXCLUSIVE, 6)->count, 0);
    assert_int_equal(one_hears(&one, MESSAGE_REQUEST, 255, MODE_EXCLUSIVE, 7)->count, 0);
    const struct effects *effects =
        one_step(&one, (struct event){.kind = EVENT_RAISE, .mode = MODE_PROTECTED_WRITE});
    assert_int_equal(effects->count, 1);
    assert_int_equal(set_size(effects->effect[0].set, NODES), 255);
    assert_int_equal(one_hears(&one, MESSAGE_REPLY, 1, 0, 0)->count, 0);
    /* who died, and came back, is owed no answer */
    const struct event death = {.kind = EVENT_DIED, .node = 254, .view = 1},
                       joining = {.kind = EVENT_JOINED, .node = 254, .view = 2};
    assert_int_equal(one_step(&one, death)->count, 0);
    assert_sends(one_step(&one, joining), MESSAGE_WELCOME, NODES, 254);
    /* after mine: they are not let in when what is kept is given up; 255 is, who came before */
    for (uint32_t j = 64; j < 128; j++)
        assert_int_equal(one_hears(&one, MESSAGE_REQUEST, j, MODE_EXCLUSIVE, 9)->count, 0);
    assert_sends(one_step(&one, (struct event){.kind = EVENT_LOWER, .mode = MODE_NULL}),
                 MESSAGE_REPLY, NODES, 255);
    assert_unwritten_behind(&one, NODES);
}

/* Until it is welcomed, a newcomer of an agreed order has nothing to defer for, and cannot enter,
 * whoever dies. What was sent to its earlier incarnation is not for it. */
static void a_newcomer_that_is_not_welcomed_stands_in_nobodys_way(void **unused)
{
    (void)unused;
    enum { NODES = 3 };
    struct one_of_many one = {0};
    const uint64_t members = 7;
    carvalho_roucairol_protocol.begin(
        one.state, &(struct beginning){
                       .self = 2, .nodes = NODES, .agreed = true, .view = 2, .members = &members});
    assert_int_equal(one_step(&one, (struct event){.kind = EVENT_REQUEST})->count, 0);
    struct message message = {.kind = MESSAGE_REQUEST, .from = 1, .number = 5, .view = 1};
    const struct event event = {.kind = EVENT_MESSAGE, .message = &message};
    assert_int_equal(one_step(&one, event)->count, 0);
    message.view = 2;
    assert_sends(one_step(&one, event), MESSAGE_REPLY, NODES, 1);
    const struct event death = {.kind = EVENT_DIED, .node = 1, .view = 3};
    assert_int_equal(one_step(&one, death)->count, 0);
    message = (struct message){.kind = MESSAGE_WELCOME, .number = 8, .view = 2};
    assert_sends(one_step(&one, event), MESSAGE_REQUEST, NODES, 0);
    assert_int_equal(one.effects.effect[0].message.number, 9);
    message = (struct message){.kind = MESSAGE_REPLY, .view = 1};
    assert_int_equal(one_step(&one, event)->count, 0);
    message.view = 3;
    assert_int_equal(one_step(&one, event)->count, 1);
    assert_int_equal(one.effects.effect[0].kind, EFFECT_ENTERED);
}

static void who_goes_on_in_a_weaker_mode_is_in_it_though_nobody_waits(void **unused)
{
    (void)unused;
    struct harness h;
    harness_begin(&h, &carvalho_roucairol_protocol, 2, false);
    harness_request(&h, 0, MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_step(&h, 0, (struct event){.kind = EVENT_LOWER, .mode = MODE_SHARED});
    harness_forget(&h);
    harness_request(&h, 1, MODE_SHARED);
    harness_settle(&h);
    assert_string_equal(h.trace, "1 requests\n"
                                 "1 sends REQUEST(2) to 0\n"
                                 "0 sends REPLY to 1\n"
                                 "1 enters, fence 2\n");
}

/* 0 waits for a stronger mode, and has 1's permission for it; 1 waits for what 0 keeps. When 0
 * keeps it no longer, it answers 1, gives its permission back, and asks for it again. */
static void what_is_given_back_with_what_is_kept_is_asked_for_again(void **unused)
{
    (void)unused;
    struct harness h;
    harness_begin(&h, &carvalho_roucairol_protocol, 3, false);
    harness_request(&h, 0, MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_release(&h, 0);
    harness_request(&h, 2, MODE_PROTECTED_WRITE);
    harness_settle(&h);
    harness_request(&h, 0, MODE_CONCURRENT_READ);
    harness_request(&h, 1, MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_forget(&h);
    harness_step(&h, 0, (struct event){.kind = EVENT_RAISE, .mode = MODE_PROTECTED_WRITE});
    assert_int_equal(h.protocol->deferred_mode(h.state[0], 1), MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_step(&h, 0, (struct event){.kind = EVENT_LOWER, .mode = MODE_NULL});
    harness_settle(&h);
    harness_release(&h, 2);
    harness_settle(&h);
    harness_release(&h, 1);
    harness_settle(&h);
    assert_string_equal(h.trace, "0 sends REQUEST(4) to 2\n"
                                 "0 sends REPLY to 1\n"
                                 "0 sends REQUEST(4) to 1\n"
                                 "2 leaves\n"
                                 "2 sends REPLY to 0 to 1\n"
                                 "1 enters, fence 3\n"
                                 "1 leaves\n"
                                 "1 sends REPLY to 0\n"
                                 "0 enters, fence 4\n");
}

/* It counts once, and only for one that waits for it. */
static void a_reply_that_was_not_asked_for_gives_nothing(void **unused)
{
    (void)unused;
    struct one_of_many one = {0};
    carvalho_roucairol_protocol.begin(one.state, &(struct beginning){.nodes = 3, .agreed = true});
    assert_int_equal(one_hears(&one, MESSAGE_REPLY, 1, 0, 0)->count, 0);
    assert_true(carvalho_roucairol_protocol.lacks(one.state, 1, MODE_EXCLUSIVE));
    assert_int_equal(one_step(&one, (struct event){.kind = EVENT_REQUEST})->count, 1);
    assert_int_equal(one_hears(&one, MESSAGE_REPLY, 1, 0, 0)->count, 0);
    assert_int_equal(one_hears(&one, MESSAGE_REPLY, 1, 0, 0)->count, 0);
    assert_int_equal(one_hears(&one, MESSAGE_REPLY, 2, 0, 0)->count, 1);
    assert_int_equal(one.effects.effect[0].kind, EFFECT_ENTERED);
}

static void urge(struct harness *h, unsigned node, enum mode mode, int rank)
{
    harness_step(h, node, (struct event){.kind = EVENT_URGE, .mode = (uint8_t)mode, .rank = rank});
}

/* 0 has everybody's permission, and waits behind nobody; 1 waits in the lower rank. */
static void the_greater_rank_is_served_first(void **unused)
{
    (void)unused;
    struct harness h;
    harness_begin(&h, &carvalho_roucairol_ranked_protocol, 3, false);
    harness_request(&h, 0, MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_request(&h, 1, MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_step(&h, 2, (struct event){.kind = EVENT_REQUEST, .rank = 5});
    harness_settle(&h);
    assert_int_equal(h.protocol->deferred_rank(h.state[0], 1), 0);
    assert_int_equal(h.protocol->deferred_rank(h.state[0], 2), 5);
    harness_forget(&h);
    harness_release(&h, 0);
    harness_settle(&h);
    assert_string_equal(h.trace, "0 leaves\n"
                                 "0 sends REPLY to 1 to 2\n"
                                 "2 enters, fence 2\n");
}

/* 1 asks after 2, and is urged on before it: who keeps them out hears of the new rank. */
static void who_is_urged_on_overtakes(void **unused)
{
    (void)unused;
    struct harness h;
    harness_begin(&h, &carvalho_roucairol_ranked_protocol, 3, false);
    harness_request(&h, 0, MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_request(&h, 2, MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_request(&h, 1, MODE_EXCLUSIVE);
    harness_settle(&h);
    urge(&h, 1, MODE_EXCLUSIVE, -3); /* not greater */
    urge(&h, 1, MODE_EXCLUSIVE, 7);
    harness_settle(&h);
    assert_int_equal(h.protocol->deferred_rank(h.state[0], 1), 7);
    harness_forget(&h);
    harness_release(&h, 0);
    harness_settle(&h);
    assert_string_equal(h.trace, "0 leaves\n"
                                 "0 sends REPLY to 1 to 2\n"
                                 "1 enters, fence 2\n");
}

/* 0 wants to be alone, keeps a reader out by its earlier request, and goes on as a reader: the
 * other is answered, and both are inside. */
static void who_is_urged_on_in_a_weaker_mode_lets_in_whom_it_kept_out(void **unused)
{
    (void)unused;
    struct harness h;
    harness_begin(&h, &carvalho_roucairol_ranked_protocol, 3, false);
    harness_request(&h, 2, MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_request(&h, 0, MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_request(&h, 1, MODE_SHARED);
    harness_settle(&h);
    assert_int_equal(h.protocol->deferred_mode(h.state[0], 1), MODE_SHARED);
    urge(&h, 0, MODE_SHARED, 1);
    harness_settle(&h);
    assert_false(set_has(h.protocol->deferred(h.state[0]), 1));
    assert_int_equal(h.protocol->deferred_mode(h.state[2], 0), MODE_SHARED);
    harness_release(&h, 2);
    harness_settle(&h);
    assert_int_equal(((struct node *)h.state[0])->status, NODE_INSIDE);
    assert_int_equal(((struct node *)h.state[1])->status, NODE_INSIDE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_null_mode_asks_nobody),
        cmocka_unit_test(weaker_modes_are_given_too),
        cmocka_unit_test(who_is_deferred_is_known_with_its_mode),
        cmocka_unit_test(a_large_group_does_not_convert),
        cmocka_unit_test(the_largest_group_that_converts),
        cmocka_unit_test(a_newcomer_that_is_not_welcomed_stands_in_nobodys_way),
        cmocka_unit_test(a_reply_that_was_not_asked_for_gives_nothing),
        cmocka_unit_test(who_goes_on_in_a_weaker_mode_is_in_it_though_nobody_waits),
        cmocka_unit_test(what_is_given_back_with_what_is_kept_is_asked_for_again),
        cmocka_unit_test(the_greater_rank_is_served_first),
        cmocka_unit_test(who_is_urged_on_overtakes),
        cmocka_unit_test(who_is_urged_on_in_a_weaker_mode_lets_in_whom_it_kept_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
