/* SPDX-License-Identifier: MIT */
/* Units over links: no two hold one, whoever waits for some gets them, and every rule that is left
 * out is found out. */
#include "searching.h"

static struct messages_options options_of(const char *name, unsigned nodes, unsigned requests,
                                          unsigned losses)
{
    return (struct messages_options){.variant = variant_find(name),
                                     .links = true,
                                     .nodes = nodes,
                                     .requests = requests,
                                     .channels = CHANNELS_FIFO,
                                     .crashes = losses,
                                     .joinings = losses,
                                     .units = 1};
}

static void units_are_held_by_one(void **unused)
{
    (void)unused;
    static struct messages_model model;
    struct messages_options cases[] = {
        options_of("carvalho-roucairol", 2, 2, 2),
        options_of("carvalho-roucairol", 2, 2, 1),
        options_of("carvalho-roucairol", 3, 1, 0),
    };
    cases[1].units = cases[1].take = cases[2].units = cases[2].take = 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct search found;
        struct verdict verdict;
        search_messages(&cases[i], &model, &found, &verdict);
        print_message("%u units, %u nodes: %u states\n", cases[i].units, cases[i].nodes,
                      found.store.count);
        expect_holds("units", &found, &verdict);
    }
}

static void every_rule_left_out_is_found_out(void **unused)
{
    (void)unused;
    static struct messages_model model;
    static const struct {
        const char *name;
        unsigned nodes, losses, units, take;
        size_t steps;
        const char *breaks;
    } cases[] = {
        {"carvalho-roucairol-units-bare-reply", 2, 0, 1, 0, 9, "units"},
        {"carvalho-roucairol-units-no-version", 2, 0, 1, 0, 11, "deadlock"},
        {"carvalho-roucairol-units-late-watch", 2, 0, 1, 0, 9, "deadlock"},
        {"carvalho-roucairol-units-silent-burial", 2, 1, 1, 0, 11, "deadlock"},
        {"carvalho-roucairol-units-old-copies", 2, 1, 1, 0, 11, "deadlock"},
        {"carvalho-roucairol-units-unannounced", 2, 1, 1, 0, 8, "units"},
        {"carvalho-roucairol-units-give-way", 3, 0, 2, 2, 16, "turn"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct messages_options options =
            options_of(cases[i].name, cases[i].nodes, 2, cases[i].losses);
        struct search found;
        struct verdict verdict;
        options.units = cases[i].units;
        options.take = cases[i].take;
        search_messages(&options, &model, &found, &verdict);
        expect_breaks(cases[i].name, cases[i].breaks, cases[i].steps, &found, &verdict);
    }
}

/* An old register after a new one. */
static void units_need_the_order_of_links(void **unused)
{
    (void)unused;
    static struct messages_model model;
    struct messages_options options = options_of("carvalho-roucairol", 2, 2, 0);
    struct search found;
    struct verdict verdict;
    options.channels = CHANNELS_REORDERED;
    search_messages(&options, &model, &found, &verdict);
    expect_breaks("reordered", "units", 22, &found, &verdict);
}

static void what_has_no_units_is_refused(void **unused)
{
    (void)unused;
    static struct messages_model model;
    struct messages_options cases[] = {
        options_of("lamport", 2, 1, 0),
        options_of("carvalho-roucairol", 2, 1, 0),
        options_of("carvalho-roucairol", 2, 1, 0),
        options_of("carvalho-roucairol", 2, 1, 0),
        options_of("carvalho-roucairol-units-no-version", 2, 1, 0),
    };
    cases[1].links = false;
    cases[2].deaths = 1;
    cases[3].take = 2;
    cases[4].units = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_non_null(messages_model_open(&model, &cases[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_held_by_one),
        cmocka_unit_test(every_rule_left_out_is_found_out),
        cmocka_unit_test(units_need_the_order_of_links),
        cmocka_unit_test(what_has_no_units_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
