/* SPDX-License-Identifier: MIT */
/* The message protocols over links, beside a ledger of the changes: they hold, and every rule that
 * is left out is found out. */
#include "searching.h"

enum { READERS = 1 << MODE_EXCLUSIVE | 1 << MODE_SHARED };

struct setting {
    const char *name;
    unsigned nodes, requests, crashes, joinings;
    enum channels channels;
    unsigned judged; /* a bit for each enum messages_property; 0: what is promised */
    unsigned deaths, modes;
};

static struct messages_options options_of(const struct setting *setting)
{
    return (struct messages_options){.variant = variant_find(setting->name),
                                     .links = true,
                                     .nodes = setting->nodes,
                                     .requests = setting->requests,
                                     .channels = setting->channels,
                                     .crashes = setting->crashes,
                                     .joinings = setting->joinings,
                                     .judged = setting->judged,
                                     .deaths = setting->deaths,
                                     .modes = setting->modes};
}

static void search(const struct setting *setting, struct messages_model *model,
                   struct search *found, struct verdict *verdict)
{
    const struct messages_options options = options_of(setting);
    search_messages(&options, model, found, verdict);
}

static void protocols_hold_over_links(void **unused)
{
    (void)unused;
    static const struct setting cases[] = {
        {"carvalho-roucairol", 2, 2, 2, 2, CHANNELS_FIFO, 0, 0, 0},
        {"carvalho-roucairol", 2, 2, 1, 1, CHANNELS_REORDERED, 0, 0, 0},
        {"carvalho-roucairol", 3, 2, 0, 0, CHANNELS_FIFO, 0, 0, 0},
        {"carvalho-roucairol", 3, 1, 1, 0, CHANNELS_FIFO, 0, 0, 0},
        {"carvalho-roucairol", 2, 2, 1, 1, CHANNELS_FIFO, 0, 2, 0},
        {"carvalho-roucairol", 2, 2, 0, 0, CHANNELS_FIFO, 0, 2, READERS},
        {"ricart-agrawala", 2, 2, 2, 2, CHANNELS_FIFO, 0, 0, 0},
        {"ricart-agrawala", 2, 2, 1, 1, CHANNELS_REORDERED, 0, 0, 0},
        {"ricart-agrawala", 3, 1, 1, 0, CHANNELS_FIFO, 0, 0, 0},
        {"lamport", 2, 2, 1, 1, CHANNELS_FIFO, 0, 0, 0},
        {"lamport-links-unwelcomed", 2, 2, 1, 1, CHANNELS_FIFO, 1u << MESSAGES_EXCLUSION, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct messages_model model;
        struct search found;
        struct verdict verdict;
        search(&cases[i], &model, &found, &verdict);
        print_message("%-20s %u nodes %u requests %u crashes %u joins: %u states\n", cases[i].name,
                      cases[i].nodes, cases[i].requests, cases[i].crashes, cases[i].joinings,
                      found.store.count);
        expect_holds(cases[i].name, &found, &verdict);
    }
}

/* With the length of the shortest run that shows it, and what it breaks. */
static void every_rule_left_out_is_found_out(void **unused)
{
    (void)unused;
    enum { EXCLUSION = 1 << MESSAGES_EXCLUSION };
    static const struct {
        struct setting setting;
        size_t steps;
        const char *breaks;
    } cases[] = {
        {{"carvalho-roucairol-links-not-held", 2, 1, 1, 1, CHANNELS_FIFO, 0, 0, 0}, 6, "deadlock"},
        {{"carvalho-roucairol-links-not-closed", 3, 1, 1, 0, CHANNELS_FIFO, 0, 0, 0},
         9,
         "exclusion"},
        {{"carvalho-roucairol-links-buried-early", 2, 1, 1, 0, CHANNELS_FIFO, EXCLUSION, 0, 0},
         6,
         "exclusion"},
        {{"carvalho-roucairol-nobodys-permission", 3, 1, 1, 1, CHANNELS_FIFO, 0, 0, 0},
         9,
         "deadlock"},
        {{"carvalho-roucairol-preset-newcomer", 2, 1, 1, 1, CHANNELS_FIFO, 0, 0, 0},
         5,
         "exclusion"},
        {{"carvalho-roucairol-fence-without-view", 2, 1, 1, 0, CHANNELS_FIFO, 0, 0, 0}, 6, "fence"},
        {{"carvalho-roucairol-fence-not-carried", 2, 1, 0, 0, CHANNELS_FIFO, 0, 0, 0}, 7, "fence"},
        {{"carvalho-roucairol-no-inside-test", 2, 1, 0, 0, CHANNELS_FIFO, 0, 0, 0}, 6, "exclusion"},
        {{"carvalho-roucairol-no-ask-again", 3, 2, 0, 0, CHANNELS_FIFO, 0, 0, 0}, 21, "deadlock"},
        {{"carvalho-roucairol-links-buried-well", 2, 2, 1, 0, CHANNELS_FIFO, 0, 1, 0},
         6,
         "told: who"},
        {{"carvalho-roucairol-links-death-not-carried", 2, 2, 0, 0, CHANNELS_FIFO, 0, 1, 0},
         7,
         "told: who"},
        {{"carvalho-roucairol-links-told-not-carried", 2, 2, 0, 0, CHANNELS_FIFO, 0, 1, 0},
         10,
         "told: of a"},
        {{"carvalho-roucairol-links-no-last-words", 2, 2, 1, 0, CHANNELS_FIFO, 0, 1, 0},
         7,
         "told: who"},
        {{"carvalho-roucairol-links-hasty-farewell", 2, 2, 2, 1, CHANNELS_FIFO, 0, 1, 0},
         8,
         "told: who"},
        {{"carvalho-roucairol-links-told-by-grant", 2, 2, 0, 0, CHANNELS_FIFO, 0, 1, 0},
         9,
         "told: who"},
        {{"carvalho-roucairol-links-told-in-company", 2, 2, 0, 0, CHANNELS_FIFO, 0, 1, READERS},
         9,
         "told: who"},
        {{"ricart-agrawala-waits-for-the-dead", 2, 1, 1, 0, CHANNELS_FIFO, 0, 0, 0}, 3, "deadlock"},
        {{"ricart-agrawala-links-newcomer-not-asked", 3, 1, 1, 1, CHANNELS_FIFO, EXCLUSION, 0, 0},
         14,
         "exclusion"},
        {{"lamport-links-not-lowest", 2, 2, 1, 1, CHANNELS_FIFO, EXCLUSION, 0, 0}, 7, "exclusion"},
        {{"lamport-newcomer-not-told", 2, 2, 1, 1, CHANNELS_FIFO, 0, 0, 0}, 9, "exclusion"},
        {{"lamport-fence-not-carried", 2, 2, 0, 0, CHANNELS_FIFO, 0, 0, 0}, 7, "fence"},
        {{"lamport", 2, 1, 0, 0, CHANNELS_REORDERED, 0, 0, 0}, 4, "exclusion"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct messages_model model;
        struct search found;
        struct verdict verdict;
        search(&cases[i].setting, &model, &found, &verdict);
        expect_breaks(cases[i].setting.name, cases[i].breaks, cases[i].steps, &found, &verdict);
    }
}

/* Each installs a change at its own moment, and what a dead node has sent may come after it. */
static void messages_and_changes_come_in_any_order(void **unused)
{
    (void)unused;
    static struct messages_model model;
    struct search found;
    struct verdict verdict;
    search(&(struct setting){"carvalho-roucairol-links-not-closed", 3, 1, 1, 0, CHANNELS_FIFO, 0, 0,
                             0},
           &model, &found, &verdict);
    char story[1024];
    tell_run(&verdict, story, sizeof story);
    assert_string_equal(story, "0 requests; sends REQUEST(1) →1 →2\n"
                               "1 requests; sends REQUEST(1) →0 →2\n"
                               "2 receives REQUEST from 0; sends REPLY →0\n"
                               "2 receives REQUEST from 1; sends REPLY →1\n"
                               "2 dies\n"
                               "0 learns that 2 died\n"
                               "0 receives REPLY from 2, and is inside, fence 1.1\n"
                               "1 learns that 2 died\n"
                               "1 receives REPLY from 2, and is inside, fence 1.1\n");
    end_search(&found, &verdict);
}

static void what_links_cannot_carry_is_refused(void **unused)
{
    (void)unused;
    static const struct setting cases[] = {
        {"token", 2, 1, 0, 0, CHANNELS_FIFO, 0, 0, 0},
        {"ricart-agrawala-ring", 2, 1, 0, 0, CHANNELS_FIFO, 0, 0, 0},
        {"ricart-agrawala", 2, 0, 0, 0, CHANNELS_FIFO, 0, 0, 0},
        {"carvalho-roucairol", 2, 1, 0, 0, CHANNELS_AGREED, 0, 0, 0},
        {"ricart-agrawala", 2, 1, 0, 0, CHANNELS_FIFO, 0, 1, 0},
    };
    static struct messages_model model;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct messages_options options = options_of(&cases[i]);
        assert_non_null(messages_model_open(&model, &options));
    }
    const struct messages_options without = {.variant =
                                                 variant_find("carvalho-roucairol-links-not-held"),
                                             .nodes = 2,
                                             .requests = 1,
                                             .channels = CHANNELS_AGREED};
    assert_non_null(messages_model_open(&model, &without));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(protocols_hold_over_links),
        cmocka_unit_test(every_rule_left_out_is_found_out),
        cmocka_unit_test(messages_and_changes_come_in_any_order),
        cmocka_unit_test(what_links_cannot_carry_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
