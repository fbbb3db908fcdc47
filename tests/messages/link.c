/* SPDX-License-Identifier: MIT */
/* One end of a link: what it sends, takes and keeps; and both ends under the search. */
#include "check/messages/link_model.h"
#include "searching.h"

static void assert_next(struct link *link, enum link_way way, uint64_t number, uint64_t taken)
{
    struct link_packet packet;
    assert_true(link_next(link, way, &packet));
    assert_int_equal(packet.number, number);
    assert_int_equal(packet.taken, taken);
}

static void assert_silent(struct link *link, enum link_way way)
{
    struct link_packet packet;
    assert_false(link_next(link, way, &packet));
}

static void messages_wait_for_a_connection(void **unused)
{
    (void)unused;
    struct link link = {0};
    link_say(&link);
    link_say(&link);
    assert_silent(&link, LINK_DIRECTLY);
    assert_silent(&link, LINK_BY_LEDGER);
    link_up(&link);
    assert_next(&link, LINK_DIRECTLY, 1, 0);
    assert_next(&link, LINK_DIRECTLY, 2, 0);
    assert_silent(&link, LINK_DIRECTLY);
}

static void what_is_not_acknowledged_is_sent_again(void **unused)
{
    (void)unused;
    struct link link = {0};
    link_up(&link);
    for (unsigned i = 0; i < 3; i++)
        link_say(&link);
    for (uint64_t number = 1; number <= 3; number++)
        assert_next(&link, LINK_DIRECTLY, number, 0);
    assert_false(link_receive(&link, LINK_DIRECTLY, (struct link_packet){.taken = 1}));
    link_down(&link);
    assert_silent(&link, LINK_DIRECTLY);
    link_up(&link);
    assert_next(&link, LINK_DIRECTLY, 2, 0);
    assert_next(&link, LINK_DIRECTLY, 3, 0);
    assert_silent(&link, LINK_DIRECTLY);
}

/* Whoever calls may have thrown them away. */
static void what_is_acknowledged_is_never_asked_for_again(void **unused)
{
    (void)unused;
    struct link link = {0};
    link_up(&link);
    for (unsigned i = 0; i < 3; i++)
        link_say(&link);
    link_doubt(&link);
    assert_false(link_receive(&link, LINK_BY_LEDGER, (struct link_packet){.taken = 2}));
    assert_next(&link, LINK_DIRECTLY, 3, 0);
    assert_next(&link, LINK_BY_LEDGER, 3, 0);
    assert_silent(&link, LINK_BY_LEDGER);
}

static void the_next_message_is_taken_and_no_other(void **unused)
{
    (void)unused;
    struct link link = {0};
    link_up(&link);
    assert_false(link_receive(&link, LINK_DIRECTLY, (struct link_packet){.number = 2}));
    assert_true(link_receive(&link, LINK_BY_LEDGER, (struct link_packet){.number = 1}));
    assert_false(link_receive(&link, LINK_DIRECTLY, (struct link_packet){.number = 1}));
    assert_true(link_receive(&link, LINK_DIRECTLY, (struct link_packet){.number = 2}));
    assert_int_equal(link.taken, 2);
}

static void a_message_is_acknowledged_by_the_way_it_came(void **unused)
{
    (void)unused;
    struct link link = {0};
    assert_true(link_receive(&link, LINK_BY_LEDGER, (struct link_packet){.number = 1}));
    assert_next(&link, LINK_BY_LEDGER, 0, 1);
    assert_silent(&link, LINK_BY_LEDGER);
    link_up(&link);
    assert_next(&link, LINK_DIRECTLY, 0, 1); /* a new connection begins with it */
    assert_silent(&link, LINK_DIRECTLY);
    assert_false(link_receive(&link, LINK_DIRECTLY, (struct link_packet){.number = 1}));
    assert_next(&link, LINK_DIRECTLY, 0, 1); /* and so is what comes again */
    assert_silent(&link, LINK_BY_LEDGER);
}

static void a_message_of_mine_carries_the_acknowledgement(void **unused)
{
    (void)unused;
    struct link link = {0};
    link_up(&link);
    assert_true(link_receive(&link, LINK_DIRECTLY, (struct link_packet){.number = 1}));
    link_say(&link);
    assert_next(&link, LINK_DIRECTLY, 1, 1);
    assert_silent(&link, LINK_DIRECTLY);
}

