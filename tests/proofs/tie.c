/* SPDX-License-Identifier: MIT */
/* The search of a system together with a proof: see tie.h. */
#include "tie.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/search/search.h"

enum { VIEW_MOST = 1 << 13, PARAMETERS_MOST = 4, MEMORY = 2000 };

int tie_places, tie_modes;

union view {
    int values[VIEW_MOST / sizeof(int)];
    unsigned char bytes[VIEW_MOST];
};

/* The tied system: a state of the inner one, and behind it the ghosts, a byte each. */
struct tied {
    struct system system;
    const struct tie *tie;
    size_t ghosts;
    struct successors inner;
    bool strange;   /* a move was made that the proof does not have */
    uint64_t steps; /* steps of the proof that were made */
};

static size_t ghosts_of(const struct proof *proof)
{
    return (proof->size - proof->shown) / sizeof(int);
}

static void fail(const char *what)
{
    fprintf(stderr, "tie: %s\n", what);
    exit(125);
}

/* What the proof sees of a tied state. */
static void see(const struct tied *tied, const unsigned char *state, union view *view)
{
    const struct tie *tie = tied->tie;
    memset(view->bytes, 0, tie->proof->size);
    tie->see(tie->inner, state, view->bytes);
    for (size_t at = 0; at < tied->ghosts; at++)
        view->values[tie->proof->shown / sizeof(int) + at] = state[tie->inner->size + at];
}

static unsigned indices_of(const struct tie_variable *variable)
{
    unsigned count = 1;
    for (const char *kind = variable->indices; *kind; kind++)
        count *= *kind == 'p' ? (unsigned)TIE_PLACES : (unsigned)TIE_MODES;
    return count;
}

static void keep_ghosts(const struct tied *tied, union view *view, unsigned char *state)
{
    const struct tie *tie = tied->tie;
    for (const struct tie_variable *one = tie->proof->variables; one->name && tie->reduced; one++)
        if (one->numeric)
            memset(view->bytes + one->at, 0, indices_of(one) * sizeof(int));
    for (size_t at = 0; at < tied->ghosts; at++) {
        const int value = view->values[tie->proof->shown / sizeof(int) + at];
        if (value < 0 || value > UINT8_MAX)
            fail("a ghost has outgrown its byte");
        state[tie->inner->size + at] = (unsigned char)value;
    }
}

static void print_view(const struct proof *proof, const union view *view)
{
    for (const struct tie_variable *one = proof->variables; one->name; one++) {
        const int *values = view->values + one->at / sizeof(int);
        printf("    %-20s", one->name);
        for (unsigned at = 0; at < indices_of(one); at++) {
            const unsigned inner = one->indices[0] && one->indices[1]
                                       ? one->indices[1] == 'p' ? TIE_PLACES : TIE_MODES
                                       : 1;
            if ((int)(at / inner) < tie_places)
                printf("%s%d", inner > 1 && at % inner == 0 && at ? " | " : " ", values[at]);
        }
        printf("\n");
    }
}

/* Whether the step with these parameters leads nearer: the rest of the way is found by `find`. */
struct way {
    struct tied *tied;
    const union view *to;
    int mover;
    const char *broken; /* a promise of a step on the way */
};

static bool find(struct way *way, const union view *from, unsigned most, union view *reached);

static bool try_step(struct way *way, const struct tie_step *step, const union view *from,
                     const int *parameters, unsigned most, union view *reached)
{
    const struct tie *tie = way->tied->tie;
    union view next;
    if (!step->when(from->bytes, parameters))
        return false;
    step->then(from->bytes, parameters, next.bytes);
    if (!find(way, &next, most - 1, reached))
        return false;
    way->tied->steps++;
    for (const struct tie_promise *promise = step->promises; promise->name; promise++)
        if (!(promise->numeric && tie->reduced) && !promise->holds(from->bytes, parameters))
            way->broken = promise->name;
    return true;
}

static bool try_parameters(struct way *way, const struct tie_step *step, const union view *from,
                           int *parameters, unsigned given, unsigned most, union view *reached)
{
    if (!step->parameters[given])
        return try_step(way, step, from, parameters, most, reached);
    const int bound = step->parameters[given] == 'p' ? tie_places : tie_modes;
    for (parameters[given] = 0; parameters[given] < bound; parameters[given]++)
        if (try_parameters(way, step, from, parameters, given + 1, most, reached))
            return true;
    return false;
}

/* Whether at most so many steps lead from here to what is shown there. */
static bool find(struct way *way, const union view *from, unsigned most, union view *reached)
{
    const struct proof *proof = way->tied->tie->proof;
    if (memcmp(from->bytes, way->to->bytes, proof->shown) == 0) {
        memcpy(reached->bytes, from->bytes, proof->size);
        return true;
    }
    if (most == 0)
        return false;
    for (const struct tie_step *step = proof->steps; step->name; step++) {
        int parameters[PARAMETERS_MOST] = {way->mover};
        if (try_parameters(way, step, from, parameters, 1, most, reached))
            return true;
    }
    return false;
}

