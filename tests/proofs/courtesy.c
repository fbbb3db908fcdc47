/* SPDX-License-Identifier: MIT */
/* proofs/courtesy.proof and the shipped `courtesy` are about the same thing: see tie.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/registers/catalogue.h"
#include "protocols/registers/courtesy/courtesy.h"
#include "registers.h"

/* The settings of the search that is going on. */
static int bound, steady;

static int given_conflict(int mode, int other)
{
    return request_conflict((unsigned)mode, (unsigned)other);
}

static int given_own_mode(int place)
{
    (void)place;
    return REQUEST_EXCLUSIVE;
}

static int given_steady(void)
{
    return steady;
}

static int given_bound(void)
{
    return bound;
}

#include "courtesy_proof.h"

/* Marks the places before j, in a scan that goes up; all, if it is over. */
static void mark(int *row, int self, int until)
{
    for (int b = 0; b < until; b++)
        row[b] = b != self;
}

static void see_watch(struct courtesy_view *v, const struct watch *watch, int a)
{
    v->overflow[a] = watch->overflow;
    for (int b = 0; b < tie_places; b++)
        if (watch_has(watch, (unsigned)b)) {
            v->watches[a][b] = 1;
            v->watch_state[a][b] = (int)courtesy_state(watch->seen[b]);
            v->watch_incarnation[a][b] = courtesy_incarnation(watch->seen[b]);
            v->watch_number[a][b] = courtesy_number(watch->seen[b]);
        }
}

/* Each label of the text, and how a process that stands before it is seen. */
enum seen_as {
    AS_GLANCE,
    AS_GLANCED,
    AS_AWAY,
    AS_DOORWAY,
    AS_DRAWN,
    AS_SCAN,
    AS_AWAITS,
    AS_BLOCKED,
    AS_SCANNED,
    AS_LOOK,
    AS_WAIT,
    AS_BACK,
    AS_WHEN,
    AS_RELEASE, /* it wakes others, before it scans anew or stays aside */
    AS_SIDE
};

static const struct {
    const char *label;
    enum seen_as as;
} labels[] = {
    {"glance", AS_GLANCE},  {"inside_after_glance", AS_GLANCED},
    {"choosing", AS_AWAY},  {"number", AS_DOORWAY},
    {"queued", AS_DRAWN},   {"scan", AS_SCAN},
    {"decided", AS_AWAITS}, {"asleep", AS_BLOCKED},
    {"sleep", AS_BLOCKED},  {"awake", AS_SCANNED},
    {"claim", AS_SCANNED},  {"look", AS_LOOK},
    {"wait", AS_WAIT},      {"back", AS_BACK},
    {"aside", AS_BACK},     {"when", AS_WHEN},
    {"inside", AS_WHEN},    {"concern", AS_RELEASE},
    {"wake", AS_RELEASE},   {"rouse", AS_RELEASE},
    {"listen", AS_SIDE},    {"survey", AS_SIDE},
    {"late", AS_SIDE},      {"slumber", AS_SIDE},
    {"fellow", AS_SIDE},    {"relay", AS_SIDE},
    {"return", AS_SIDE},
};

static enum seen_as seen_as(const char *label)
{
    for (size_t at = 0; at < sizeof labels / sizeof *labels; at++)
        if (strcmp(labels[at].label, label) == 0)
            return labels[at].as;
    fprintf(stderr, "tie: the text has a label that the proof does not know: %s\n", label);
    exit(125);
}

/* In the express lane or the doorway. */
static void see_early(struct courtesy_view *v, const struct courtesy_passage *my, int a,
                      enum seen_as as)
{
    switch (as) {
    case AS_GLANCE:
    case AS_GLANCED:
        v->point[a] = POINT_GLANCE;
        v->most[a] = my->express.glance.most;
        mark(v->glanced[a], a, as == AS_GLANCED ? tie_places : my->express.glance.j);
        break;
    case AS_AWAY:
        v->point[a] = POINT_AWAY;
        break;
    default:
        v->point[a] = POINT_DOORWAY;
        v->most[a] = my->doorway.most - (as == AS_DRAWN);
        mark(v->seen[a], a, as == AS_DRAWN ? tie_places : my->doorway.j);
    }
}

static void see_scan(struct courtesy_view *v, const struct courtesy_passage *my, int a,
                     enum seen_as as)
{
    v->point[a] = as == AS_AWAITS ? POINT_AWAITS : POINT_SCAN;
    v->blocked[a] = as == AS_BLOCKED || my->scan.blockers > 0;
    mark(v->scanned[a], a, as == AS_SCAN || as == AS_AWAITS ? my->scan.j : tie_places);
    if (as == AS_AWAITS) {
        v->awaits[a][my->scan.j] = 1;
        v->first_incarnation[a] = courtesy_incarnation(my->scan.first);
        v->first_number[a] = courtesy_number(my->scan.first);
    }
}

static void see_claim(struct courtesy_view *v, const struct courtesy_passage *my, int a,
                      enum seen_as as)
{
    v->point[a] = as == AS_WHEN ? POINT_WHEN : POINT_LOOK;
    v->most[a] = my->claim.look.most;
    v->found[a] = my->claim.look.rivals > 0;
    v->again[a] = my->claim.again;
    mark(v->looked[a], a, as == AS_WHEN ? tie_places : as == AS_LOOK ? my->claim.look.j : 0);
    if (as != AS_WHEN)
        see_watch(v, &my->watch, a);
}

