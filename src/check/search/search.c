/* SPDX-License-Identifier: MIT */
/* The search: every reachable state of a system, breadth first, so that the first violation found
 * is a shortest one. */
#include "check/search/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check/search/crew.h"
#include "check/search/inside.h"

enum { STATES_BETWEEN_LOOKS = 1 << 14 };

double search_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double search_seconds(const struct search *search)
{
    return (search->ended > 0 ? search->ended : search_clock()) - search->started;
}

bool search_judge_state(struct search *search, const unsigned char *state)
{
    if (search->reached != search->system->goals)
        search->reached |= search->system->reaches(search->system, state);
    search->violated = search->system->judge(search->system, state);
    if (search->violated)
        search->end = SEARCH_VIOLATED;
    return !search->violated;
}

bool search_judge_moves(struct search *search, const struct successors *out)
{
    if (out->overflow || out->full)
        search->end = out->overflow ? SEARCH_OVERFLOW : SEARCH_FULL;
    return !out->overflow && !out->full;
}

static bool put(struct search *search, const unsigned char *state, const struct key *key,
                uint32_t parent, struct move move, uint32_t *number)
{
    switch (store_put(&search->store, key, parent, move, number)) {
    case STORE_FULL:
        search->end = SEARCH_MEMORY;
        return false;
    case STORE_NEW:
        search->culprit = *number;
        return search_judge_state(search, state);
    default:
        return true;
    }
}

static bool begin_edges(struct search *search)
{
    struct graph *graph = &search->graph;
    const uint64_t first = graph->labels.used;
    if (!store_grow(&search->store, &graph->firsts, sizeof first)) {
        search->end = SEARCH_MEMORY;
        return false;
    }
    memcpy(graph->firsts.bytes + graph->firsts.used, &first, sizeof first);
    graph->firsts.used += sizeof first;
    return true;
}

static bool add_edge(struct search *search, uint32_t target, struct move move)
{
    struct graph *graph = &search->graph;
    if (!store_grow(&search->store, &graph->targets, sizeof target) ||
        !store_grow(&search->store, &graph->labels, sizeof(edge_label))) {
        search->end = SEARCH_MEMORY;
        return false;
    }
    memcpy(graph->targets.bytes + graph->targets.used, &target, sizeof target);
    graph->targets.used += sizeof target;
    graph->labels.bytes[graph->labels.used++] = label_of(move);
    return true;
}

/* The moves out of one state, on their way into the store. Memory answers slowly, and a search asks
 * it at random: so a state's successors are made and their table entries asked for (gather) while
 * those of the state before it are put. */
struct batch {
    const struct expansion *from; /* NULL: there is none */
    bool full;                    /* there was no memory for all of them */
    struct key *keys;             /* one for each successor */
};

static void fill_from_store(const void *context, size_t which, struct expansion *expansion)
{
    const struct search *search = context;
    store_get(&search->store, (uint32_t)which, expansion->state);
    store_get_key(&search->store, (uint32_t)which, &expansion->key);
}

static void gather(struct search *search, struct crew *crew, struct batch *batch)
{
    batch->from = crew_next(crew, search->store.count);
    if (!batch->from)
        return;
    const struct successors *out = &batch->from->out;
    for (unsigned at = 0; at < out->count && !batch->full; at++)
        if (!out->stays[at])
            batch->full = !store_key(&search->store, out->states + at * out->size,
                                     batch->from->state, &batch->from->key, &batch->keys[at]);
}

static void look(const struct search *search, const struct batch *batch)
{
    const struct successors *out = &batch->from->out;
    for (unsigned at = 0; at < out->count; at++)
        if (!out->stays[at])
            store_look(&search->store, &batch->keys[at]);
}

/* Puts what was gathered. False if the search is over. */
static bool settle(struct search *search, const struct batch *batch)
{
    const struct successors *out = &batch->from->out;
    const uint32_t number = (uint32_t)batch->from->which;
    search->moves += out->count;
    if (!search_judge_moves(search, out)) {
        search->culprit = number;
        return false;
    }
    if (batch->full) {
        search->end = SEARCH_MEMORY;
        return false;
    }
    if (search->keep_graph && !begin_edges(search))
        return false;
    for (unsigned at = 0; at < out->count; at++) {
        uint32_t target = number;
        if (!out->stays[at] && !put(search, out->states + at * out->size, &batch->keys[at], number,
                                    out->move[at], &target))
            return false;
        if (out->complaint[at]) {
            search->violated = out->complaint[at];
            search->end = SEARCH_VIOLATED;
            search->culprit = number;
            search->by_move = true;
            search->last = out->move[at];
            return false;
        }
        if (search->keep_graph && !add_edge(search, target, out->move[at]))
            return false;
    }
    return true;
}

