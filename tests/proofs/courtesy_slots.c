/* SPDX-License-Identifier: MIT */
/* proofs/courtesy_slots.proof and the shipped `courtesy` with slots are about the same thing: see
 * tie.h. What one counts before it has claimed is not in the proof. */
#include <string.h>

#include "check/registers/catalogue.h"
#include "protocols/registers/courtesy/courtesy.h"
#include "registers.h"

static int slots; /* of the search that is going on */

static int given_slots(void)
{
    return slots;
}

static int given_index(int place)
{
    return place;
}

#include "courtesy_slots_proof.h"

/* Marks the places before j, in a scan that goes up. */
static void mark(int *row, int self, int until)
{
    for (int b = 0; b < until; b++)
        row[b] = b != self;
}

static void see_doorway(struct courtesy_slots_view *v, const struct courtesy_doorway *my, int a,
                        bool drawn)
{
    v->point[a] = POINT_DOORWAY;
    v->most[a] = my->most - drawn;
    mark(v->seen[a], a, drawn ? tie_places : my->j);
}

/* It has claimed, and counts, or sleeps between two counts. */
static void see_count(struct courtesy_slots_view *v, const struct courtesy_passage *my, int a)
{
    v->point[a] = POINT_COUNT;
    v->takers[a] = my->slots.takers;
    v->again[a] = my->slots.again;
    v->overflow[a] = my->watch.overflow;
    mark(v->looked[a], a, my->slots.j);
    for (int b = 0; b < tie_places; b++)
        if (watch_has(&my->watch, (unsigned)b)) {
            v->watches[a][b] = 1;
            v->watch_incarnation[a][b] = courtesy_incarnation(my->watch.seen[b]);
            v->watch_number[a][b] = courtesy_number(my->watch.seen[b]);
        }
}

/* Where one is that stands before this label; POINT_COUNT wherever it may be in a count. */
static int point_of(const char *label)
{
    static const struct {
        const char *label;
        int point;
    } points[] = {{"number", POINT_DOORWAY}, {"queued", POINT_DOORWAY}, {"count", POINT_COUNT},
                  {"sleep", POINT_COUNT},    {"asleep", POINT_SCAN},    {"claim", POINT_SCAN},
                  {"back", POINT_BACK},      {"aside", POINT_BACK},     {"when", POINT_WHEN},
                  {"inside", POINT_WHEN},    {"concern", POINT_SCAN},   {"wake_any", POINT_SCAN},
                  {"wake", POINT_SCAN},      {"rouse", POINT_SCAN}};
    for (size_t at = 0; at < sizeof points / sizeof *points; at++)
        if (strcmp(points[at].label, label) == 0)
            return points[at].point;
    return POINT_SIDE; /* what it does aside shows in its word, too */
}

static void see_entering(struct courtesy_slots_view *v, const struct courtesy_passage *my, int a,
                         const char *label)
{
    const int point = point_of(label);
    if (point == POINT_DOORWAY)
        see_doorway(v, &my->doorway, a, strcmp(label, "queued") == 0);
    else if (point == POINT_COUNT && v->state[a] == STATE_CLAIMS)
        see_count(v, my, a);
    else if (v->state[a] == STATE_ASIDE)
        v->point[a] = POINT_SIDE;
    else
        v->point[a] = point == POINT_COUNT ? POINT_SCAN : point;
}

static void see(const struct system *inner, const unsigned char *state, void *view)
{
    static const int points[] = {[PART_IDLE] = POINT_OUTSIDE,
                                 [PART_INSIDE] = POINT_IN,
                                 [PART_PARTING] = POINT_PARTING,
                                 [PART_HOLDING] = POINT_HOLDS,
                                 [PART_LEAVING] = POINT_LEAVING};
    const struct register_model *model = inner->context;
    struct courtesy_slots_view *v = view;
    slots = (int)model->slots;
    for (int a = 0; a < tie_places; a++) {
        const struct model_process *process = model_process(model, state, (unsigned)a);
        const word w = model_words(model, state, (unsigned)a)[0];
        v->state[a] = (int)courtesy_state(w);
        v->incarnation[a] = courtesy_incarnation(w);
        v->number[a] = courtesy_number(w);
        if (process->part == PART_ENTERING)
            see_entering(v, model_passage(model, state, (unsigned)a), a,
                         tie_label(model, state, (unsigned)a));
        else
            v->point[a] = points[process->part];
    }
}

#define STRANGE "a move that the proof does not have"
#define TWO     .slots = 2
#define ALL     .deaths = true, .aborts = true
#define ROOM    .room = WATCH_MOST
#define TAKE    .problem = PROBLEM_ALLOCATION, .units = 1, .requests = 1u << REQUEST_EXCLUSIVE
#define TAKE_OFF                                                                                   \
    .problem = PROBLEM_ALLOCATION, .units = 1,                                                     \
    .requests = 1u << REQUEST_EXCLUSIVE | 1u << REQUEST_RELEASE

int main(int count, char **words)
{
    /* Model, places, passages, settings, what the proof leaves out, what is found, long or not. */
    static const struct tie_case cases[] = {
        {"courtesy", 2, 0, {ALL, TWO, ROOM}, NULL, NULL, false},
        {"courtesy", 3, 1, {.deaths = true, TWO, ROOM}, NULL, NULL, false},
        {"courtesy", 3, 1, {ALL, TWO, .room = 0}, NULL, NULL, false},
        {"courtesy", 2, 0, {ALL, TWO, ROOM, TAKE_OFF}, NULL, NULL, false},
        {"courtesy-units", 2, 0, {ALL, TWO, ROOM, TAKE}, NULL, NULL, false},
        {"courtesy", 3, 1, {ALL, TWO, ROOM}, NULL, NULL, true},
        {"courtesy", 3, 1, {TWO, ROOM, TAKE_OFF}, NULL, NULL, true},
        /* A mutant's moves are not in the proof; with the same part left out of both, its invariant
         * breaks. */
        {"courtesy-without-later", 3, 0, {TWO, ROOM}, NULL, STRANGE, false},
        {"courtesy-without-later", 3, 0, {TWO, ROOM}, "later", "earlier-counts", false},
        {"courtesy-without-recount", 3, 1, {TWO, ROOM}, NULL, STRANGE, false},
        {"courtesy-without-recount", 3, 1, {TWO, ROOM}, "recount", "claimed", false},
        /* It burns time; nobody enters who should not. */
        {"courtesy-without-patience", 3, 1, {ALL, TWO, ROOM}, NULL, NULL, true},
        {.model = NULL}};
    return tie_cases(count, words, &proof, cases, see);
}