static void each_message_takes_the_detour_once(void **unused)
{
    (void)unused;
    struct link link = {0};
    link_say(&link);
    assert_true(link_can_doubt(&link));
    link_doubt(&link);
    assert_next(&link, LINK_BY_LEDGER, 1, 0);
    assert_false(link_can_doubt(&link));
    link_say(&link);
    assert_true(link_can_doubt(&link));
    link_doubt(&link);
    assert_next(&link, LINK_BY_LEDGER, 2, 0);
    assert_silent(&link, LINK_BY_LEDGER);
    assert_false(link_receive(&link, LINK_BY_LEDGER, (struct link_packet){.taken = 2}));
    assert_false(link_can_doubt(&link));
}

static void who_acknowledges_more_than_was_said_makes_no_sense(void **unused)
{
    (void)unused;
    struct link link = {0};
    link_say(&link);
    assert_true(link_makes_sense(&link, (struct link_packet){.number = 7, .taken = 1}));
    assert_false(link_makes_sense(&link, (struct link_packet){.taken = 2}));
}

static void search(const struct link_options *options, struct link_model *model,
                   struct search *found, struct verdict *verdict)
{
    assert_non_null(options->variant);
    link_model_open(model, options);
    *found = (struct search){.system = &model->system, .limits = {.memory = (size_t)1 << 30}};
    *verdict = (struct verdict){.properties = 1u << PROPERTY_SAFETY | 1u << PROPERTY_PROGRESS |
                                              1u << PROPERTY_LOCKOUT | 1u << PROPERTY_REACHED};
    assert_int_equal(verdict_reach(found, verdict), 0);
}

static void all_is_taken_once_whatever_becomes_of_connections(void **unused)
{
    (void)unused;
    static const char *const names[] = {"link", "link-no-resend"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        struct link_model model;
        struct search found;
        struct verdict verdict;
        search(&(struct link_options){link_variant_find(names[i]), 1, 2}, &model, &found, &verdict);
        print_message("%s: %u states\n", names[i], found.store.count);
        expect_holds(names[i], &found, &verdict);
    }
}

static void every_rule_left_out_is_found_out(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        unsigned messages;
        const char *breaks; /* of delivery; NULL: somebody waits for ever */
        size_t steps;
    } cases[] = {
        {"link-takes-duplicates", 1, "delivery: a message is taken twice", 7},
        {"link-takes-gaps", 2, "delivery: a message is left out", 9},
        {"link-trusts-the-kernel", 1, NULL, 3},
        {"link-no-detour", 1, NULL, 1},
        {"link-never-doubts", 1, NULL, 2},
        {"link-answers-once", 1, NULL, 5},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct link_model model;
        struct search found;
        struct verdict verdict;
        search(&(struct link_options){link_variant_find(cases[i].name), cases[i].messages, 2},
               &model, &found, &verdict);
        const struct finding *finding =
            &verdict.finding[cases[i].breaks ? PROPERTY_SAFETY : PROPERTY_PROGRESS];
        print_message("%s: %zu steps\n", cases[i].name, finding->run.count);
        assert_int_equal(finding->answer, ANSWER_BROKEN);
        assert_int_equal(finding->run.count, cases[i].steps);
        if (cases[i].breaks)
            assert_string_equal(finding->broken, cases[i].breaks);
        end_search(&found, &verdict);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_wait_for_a_connection),
        cmocka_unit_test(what_is_not_acknowledged_is_sent_again),
        cmocka_unit_test(what_is_acknowledged_is_never_asked_for_again),
        cmocka_unit_test(the_next_message_is_taken_and_no_other),
        cmocka_unit_test(a_message_is_acknowledged_by_the_way_it_came),
        cmocka_unit_test(a_message_of_mine_carries_the_acknowledgement),
        cmocka_unit_test(each_message_takes_the_detour_once),
        cmocka_unit_test(who_acknowledges_more_than_was_said_makes_no_sense),
        cmocka_unit_test(all_is_taken_once_whatever_becomes_of_connections),
        cmocka_unit_test(every_rule_left_out_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
