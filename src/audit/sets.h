/* SPDX-License-Identifier: MIT */
/* Very many sets of numbers that are nearly alike, and share what they have in common.
 *
 * A set is a tree: 16 children a node, and leaves of 512 numbers, a bit each. A node counts its
 * holders; who changes a set copies the nodes on the way down that others hold too, and no more. So
 * a copy of a set costs nothing, and memory follows what sets differ in, not how many there are. */
#ifndef AFTERYOU_AUDIT_SETS_H
#define AFTERYOU_AUDIT_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SETS_CHILDREN = 16, SETS_LEAF_WORDS = 8, SETS_LEAF = SETS_LEAF_WORDS * 64 };

struct set_node {
    uint32_t holders; /* sets and nodes that it is in; 0: it is spare */
    uint32_t leaf;    /* its numbers begin with leaf × SETS_LEAF; SETS_INNER: it is no leaf */
    union {
        uint32_t child[SETS_CHILDREN]; /* a spare one: the next one, in the first */
        uint64_t bits[SETS_LEAF_WORDS];
    };
};

/* A set is the number of its root. 0 is the empty one, and its node is all zeros. */
struct sets {
    struct set_node *nodes;
    size_t count, room;
    uint32_t spare;
    unsigned height; /* of every root above the leaves */
    bool failed;     /* there was no memory: what the sets hold is worth nothing any more */
};

/* For numbers below `numbers`. False: no memory. */
bool sets_open(struct sets *sets, uint32_t numbers);
void sets_close(struct sets *sets);

/* One more holder: gives the set back. */
uint32_t sets_keep(struct sets *sets, uint32_t set);
/* One holder less. */
void sets_drop(struct sets *sets, uint32_t set);

/* Both take a holder's `set` away, and give it the changed one. */
uint32_t sets_put(struct sets *sets, uint32_t set, uint32_t number, bool present);
uint32_t sets_merge(struct sets *sets, uint32_t set, uint32_t with);

bool sets_has(const struct sets *sets, uint32_t set, uint32_t number);
/* Whether all of `set` is in `other`. */
bool sets_within(const struct sets *sets, uint32_t set, uint32_t other);

/* Takes out of every set what is not in `kept`, a bit for each number. */
void sets_strike(struct sets *sets, const uint64_t *kept);

#endif