static void see_entering(struct courtesy_view *v, const struct courtesy_passage *my, int a,
                         enum seen_as as)
{
    switch (as) {
    case AS_SCAN:
    case AS_AWAITS:
    case AS_BLOCKED:
    case AS_SCANNED:
        see_scan(v, my, a, as);
        break;
    case AS_LOOK:
    case AS_WAIT:
    case AS_WHEN:
        see_claim(v, my, a, as);
        break;
    case AS_BACK:
        v->point[a] = POINT_BACK;
        break;
    case AS_RELEASE:
        v->point[a] = v->state[a] == STATE_ASIDE ? POINT_SIDE : POINT_SCAN;
        break;
    case AS_SIDE:
        v->point[a] = POINT_SIDE;
        break;
    default:
        see_early(v, my, a, as);
    }
}

static void see(const struct system *inner, const unsigned char *state, void *view)
{
    static const int points[] = {[PART_IDLE] = POINT_OUTSIDE,
                                 [PART_INSIDE] = POINT_IN,
                                 [PART_PARTING] = POINT_PARTING,
                                 [PART_HOLDING] = POINT_HOLDS,
                                 [PART_LEAVING] = POINT_LEAVING};
    const struct register_model *model = inner->context;
    struct courtesy_view *v = view;
    bound = (int)model->overtake;
    /* To acquire and to release conflict with the same. */
    steady = (model->requests & ~(1u << REQUEST_EXCLUSIVE | 1u << REQUEST_RELEASE)) == 0;
    for (int a = 0; a < tie_places; a++) {
        const struct model_process *process = model_process(model, state, (unsigned)a);
        const word w = model_words(model, state, (unsigned)a)[0];
        const int mode = process->request & 3;
        v->state[a] = (int)courtesy_state(w);
        v->incarnation[a] = courtesy_incarnation(w);
        v->number[a] = courtesy_number(w);
        v->mode[a] = mode == REQUEST_RELEASE ? REQUEST_EXCLUSIVE : mode;
        if (process->part == PART_ENTERING)
            see_entering(v, model_passage(model, state, (unsigned)a), a,
                         seen_as(tie_label(model, state, (unsigned)a)));
        else
            v->point[a] = points[process->part];
    }
}

#define STRANGE "a move that the proof does not have"
#define ALL     .deaths = true, .aborts = true, .express = true
#define ALIVE   .aborts = true, .express = true
#define ROOM    .room = WATCH_MOST
#define MODES   .requests = 1u << REQUEST_EXCLUSIVE | 1u << REQUEST_SHARED
#define TAKE    .problem = PROBLEM_ALLOCATION, .units = 1, .requests = 1u << REQUEST_EXCLUSIVE
#define TAKE_OFF                                                                                   \
    .problem = PROBLEM_ALLOCATION, .units = 1,                                                     \
    .requests = 1u << REQUEST_EXCLUSIVE | 1u << REQUEST_RELEASE

int main(int count, char **words)
{
    /* Model, places, passages, settings, what the proof leaves out, what is found, long or not. */
    static const struct tie_case cases[] = {
        {"courtesy", 2, 2, {ALL, ROOM, .overtake = 2}, NULL, NULL, false},
        {"courtesy", 2, 0, {ALL, ROOM, MODES}, NULL, NULL, false},
        {"courtesy", 2, 0, {ALL, .room = 0}, NULL, NULL, false},
        {"courtesy", 2, 0, {ALIVE, ROOM, TAKE_OFF}, NULL, NULL, false},
        {"courtesy-units", 2, 0, {ALIVE, ROOM, TAKE}, NULL, NULL, false},
        {"courtesy", 2, 2, {ALL, ROOM}, NULL, NULL, true},
        {"courtesy", 2, 0, {ALL, ROOM, MODES, .overtake = 2}, NULL, NULL, true},
        {"courtesy", 2, 0, {ALL, ROOM, TAKE_OFF, .strangers = true}, NULL, NULL, true},
        {"courtesy-units", 2, 2, {ALL, ROOM, TAKE}, NULL, NULL, true},
        {"courtesy", 3, 1, {.aborts = true, .room = 1}, NULL, NULL, true},
        {"courtesy", 3, 0, {.deaths = true, ROOM}, NULL, NULL, true},
        /* A mutant's moves are not in the proof; with the same part left out of both, its invariant
         * or a promise breaks. */
        {"courtesy-without-look", 2, 0, {ALL, ROOM, .overtake = 3}, NULL, STRANGE, false},
        {"courtesy-without-look", 2, 0, {ALL, ROOM, .overtake = 3}, "look", "looked-at-all", false},
        {"courtesy-without-choosing", 2, 0, {ALL, ROOM}, NULL, STRANGE, false},
        {"courtesy-without-choosing", 2, 0, {ALL, ROOM}, "choosing", "express-not-passed", false},
        {"courtesy-without-raise", 2, 2, {ALL, ROOM}, NULL, STRANGE, false},
        {"courtesy-without-raise", 2, 2, {ALL, ROOM}, "raise", "fence-glanced", false},
        /* These wait for ever, pass too often or burn time; nobody enters who should not. */
        {"courtesy-without-incarnation", 2, 0, {ALL, ROOM}, NULL, NULL, false},
        {"courtesy-without-step-back", 2, 0, {ALL, ROOM, .overtake = 3}, NULL, NULL, true},
        {"courtesy-without-bound", 2, 2, {ALL, ROOM, .overtake = 2}, NULL, NULL, true},
        {"courtesy-without-sweep",
         2,
         0,
         {ALL, ROOM, TAKE_OFF, .strangers = true},
         NULL,
         NULL,
         true},
        {.model = NULL}};
    return tie_cases(count, words, &proof, cases, see);
}
