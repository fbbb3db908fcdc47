/* SPDX-License-Identifier: MIT */
/* The search that keeps the states alone, as few bytes of each as will do.
 *
 * It goes breadth first, layer by layer, in the very order of search.c: what is still to be
 * expanded is a list of roots (compact.h), in the order found; what was expanded is in the set
 * only. */
#include <stdlib.h>
#include <string.h>

#include "check/search/compact.h"
#include "check/search/crew.h"
#include "check/search/inside.h"

struct layers {
    struct search *search;
    struct compact compact;
    struct grown now, next; /* roots, uint64_t each */
    struct crew crew;
    uint64_t *roots; /* of the successors */
};

static bool list(struct layers *layers, uint64_t root)
{
    if (!store_grow(&layers->search->store, &layers->next, sizeof root))
        return false;
    memcpy(layers->next.bytes + layers->next.used, &root, sizeof root);
    layers->next.used += sizeof root;
    return true;
}

/* False if the search is over. */
static bool put(struct layers *layers, const unsigned char *state, uint64_t root)
{
    struct search *search = layers->search;
    switch (compact_put(&layers->compact, &search->store, root)) {
    case STORE_KNOWN:
        return true;
    case STORE_NEW:
        if (list(layers, root))
            return search_judge_state(search, state);
        break;
    case STORE_FULL:
        break;
    }
    search->end = SEARCH_MEMORY;
    return false;
}

static void fill_from_root(const void *context, size_t which, struct expansion *expansion)
{
    const struct layers *layers = context;
    const struct store *store = &layers->search->store;
    uint64_t root;
    memcpy(&root, layers->now.bytes + which * sizeof root, sizeof root);
    compact_parts(&layers->compact, store, root, expansion->key.part);
    store_assemble(store, expansion->key.part, expansion->state);
}

static bool make_root(struct layers *layers, const unsigned char *state,
                      const struct expansion *from, uint64_t *root)
{
    struct search *search = layers->search;
    struct key key;
    if (store_key(&search->store, state, from ? from->state : NULL, from ? &from->key : NULL,
                  &key) &&
        compact_root(&layers->compact, &search->store, key.part, root))
        return true;
    search->end = SEARCH_MEMORY;
    return false;
}

static bool settle(struct layers *layers, const struct expansion *from)
{
    struct search *search = layers->search;
    const struct successors *out = &from->out;
    for (unsigned at = 0; at < out->count; at++) {
        if (out->stays[at])
            continue;
        if (!make_root(layers, out->states + at * out->size, from, &layers->roots[at]))
            return false;
        compact_look(&layers->compact, layers->roots[at]);
    }
    search->moves += out->count;
    if (!search_judge_moves(search, out))
        return false;
    for (unsigned at = 0; at < out->count; at++) {
        if (!out->stays[at] && !put(layers, out->states + at * out->size, layers->roots[at]))
            return false;
        if (out->complaint[at]) {
            search->violated = out->complaint[at];
            search->end = SEARCH_VIOLATED;
            return false;
        }
    }
    return true;
}

static void explore(struct layers *layers)
{
    struct search *search = layers->search;
    unsigned char first[STATE_SIZE_MOST] __attribute__((aligned(8))) = {0};
    search->system->begin(search->system, first);
    if (!make_root(layers, first, NULL, layers->roots) || !put(layers, first, *layers->roots))
        return;
    while (layers->next.used) {
        const struct grown emptied = layers->now;
        layers->now = layers->next;
        layers->next = emptied;
        layers->next.used = 0;
        crew_start_over(&layers->crew);
        const struct expansion *from;
        while ((from = crew_next(&layers->crew, layers->now.used / sizeof(uint64_t)))) {
            if (!search_within_limits(search) || !settle(layers, from))
                return;
            search->expanded++;
        }
        search->depth++;
        estimate_add(&search->estimate, layers->next.used / sizeof(uint64_t));
    }
    search->end = SEARCH_EXHAUSTED;
}

void search_compactly(struct search *search)
{
    struct layers layers = {.search = search};
    layers.roots = calloc(SUCCESSORS_MOST, sizeof *layers.roots);
    search->end = SEARCH_MEMORY;
    if (crew_open(&layers.crew, search->system, search->limits.threads, fill_from_root, &layers) &&
        layers.roots && compact_open(&layers.compact, &search->store))
        explore(&layers);
    crew_close(&layers.crew);
    compact_close(&layers.compact, &search->store);
    store_release(&search->store, &layers.now);
    store_release(&search->store, &layers.next);
    free(layers.roots);
}
