/* SPDX-License-Identifier: MIT */
/* The store of a search: every state seen, whole, numbered in the order found, and how it was first reached. */
#ifndef AFTERYOU_CHECK_STORE_H
#define AFTERYOU_CHECK_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/system.h"

enum { STATE_NONE = UINT32_MAX };

/* An array that grows in place of copying (mremap), and counts towards the store's budget. */
struct grown {
    unsigned char *bytes;
    size_t used, room;
};

struct store {
    size_t size;   /* bytes of a state */
    size_t budget; /* bytes the whole search may use */
    size_t spent;
    uint32_t count;
    struct grown states;  /* count × size */
    struct grown parents; /* uint32_t each */
    struct grown moves;   /* struct move each: the one that led here from the parent */
    uint64_t *table;      /* open addressing: the hash's upper half, and the state's number + 1 */
    size_t table_room;    /* a power of two */
};

/* 0, or -ENOMEM when the budget does not even hold an empty store. */
int store_open(struct store *store, size_t state_size, size_t budget);
void store_close(struct store *store);

uint64_t store_hash(const struct store *store, const unsigned char *state);
void store_prefetch(const struct store *store, uint64_t hash);

enum store_answer { STORE_KNOWN, STORE_NEW, STORE_FULL };
enum store_answer store_put(struct store *store, const unsigned char *state, uint64_t hash, uint32_t parent,
                            struct move move, uint32_t *number);

const unsigned char *store_state(const struct store *store, uint32_t number);
uint32_t store_parent(const struct store *store, uint32_t number);
struct move store_move(const struct store *store, uint32_t number);

/* False, and nothing changed, if the budget or the machine refuses. */
bool store_grow(struct store *store, struct grown *array, size_t bytes);
void store_release(struct store *store, struct grown *array);

#endif
