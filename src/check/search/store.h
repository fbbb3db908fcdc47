/* SPDX-License-Identifier: MIT */
/* The store of a search: every state seen, whole, numbered in the order found, and how it was first
 * reached.
 *
 * A state is cut into parts of equal size (a process each). Each distinct part is kept once, in a
 * dictionary; a state is the list of its parts' numbers. States are compared whole: there are no
 * fingerprints and no missed states.
 */
#ifndef AFTERYOU_CHECK_SEARCH_STORE_H
#define AFTERYOU_CHECK_SEARCH_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/search/system.h"

enum { STATE_NONE = UINT32_MAX };

/* An array that grows by moving its pages, and counts towards the store's budget. */
struct grown {
    unsigned char *bytes;
    size_t used, room;
};

/* Distinct parts, numbered. */
struct dictionary {
    size_t size; /* bytes of a part */
    uint32_t count;
    struct grown parts;
    uint32_t *table; /* open addressing: the part's number + 1 */
    size_t table_room;
};

enum { PARTS_MOST = 16 };

struct store {
    size_t size;   /* bytes of a state */
    size_t budget; /* bytes the whole search may use */
    size_t spent, peak;
    bool refused; /* not the budget, but the machine said no */
    uint32_t count;
    unsigned parts; /* of a state */
    struct dictionary dictionary;
    struct grown keys;    /* `parts` numbers for each state */
    struct grown parents; /* uint32_t each */
    struct grown moves;   /* struct move each: the one that led here from the parent */
    uint64_t *table;      /* open addressing: the hash's upper half, and the state's number + 1 */
    size_t table_room;    /* a power of two */
};

struct key {
    uint32_t part[PARTS_MOST];
    uint64_t hash;
};

/* A state is cut every `part_size` bytes (a multiple of 8 that divides the state). 0, or -ENOMEM
 * when the budget does not even hold an empty store. */
int store_open(struct store *store, size_t state_size, size_t part_size, size_t budget);
void store_close(struct store *store);

/* Putting a state, in three parts, so that memory is asked for early: the first fetches the table's
 * entry, the second (which may be left out) what that points to; each is best done for many states
 * before the next. `origin` is the state it came from, with its key: most parts stay as they were.
 * False if memory is full. */
bool store_key(struct store *store, const unsigned char *state, const unsigned char *origin,
               const struct key *origin_key, struct key *key);
void store_look(const struct store *store, const struct key *key);
enum store_answer { STORE_KNOWN, STORE_NEW, STORE_FULL };
enum store_answer store_put(struct store *store, const struct key *key, uint32_t parent,
                            struct move move, uint32_t *number);

/* When nothing more will be put: frees what only look-ups need. */
void store_forget_table(struct store *store);

/* The state whose parts have these numbers. */
void store_assemble(const struct store *store, const uint32_t *parts, unsigned char *state);
void store_get(const struct store *store, uint32_t number, unsigned char *state);
void store_get_key(const struct store *store, uint32_t number, struct key *key);
uint32_t store_parent(const struct store *store, uint32_t number);
struct move store_move(const struct store *store, uint32_t number);

/* False, and nothing changed, if the budget or the machine refuses. */
bool store_grow(struct store *store, struct grown *array, size_t bytes);
void store_release(struct store *store, struct grown *array);

#endif
