/* SPDX-License-Identifier: MIT */
/* The store and the search: nothing is lost, and every limit is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/registers/catalogue.h"
#include "check/search/sample.h"
#include "check/search/search.h"
#include "toy.h"

enum { PARTS = 3, PART_SIZE = 16, STATE_SIZE = PARTS * PART_SIZE, STATES = 300000 };

/* State `number`: different numbers give different states, and parts recur. */
static void write_state(uint32_t number, unsigned char *state)
{
    memset(state, 0, STATE_SIZE);
    for (unsigned part = 0; part < PARTS; part++) {
        const uint32_t digit = part == PARTS - 1 ? number : number % 100;
        memcpy(state + part * PART_SIZE, &digit, sizeof digit);
        memcpy(state + part * PART_SIZE + 12, &part, sizeof part);
        number = part == PARTS - 1 ? 0 : number / 100;
    }
}

static enum store_answer put(struct store *store, uint32_t value, uint32_t parent, uint32_t *number)
{
    unsigned char state[STATE_SIZE] __attribute__((aligned(8)));
    struct key key;
    write_state(value, state);
    if (!store_key(store, state, NULL, NULL, &key))
        return STORE_FULL;
    store_look(store, &key);
    return store_put(store, &key, parent,
                     (struct move){.process = (uint8_t)(value % 7), .choice = (uint8_t)value},
                     number);
}

/* Each value once, in an order that jumps about: 7919 and 300000 have no common divisor. */
static uint32_t value_of(uint32_t at)
{
    return (uint32_t)((uint64_t)at * 7919 % STATES);
}

static void store_keeps_everything(void **unused)
{
    (void)unused;
    struct store store;
    assert_int_equal(store_open(&store, STATE_SIZE, PART_SIZE, (size_t)256 << 20), 0);
    const size_t first_room = store.table_room;
    for (uint32_t at = 0; at < STATES; at++) {
        uint32_t number = STATE_NONE;
        assert_int_equal(put(&store, value_of(at), at / 2, &number), STORE_NEW);
        assert_int_equal(number, at);
    }
    assert_true(store.table_room >= 4 * first_room); /* it doubled more than once on the way */
    assert_true(store.dictionary.count < STATES);
    for (uint32_t at = 0; at < STATES; at++) {
        unsigned char expected[STATE_SIZE], found[STATE_SIZE];
        uint32_t number = STATE_NONE;
        assert_int_equal(put(&store, value_of(at), 0, &number), STORE_KNOWN);
        assert_int_equal(number, at);
        write_state(value_of(at), expected);
        store_get(&store, at, found);
        assert_memory_equal(expected, found, STATE_SIZE);
        assert_int_equal(store_parent(&store, at), at / 2); /* the first one counts */
        assert_int_equal(store_move(&store, at).choice, (uint8_t)value_of(at));
    }
    assert_int_equal(store.count, STATES);
    assert_true(store.spent <= store.budget);
    store_close(&store);
}

/* A successor's key, made from its origin's, is the key it would have by itself. */
static void store_key_from_origin(void **unused)
{
    (void)unused;
    unsigned char origin[STATE_SIZE] __attribute__((aligned(8))),
        state[STATE_SIZE] __attribute__((aligned(8)));
    struct store store;
    assert_int_equal(store_open(&store, STATE_SIZE, PART_SIZE, (size_t)64 << 20), 0);
    for (uint32_t value = 0; value < 5000; value++) {
        struct key origin_key, derived, alone;
        write_state(value, origin);
        write_state(value * 31 % 5000, state);
        assert_true(store_key(&store, origin, NULL, NULL, &origin_key));
        assert_true(store_key(&store, state, origin, &origin_key, &derived));
        assert_true(store_key(&store, state, NULL, NULL, &alone));
        assert_memory_equal(derived.part, alone.part, PARTS * sizeof *alone.part);
        assert_int_equal(derived.hash, alone.hash);
    }
    store_close(&store);
}

static void store_says_when_it_is_full(void **unused)
{
    (void)unused;
    struct store store;
    uint32_t at = 0, number = STATE_NONE;
    assert_int_equal(store_open(&store, STATE_SIZE, PART_SIZE, (size_t)8 << 20), 0);
    while (at < STATES && put(&store, value_of(at), 0, &number) == STORE_NEW)
        at++;
    assert_in_range(at, 1, STATES - 1);
    assert_true(store.spent <= store.budget);
    for (uint32_t known = 0; known < at; known++) { /* what it had, it still has */
        unsigned char expected[STATE_SIZE], found[STATE_SIZE];
        write_state(value_of(known), expected);
        store_get(&store, known, found);
        assert_memory_equal(expected, found, STATE_SIZE);
    }
    store_close(&store);
    assert_int_not_equal(store_open(&store, STATE_SIZE, PART_SIZE, 1000), 0);
}

static struct register_model model_of(const char *name, unsigned places)
{
    struct register_model model = {
        .protocol = register_protocol_find(name), .places = places, .deaths = true};
    assert_non_null(model.protocol);
    return model;
}

static enum search_end run_with(const char *name, struct search_limits limits, uint32_t *states)
{
    struct register_model model = model_of(name, 3);
    assert_int_equal(register_model_open(&model), 0);
    struct search search = {.system = &model.system, .limits = limits, .keep_graph = true};
    assert_int_equal(search_run(&search), 0);
    const enum search_end end = search.end;
    *states = search.store.count;
    search_close(&search);
    return end;
}