/* The ways from one state to what a move makes of it, short ones first. NULL, or what is wrong. */
static const char *follow(struct tied *tied, const union view *from, const unsigned char *state,
                          struct move move, unsigned char *next)
{
    const struct tie *tie = tied->tie;
    unsigned char raw[STATE_SIZE_MOST] __attribute__((aligned(8)));
    union view to, reached;
    memcpy(raw, state, tie->inner->size);
    tie->make(tie->inner, raw, move);
    memset(to.bytes, 0, tie->proof->size);
    tie->see(tie->inner, raw, to.bytes);
    struct way way = {.tied = tied,
                      .to = &to,
                      .mover =
                          tie->mover ? tie->mover(tie->inner, state, move) : (int)move.process};
    for (unsigned most = 0; most <= TIE_STEPS_MOST; most++)
        if (find(&way, from, most, &reached)) {
            keep_ghosts(tied, &reached, next);
            return way.broken;
        }
    if (!tied->strange) {
        printf("  process %u makes a move of kind %u that the proof does not have, from\n",
               move.process, move.kind);
        print_view(tie->proof, from);
        printf("  to\n");
        print_view(tie->proof, &to);
    }
    tied->strange = true;
    return "a move that the proof does not have";
}

static void tied_successors(const struct system *system, const unsigned char *state,
                            struct successors *out)
{
    struct tied *tied = system->context;
    const struct system *inner = tied->tie->inner;
    union view from;
    see(tied, state, &from);
    tied->inner.count = 0;
    tied->inner.overflow = false;
    inner->successors(inner, state, &tied->inner);
    out->overflow |= tied->inner.overflow;
    for (unsigned at = 0; at < tied->inner.count; at++) {
        unsigned char *next = successors_add(out, tied->inner.move[at]);
        memset(next, 0, system->size);
        memcpy(next, tied->inner.states + at * inner->size, inner->size);
        out->stays[out->count - 1] = tied->inner.stays[at];
        out->complaint[out->count - 1] = follow(tied, &from, state, tied->inner.move[at], next);
        if (!out->complaint[out->count - 1])
            out->complaint[out->count - 1] = tied->inner.complaint[at];
    }
}

static const char *tied_judge(const struct system *system, const unsigned char *state)
{
    const struct tied *tied = system->context;
    const struct tie *tie = tied->tie;
    union view view;
    if (tied->strange)
        return NULL; /* the search ends with that move */
    see(tied, state, &view);
    for (const struct tie_invariant *one = tie->proof->invariants; one->name; one++)
        if (!(one->numeric && tie->reduced) && !one->holds(view.bytes)) {
            printf("  %s does not hold in\n", one->name);
            print_view(tie->proof, &view);
            return one->name;
        }
    return tie->inner->judge(tie->inner, state);
}

static void tied_begin(const struct system *system, unsigned char *state)
{
    const struct tied *tied = system->context;
    union view view;
    memset(state, 0, system->size);
    tied->tie->inner->begin(tied->tie->inner, state);
    see(tied, state, &view);
    if (!tied->tie->proof->initially(view.bytes)) {
        print_view(tied->tie->proof, &view);
        fail("the first state is none of the proof's first states");
    }
}

static void leave_out(const struct tie *tie, bool whether)
{
    const struct tie_part *part = tie->proof->parts;
    if (!tie->left_out)
        return;
    while (part->name && strcmp(part->name, tie->left_out) != 0)
        part++;
    if (!part->name)
        fail("the proof has no such part to leave out");
    *part->left_out = whether;
}

const char *tie_search(const struct tie *tie)
{
    const struct system *inner = tie->inner;
    struct tied tied = {.tie = tie, .ghosts = ghosts_of(tie->proof)};
    const size_t room =
        inner->part_size * ((tied.ghosts + inner->part_size - 1) / inner->part_size);
    tied.system = (struct system){.name = tie->proof->name,
                                  .size = inner->size + room,
                                  .part_size = inner->part_size,
                                  .processes = inner->processes,
                                  .all_conflict = inner->all_conflict,
                                  .context = &tied,
                                  .begin = tied_begin,
                                  .successors = tied_successors,
                                  .judge = tied_judge,
                                  .status = inner->status,
                                  .conflict = inner->conflict};
    const unsigned places = tie->places ? tie->places : inner->processes;
    if (tie->proof->size > VIEW_MOST || places > TIE_PLACES || tie->modes > TIE_MODES)
        fail("a view has no room for so much");
    tie_places = (int)places;
    tie_modes = (int)tie->modes;
    tied.inner.size = inner->size;
    tied.inner.states = calloc(SUCCESSORS_MOST, inner->size);
    struct search search = {.system = &tied.system, .limits = {.memory = (size_t)MEMORY << 20}};
    leave_out(tie, true);
    if (!tied.inner.states || search_run(&search))
        fail("no memory for the search");
    leave_out(tie, false);
    static const char *const limits[] = {[SEARCH_OVERFLOW] = "a number outgrew its field",
                                         [SEARCH_STATES] = "too many states",
                                         [SEARCH_MEMORY] = "too many states for its memory",
                                         [SEARCH_SECONDS] = "too long"};
    const char *found = search.end == SEARCH_EXHAUSTED  ? NULL
                        : search.end == SEARCH_VIOLATED ? search.violated
                                                        : limits[search.end];
    printf("  %u states, %llu moves, %llu steps, %.1f s\n", search.store.count,
           (unsigned long long)search.moves, (unsigned long long)tied.steps,
           search_seconds(&search));
    search_close(&search);
    free(tied.inner.states);
    return found;
}
