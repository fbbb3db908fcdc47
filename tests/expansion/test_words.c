/* SPDX-License-Identifier: MIT */
/* The word of `courtesy` as it ships, 64 bits wide: a search has narrower fields, and does not see
 * where the wide ones end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "scripted_engine.h"

#include "protocols/registers/courtesy/courtesy_word.h"

enum {
    STATES = COURTESY_UPGRADES + 1,
    WORD_MODES = 1 << WORD_MODE_BITS,
    INCARNATIONS = 1 << INCARNATION_BITS
};

#define LAST_NUMBER ((UINT64_C(1) << COURTESY_NUMBER_BITS) - 1)
#define HALF        (UINT64_C(1) << 47) /* of the numbers that a fence has room for: 48 bits */

static const word numbers[] = {0,          1,        2,        3,        4,    1000,
                               HALF - 1,   HALF + 1, HALF * 2, HALF * 4, HALF, LAST_NUMBER - 1,
                               LAST_NUMBER};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* Calls it with a word of each kind. */
static void for_each_word(void (*judge)(word w, enum courtesy_state state, unsigned mode,
                                        word incarnation, word number))
{
    for (unsigned state = 0; state < STATES; state++)
        for (unsigned mode = 0; mode < WORD_MODES; mode++)
            for (word incarnation = 0; incarnation < INCARNATIONS; incarnation++)
                for (unsigned which = 0; which < NUMBERS; which++)
                    judge(courtesy_word((enum courtesy_state)state, mode, incarnation,
                                        numbers[which]),
                          (enum courtesy_state)state, mode, incarnation, numbers[which]);
}

static void has_fields(word w, enum courtesy_state state, unsigned mode, word incarnation,
                       word number)
{
    assert_int_equal(courtesy_state(w), state);
    assert_int_equal(courtesy_mode(w), state == COURTESY_IDLE ? 0 : mode);
    assert_int_equal(courtesy_incarnation(w), incarnation);
    assert_int_equal(courtesy_number(w), number);
    assert_int_equal(w >> 63, state != COURTESY_IDLE);
}

static void has_successors(word w, enum courtesy_state state, unsigned mode, word incarnation,
                           word number)
{
    for (unsigned next = 0; next < STATES; next++) {
        has_fields(courtesy_in((enum courtesy_state)next, w), (enum courtesy_state)next,
                   state == COURTESY_IDLE ? 0 : mode, incarnation, number);
        assert_true(courtesy_same(w, courtesy_in((enum courtesy_state)next, w)));
        if (next == COURTESY_IDLE)
            continue;
        for (unsigned other = 0; other < WORD_MODES; other++)
            has_fields(courtesy_as((enum courtesy_state)next, other, w), (enum courtesy_state)next,
                       other, incarnation, number);
        has_fields(courtesy_numbered((enum courtesy_state)next, w, LAST_NUMBER - number),
                   (enum courtesy_state)next, state == COURTESY_IDLE ? 0 : mode, incarnation,
                   LAST_NUMBER - number);
    }
    if (number < LAST_NUMBER)
        has_fields(courtesy_successor(w), state, mode, incarnation, number + 1);
    has_fields(courtesy_dead(w), COURTESY_IDLE, 0, (incarnation + 1) % INCARNATIONS, number);
    assert_false(courtesy_same(w, courtesy_dead(w)));
    assert_int_equal(courtesy_is_half_used(w), number >= HALF);
}

static void test_fields(void **state)
{
    (void)state;
    for_each_word(has_fields);
    for_each_word(has_successors);
}

static word limit, own_number;

static void is_above_unless_quiet(word w, enum courtesy_state state, unsigned mode,
                                  word incarnation, word number)
{
    (void)mode, (void)incarnation;
    assert_int_equal(w > limit, state != COURTESY_IDLE || number > own_number);
}

/* NONE_ABOVE is told the truth by one comparison. */
static void test_quiet(void **state)
{
    (void)state;
    for (unsigned which = 0; which < NUMBERS; which++) {
        own_number = numbers[which];
        limit = courtesy_quiet(courtesy_word(COURTESY_EXPRESS, 1, 5, own_number));
        for_each_word(is_above_unless_quiet);
    }
}

/* A fence is above my own number, and above all that were seen: `most` is one above those. */
static void test_fence(void **state)
{
    (void)state;
    static struct script script;
    struct registers at = begin_script(&script);
    for (unsigned mine = 0; mine < NUMBERS - 1; mine++)
        for (unsigned seen = 0; seen < NUMBERS - 1; seen++) {
            const word greater = numbers[mine] > numbers[seen] ? numbers[mine] : numbers[seen];
            at.own[0] = courtesy_word(COURTESY_CLAIMS, 0, 0, numbers[mine]);
            assert_int_equal(courtesy_fence(&at, numbers[seen] + 1), greater + 1);
            assert_int_equal(courtesy_fence(&at, 0), numbers[mine] + 1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_fence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
