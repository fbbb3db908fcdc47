/* SPDX-License-Identifier: MIT */
/* The simulator: message counts, Table I, one seed one run, faults without a violation, and broken
 * variants found out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulate/queue.h"
#include "simulate/simulate.h"
#include "simulate/sparse.h"
#include "simulate/table.h"

enum { MICROSECONDS = 1000 };

static struct simulation usual(const char *name, uint32_t nodes)
{
    const struct variant *variant = variant_find(name);
    assert_non_null(variant);
    return (struct simulation){.variant = variant,
                               .nodes = nodes,
                               .seed = 1,
                               .order = variant->protocol->fifo ? ORDER_FIFO : ORDER_ANY,
                               .delay = {SPREAD_EXPONENTIAL, 500 * MICROSECONDS, 0},
                               .think = {SPREAD_EXPONENTIAL, 5000 * MICROSECONDS, 0},
                               .section = {SPREAD_EXPONENTIAL, 300 * MICROSECONDS, 0}};
}

static struct simulation rough(const char *name, uint32_t nodes)
{
    struct simulation how = usual(name, nodes);
    how.order = ORDER_AGREED;
    how.think.least = 1000 * MICROSECONDS;
    how.section.least = 2000 * MICROSECONDS;
    how.faults = (struct faults){.crash = 0.05, .restart = 1, .delay = 0.2};
    return how;
}

static void what_is_due_first_comes_first(void **unused)
{
    (void)unused;
    struct queue queue = {0};
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(queue_put(&queue, (struct due){.at = i * 7919 % 100, .node = i}));
    struct due last = queue_take(&queue);
    while (queue.count) {
        const struct due next = queue_take(&queue);
        assert_true(last.at < next.at || (last.at == next.at && last.order < next.order));
        last = next;
    }
    queue_close(&queue);
}

/* Lamport 3(N-1), Ricart–Agrawala 2(N-1), Carvalho–Roucairol 0 … 2(N-1) and even, token 0 or N; N =
 * 2 … 100. */
static void messages_per_passage_are_as_the_papers_say(void **unused)
{
    (void)unused;
    for (uint64_t n = 2; n <= 100; n++) {
        const struct {
            const char *name;
            uint64_t fewest, greatest, step;
        } cases[] = {{"lamport", 3 * (n - 1), 3 * (n - 1), 1},
                     {"ricart-agrawala", 2 * (n - 1), 2 * (n - 1), 1},
                     {"carvalho-roucairol", 0, 2 * (n - 1), 2},
                     {"token", 0, n, n}};
        for (unsigned i = 0; i < 4; i++) {
            struct simulation how = usual(cases[i].name, (uint32_t)n);
            how.passages = 60;
            how.hot = 0.5; /* a node that comes back at once, and others */
            how.think.least *= n;
            static struct outcome outcome;
            assert_int_equal(simulate(&how, &outcome), 0);
            assert_string_equal(outcome.words, "");
            assert_int_equal(outcome.measure.entries, how.passages);
            assert_int_equal(outcome.measure.fewest, cases[i].fewest);
            assert_int_equal(outcome.measure.greatest, cases[i].greatest);
            for (uint64_t count = cases[i].fewest; count <= cases[i].greatest; count++)
                if (count % cases[i].step)
                    assert_int_equal(outcome.measure.passages_with[count], 0);
            measure_close(&outcome.measure);
        }
    }
}

static void table_one_is_reproduced(void **unused)
{
    (void)unused;
    static const uint32_t sizes[] = {3, 10, 100};
    for (unsigned i = 0; i < 3; i++) {
        const double n = sizes[i];
        const struct {
            const struct message_protocol *protocol;
            double delay[TABLE_NOTES];
        } rows[] = {{&lamport_protocol, {.5, 1, 1, 1.5}},
                    {&ricart_agrawala_protocol, {.5, 1, 1, 1.5}},
                    /* the paper has (N-1)/2 for the last */
                    {&carvalho_roucairol_protocol, {.5, 0, 1, n / 2}},
                    {&token_protocol, {.5, 0, 1, 1}}};
        for (unsigned row = 0; row < 4; row++) {
            struct table_row measured;
            assert_int_equal(table_measure(rows[row].protocol, sizes[i], &measured), 0);
            for (unsigned note = 0; note < TABLE_NOTES; note++)
                assert_float_equal(measured.delay[note], rows[row].delay[note], 0.001);
        }
    }
    assert_string_equal(table_printed(&carvalho_roucairol_protocol, 4), "(N-1)/2");
    assert_non_null(table_difference(&carvalho_roucairol_protocol, 4));
}

