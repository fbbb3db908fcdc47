/* SPDX-License-Identifier: MIT */
/* The search that keeps the states alone, as few bytes of each as will do.
 *
 * It goes breadth first, layer by layer, in the very order of search.c: what is still to be
 * expanded is a list of roots (compact.h), in the order found; what was expanded is in the set
 * only. */
#include <stdlib.h>
#include <string.h>

#include "check/search/compact.h"
#include "check/search/inside.h"

struct layers {
    struct search *search;
    struct compact compact;
    struct grown now, next; /* roots, uint64_t each */
    struct successors out;
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

static bool expand(struct layers *layers, uint64_t root)
{
    struct search *search = layers->search;
    struct successors *out = &layers->out;
    unsigned char state[STATE_SIZE_MOST] __attribute__((aligned(8)));
    struct key origin, key;
    compact_parts(&layers->compact, &search->store, root, origin.part);
    store_assemble(&search->store, origin.part, state);
    out->count = 0;
    search->system->successors(search->system, state, out);
    for (unsigned at = 0; at < out->count; at++) {
        if (out->stays[at])
            continue;
        if (!store_key(&search->store, out->states + at * out->size, state, &origin, &key) ||
            !compact_root(&layers->compact, &search->store, key.part, &layers->roots[at])) {
            search->end = SEARCH_MEMORY;
            return false;
        }
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
    struct key key;
    search->system->begin(search->system, layers->out.states);
    if (!store_key(&search->store, layers->out.states, NULL, NULL, &key) ||
        !compact_root(&layers->compact, &search->store, key.part, layers->roots)) {
        search->end = SEARCH_MEMORY;
        return;
    }
    if (!put(layers, layers->out.states, *layers->roots))
        return;
    while (layers->next.used) {
        const struct grown emptied = layers->now;
        layers->now = layers->next;
        layers->next = emptied;
        layers->next.used = 0;
        for (size_t at = 0; at < layers->now.used; at += sizeof(uint64_t)) {
            uint64_t root;
            memcpy(&root, layers->now.bytes + at, sizeof root);
            if (!search_within_limits(search) || !expand(layers, root))
                return;
            search->expanded++;
        }
        search->depth++;
    }
    search->end = SEARCH_EXHAUSTED;
}

void search_compactly(struct search *search)
{
    struct layers layers = {.search = search, .out.size = search->system->size};
    layers.out.states = calloc(SUCCESSORS_MOST, search->system->size);
    layers.roots = calloc(SUCCESSORS_MOST, sizeof *layers.roots);
    search->end = SEARCH_MEMORY;
    if (layers.out.states && layers.roots && compact_open(&layers.compact, &search->store))
        explore(&layers);
    compact_close(&layers.compact, &search->store);
    store_release(&search->store, &layers.now);
    store_release(&search->store, &layers.next);
    free(layers.out.states);
    free(layers.roots);
}
