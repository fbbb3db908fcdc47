/* SPDX-License-Identifier: MIT */
/* The compact set of states: nothing is lost, nothing is taken for another, and a full one says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/registers/catalogue.h"
#include "check/search/compact.h"
#include "check/search/verdict.h"

enum { PART = 8, STATES = 400000, BASE = 60 };

/* The parts of state `number`, in digits of base BASE; unlike numbers have unlike parts. */
static void write_parts(unsigned count, uint32_t number, uint32_t *parts)
{
    for (unsigned at = 0; at < count; at++) {
        parts[at] = at + 1 == count ? number : number % BASE;
        number /= BASE;
    }
}

static struct store store_of(unsigned parts, size_t budget)
{
    struct store store;
    assert_int_equal(store_open(&store, parts * (size_t)PART, PART, budget), 0);
    return store;
}

static void a_root_stands_for_its_parts(void **unused)
{
    (void)unused;
    for (unsigned count = 1; count <= PARTS_MOST; count++) {
        struct store store = store_of(count, (size_t)64 << 20);
        struct compact compact;
        assert_true(compact_open(&compact, &store));
        uint64_t last = UINT64_MAX;
        for (uint32_t number = 0; number < 20000; number++) {
            uint32_t parts[PARTS_MOST], found[PARTS_MOST];
            uint64_t root, again;
            write_parts(count, number * 37, parts);
            assert_true(compact_root(&compact, &store, parts, &root));
            assert_true(compact_root(&compact, &store, parts, &again));
            assert_int_equal(root, again);
            assert_int_not_equal(root, last);
            last = root;
            compact_parts(&compact, &store, root, found);
            assert_memory_equal(parts, found, count * sizeof *parts);
        }
        compact_close(&compact, &store);
        store_close(&store);
    }
}

static void every_state_is_new_once(void **unused)
{
    (void)unused;
    struct store store = store_of(3, (size_t)64 << 20);
    struct compact compact;
    assert_true(compact_open(&compact, &store));
    for (unsigned round = 0; round < 2; round++)
        for (uint32_t at = 0; at < STATES; at++) {
            uint32_t parts[PARTS_MOST];
            uint64_t root;
            /* each number once, in an order that jumps about */
            write_parts(3, (uint32_t)((uint64_t)at * 7919 % STATES), parts);
            assert_true(compact_root(&compact, &store, parts, &root));
            assert_int_equal(compact_put(&compact, &store, root), round ? STORE_KNOWN : STORE_NEW);
        }
    assert_int_equal(store.count, STATES);
    size_t table = 0;
    for (unsigned at = 0; at < COMPACT_SEGMENTS; at++)
        table += compact.segment[at].room * 64;
    print_message("%.1f bytes a state\n", (double)table / STATES);
    assert_true(table < (size_t)STATES * 12);
    compact_close(&compact, &store);
    store_close(&store);
}

/* To the last bucket, and then no more; what is there is still known. */
static void a_full_set_says_so(void **unused)
{
    (void)unused;
    struct store store = store_of(2, (size_t)2 << 20);
    struct compact compact;
    assert_true(compact_open(&compact, &store));
    uint32_t put = 0;
    enum store_answer answer = STORE_NEW;
    for (; answer == STORE_NEW; put++)
        answer = compact_put(&compact, &store, put);
    assert_int_equal(answer, STORE_FULL);
    assert_true(store.spent <= store.budget);
    assert_int_equal(store.count, put - 1);
    for (uint32_t at = 0; at + 1 < put; at++)
        assert_int_equal(compact_put(&compact, &store, at), STORE_KNOWN);
    compact_close(&compact, &store);
    store_close(&store);
}

/* Where there is no memory for the way to a violation, there is still the violation. */
static void a_violation_is_told_even_if_its_run_does_not_fit(void **unused)
{
    (void)unused;
    struct register_model model = {
        .protocol = register_protocol_find("races-printed"), .places = 3, .deaths = true};
    assert_int_equal(register_model_open(&model), 0);
    unsigned untold = 0, told = 0;
    for (size_t memory = (size_t)3 << 20; memory <= (size_t)8 << 20; memory += (size_t)1 << 18) {
        struct verdict verdict = {.properties = PROPERTIES_OF_STATES};
        struct search search = {.system = &model.system,
                                .limits = {.memory = memory, .compact = true}};
        if (verdict_reach(&search, &verdict) == 0 && search.end == SEARCH_VIOLATED) {
            const struct finding *safety = &verdict.finding[PROPERTY_SAFETY];
            assert_int_equal(safety->answer, ANSWER_BROKEN);
            assert_int_equal(search.untold, safety->run.count == 0);
            search.untold ? untold++ : told++;
        }
        verdict_close(&verdict);
        search_close(&search);
    }
    print_message("%u untold, %u told\n", untold, told);
    assert_true(untold > 0 && told > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_root_stands_for_its_parts),
        cmocka_unit_test(every_state_is_new_once),
        cmocka_unit_test(a_full_set_says_so),
        cmocka_unit_test(a_violation_is_told_even_if_its_run_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