static char *trace_of(struct simulation how)
{
    char *text = NULL;
    size_t size = 0;
    how.trace = open_memstream(&text, &size);
    assert_non_null(how.trace);
    static struct outcome outcome;
    assert_int_equal(simulate(&how, &outcome), 0);
    measure_close(&outcome.measure);
    assert_int_equal(fclose(how.trace), 0);
    return text;
}

static void one_seed_is_one_run(void **unused)
{
    (void)unused;
    struct simulation how = rough("carvalho-roucairol", 5);
    how.events = 3000;
    how.faults.partition = 0.01;
    char *one = trace_of(how), *same = trace_of(how);
    how.seed = 2;
    char *other = trace_of(how);
    assert_string_equal(one, same);
    assert_string_not_equal(one, other);
    free(one);
    free(same);
    free(other);
}

/* With very many nodes only what is not blank of a node's rows is kept. Nobody can tell. */
static void rows_kept_apart_make_the_same_run(void **unused)
{
    (void)unused;
    static const char *const names[] = {"lamport", "token", "token-elected",
                                        "ricart-agrawala-ring"};
    for (unsigned i = 0; i < 2 * sizeof names / sizeof *names; i++) {
        const bool changes = i % 2;
        struct simulation how = changes ? rough(names[i / 2], 7) : usual(names[i / 2], 40);
        if (changes && how.variant->protocol->fixed)
            continue;
        assert_true(how.variant->protocol->rows > 0);
        how.events = 20000;
        how.faults.partition = changes ? 0.01 : 0;
        char *whole = trace_of(how);
        how.whole = 1;
        char *apart = trace_of(how);
        assert_true(strlen(whole) > 100000);
        assert_string_equal(whole, apart);
        free(whole);
        free(apart);
    }
}

static void sparse_words_are_those_last_put(void **unused)
{
    (void)unused;
    enum { WORDS = 300 };
    static uint64_t plain[WORDS], row[WORDS / 3];
    struct sparse sparse = {0};
    uint64_t chance = 1;
    for (unsigned step = 0; step < 20000; step++) {
        chance = chance * 6364136223846793005u + 1442695040888963407u;
        const uint32_t at = (uint32_t)(chance >> 33) % WORDS;
        const uint64_t word = chance >> 60;
        plain[at] = word;
        assert_true(sparse_put(&sparse, at, word, 1));
        if (step % 1000 == 0) {
            for (unsigned i = 0; i < WORDS / 3; i++)
                plain[WORDS / 3 + i] = row[i] = (step + i) % 7 ? 0 : i;
            assert_true(sparse_replace(&sparse, WORDS / 3, row, WORDS / 3));
        }
        for (uint32_t i = at; i < WORDS; i += 7)
            assert_int_equal(sparse_get(&sparse, i), plain[i]);
    }
    sparse_close(&sparse);
    assert_int_equal(sparse_get(&sparse, 5), 0);
}

static void sparse_words_that_no_longer_matter_take_no_room(void **unused)
{
    (void)unused;
    struct sparse sparse = {0};
    for (uint32_t i = 1; i < 100000; i++)
        assert_true(sparse_put(&sparse, i, i, i > 100 ? i - 100 : 1));
    assert_int_equal(sparse_get(&sparse, 99999), 99999);
    assert_true(sparse.room < 1000);
    sparse_close(&sparse);
}

