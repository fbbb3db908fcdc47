/* SPDX-License-Identifier: MIT */
/* A set of states, exact, in 7 to 11 bytes each: for a search that asks for safety alone, and keeps
 * neither how a state was reached nor where its moves lead.
 *
 * A state is a list of numbers, those of its parts (store.h). Neighbours are paired, each distinct
 * pair once, numbered; then pairs of pairs; until two numbers are left, 56 bits together: the root.
 * Equal states have equal roots, and unlike ones unlike roots, since a number stands for one pair.
 *
 * Roots are kept in a quotient table. A permutation of the 56 bits scatters them; what it gives is
 * divided by the number of buckets: the remainder says which bucket, and the quotient alone is
 * kept, with the number of buckets that it had to go on from there because they were full. So an
 * entry and its place are the root again: nothing is compared by a fingerprint, and no state is
 * missed.
 */
#ifndef AFTERYOU_CHECK_SEARCH_COMPACT_H
#define AFTERYOU_CHECK_SEARCH_COMPACT_H

#include "check/search/store.h"

enum { COMPACT_SEGMENTS = 64 };

/* A part of the table; it grows by itself, so that no more than it is there twice meanwhile. */
struct segment {
    unsigned char *buckets;
    size_t room; /* in buckets */
    size_t used; /* entries */
};

struct compact {
    struct grown pairs;   /* uint64_t each: two numbers */
    uint32_t *pair_table; /* open addressing: the pair's number + 1 */
    size_t pair_room;
    struct segment segment[COMPACT_SEGMENTS];
};

/* All memory counts towards the store's budget; of the store itself only the parts are used. */
bool compact_open(struct compact *compact, struct store *store);
void compact_close(struct compact *compact, struct store *store);
/* The root of a state whose parts these are, and back. False if memory is full. */
bool compact_root(struct compact *compact, struct store *store, const uint32_t *parts,
                  uint64_t *root);
void compact_parts(const struct compact *compact, const struct store *store, uint64_t root,
                   uint32_t *parts);
/* Fetches what compact_put will look at. */
void compact_look(const struct compact *compact, uint64_t root);
enum store_answer compact_put(struct compact *compact, struct store *store, uint64_t root);

#endif
