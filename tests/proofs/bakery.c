/* SPDX-License-Identifier: MIT */
/* proofs/bakery.proof and the shipped `bakery` are about the same thing: see tie.h. */
#include <string.h>

#include "check/registers/catalogue.h"
#include "protocols/registers/bakery.h"
#include "registers.h"

static int given_conflict(int mode, int other)
{
    return request_conflict((unsigned)mode, (unsigned)other);
}

static int given_index(int place)
{
    return place;
}

static int given_idle_mode(void)
{
    return 0;
}

#include "bakery_proof.h"

/* The doorway: before the store of the number all were seen, and the greatest is one below it. */
static void see_doorway(struct bakery_view *v, const struct bakery_passage *my, int a, bool drawn)
{
    v->point[a] = POINT_DOORWAY;
    v->most[a] = my->number - drawn;
    for (int b = 0; b < tie_places; b++)
        v->seen[a][b] = a != b && (drawn || b < my->j);
}

static void see_queue(struct bakery_view *v, const struct bakery_passage *my, int a,
                      const char *label)
{
    v->point[a] = strcmp(label, "look") == 0     ? POINT_QUEUE
                  : strcmp(label, "chosen") == 0 ? POINT_AWAITS_CHOICE
                                                 : POINT_AWAITS_TURN;
    for (int b = 0; b < my->j; b++)
        v->past[a][b] = a != b;
    if (v->point[a] == POINT_QUEUE)
        return;
    v->awaits[a][my->j] = 1;
    v->first_incarnation[a] = bakery_incarnation(my->first);
    v->first_number[a] = bakery_number(my->first);
}

static void see(const struct system *inner, const unsigned char *state, void *view)
{
    const struct register_model *model = inner->context;
    struct bakery_view *v = view;
    for (int a = 0; a < tie_places; a++) {
        const struct bakery_passage *my = model_passage(model, state, (unsigned)a);
        const word w = model_words(model, state, (unsigned)a)[0];
        v->state[a] = (int)bakery_state(w);
        v->mode[a] = (int)bakery_mode(w);
        v->incarnation[a] = bakery_incarnation(w);
        v->number[a] = bakery_number(w);
        switch (model_process(model, state, (unsigned)a)->part) {
        case PART_ENTERING: {
            const char *label = tie_label(model, state, (unsigned)a);
            if (strcmp(label, "maximum") == 0 || strcmp(label, "number") == 0)
                see_doorway(v, my, a, strcmp(label, "number") == 0);
            else
                see_queue(v, my, a, label);
            break;
        }
        case PART_INSIDE:
            v->point[a] = POINT_INSIDE;
            for (int b = 0; b < tie_places; b++)
                v->past[a][b] = a != b;
            break;
        default:
            v->point[a] = POINT_OUTSIDE;
        }
    }
}

#define STRANGE "a move that the proof does not have"

int main(int count, char **words)
{
    static const struct tie_case cases[] = {
        {"bakery", 2, 2, {.deaths = true, .aborts = true}, NULL, NULL, false},
        {"bakery", 3, 1, {.deaths = true}, NULL, NULL, false},
        {"bakery", 3, 0, {.deaths = true, .requests = 1}, NULL, NULL, false},
        {"bakery", 3, 2, {.aborts = true, .requests = 1}, NULL, NULL, true},
        {"bakery", 3, 0, {.deaths = true}, NULL, NULL, true},
        /* A mutant's moves are not in the proof, unless it only waits more. */
        {"bakery-without-choosing", 2, 0, {.deaths = true}, NULL, STRANGE, false},
        {"bakery-without-incarnation", 2, 0, {.deaths = true}, NULL, NULL, false},
        /* The same part left out of both: now the moves agree, and the invariant breaks. */
        {"bakery-without-choosing", 2, 0, {.deaths = true}, "choosing", "passed-chooser", false},
        {"bakery-without-incarnation", 2, 0, {.deaths = true}, "incarnation", NULL, false},
        {.model = NULL}};
    return tie_cases(count, words, &proof, cases, see);
}
