/* SPDX-License-Identifier: MIT */
/* Very many sets of numbers that are nearly alike, and share what they have in common. */
#include "audit/sets.h"

#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

#define SETS_INNER UINT32_MAX

bool sets_open(struct sets *sets, uint32_t numbers)
{
    *sets = (struct sets){0};
    for (uint64_t reach = SETS_LEAF; reach < numbers; reach *= SETS_CHILDREN)
        sets->height++;
    if (!grow(&sets->nodes, 0, &sets->room, sizeof *sets->nodes, 256))
        return false;
    sets->nodes[sets->count++] = (struct set_node){.holders = 1};
    return true;
}

void sets_close(struct sets *sets)
{
    free(sets->nodes);
}

uint32_t sets_keep(struct sets *sets, uint32_t set)
{
    if (set)
        sets->nodes[set].holders++;
    return set;
}

void sets_drop(struct sets *sets, uint32_t set)
{
    struct set_node *node = &sets->nodes[set];
    if (!set || --node->holders)
        return;
    for (unsigned i = 0; node->leaf == SETS_INNER && i < SETS_CHILDREN; i++)
        sets_drop(sets, node->child[i]);
    node->leaf = SETS_INNER;
    node->child[0] = sets->spare;
    sets->spare = set;
}

/* An empty node with one holder; 0: no memory. */
static uint32_t node_new(struct sets *sets, uint32_t leaf)
{
    uint32_t number = sets->spare;
    if (number) {
        sets->spare = sets->nodes[number].child[0];
    } else if (sets->count < UINT32_MAX &&
               grow(&sets->nodes, sets->count, &sets->room, sizeof *sets->nodes, 256)) {
        number = (uint32_t)sets->count++;
    } else {
        sets->failed = true;
        return 0;
    }
    sets->nodes[number] = (struct set_node){.holders = 1, .leaf = leaf};
    return number;
}

/* The node as one that nobody else holds; 0: no memory. */
static uint32_t node_own(struct sets *sets, uint32_t number)
{
    if (sets->nodes[number].holders == 1)
        return number;
    const uint32_t copy = node_new(sets, sets->nodes[number].leaf);
    if (!copy)
        return 0;
    sets->nodes[number].holders--;
    memcpy(sets->nodes[copy].bits, sets->nodes[number].bits, sizeof sets->nodes[copy].bits);
    for (unsigned i = 0; sets->nodes[copy].leaf == SETS_INNER && i < SETS_CHILDREN; i++)
        sets_keep(sets, sets->nodes[copy].child[i]);
    return copy;
}

static unsigned child_of(uint32_t leaf, unsigned level)
{
    return leaf >> 4 * (level - 1) & (SETS_CHILDREN - 1);
}

bool sets_has(const struct sets *sets, uint32_t set, uint32_t number)
{
    for (unsigned level = sets->height; level > 0; level--)
        set = sets->nodes[set].child[child_of(number / SETS_LEAF, level)];
    return sets->nodes[set].bits[number % SETS_LEAF / 64] >> number % 64 & 1;
}

static uint32_t put(struct sets *sets, uint32_t set, uint32_t number, bool present, unsigned level)
{
    set = set ? node_own(sets, set) : node_new(sets, level ? SETS_INNER : number / SETS_LEAF);
    if (!set)
        return 0;
    if (level == 0) {
        uint64_t *word = &sets->nodes[set].bits[number % SETS_LEAF / 64];
        const uint64_t bit = UINT64_C(1) << number % 64;
        *word = present ? *word | bit : *word & ~bit;
        return set;
    }
    const unsigned at = child_of(number / SETS_LEAF, level);
    const uint32_t child = put(sets, sets->nodes[set].child[at], number, present, level - 1);
    sets->nodes[set].child[at] = child;
    return set;
}

uint32_t sets_put(struct sets *sets, uint32_t set, uint32_t number, bool present)
{
    if (sets_has(sets, set, number) == present)
        return set;
    return put(sets, set, number, present, sets->height);
}

static bool within(const struct sets *sets, uint32_t set, uint32_t other, unsigned level)
{
    if (!set || set == other)
        return true;
    const struct set_node *mine = &sets->nodes[set], *theirs = &sets->nodes[other];
    if (level == 0) {
        uint64_t missing = 0;
        for (unsigned i = 0; i < SETS_LEAF_WORDS; i++)
            missing |= mine->bits[i] & ~theirs->bits[i];
        return missing == 0;
    }
    for (unsigned i = 0; i < SETS_CHILDREN; i++)
        if (!within(sets, mine->child[i], theirs->child[i], level - 1))
            return false;
    return true;
}

bool sets_within(const struct sets *sets, uint32_t set, uint32_t other)
{
    return within(sets, set, other, sets->height);
}

/* Where one has all that is in the other, it stays as it is, and is shared. */
static uint32_t merge(struct sets *sets, uint32_t set, uint32_t with, unsigned level)
{
    if (within(sets, with, set, level))
        return set;
    if (within(sets, set, with, level)) {
        sets_drop(sets, set);
        return sets_keep(sets, with);
    }
    set = node_own(sets, set);
    if (!set)
        return 0;
    if (level == 0) {
        for (unsigned i = 0; i < SETS_LEAF_WORDS; i++)
            sets->nodes[set].bits[i] |= sets->nodes[with].bits[i];
        return set;
    }
    for (unsigned i = 0; i < SETS_CHILDREN; i++) {
        const uint32_t child =
            merge(sets, sets->nodes[set].child[i], sets->nodes[with].child[i], level - 1);
        sets->nodes[set].child[i] = child;
    }
    return set;
}

uint32_t sets_merge(struct sets *sets, uint32_t set, uint32_t with)
{
    return merge(sets, set, with, sets->height);
}

void sets_strike(struct sets *sets, const uint64_t *kept)
{
    for (size_t i = 1; i < sets->count; i++) {
        struct set_node *node = &sets->nodes[i];
        for (unsigned word = 0; node->leaf != SETS_INNER && word < SETS_LEAF_WORDS; word++)
            node->bits[word] &= kept[(size_t)node->leaf * SETS_LEAF_WORDS + word];
    }
}