bool search_within_limits(struct search *search)
{
    if (search->limits.states && search->store.count > search->limits.states) {
        search->end = SEARCH_STATES;
        return false;
    }
    if (search->expanded % STATES_BETWEEN_LOOKS)
        return true;
    if (search->progress)
        search->progress(search);
    if (search->limits.seconds > 0 && search_clock() - search->started > search->limits.seconds) {
        search->end = SEARCH_SECONDS;
        return false;
    }
    return true;
}

static void explore(struct search *search, struct crew *crew, struct batch *batches)
{
    struct batch *now = &batches[0], *next = &batches[1];
    unsigned char first[STATE_SIZE_MOST] __attribute__((aligned(8))) = {0};
    uint32_t number, depth_ends = 0;
    search->system->begin(search->system, first);
    if (!store_key(&search->store, first, NULL, NULL, now->keys)) {
        search->end = SEARCH_MEMORY;
        return;
    }
    if (!put(search, first, now->keys, STATE_NONE, (struct move){0}, &number))
        return;
    for (gather(search, crew, now); now->from; search->expanded++) {
        if (!search_within_limits(search))
            return;
        look(search, now);
        gather(search, crew, next);
        if (!settle(search, now))
            return;
        if (!next->from) /* perhaps there is one now */
            gather(search, crew, next);
        if (search->expanded == depth_ends) {
            search->depth++;
            estimate_add(&search->estimate, search->store.count - 1 - depth_ends);
            depth_ends = search->store.count - 1;
        }
        struct batch *const settled = now;
        now = next;
        next = settled;
    }
    search->end = SEARCH_EXHAUSTED;
}

static int search_with_parents(struct search *search)
{
    struct batch batches[2] = {0};
    struct crew crew;
    for (unsigned at = 0; at < 2; at++)
        batches[at].keys = calloc(SUCCESSORS_MOST, sizeof *batches->keys);
    const bool there =
        crew_open(&crew, search->system, search->limits.threads, fill_from_store, search) &&
        batches[0].keys && batches[1].keys;
    if (there)
        explore(search, &crew, batches);
    crew_close(&crew);
    free(batches[0].keys);
    free(batches[1].keys);
    return there ? 0 : -ENOMEM;
}

/* A compact search knows that something is broken, and how deep, but not the way there: so it is
 * searched once more up to there, with parents. */
static int search_again(struct search *search)
{
    const struct search first = *search;
    store_close(&search->store);
    search->moves = search->expanded = search->depth = 0;
    int error = store_open(&search->store, search->system->size, search->system->part_size,
                           search->limits.memory);
    if (!error)
        error = search_with_parents(search);
    if (first.store.peak > search->store.peak)
        search->store.peak = first.store.peak;
    if (error || search->end == SEARCH_VIOLATED)
        return error;
    search->end = SEARCH_VIOLATED;
    search->violated = first.violated;
    search->untold = true;
    search->moves = first.moves;
    search->expanded = first.expanded;
    search->depth = first.depth;
    search->store.count = first.store.count;
    return 0;
}

static int search_once(struct search *search)
{
    const struct system *system = search->system;
    int error = store_open(&search->store, system->size, system->part_size, search->limits.memory);
    if (error)
        return error;
    if (!search->limits.compact || search->keep_graph)
        return search_with_parents(search);
    search_compactly(search);
    return search->end == SEARCH_VIOLATED ? search_again(search) : 0;
}

/* What a wider system breaks the system itself need not break. */
static int search_exactly(struct search *search)
{
    const size_t peak = search->store.peak;
    search_close(search);
    search->system = search->system->exact;
    search->store = (struct store){0};
    search->graph = (struct graph){0};
    search->estimate = (struct estimate){0};
    search->moves = search->expanded = search->depth = 0;
    search->reached = 0;
    search->violated = NULL;
    search->by_move = search->untold = false;
    const int error = search_once(search);
    search->store.peak = search->store.peak > peak ? search->store.peak : peak;
    return error;
}

int search_run(struct search *search)
{
    if (search->system->size > STATE_SIZE_MOST)
        return -ENOMEM;
    search->started = search_clock();
    int error = search_once(search);
    if (!error && search->end == SEARCH_VIOLATED && search->system->exact)
        error = search_exactly(search);
    search->ended = search_clock();
    return error;
}

void search_close(struct search *search)
{
    store_release(&search->store, &search->graph.firsts);
    store_release(&search->store, &search->graph.targets);
    store_release(&search->store, &search->graph.labels);
    store_close(&search->store);
}
