/* SPDX-License-Identifier: MIT */
/* The message protocols under the search: the shipped ones hold, and every broken variant is found
 * out. */
#include "searching.h"

enum { UNBOUNDED = 0 }; /* requests */
enum {
    EXCLUSIVE = 1 << MODE_EXCLUSIVE,
    READERS = EXCLUSIVE | 1 << MODE_SHARED,
    ALL = (1 << MODE_NULL) - 1
};

struct setting {
    const char *name;
    unsigned nodes, requests;
    enum channels channels;
    unsigned crashes, joinings, modes;
};

/* judged: a bit for each enum messages_property; 0: what is promised. */
static void search_judging(const struct setting *setting, unsigned judged,
                           struct messages_model *model, struct search *search,
                           struct verdict *verdict)
{
    const struct messages_options options = {.variant = variant_find(setting->name),
                                             .nodes = setting->nodes,
                                             .requests = setting->requests,
                                             .channels = setting->channels,
                                             .crashes = setting->crashes,
                                             .joinings = setting->joinings,
                                             .modes = setting->modes,
                                             .judged = judged};
    search_messages(&options, model, search, verdict);
}

static void search(const struct setting *setting, struct messages_model *model,
                   struct search *found, struct verdict *verdict)
{
    search_judging(setting, 0, model, found, verdict);
}