static void a_run_reads_like_a_story(void **unused)
{
    (void)unused;
    struct simulation how = usual("token", 2);
    const struct scripted script[] = {{10, 1}};
    how.script = script;
    how.script_length = 1;
    how.delay = (struct spread){SPREAD_CONSTANT, 5, 0};
    how.section = (struct spread){SPREAD_CONSTANT, 7, 0};
    char *story = trace_of(how);
    assert_string_equal(
        story,
        "{\"trace\":\"afteryou\",\"version\":1,\"source\":\"simulate\",\"protocol\":\"token\",\"seed\":1,\"fair\":"
        "false}\n"
        "{\"at\":10,\"process\":\"n1\",\"event\":\"request\",\"region\":\"r\",\"mode\":\"exclusive\"}\n"
        "{\"at\":10,\"process\":\"n1\",\"event\":\"send\",\"message\":1,\"kind\":\"REQUEST\",\"copies\":1}\n"
        "{\"at\":15,\"process\":\"n0\",\"event\":\"receive\",\"message\":1}\n"
        "{\"at\":15,\"process\":\"n0\",\"event\":\"send\",\"message\":2,\"kind\":\"TOKEN\",\"to\":\"n1\",\"copies\":1}"
        "\n"
        "{\"at\":20,\"process\":\"n1\",\"event\":\"receive\",\"message\":2}\n"
        "{\"at\":20,\"process\":\"n1\",\"event\":\"enter\",\"region\":\"r\",\"mode\":\"exclusive\",\"fence\":1}\n"
        "{\"at\":27,\"process\":\"n1\",\"event\":\"leave\",\"region\":\"r\",\"mode\":\"exclusive\"}\n"
        "{\"at\":27,\"event\":\"end\",\"rest\":true}\n");
    free(story);
}

/* The short version of `./dev soak`. */
static void crashes_joinings_delays_and_partitions_break_nothing(void **unused)
{
    (void)unused;
    uint64_t events = 0, crashes = 0, joins = 0, partitions = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct simulation how =
            rough(variant_at((unsigned)seed % 4)->name, 2 + (uint32_t)(seed % 7));
        how.seed = seed;
        how.events = 4000;
        how.faults.crash = seed % 3 == 0 ? 0.05 : 0.005;
        how.faults.partition = seed % 5 == 0 ? 0.01 : 0.001;
        how.shared = how.variant->protocol->exclusive_only ? 0 : 0.3;
        static struct outcome outcome;
        assert_int_equal(simulate(&how, &outcome), 0);
        if (outcome.verdict != VERDICT_HOLDS)
            fail_msg("%s, seed %lu: %s", how.variant->name, (unsigned long)seed, outcome.words);
        events += outcome.measure.events;
        crashes += outcome.measure.crashes;
        joins += outcome.measure.joins;
        partitions += outcome.measure.partitions;
        measure_close(&outcome.measure);
    }
    print_message("%lu events, %lu crashes, %lu joinings, %lu partitions\n", (unsigned long)events,
                  (unsigned long)crashes, (unsigned long)joins, (unsigned long)partitions);
    assert_true(events > 1000000 && crashes > 1000 && joins > 1000 && partitions > 100);
}

/* Fairness is not the simulator's to judge: the auditor finds the unfair ones. Nor is it whether
 * anything happens at all, or what a user is told: the checker asks that; nor leases, the deaths of
 * users, conversions and ranks. */
static bool is_for_another_judge(const struct variant *variant)
{
    static const char *const others[] = {
        "ricart-agrawala-unfair",       "ricart-agrawala-own-number-unheard",
        "ricart-agrawala-bare-reply",   "ricart-agrawala-ring-unfair",
        "ricart-agrawala-deaf",         "ricart-agrawala-alone",
        "carvalho-roucairol-cut-untold"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(variant->name, others[i]) == 0)
            return true;
    return !variant->left_out || variant->without == WITHOUT_WELCOME ||
           variant->without & (WITHOUT_LEASE | WITHOUT_OF_DEATHS | WITHOUT_OF_UNITS |
                               WITHOUT_OF_CONVERSIONS | WITHOUT_OF_RANKS);
}

