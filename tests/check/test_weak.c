/* SPDX-License-Identifier: MIT */
/* The memory of C11 in the checker, by the litmus tests of the literature: which outcomes there
 * are, and which there are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check/registers/register_model.h"
#include "check/search/search.h"

#define X(process) (process), 0
#define Y(process) (process), 1

/* What a process of a litmus test has fetched. Nobody enters: it looks at its own register for
 * ever. */
struct litmus_passage {
    PASSAGE_HEAD
    word a, b;
};

#define LITMUS(name, ...)                                                                          \
    static enum passage_result name(void *passage, struct registers *at)                           \
    {                                                                                              \
        struct litmus_passage *my = passage;                                                       \
        const unsigned self = registers_self(at);                                                  \
        word unused = 0;                                                                           \
        PASSAGE_BEGIN                                                                              \
        __VA_ARGS__                                                                                \
        AWAIT(end, unused, self, 0, false);                                                        \
        (void)unused;                                                                              \
        PASSAGE_END                                                                                \
    }

static enum passage_result leave(void *passage, struct registers *at)
{
    (void)passage;
    (void)at;
    return PASSED;
}

static unsigned two_words(unsigned places)
{
    (void)places;
    return 2;
}

static word dead(unsigned index, word value)
{
    return index == 1 && value == 1 ? 3 : value;
}

/* Zero is what a variable holds that was not fetched into. */
#define FETCH(label, into, ...)                                                                    \
    do {                                                                                           \
        READ(label, into, __VA_ARGS__);                                                            \
        if ((into) == 0)                                                                           \
            (into) = ZERO;                                                                         \
    } while (0)
enum { ANY = 0xff, ZERO = 2 };

/* The outcome that is looked for: what each process has fetched. Set by each test. */
static uint8_t wanted[4][2];

static const char *outcome(const struct register_model *model, const unsigned char *state)
{
    for (unsigned who = 0; who < model->system.processes; who++) {
        const struct litmus_passage *my = model_passage(model, state, who);
        if ((wanted[who][0] != ANY && my->a != wanted[who][0]) ||
            (wanted[who][1] != ANY && my->b != wanted[who][1]))
            return NULL;
    }
    return "outcome";
}

static bool is_possible(enum passage_result (*run)(void *, struct registers *), unsigned places,
                        const char *relaxed, bool deaths)
{
    struct register_protocol protocol = {
        .name = "litmus",
        .places_least = 1,
        .places_most = 4,
        .passage_size = sizeof(struct litmus_passage),
        .words = two_words,
        .enter = run,
        .leave = leave,
        .dead = dead,
        .invariant = outcome,
    };
    struct weakening weakening = {.relaxed = true};
    struct register_model model = {.protocol = &protocol,
                                   .places = places,
                                   .weak = true,
                                   .lag = LAG_ANY,
                                   .passages = 1,
                                   .deaths = deaths,
                                   .weakened = &weakening};
    if (relaxed) {
        strcpy(weakening.label, relaxed);
        model.weakened_count = 1;
        model.apart = true;
    }
    assert_int_equal(register_model_open(&model), 0);
    struct search search = {.system = &model.system, .limits = {.memory = (size_t)1 << 28}};
    assert_int_equal(search_run(&search), 0);
    assert_true(search.end == SEARCH_EXHAUSTED || search.end == SEARCH_VIOLATED);
    const bool found = search.end == SEARCH_VIOLATED;
    search_close(&search);
    return found;
}

static void want(unsigned a0, unsigned b0, unsigned a1, unsigned b1)
{
    memset(wanted, ANY, sizeof wanted);
    wanted[0][0] = (uint8_t)a0;
    wanted[0][1] = (uint8_t)b0;
    wanted[1][0] = (uint8_t)a1;
    wanted[1][1] = (uint8_t)b1;
}

/* Store buffering: both store, and neither sees the other's store. */
LITMUS(store_buffering, WRITE_LATE(store, X(self), 1); FETCH(fetch, my->a, X(1 - self));)
LITMUS(store_buffering_fenced, WRITE(store, X(self), 1); FETCH(fetch, my->a, X(1 - self));)

static void test_two_stores_may_miss_each_other_without_fences(void **test)
{
    (void)test;
    want(ZERO, ANY, ZERO, ANY);
    assert_true(is_possible(store_buffering, 2, NULL, false));
    assert_false(is_possible(store_buffering_fenced, 2, NULL, false));
    want(1, ANY, 1, ANY);
    assert_true(is_possible(store_buffering_fenced, 2, NULL, false));
}

/* Message passing: Y is the flag. */
LITMUS(
    message_passing,
    if (self == 0) {
        WRITE_LATE(data, X(0), 1);
        WRITE_LATE(flag, Y(0), 1);
    } else {
        FETCH(look, my->a, Y(0));
        FETCH(fetch, my->b, X(0));
    })

