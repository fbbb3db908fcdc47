/* SPDX-License-Identifier: MIT */
/* The store of a search: every state seen, whole, numbered in the order found, and how it was first reached. */
#include "check/store.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { TABLE_FIRST = 1 << 16, ARRAY_FIRST = 1 << 20 };

static void *map_fresh(size_t bytes)
{
    void *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return fresh == MAP_FAILED ? NULL : fresh;
}

bool store_grow(struct store *store, struct grown *array, size_t bytes)
{
    if (array->used + bytes <= array->room)
        return true;
    size_t room = array->room ? array->room : ARRAY_FIRST;
    while (room < array->used + bytes)
        room += room / 2;
    room = (room + 4095) & ~(size_t)4095;
    if (store->spent - array->room + room > store->budget) {
        /* The last of the budget need not be half as much again. */
        room = (array->used + bytes + ARRAY_FIRST + 4095) & ~(size_t)4095;
        if (store->spent - array->room + room > store->budget)
            return false;
    }
    void *grown = array->bytes ? mremap(array->bytes, array->room, room, MREMAP_MAYMOVE) : map_fresh(room);
    if (grown == MAP_FAILED || grown == NULL)
        return false;
    store->spent += room - array->room;
    array->bytes = grown;
    array->room = room;
    return true;
}

void store_release(struct store *store, struct grown *array)
{
    if (array->bytes)
        munmap(array->bytes, array->room);
    store->spent -= array->room;
    *array = (struct grown){0};
}

int store_open(struct store *store, size_t state_size, size_t budget)
{
    *store = (struct store){.size = state_size, .budget = budget};
    const size_t bytes = TABLE_FIRST * sizeof *store->table;
    if (bytes > budget)
        return -ENOMEM;
    store->table = map_fresh(bytes);
    if (!store->table)
        return -ENOMEM;
    store->table_room = TABLE_FIRST;
    store->spent = bytes;
    return 0;
}

void store_close(struct store *store)
{
    store_release(store, &store->states);
    store_release(store, &store->parents);
    store_release(store, &store->moves);
    if (store->table)
        munmap(store->table, store->table_room * sizeof *store->table);
    *store = (struct store){0};
}

/* Multiply and fold, a lane at a time. States are compared whole, so a collision costs time, never an answer. */
uint64_t store_hash(const struct store *store, const unsigned char *state)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (size_t at = 0; at < store->size; at += sizeof hash) {
        uint64_t lane;
        memcpy(&lane, state + at, sizeof lane);
        const unsigned __int128 product = (unsigned __int128)(hash ^ lane) * 0xd6e8feb86659fd93u;
        hash = (uint64_t)product ^ (uint64_t)(product >> 64) ^ 0xa0761d6478bd642fu;
    }
    return hash * 0xe7037ed1a0b428dbu;
}

void store_prefetch(const struct store *store, uint64_t hash)
{
    __builtin_prefetch(&store->table[hash >> 20 & (store->table_room - 1)]);
}

static bool table_double(struct store *store)
{
    const size_t old_room = store->table_room, room = old_room * 2;
    const size_t bytes = room * sizeof *store->table;
    if (store->spent + bytes > store->budget)
        return false;
    uint64_t *table = map_fresh(bytes);
    if (!table)
        return false;
    /* The upper half of the hash is not enough to place an entry in a large table, so states are hashed anew. */
    for (uint32_t number = 0; number < store->count; number++) {
        const uint64_t hash = store_hash(store, store_state(store, number));
        size_t at = hash >> 20 & (room - 1);
        while (table[at])
            at = (at + 1) & (room - 1);
        table[at] = (hash & 0xffffffff00000000u) | (number + 1u);
    }
    munmap(store->table, old_room * sizeof *store->table);
    store->table = table;
    store->table_room = room;
    store->spent += bytes - old_room * sizeof *store->table;
    return true;
}

const unsigned char *store_state(const struct store *store, uint32_t number)
{
    return store->states.bytes + (size_t)number * store->size;
}

uint32_t store_parent(const struct store *store, uint32_t number)
{
    uint32_t parent;
    memcpy(&parent, store->parents.bytes + (size_t)number * sizeof parent, sizeof parent);
    return parent;
}

struct move store_move(const struct store *store, uint32_t number)
{
    struct move move;
    memcpy(&move, store->moves.bytes + (size_t)number * sizeof move, sizeof move);
    return move;
}

enum store_answer store_put(struct store *store, const unsigned char *state, uint64_t hash, uint32_t parent,
                            struct move move, uint32_t *number)
{
    const size_t mask = store->table_room - 1;
    size_t at = hash >> 20 & mask;
    for (; store->table[at]; at = (at + 1) & mask) {
        const uint64_t entry = store->table[at];
        if ((entry ^ hash) >> 32)
            continue;
        const uint32_t known = (uint32_t)entry - 1;
        if (memcmp(store_state(store, known), state, store->size) == 0) {
            *number = known;
            return STORE_KNOWN;
        }
    }
    if (store->count == STATE_NONE - 1 || !store_grow(store, &store->states, store->size) ||
        !store_grow(store, &store->parents, sizeof parent) || !store_grow(store, &store->moves, sizeof move))
        return STORE_FULL;
    memcpy(store->states.bytes + store->states.used, state, store->size);
    memcpy(store->parents.bytes + store->parents.used, &parent, sizeof parent);
    memcpy(store->moves.bytes + store->moves.used, &move, sizeof move);
    store->states.used += store->size;
    store->parents.used += sizeof parent;
    store->moves.used += sizeof move;
    *number = store->count++;
    store->table[at] = (hash & 0xffffffff00000000u) | store->count;
    if (store->count > store->table_room / 8 * 5 && !table_double(store))
        return STORE_FULL;
    return STORE_NEW;
}
