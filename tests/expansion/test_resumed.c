/* SPDX-License-Identifier: MIT */
/* An ask is a waiter like any other: the body of `courtesy` that stops where others sleep makes the
 * same accesses, in the same order, with the same values, watches the same places and ends in the
 * same way as the body that waits there, whatever the two are told. And a body that loses something
 * on the way is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scripted.h"

enum { SCRIPTS = 20000 };

static struct script straight, resumed;

static void begin(struct script *script, unsigned number, enum forgets forgets)
{
    script_begin(script, number);
    script->forgets = forgets;
}

static bool is_same(unsigned number, enum forgets forgets)
{
    begin(&straight, number, FORGETS_NOTHING);
    begin(&resumed, number, forgets);
    run_straight(&straight);
    run_resumed(&resumed);
    return straight.result == resumed.result && straight.count == resumed.count &&
           memcmp(straight.deed, resumed.deed, straight.count * sizeof *straight.deed) == 0;
}

static void test_same(void **state)
{
    (void)state;
    unsigned long stops = 0, deeds = 0, passed = 0, given_up = 0;
    for (unsigned number = 0; number < SCRIPTS; number++) {
        if (!is_same(number, FORGETS_NOTHING))
            fail_msg("script %u: %u deeds and result %d, or %u deeds and result %d", number,
                     straight.count, straight.result, resumed.count, resumed.result);
        stops += resumed.stops;
        deeds += resumed.count;
        passed += resumed.result == 0;
        given_up += resumed.result != 0;
    }
    print_message("%lu deeds, stopped %lu times, passed %lu, given up %lu\n", deeds, stops, passed,
                  given_up);
    assert_true(stops > SCRIPTS / 2 && passed > SCRIPTS / 10 && given_up > SCRIPTS / 10);
}

static void test_forgets(void **state)
{
    (void)state;
    for (enum forgets forgets = FORGETS_HOW_IT_WOKE; forgets <= FORGETS_WHAT_IT_KNEW; forgets++) {
        unsigned differ = 0;
        for (unsigned number = 0; number < SCRIPTS / 10; number++)
            differ += !is_same(number, forgets);
        print_message("%u differ, forgetting %d\n", differ, (int)forgets);
        assert_true(differ > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_forgets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
