/* SPDX-License-Identifier: MIT */
/* Places taken for one another: whatever the search without symmetry finds is found, and the moves
 * that are left out lead nowhere else. Numbers are left as they are: of those that are cut a state
 * alone does not tell which others it stands for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check/registers/catalogue.h"
#include "check/registers/symmetry.h"
#include "check/search/search.h"

struct scene {
    const char *protocol;
    struct register_model model;
};

#define SCENE(name, count, ...)                                                                    \
    {                                                                                              \
        name,                                                                                      \
        {                                                                                          \
            .places = (count), .lag = LAG_ANY, __VA_ARGS__                                         \
        }                                                                                          \
    }

static const struct scene holds[] = {
    SCENE("bakery", 2, .deaths = true, .passages = 2),
    SCENE("bakery", 3, .tso = true, .passages = 1, .requests = 1u << REQUEST_EXCLUSIVE),
    SCENE("courtesy", 2, .deaths = true, .express = true, .passages = 1),
    SCENE("courtesy", 2, .tso = true, .overtake = 2, .aborts = true, .passages = 2),
    SCENE("courtesy", 3, .passages = 1),
    SCENE("courtesy", 3, .passages = 1, .aborts = true, .room = 1),
    SCENE("courtesy-retain", 2, .deaths = true, .passages = 1),
    SCENE("courtesy-retain", 2, .express = true, .passages = 2),
};

/* Each breaks exclusion. */
static const struct scene breaks[] = {
    SCENE("bakery-without-choosing", 3, .deaths = true, .requests = 1u << REQUEST_EXCLUSIVE),
    SCENE("courtesy-without-look", 2, .deaths = true, .overtake = 3),
    SCENE("courtesy-retain-without-recall", 2, .passages = 3),
    SCENE("courtesy-retain-without-barrier", 2, .tso = true, .passages = 3),
};

static struct symmetry symmetry;

static void open_scene(const struct scene *scene, struct register_model *model, bool symmetric,
                       bool thorough)
{
    *model = scene->model;
    model->room = model->room ? model->room : WATCH_MOST;
    memset(&symmetry, 0, sizeof symmetry);
    symmetry.thorough = thorough;
    model->protocol = register_protocol_find(scene->protocol);
    assert_non_null(model->protocol);
    model->unreduced = true;
    model->symmetry = symmetric ? &symmetry : NULL;
    assert_int_equal(register_model_open(model), 0);
}

static void run(struct search *search, const struct system *system)
{
    *search = (struct search){.system = system, .limits = {.memory = (size_t)1 << 30}};
    assert_int_equal(search_run(search), 0);
}

/* Whether the search has come to this state. */
static bool knows(struct search *search, const unsigned char *state)
{
    struct key key;
    uint32_t number;
    assert_true(store_key(&search->store, state, NULL, NULL, &key));
    return store_put(&search->store, &key, 0, (struct move){0}, &number) == STORE_KNOWN;
}

static void every_state_has_one_that_stands_for_it(void **unused)
{
    (void)unused;
    for (size_t at = 0; at < sizeof holds / sizeof *holds; at++) {
        unsigned char state[STATE_SIZE_MOST] __attribute__((aligned(8)));
        struct register_model plain, model;
        struct search all, some;
        open_scene(&holds[at], &plain, false, false);
        run(&all, &plain.system);
        assert_int_equal(all.end, SEARCH_EXHAUSTED);
        open_scene(&holds[at], &model, true, false);
        run(&some, &model.system);
        assert_int_equal(some.end, SEARCH_EXHAUSTED);
        assert_int_equal(some.reached, model.system.goals);
        /* who may die while it is idle does so as often as incarnations can be told apart */
        assert_true(model.deaths || some.store.count < all.store.count);
        for (uint32_t number = 0; number < all.store.count; number++) {
            store_get(&all.store, number, state);
            symmetry_hasten(&model, state);
            symmetry_canonical(&model, state);
            if (!knows(&some, state))
                fail_msg("%zu, %s: state %u is missed", at, holds[at].protocol, number);
        }
        search_close(&all);
        search_close(&some);
    }
}

/* Of what is kept, whichever member of a class comes first: the same. */
static void who_stands_for_a_class_stands_for_itself(void **unused)
{
    (void)unused;
    for (size_t at = 0; at < sizeof holds / sizeof *holds; at++) {
        unsigned char state[STATE_SIZE_MOST], again[STATE_SIZE_MOST] __attribute__((aligned(8)));
        struct register_model model;
        struct search search;
        open_scene(&holds[at], &model, true, false);
        run(&search, &model.system);
        for (uint32_t number = 0; number < search.store.count; number++) {
            store_get(&search.store, number, state);
            memcpy(again, state, model.system.size);
            symmetry_canonical(&model, again);
            assert_memory_equal(state, again, model.system.size);
        }
        search_close(&search);
    }
}

static void moves_of_other_members_lead_nowhere_else(void **unused)
{
    (void)unused;
    for (size_t at = 0; at < sizeof holds / sizeof *holds; at++) {
        struct register_model model;
        struct search some, thorough;
        open_scene(&holds[at], &model, true, false);
        run(&some, &model.system);
        open_scene(&holds[at], &model, true, true);
        run(&thorough, &model.system);
        if (some.store.count != thorough.store.count || some.depth != thorough.depth)
            fail_msg("%s: %u states, and %u", holds[at].protocol, some.store.count,
                     thorough.store.count);
        search_close(&some);
        search_close(&thorough);
    }
}

static void what_is_broken_is_found_and_told_as_without(void **unused)
{
    (void)unused;
    for (size_t at = 0; at < sizeof breaks / sizeof *breaks; at++) {
        struct register_model plain, model;
        struct search all, some;
        open_scene(&breaks[at], &plain, false, false);
        run(&all, &plain.system);
        assert_int_equal(all.end, SEARCH_VIOLATED);
        open_scene(&breaks[at], &model, true, false);
        run(&some, &model.system);
        assert_int_equal(some.end, SEARCH_VIOLATED);
        assert_ptr_equal(some.system, &model.exact);
        assert_string_equal(some.violated, all.violated);
        assert_int_equal(some.depth, all.depth);
        search_close(&all);
        search_close(&some);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_has_one_that_stands_for_it),
        cmocka_unit_test(who_stands_for_a_class_stands_for_itself),
        cmocka_unit_test(moves_of_other_members_lead_nowhere_else),
        cmocka_unit_test(what_is_broken_is_found_and_told_as_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