static void search_limits_are_told(void **unused)
{
    (void)unused;
    uint32_t states;
    assert_int_equal(run_with("races", (struct search_limits){.memory = 64 << 20}, &states),
                     SEARCH_EXHAUSTED);
    assert_int_equal(states, 32802); /* docs/results/guarantees.md has the same number */
    assert_int_equal(
        run_with("races", (struct search_limits){.memory = 64 << 20, .states = 1000}, &states),
        SEARCH_STATES);
    assert_in_range(states, 1000, 1000 + SUCCESSORS_MOST);
    assert_int_equal(run_with("bakery", (struct search_limits){.memory = 8 << 20}, &states),
                     SEARCH_MEMORY);
    assert_int_equal(
        run_with("bakery", (struct search_limits){.memory = 1 << 30, .seconds = 1e-9}, &states),
        SEARCH_SECONDS);
}

/* 0 to 3 in three moves, or in two: the run to the bad state is the shortest. */
static void shortest_violation(void **unused)
{
    (void)unused;
    static const struct toy_move moves[] = {{0, 1, 0, MOVE_STEP, false},
                                            {1, 2, 0, MOVE_STEP, false},
                                            {2, 3, 0, MOVE_STEP, false},
                                            {0, 4, 1, MOVE_STEP, false},
                                            {4, 3, 1, MOVE_STEP, false}};
    struct toy toy = {.bad = 3};
    TOY_OPEN(&toy, 2, moves);
    struct search search = {.system = &toy.system, .limits = {.memory = 16 << 20}};
    struct check_run run = {0};
    assert_int_equal(search_run(&search), 0);
    assert_int_equal(search.end, SEARCH_VIOLATED);
    assert_string_equal(search.violated, "exclusion");
    assert_int_equal(run_to(&search, search.culprit, &run), 0);
    assert_int_equal(run.count, 2);
    assert_int_equal(toy_follow(&toy, &run, 2), 3);
    run_close(&run);
    search_close(&search);
}

static void expect_same_samples(unsigned depth)
{
    struct register_model model = model_of("bakery-without-choosing", 3);
    model.deaths = depth == 0;
    assert_int_equal(register_model_open(&model), 0);
    const struct sample_plan plan = {.runs = 2000, .steps = 300, .seed = 11, .depth = depth};
    struct sample_result one, two;
    assert_int_equal(sample_run(&model.system, &plan, &one), 0);
    assert_int_equal(sample_run(&model.system, &plan, &two), 0);
    assert_non_null(one.violated); /* a broken protocol: the chance schedules find it */
    assert_non_null(two.violated);
    assert_int_equal(one.seed, two.seed);
    assert_int_equal(one.steps, two.steps);
    assert_int_equal(one.run.count, two.run.count);
    for (size_t at = 0; at < one.run.count; at++)
        assert_string_equal(one.run.steps[at].line, two.run.steps[at].line);
    /* That seed alone shows it again: what is printed can be replayed. */
    const struct sample_plan again = {.runs = 1, .steps = 300, .seed = one.seed, .depth = depth};
    struct sample_result replayed;
    assert_int_equal(sample_run(&model.system, &again, &replayed), 0);
    assert_int_equal(replayed.run.count, one.run.count);
    run_close(&one.run);
    run_close(&two.run);
    run_close(&replayed.run);
}

/* A run in which a number outgrows its field ends; the runs after it do not. */
static void overflow_ends_one_run(void **unused)
{
    (void)unused;
    struct register_model model = model_of("bakery-torn", 3);
    assert_int_equal(register_model_open(&model), 0);
    const struct sample_plan plan = {.runs = 50, .steps = 2000, .seed = 1};
    struct sample_result result;
    assert_int_equal(sample_run(&model.system, &plan, &result), 0);
    assert_true(result.overflow);
    assert_true(result.steps > 2 * plan.steps);
    assert_int_equal(result.runs, plan.runs);
    run_close(&result.run);
}

static void same_seed_same_run(void **unused)
{
    (void)unused;
    expect_same_samples(0);
    expect_same_samples(3);
}

/* Layers of a cube: each is a binomial coefficient. From a bit before the middle on, what is left
 * is told within a factor of two. */
static void what_is_to_come_is_told_from_the_layers(void **unused)
{
    (void)unused;
    enum { SIDES = 48 };
    struct estimate estimate = {0};
    double left = (double)((uint64_t)1 << SIDES), layer = 1;
    assert_true(estimate_to_come(&estimate) < 0);
    struct estimate steady = {0}; /* hardly less growth each time: no end is in sight */
    for (unsigned depth = 0; depth < 20; depth++, layer = layer * 3 - depth)
        estimate_add(&steady, (uint64_t)layer);
    assert_true(estimate_to_come(&steady) < 0);
    layer = 1;
    for (unsigned depth = 0; depth < SIDES - 8; depth++) {
        estimate_add(&estimate, (uint64_t)layer);
        left -= layer;
        layer = layer * (SIDES - depth) / (depth + 1);
        if (depth < SIDES * 2 / 5 || depth > SIDES * 4 / 5)
            continue;
        const double told = estimate_to_come(&estimate);
        if (told < left / 2 || told > left * 2)
            fail_msg("depth %u: %.0f are told, and %.0f come", depth, told, left);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_keeps_everything),
        cmocka_unit_test(store_key_from_origin),
        cmocka_unit_test(store_says_when_it_is_full),
        cmocka_unit_test(search_limits_are_told),
        cmocka_unit_test(shortest_violation),
        cmocka_unit_test(same_seed_same_run),
        cmocka_unit_test(overflow_ends_one_run),
        cmocka_unit_test(what_is_to_come_is_told_from_the_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
