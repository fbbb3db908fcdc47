/* SPDX-License-Identifier: MIT */
/* The message protocols, step by step: what is sent, who enters, in words. */
#include "harness.h"

static void lamport_takes_three_messages_a_node(void **unused)
{
    (void)unused;
    struct harness h;
    harness_begin(&h, &lamport_protocol, 3, false);
    harness_request(&h, 0, MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_release(&h, 0);
    assert_string_equal(h.trace, "0 requests\n"
                                 "0 sends REQUEST(1) to 1 to 2\n"
                                 "1 sends ACK(2) to 0\n"
                                 "2 sends ACK(2) to 0\n"
                                 "0 enters, fence 1\n"
                                 "0 leaves\n"
                                 "0 sends RELEASE(2) to 1 to 2\n");
}

static void ricart_agrawala_defers_whom_it_precedes(void **unused)
{
    (void)unused;
    struct harness h;
    harness_begin(&h, &ricart_agrawala_protocol, 2, false);
    harness_request(&h, 0, MODE_EXCLUSIVE);
    harness_request(&h, 1, MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_release(&h, 0);
    harness_settle(&h);
    assert_string_equal(h.trace, "0 requests\n"
                                 "0 sends REQUEST(1) to 1\n"
                                 "1 requests\n"
                                 "1 sends REQUEST(1) to 0\n"
                                 "1 sends REPLY(1) to 0\n"
                                 "0 enters, fence 1\n"
                                 "0 leaves\n"
                                 "0 sends REPLY(1) to 1\n"
                                 "1 enters, fence 2\n");
}

static void carvalho_roucairol_enters_again_without_a_message(void **unused)
{
    (void)unused;
    struct harness h;
    harness_begin(&h, &carvalho_roucairol_protocol, 3, false);
    harness_request(&h, 0, MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_release(&h, 0);
    harness_forget(&h);
    harness_request(&h, 0, MODE_EXCLUSIVE);
    harness_release(&h, 0);
    assert_string_equal(h.trace, "0 requests\n"
                                 "0 enters, fence 2\n"
                                 "0 leaves\n");
}

/* "if Waiting and A[j] and (not Our_Priority) then A[j] := false; send (REPLY); send (REQUEST)" */
static void carvalho_roucairol_asks_again_for_what_it_gives_up_while_waiting(void **unused)
{
    (void)unused;
    struct harness h;
    harness_begin(&h, &carvalho_roucairol_protocol, 3, false);
    harness_request(&h, 1, MODE_EXCLUSIVE); /* 1 gets the permissions of 0 and 2 … */
    harness_settle(&h);
    harness_release(&h, 1);
    harness_request(&h, 2, MODE_EXCLUSIVE); /* … and 2 those of 0 and 1; so 1 keeps 0's */
    harness_settle(&h);
    harness_release(&h, 2);
    harness_forget(&h);
    harness_request(&h, 1, MODE_EXCLUSIVE);
    harness_request(&h, 0, MODE_EXCLUSIVE);
    harness_deliver(&h, 0, 1);
    assert_string_equal(h.trace, "1 requests\n"
                                 "1 sends REQUEST(3) to 2\n"
                                 "0 requests\n"
                                 "0 sends REQUEST(3) to 1 to 2\n"
                                 "1 sends REPLY to 0\n"
                                 "1 sends REQUEST(3) to 0\n");
}

static void readers_are_inside_together_and_keep_their_permissions(void **unused)
{
    (void)unused;
    struct harness h;
    harness_begin(&h, &carvalho_roucairol_protocol, 2, false);
    harness_request(&h, 0, MODE_SHARED);
    harness_settle(&h);
    harness_request(&h, 1, MODE_SHARED);
    harness_settle(&h);
    harness_release(&h, 0);
    harness_release(&h, 1);
    harness_forget(&h);
    harness_request(&h, 0, MODE_SHARED);
    harness_request(&h, 1, MODE_SHARED);
    harness_release(&h, 0);
    harness_release(&h, 1);
    assert_string_equal(h.trace, "0 requests\n"
                                 "0 enters, fence 2\n"
                                 "1 requests\n"
                                 "1 enters, fence 3\n"
                                 "0 leaves\n"
                                 "1 leaves\n");
    harness_forget(&h);
    /* a writer asks, though it has the reader's permission */
    harness_request(&h, 1, MODE_EXCLUSIVE);
    harness_settle(&h);
    assert_string_equal(h.trace, "1 requests\n"
                                 "1 sends REQUEST(2) to 0\n"
                                 "0 sends REPLY to 1\n"
                                 "1 enters, fence 4\n");
}

/* Whatever numbers their requests have. */
static void readers_never_wait_for_readers(void **unused)
{
    (void)unused;
    static const struct message_protocol *const protocols[] = {
        &lamport_protocol, &ricart_agrawala_protocol, &carvalho_roucairol_protocol};
    for (size_t which = 0; which < sizeof protocols / sizeof *protocols; which++) {
        struct harness h;
        harness_begin(&h, protocols[which], 3, false);
        for (unsigned passage = 0; passage < 24; passage++) {
            const uint32_t node = passage % 3;
            if (passage >= 3) /* two others stay inside */
                harness_release(&h, node);
            harness_settle(&h);
            harness_forget(&h);
            harness_request(&h, node, MODE_SHARED);
            harness_settle(&h);
            assert_non_null(strstr(h.trace, " enters, "));
        }
    }
}

/* Neither waits for the other, though both ask, and neither is inside yet. */
static void readers_that_ask_at_once_are_inside_together(void **unused)
{
    (void)unused;
    static const struct message_protocol *const protocols[] = {
        &lamport_protocol, &ricart_agrawala_protocol, &carvalho_roucairol_protocol};
    for (size_t which = 0; which < sizeof protocols / sizeof *protocols; which++) {
        struct harness h;
        harness_begin(&h, protocols[which], 2, false);
        harness_request(&h, 0, MODE_SHARED);
        harness_request(&h, 1, MODE_SHARED);
        harness_settle(&h);
        assert_non_null(strstr(h.trace, "0 enters, "));
        assert_non_null(strstr(h.trace, "1 enters, "));
    }
}

static void who_goes_on_in_a_weaker_mode_answers_those_whom_it_kept_out(void **unused)
{
    (void)unused;
    struct harness h;
    harness_begin(&h, &carvalho_roucairol_protocol, 3, false);
    harness_request(&h, 0, MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_request(&h, 1, MODE_SHARED);
    harness_request(&h, 2, MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_forget(&h);
    harness_step(&h, 0, (struct event){.kind = EVENT_LOWER, .mode = MODE_SHARED});
    harness_settle(&h);
    assert_string_equal(h.trace, "0 sends REPLY to 1\n"
                                 "1 enters, fence 2\n");
    harness_forget(&h);
    harness_release(&h, 0);
    harness_release(&h, 1);
    harness_settle(&h);
    assert_string_equal(h.trace, "0 leaves\n"
                                 "0 sends REPLY to 2\n"
                                 "1 leaves\n"
                                 "1 sends REPLY to 2\n"
                                 "2 enters, fence 3\n");
}

static void the_token_goes_round_from_its_holder(void **unused)
{
    (void)unused;
    struct harness h;
    harness_begin(&h, &token_protocol, 3, false);
    harness_request(&h, 0, MODE_EXCLUSIVE);
    harness_request(&h, 2, MODE_EXCLUSIVE);
    harness_request(&h, 1, MODE_EXCLUSIVE);
    harness_settle(&h);
    harness_release(&h, 0);
    harness_settle(&h);
    harness_release(&h, 1);
    harness_settle(&h);
    assert_string_equal(h.trace, "0 requests\n"
                                 "0 enters, fence 1\n"
                                 "2 requests\n"
                                 "2 sends REQUEST(1) to 0 to 1\n"
                                 "1 requests\n"
                                 "1 sends REQUEST(1) to 0 to 2\n"
                                 "0 leaves\n"
                                 "0 sends TOKEN to 1\n"
                                 "1 enters, fence 2\n"
                                 "1 leaves\n"
                                 "1 sends TOKEN to 2\n"
                                 "2 enters, fence 3\n");
}

static void the_dead_count_as_having_replied(void **unused)
{
    (void)unused;
    static const struct message_protocol *const protocols[] = {
        &lamport_protocol, &ricart_agrawala_protocol, &carvalho_roucairol_protocol};
    for (unsigned i = 0; i < 3; i++) {
        struct harness h;
        harness_begin(&h, protocols[i], 2, true);
        harness_request(&h, 0, MODE_EXCLUSIVE);
        harness_forget(&h);
        harness_step(&h, 0, (struct event){.kind = EVENT_DIED, .node = 1, .view = 1});
        assert_string_equal(h.trace, "0 enters, fence 1\n");
    }
}

static void a_node_that_is_cut_off_tells_its_user(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 4; i++) {
        struct harness h;
        harness_begin(&h, variant_at(i)->protocol, 2, true);
        harness_request(&h, 1, MODE_EXCLUSIVE);
        harness_forget(&h);
        harness_step(&h, 1, (struct event){.kind = EVENT_CUT});
        assert_string_equal(h.trace, "1 has lost it\n");
        harness_forget(&h);
        harness_step(&h, 1, (struct event){.kind = EVENT_CUT});
        assert_string_equal(h.trace, "");
    }
}

/* The state is what its size says: a step writes nothing behind it. */
static void states_keep_to_their_size(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 4; i++) {
        struct harness h;
        harness_begin(&h, variant_at(i)->protocol, 3, true);
        const size_t words = h.protocol->words(3);
        for (uint32_t node = 0; node < 3; node++)
            h.state[node][words] = 0x5afe;
        for (uint32_t node = 0; node < 3; node++) {
            harness_request(&h, node, MODE_EXCLUSIVE);
            harness_request(&h, (node + 1) % 3, MODE_EXCLUSIVE);
            harness_settle(&h);
            harness_release(&h, node);
            harness_settle(&h);
            harness_release(&h, (node + 1) % 3);
        }
        for (uint32_t node = 0; node < 3; node++)
            assert_int_equal(h.state[node][words], 0x5afe);
    }
    /* Carvalho and Roucairol's at 10^4 nodes: bits, no words, per other node. */
    assert_true(carvalho_roucairol_protocol.words(10000) * sizeof(uint64_t) < 11000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lamport_takes_three_messages_a_node),
        cmocka_unit_test(ricart_agrawala_defers_whom_it_precedes),
        cmocka_unit_test(carvalho_roucairol_enters_again_without_a_message),
        cmocka_unit_test(carvalho_roucairol_asks_again_for_what_it_gives_up_while_waiting),
        cmocka_unit_test(readers_are_inside_together_and_keep_their_permissions),
        cmocka_unit_test(readers_never_wait_for_readers),
        cmocka_unit_test(readers_that_ask_at_once_are_inside_together),
        cmocka_unit_test(who_goes_on_in_a_weaker_mode_answers_those_whom_it_kept_out),
        cmocka_unit_test(the_token_goes_round_from_its_holder),
        cmocka_unit_test(the_dead_count_as_having_replied),
        cmocka_unit_test(a_node_that_is_cut_off_tells_its_user),
        cmocka_unit_test(states_keep_to_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
