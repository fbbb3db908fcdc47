/* SPDX-License-Identifier: MIT */
/* Strongly connected components against brute force, on random graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "check/search/analyses.h"
#include "toy.h"

enum { STATES = 24, GRAPHS = 400 };

static uint32_t chance(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Every state follows from one before it, so that all are reached; further moves, and who waits
 * where, by chance. */
static size_t draw(uint32_t seed, struct toy *toy, struct toy_move *moves)
{
    size_t count = 0;
    for (unsigned state = 1; state < STATES; state++)
        moves[count++] =
            (struct toy_move){.from = chance(&seed) % state, .to = state, .kind = MOVE_START};
    const unsigned more = chance(&seed) % (2 * STATES);
    for (unsigned at = 0; at < more; at++)
        moves[count++] = (struct toy_move){.from = chance(&seed) % STATES,
                                           .to = chance(&seed) % STATES,
                                           .kind = chance(&seed) % 5 ? MOVE_STEP : MOVE_DEATH};
    for (unsigned state = 0; state < STATES; state++)
        toy->status[state][0] = chance(&seed) % 4 ? STATUS_QUEUED : STATUS_IDLE;
    return count;
}

struct expected {
    bool reaches[STATES][STATES]; /* within the walk; every state reaches itself */
    bool within[STATES];
    unsigned handed_over;
    unsigned component[STATES]; /* 0: not yet handed over */
    unsigned components;
};

/* By the numbers of the search, which need not be the toy's. */
static void reach(struct search *search, const struct statuses *statuses, const struct walk *walk,
                  struct expected *expected)
{
    *expected = (struct expected){0};
    for (uint32_t state = 0; state < STATES; state++) {
        expected->within[state] = expected->reaches[state][state] =
            walk_has_state(walk, statuses, state);
        const struct edges edges = graph_edges(&search->graph, state);
        for (size_t at = 0; at < edges.count; at++)
            if (expected->within[state] && walk_has_state(walk, statuses, edges.targets[at]) &&
                walk_has_kind(walk, edges.labels[at]))
                expected->reaches[state][edges.targets[at]] = true;
    }
    for (unsigned over = 0; over < STATES; over++)
        for (unsigned from = 0; from < STATES; from++)
            for (unsigned to = 0; to < STATES; to++)
                if (expected->reaches[from][over] && expected->reaches[over][to])
                    expected->reaches[from][to] = true;
}

static int compare(struct search *search, const struct component *component, void *context)
{
    struct expected *expected = context;
    (void)search;
    expected->components++;
    for (uint32_t at = 0; at < component->count; at++) {
        const uint32_t member = component->members[at];
        assert_true(expected->within[member]);
        assert_int_equal(expected->component[member], 0);
        assert_int_equal(component->of[member], component->number);
        expected->component[member] = expected->components;
        expected->handed_over++;
    }
    for (uint32_t at = 0; at < component->count; at++)
        for (uint32_t other = 0; other < STATES; other++) {
            const uint32_t member = component->members[at];
            const bool together =
                expected->reaches[member][other] && expected->reaches[other][member];
            assert_int_equal(together, expected->component[other] == expected->components);
            if (expected->reaches[member][other]) /* what it leads to has been handed over before */
                assert_int_not_equal(expected->component[other], 0);
        }
    return 0;
}

static void random_graphs(void **unused)
{
    (void)unused;
    for (uint32_t seed = 0; seed < GRAPHS; seed++) {
        struct toy toy = {0};
        struct toy_move moves[3 * STATES];
        const size_t count = draw(seed, &toy, moves);
        toy_open(&toy, 1, moves, count);
        struct search search = {
            .system = &toy.system, .limits = {.memory = 64 << 20}, .keep_graph = true};
        assert_int_equal(search_run(&search), 0);
        assert_int_equal(search.end, SEARCH_EXHAUSTED);
        assert_int_equal(search.store.count, STATES);
        struct statuses statuses;
        assert_int_equal(statuses_read(&search, &statuses), 0);
        const struct walk walk = {.process = 0,
                                  .statuses = 1u << STATUS_QUEUED,
                                  .kinds = 1u << MOVE_STEP | 1u << MOVE_START};
        struct expected expected;
        reach(&search, &statuses, &walk, &expected);
        assert_int_equal(components_visit(&search, &statuses, &walk, compare, &expected), 0);
        unsigned within = 0;
        for (unsigned state = 0; state < STATES; state++)
            within += expected.within[state];
        assert_int_equal(expected.handed_over, within);
        store_release(&search.store, &statuses.packed);
        search_close(&search);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
