/* SPDX-License-Identifier: MIT */
/* A search begins every passage with all that it keeps zero; an engine, with whatever lay on its
 * stack, but for a few fields. So a field that is read before it is set would be right in every
 * search, and wrong where it runs. Here `courtesy` enters, upgrades, holds and leaves by scripts,
 * on memory of zeros and on memory full of rubbish: it has to do the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "scripted.h"

enum { SCRIPTS = 6000 };

static struct script clean, strewn;

/* Bytes of which all that is read as a flag, a number or a place is something else than none. */
static const uint8_t rubbish[] = {0xff, 0x01, 0xa5};
enum { KINDS = sizeof rubbish / sizeof *rubbish };

static void begin(struct script *script, unsigned number, uint8_t before, enum unset unset)
{
    script_begin(script, number);
    script->retains = number / 240 % 3 == 1;
    script->units = number / 240 % 3 == 2;
    script->before = before;
    script->unset = unset;
    script->whole = true;
}

static bool is_same(unsigned number, enum unset unset)
{
    begin(&clean, number, 0, ALL_IS_SET);
    begin(&strewn, number, rubbish[number % KINDS], unset);
    run_straight(&clean);
    run_straight(&strewn);
    return clean.result == strewn.result && clean.count == strewn.count &&
           memcmp(clean.deed, strewn.deed, clean.count * sizeof *clean.deed) == 0;
}

static void test_same(void **state)
{
    (void)state;
    unsigned long deeds = 0, passed = 0;
    for (unsigned number = 0; number < SCRIPTS; number++) {
        if (!is_same(number, ALL_IS_SET))
            fail_msg("script %u: %u deeds and result %d on zeros, %u and %d on rubbish", number,
                     clean.count, clean.result, strewn.count, strewn.result);
        deeds += strewn.count;
        passed += strewn.result == 0;
    }
    print_message("%lu deeds, passed %lu\n", deeds, passed);
    assert_true(passed > SCRIPTS / 10 && passed < SCRIPTS);
}

static void test_unset(void **state)
{
    (void)state;
    for (enum unset unset = SLOTS_UNSET; unset <= AGAIN_UNSET; unset++) {
        unsigned differ = 0;
        for (unsigned number = 0; number < SCRIPTS; number++)
            differ += !is_same(number, unset);
        print_message("%u differ, leaving out %d\n", differ, (int)unset);
        assert_true(differ > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_unset)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