static void broken_variants_are_found_within_a_hundred_thousand_events(void **unused)
{
    (void)unused;
    for (unsigned i = 4; variant_at(i); i++) {
        if (is_for_another_judge(variant_at(i)))
            continue;
        uint64_t events = 0;
        static struct outcome outcome = {.verdict = VERDICT_HOLDS};
        outcome.verdict = VERDICT_HOLDS;
        for (uint64_t seed = 1; outcome.verdict == VERDICT_HOLDS && events < 100000; seed++) {
            struct simulation how = rough(variant_at(i)->name, 3);
            how.seed = seed;
            how.events = 2000;
            /* some are broken only while the dead stay dead */
            how.faults.restart = seed % 2 ? 1 : 0.5;
            if (variant_needs_links(how.variant))
                how.order = ORDER_LINKS;
            if (how.variant->protocol->fixed) {
                how.order = ORDER_ANY;
                how.faults = (struct faults){.delay = how.faults.delay};
            }
            assert_int_equal(simulate(&how, &outcome), 0);
            events += outcome.measure.events;
            measure_close(&outcome.measure);
        }
        print_message("%-40s %6lu events: %s\n", variant_at(i)->name, (unsigned long)events,
                      outcome.words);
        assert_int_not_equal(outcome.verdict, VERDICT_HOLDS);
        assert_true(events <= 100000);
    }
}

/* Given up while it is inside, a node overlaps with its successor; its fence tells, and no member's
 * is ever too low. */
/* Each installs the changes at its own moment, and messages go beside them. */
static void protocols_hold_over_links(void **unused)
{
    (void)unused;
    static const char *const names[] = {"lamport", "ricart-agrawala", "carvalho-roucairol"};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct simulation how = rough(names[seed % 3], 2 + (uint32_t)(seed % 7));
        how.order = ORDER_LINKS;
        how.seed = seed;
        how.events = 5000;
        how.shared = seed % 2 ? 0 : 0.5;
        how.faults.partition = 0.001;
        how.faults.pause = 0.01;
        static struct outcome outcome;
        assert_int_equal(simulate(&how, &outcome), 0);
        if (outcome.verdict != VERDICT_HOLDS)
            fail_msg("%s, seed %lu: %s", how.variant->name, (unsigned long)seed, outcome.words);
        assert_true(outcome.measure.joins > 0 && outcome.measure.crashes > 0);
        measure_close(&outcome.measure);
    }
}

static void a_wrong_detector_costs_overlaps_that_fences_order(void **unused)
{
    (void)unused;
    uint64_t overlaps[2] = {0}, refused[2] = {0};
    for (unsigned wrong = 0; wrong < 2; wrong++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct simulation how = rough("carvalho-roucairol", 5);
            how.seed = seed;
            how.events = 10000;
            how.faults = (struct faults){.partition = 0.01, .wrong_detector = wrong};
            static struct outcome outcome;
            assert_int_equal(simulate(&how, &outcome), 0);
            assert_string_equal(outcome.words, "");
            overlaps[wrong] += outcome.overlaps;
            refused[wrong] += outcome.refused;
            measure_close(&outcome.measure);
        }
    assert_int_equal(overlaps[0] + refused[0], 0);
    assert_true(overlaps[1] > 0 && refused[1] > 0);
}

static void percentiles_are_right_within_their_step(void **unused)
{
    (void)unused;
    static struct histogram histogram;
    for (uint64_t value = 1; value <= 10000; value++)
        histogram_add(&histogram, value);
    assert_float_equal((double)histogram_part(&histogram, 0.5), 5000, 5000 / 16.0);
    assert_float_equal((double)histogram_part(&histogram, 0.99), 9900, 9900 / 16.0);
    assert_int_equal(histogram_part(&histogram, 1), 10000);
    assert_float_equal(histogram_mean(&histogram), 5000.5, 0.001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_due_first_comes_first),
        cmocka_unit_test(messages_per_passage_are_as_the_papers_say),
        cmocka_unit_test(table_one_is_reproduced),
        cmocka_unit_test(one_seed_is_one_run),
        cmocka_unit_test(rows_kept_apart_make_the_same_run),
        cmocka_unit_test(sparse_words_are_those_last_put),
        cmocka_unit_test(sparse_words_that_no_longer_matter_take_no_room),
        cmocka_unit_test(a_run_reads_like_a_story),
        cmocka_unit_test(crashes_joinings_delays_and_partitions_break_nothing),
        cmocka_unit_test(broken_variants_are_found_within_a_hundred_thousand_events),
        cmocka_unit_test(protocols_hold_over_links),
        cmocka_unit_test(a_wrong_detector_costs_overlaps_that_fences_order),
        cmocka_unit_test(percentiles_are_right_within_their_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