static void test_who_acquires_a_flag_sees_what_was_stored_before_it(void **test)
{
    (void)test;
    want(ANY, ANY, 1, ZERO);
    assert_false(is_possible(message_passing, 2, NULL, false));
    assert_true(is_possible(message_passing, 2, "flag", false));
    assert_true(is_possible(message_passing, 2, "look", false));
    want(ANY, ANY, ZERO, 1); /* the data may be seen before the flag */
    assert_true(is_possible(message_passing, 2, NULL, false));
}

/* The same with fences and relaxed accesses: a fence releases what stands before it. */
LITMUS(
    message_passing_by_fences,
    if (self == 0) {
        WRITE(data, X(0), 1);
        WRITE_LATE(flag, Y(0), 1);
    } else {
        FETCH(look, my->a, Y(0));
        WRITE(fence, X(1), 1);
        FETCH(fetch, my->b, X(0));
    })

static void test_a_fence_orders_relaxed_accesses(void **test)
{
    (void)test;
    want(ANY, ANY, 1, ZERO);
    assert_false(is_possible(message_passing_by_fences, 2, "flag", false));
    assert_false(is_possible(message_passing_by_fences, 2, "look", false));
}

/* Coherence: one never goes back. */
LITMUS(
    coherence,
    if (self == 0) {
        WRITE_LATE(first, X(0), 1);
        WRITE_LATE(second, X(0), 3);
    } else {
        FETCH(once, my->a, X(0));
        FETCH(twice, my->b, X(0));
    })

static void test_a_register_is_seen_in_the_order_of_its_stores(void **test)
{
    (void)test;
    want(ANY, ANY, 3, 1);
    assert_false(is_possible(coherence, 2, NULL, false));
    assert_false(is_possible(coherence, 2, "once", false));
    want(ANY, ANY, 1, 3);
    assert_true(is_possible(coherence, 2, NULL, false));
}

/* Write to read causality, over a third. */
LITMUS(
    causality, if (self == 0) { WRITE_LATE(store, X(0), 1); } else if (self == 1) {
        FETCH(see, my->a, X(0));
        WRITE_LATE(tell, X(1), 1);
    } else {
        FETCH(hear, my->a, X(1));
        FETCH(fetch, my->b, X(0));
    })

static void test_what_another_saw_before_it_told_is_seen(void **test)
{
    (void)test;
    want(ANY, ANY, 1, ANY);
    wanted[2][0] = 1;
    wanted[2][1] = ZERO;
    assert_false(is_possible(causality, 3, NULL, false));
    assert_true(is_possible(causality, 3, "tell", false));
}

/* Independent reads of independent writes: two see two stores in different orders. */
LITMUS(
    independent, if (self < 2) { WRITE_LATE(store, X(self), 1); } else {
        FETCH(first, my->a, X(self - 2));
        FETCH(second, my->b, X(3 - self));
    })
LITMUS(
    independent_fenced, if (self < 2) { WRITE_LATE(store, X(self), 1); } else {
        FETCH(first, my->a, X(self - 2));
        WRITE(fence, X(self), 1);
        FETCH(second, my->b, X(3 - self));
    })

static void test_two_may_disagree_on_the_order_of_stores_without_fences(void **test)
{
    (void)test;
    want(ANY, ANY, ANY, ANY);
    for (unsigned who = 2; who < 4; who++) {
        wanted[who][0] = 1;
        wanted[who][1] = ZERO;
    }
    assert_true(is_possible(independent, 4, NULL, false));
    assert_false(is_possible(independent_fenced, 4, NULL, false));
}

/* A death is a store: of message passing's flag 1 it makes 3. */
static void test_who_sees_a_death_sees_what_the_dead_one_had_seen(void **test)
{
    (void)test;
    want(ANY, ANY, 3, 1);
    assert_true(is_possible(message_passing, 2, NULL, true));
    want(ANY, ANY, 3, ZERO);
    assert_false(is_possible(message_passing, 2, NULL, true));
    assert_true(is_possible(message_passing, 2, "death", true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_stores_may_miss_each_other_without_fences),
        cmocka_unit_test(test_who_acquires_a_flag_sees_what_was_stored_before_it),
        cmocka_unit_test(test_a_fence_orders_relaxed_accesses),
        cmocka_unit_test(test_a_register_is_seen_in_the_order_of_its_stores),
        cmocka_unit_test(test_what_another_saw_before_it_told_is_seen),
        cmocka_unit_test(test_two_may_disagree_on_the_order_of_stores_without_fences),
        cmocka_unit_test(test_who_sees_a_death_sees_what_the_dead_one_had_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