static void the_shipped_protocols_hold(void **unused)
{
    (void)unused;
    /* The last two: the fewest and the most messages of a passage, exactly; {1, 0}: not asked. */
    static const struct {
        struct setting setting;
        unsigned fewest, greatest;
    } cases[] = {
        {{"lamport", 2, 3, CHANNELS_FIFO, 0, 0, EXCLUSIVE}, 3, 3},
        {{"lamport", 3, 1, CHANNELS_FIFO, 0, 0, EXCLUSIVE}, 6, 6},
        {{"lamport", 2, 1, CHANNELS_FIFO, 0, 0, ALL}, 3, 3},
        {{"lamport", 2, 2, CHANNELS_AGREED, 1, 1, EXCLUSIVE}, 1, 0},
        {{"lamport", 2, UNBOUNDED, CHANNELS_FIFO, 0, 0, EXCLUSIVE}, 1, 0},
        {{"ricart-agrawala", 3, UNBOUNDED, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 1, 0},
        {{"ricart-agrawala", 3, UNBOUNDED, CHANNELS_AGREED, 0, 0, READERS}, 1, 0},
        {{"ricart-agrawala", 2, 3, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 2, 2},
        {{"ricart-agrawala", 3, 2, CHANNELS_FIFO, 0, 0, EXCLUSIVE}, 4, 4},
        {{"ricart-agrawala", 3, 1, CHANNELS_REORDERED, 0, 0, READERS}, 4, 4},
        {{"ricart-agrawala", 2, 2, CHANNELS_AGREED, 2, 2, EXCLUSIVE}, 1, 0},
        {{"ricart-agrawala", 3, 1, CHANNELS_AGREED, 1, 1, EXCLUSIVE}, 1, 0},
        {{"carvalho-roucairol", 2, 3, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 0, 2},
        {{"carvalho-roucairol", 3, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 0, 4},
        {{"carvalho-roucairol", 3, 1, CHANNELS_REORDERED, 0, 0, READERS}, 4, 4},
        {{"carvalho-roucairol", 2, 2, CHANNELS_REORDERED, 0, 0, ALL}, 0, 2},
        {{"carvalho-roucairol", 2, 2, CHANNELS_AGREED, 2, 2, EXCLUSIVE}, 1, 0},
        {{"carvalho-roucairol", 3, 1, CHANNELS_AGREED, 1, 1, EXCLUSIVE}, 1, 0},
        {{"token", 2, 3, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 0, 2},
        {{"token", 3, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 0, 3},
        {{"token", 2, 2, CHANNELS_AGREED, 2, 2, EXCLUSIVE}, 1, 0},
        {{"token", 3, 1, CHANNELS_AGREED, 1, 1, EXCLUSIVE}, 1, 0},
        /* of the papers */
        {{"lamport-ddclock", 2, 2, CHANNELS_FIFO, 0, 0, EXCLUSIVE}, 3, 3},
        {{"lamport-ddclock", 3, 1, CHANNELS_FIFO, 0, 0, EXCLUSIVE}, 6, 6},
        {{"ricart-agrawala-ring", 2, 3, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 2, 2},
        {{"ricart-agrawala-ring", 3, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 3, 3},
        {{"ricart-agrawala-ring", 4, 1, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 4, 4},
        {{"token-circulating", 3, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 1, 0},
        {{"token-elected", 2, 3, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 0, 2},
        {{"token-elected", 3, 1, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct messages_model model;
        struct search found;
        struct verdict verdict;
        search(&cases[i].setting, &model, &found, &verdict);
        print_message("%-20s %u nodes %u requests %u crashes %u joins: %u states\n",
                      cases[i].setting.name, cases[i].setting.nodes, cases[i].setting.requests,
                      cases[i].setting.crashes, cases[i].setting.joinings, found.store.count);
        expect_holds(cases[i].setting.name, &found, &verdict);
        if (cases[i].fewest <= cases[i].greatest) {
            assert_int_equal(model.fewest, cases[i].fewest);
            assert_int_equal(model.greatest, cases[i].greatest);
        }
    }
}

static void the_broken_variants_are_found_out(void **unused)
{
    (void)unused;
    /* With the length of the shortest run that shows it, and what it breaks. */
    static const struct {
        struct setting setting;
        size_t steps;
        const char *breaks;
    } cases[] = {
        /* it needs FIFO */
        {{"lamport", 2, 1, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 4, "exclusion"},
        {{"lamport-no-acknowledgement", 2, 1, CHANNELS_FIFO, 0, 0, EXCLUSIVE}, 2, "exclusion"},
        {{"lamport-newcomer-not-told", 2, 2, CHANNELS_AGREED, 1, 1, EXCLUSIVE}, 9, "exclusion"},
        {{"lamport-waits-for-the-dead", 2, 1, CHANNELS_AGREED, 1, 0, EXCLUSIVE}, 3, "deadlock"},
        {{"ricart-agrawala-unfair", 3, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 12, "fairness"},
        {{"ricart-agrawala-unfair", 3, UNBOUNDED, CHANNELS_REORDERED, 0, 0, EXCLUSIVE},
         12,
         "fairness"},
        {{"lamport-no-acknowledgement", 2, UNBOUNDED, CHANNELS_FIFO, 0, 0, EXCLUSIVE},
         2,
         "exclusion"},
        {{"ricart-agrawala-published", 2, 2, CHANNELS_AGREED, 2, 2, EXCLUSIVE}, 9, "exclusion"},
        {{"ricart-agrawala-never-defers", 2, 1, CHANNELS_REORDERED, 0, 0, EXCLUSIVE},
         5,
         "fairness"},
        {{"ricart-agrawala-waits-for-the-dead", 2, 1, CHANNELS_AGREED, 1, 0, EXCLUSIVE},
         3,
         "deadlock"},
        {{"ricart-agrawala-no-incarnations", 3, 2, CHANNELS_AGREED, 1, 1, EXCLUSIVE},
         14,
         "fairness"},
        {{"ricart-agrawala-fence-without-view", 2, 1, CHANNELS_AGREED, 1, 0, EXCLUSIVE},
         6,
         "fence"},
        {{"carvalho-roucairol-no-ask-again", 3, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE},
         21,
         "deadlock"},
        {{"carvalho-roucairol-never-defers", 3, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE},
         10,
         "exclusion"},
        {{"carvalho-roucairol-preset-newcomer", 2, 2, CHANNELS_AGREED, 1, 1, EXCLUSIVE},
         7,
         "exclusion"},
        {{"carvalho-roucairol-nobodys-permission", 3, 1, CHANNELS_AGREED, 1, 1, EXCLUSIVE},
         11,
         "deadlock"},
        {{"carvalho-roucairol-no-incarnations", 3, 2, CHANNELS_AGREED, 1, 1, EXCLUSIVE},
         16,
         "exclusion"},
        {{"carvalho-roucairol-fence-without-view", 2, 1, CHANNELS_AGREED, 1, 0, EXCLUSIVE},
         6,
         "fence"},
        {{"carvalho-roucairol-divisible", 2, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE},
         16,
         "exclusion"},
        {{"ricart-agrawala-own-number-unheard", 3, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE},
         18,
         "fairness"},
        {{"ricart-agrawala-bare-reply", 3, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 13, "fairness"},
        {{"ricart-agrawala-ring-never-keeps", 3, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE},
         6,
         "fairness"},
        {{"ricart-agrawala-ring-unfair", 3, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE},
         11,
         "fairness"},
        {{"token-circulating-hasty", 2, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 4, "exclusion"},
        {{"token-elected-twice", 3, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, 10, "exclusion"},
        {{"carvalho-roucairol-cut-untold", 2, 1, CHANNELS_AGREED, 1, 0, EXCLUSIVE}, 2, "cut"},
        {{"token-regenerated-twice", 3, 1, CHANNELS_AGREED, 1, 0, EXCLUSIVE}, 5, "exclusion"},
        {{"token-not-taken-back", 3, 1, CHANNELS_AGREED, 1, 0, EXCLUSIVE}, 10, "deadlock"},
        {{"token-established-early", 3, 1, CHANNELS_AGREED, 2, 1, EXCLUSIVE}, 8, "deadlock"},
        {{"token-fence-without-view", 2, 1, CHANNELS_AGREED, 1, 0, EXCLUSIVE}, 4, "fence"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct messages_model model;
        struct search found;
        struct verdict verdict;
        search(&cases[i].setting, &model, &found, &verdict);
        expect_breaks(cases[i].setting.name, cases[i].breaks, cases[i].steps, &found, &verdict);
    }
}

/* What the papers say on the way, each judged alone. */
static void claims_of_the_papers_are_refuted_where_they_are_false(void **unused)
{
    (void)unused;
    static const struct {
        struct setting setting;
        enum messages_property judged;
        size_t steps; /* 0: it holds */
        const char *breaks;
    } cases[] = {
        /* "A node whose actual REQUEST messages happened before another node's … will enter
         * first" */
        {{"carvalho-roucairol", 3, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE},
         MESSAGES_REQUEST_ORDER,
         16,
         "request-order"},
        {{"ricart-agrawala", 3, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE},
         MESSAGES_REQUEST_ORDER,
         0,
         NULL},
        {{"carvalho-roucairol", 3, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE},
         MESSAGES_RECEIVED_ORDER,
         0,
         NULL},
        {{"carvalho-roucairol-never-defers", 3, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE},
         MESSAGES_RECEIVED_ORDER,
         7,
         "received-order"},
        {{"lamport", 2, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, MESSAGES_LEMMA_1, 7, "lemma-1"},
        {{"lamport", 2, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, MESSAGES_LEMMA_2, 4, "lemma-2"},
        {{"lamport-no-acknowledgement", 2, 2, CHANNELS_FIFO, 0, 0, EXCLUSIVE},
         MESSAGES_CLAIM_1,
         1,
         "claim-1"},
        {{"lamport-out-of-turn", 2, 2, CHANNELS_FIFO, 0, 0, EXCLUSIVE},
         MESSAGES_CLAIM_2,
         5,
         "claim-2"},
        {{"lamport", 2, 2, CHANNELS_FIFO, 0, 0, EXCLUSIVE}, MESSAGES_FACT_1, 0, NULL},
        /* FIFO channels do not keep the order of a detour */
        {{"lamport", 3, 1, CHANNELS_FIFO, 0, 0, EXCLUSIVE}, MESSAGES_FACT_1, 5, "fact-1"},
        {{"lamport", 2, 2, CHANNELS_REORDERED, 0, 0, EXCLUSIVE}, MESSAGES_FACTS, 9, "facts"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct messages_model model;
        struct search found;
        struct verdict verdict;
        search_judging(&cases[i].setting, 1u << cases[i].judged, &model, &found, &verdict);
        print_message("%-40s %s\n", cases[i].setting.name,
                      found.violated ? found.violated : "holds");
        assert_int_equal(found.end, cases[i].steps ? SEARCH_VIOLATED : SEARCH_EXHAUSTED);
        if (cases[i].steps)
            assert_memory_equal(found.violated, cases[i].breaks, strlen(cases[i].breaks));
        assert_int_equal(verdict.finding[PROPERTY_SAFETY].run.count, cases[i].steps);
        end_search(&found, &verdict);
    }
}

static void a_counterexample_reads_like_a_story(void **unused)
{
    (void)unused;
    static struct messages_model model;
    struct search found;
    struct verdict verdict;
    search(&(struct setting){"token-regenerated-twice", 3, 1, CHANNELS_AGREED, 1, 0, EXCLUSIVE},
           &model, &found, &verdict);
    char story[1024];
    tell_run(&verdict, story, sizeof story);
    assert_string_equal(story, "0 dies\n"
                               "1 requests; sends REQUEST(1) →2\n"
                               "1 learns that 0 died, and is inside, fence 1.1\n"
                               "2 requests; sends REQUEST(1) →1\n"
                               "2 learns that 0 died, and is inside, fence 1.1\n");
    end_search(&found, &verdict);
}

static void a_number_too_great_is_reported_not_cut_off(void **unused)
{
    (void)unused;
    static struct messages_model model;
    struct search found;
    struct verdict verdict;
    /* More views than the four bits of a packed fence hold. */
    search(&(struct setting){"carvalho-roucairol", 2, 1, CHANNELS_AGREED, 9, 9, EXCLUSIVE}, &model,
           &found, &verdict);
    assert_int_equal(found.end, SEARCH_OVERFLOW);
    end_search(&found, &verdict);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shipped_protocols_hold),
        cmocka_unit_test(the_broken_variants_are_found_out),
        cmocka_unit_test(claims_of_the_papers_are_refuted_where_they_are_false),
        cmocka_unit_test(a_counterexample_reads_like_a_story),
        cmocka_unit_test(a_number_too_great_is_reported_not_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
