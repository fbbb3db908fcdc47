/* SPDX-License-Identifier: MIT */
/* The store of a search: every state seen, whole, numbered in the order found, and how it was first
 * reached. */
#include "check/search/store.h"

#include <errno.h>
#include <string.h>

#include "check/search/pages.h"

enum { TABLE_FIRST = 1 << 16, ARRAY_FIRST = 1 << 20 };

static void spend(struct store *store, size_t bytes)
{
    store->spent += bytes;
    if (store->spent > store->peak)
        store->peak = store->spent;
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
    void *grown = array->bytes ? pages_longer(array->bytes, array->room, room) : pages_fresh(room);
    if (!grown) {
        store->refused = true;
        return false;
    }
    spend(store, room - array->room);
    array->bytes = grown;
    array->room = room;
    return true;
}

void store_release(struct store *store, struct grown *array)
{
    if (array->bytes)
        pages_release(array->bytes, array->room);
    store->spent -= array->room;
    *array = (struct grown){0};
}

static uint64_t mix(uint64_t hash, uint64_t lane)
{
    const unsigned __int128 product = (unsigned __int128)(hash ^ lane) * 0xd6e8feb86659fd93u;
    return (uint64_t)product ^ (uint64_t)(product >> 64) ^ 0xa0761d6478bd642fu;
}

int store_open(struct store *store, size_t state_size, size_t part_size, size_t budget)
{
    *store = (struct store){
        .size = state_size, .budget = budget, .parts = (unsigned)(state_size / part_size)};
    store->dictionary.size = part_size;
    const size_t bytes = TABLE_FIRST * sizeof *store->table;
    const size_t part_bytes = TABLE_FIRST * sizeof *store->dictionary.table;
    if (store->parts > PARTS_MOST || bytes + part_bytes > budget)
        return -ENOMEM;
    store->table = pages_fresh(bytes);
    store->dictionary.table = pages_fresh(part_bytes);
    if (!store->table || !store->dictionary.table)
        return -ENOMEM;
    store->table_room = store->dictionary.table_room = TABLE_FIRST;
    store->spent = bytes + part_bytes;
    return 0;
}

void store_forget_table(struct store *store)
{
    pages_release(store->table, store->table_room * sizeof *store->table);
    store->spent -= store->table_room * sizeof *store->table;
    store->table = NULL;
    store->table_room = 0;
}

void store_close(struct store *store)
{
    store_release(store, &store->keys);
    store_release(store, &store->parents);
    store_release(store, &store->moves);
    store_release(store, &store->dictionary.parts);
    if (store->dictionary.table)
        pages_release(store->dictionary.table,
                      store->dictionary.table_room * sizeof *store->dictionary.table);
    if (store->table)
        pages_release(store->table, store->table_room * sizeof *store->table);
    *store = (struct store){0};
}

/* memcmp for a few lanes, without the call. */
__attribute__((always_inline)) static inline bool same(const unsigned char *a,
                                                       const unsigned char *b, size_t size)
{
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t left, right;
        memcpy(&left, a + at, sizeof left);
        memcpy(&right, b + at, sizeof right);
        if (left != right)
            return false;
    }
    return true;
}

__attribute__((always_inline)) static inline uint64_t hash_part(const unsigned char *part,
                                                                size_t size)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (size_t at = 0; at < size; at += sizeof hash) {
        uint64_t lane;
        memcpy(&lane, part + at, sizeof lane);
        hash = mix(hash, lane);
    }
    return hash;
}

static bool dictionary_double(struct store *store)
{
    struct dictionary *dictionary = &store->dictionary;
    const size_t old = dictionary->table_room * sizeof *dictionary->table;
    if (store->spent + old > store->budget)
        return false;
    uint32_t *table = pages_fresh(2 * old);
    if (!table) {
        store->refused = true;
        return false;
    }
    const size_t mask = dictionary->table_room * 2 - 1;
    for (uint32_t number = 0; number < dictionary->count; number++) {
        size_t at =
            hash_part(dictionary->parts.bytes + number * dictionary->size, dictionary->size) & mask;
        while (table[at])
            at = (at + 1) & mask;
        table[at] = number + 1;
    }
    pages_release(dictionary->table, old);
    dictionary->table = table;
    dictionary->table_room *= 2;
    spend(store, old);
    return true;
}

/* A part that was never seen gets the next number, at this slot of the table. False if there is no
 * room. */
static bool intern_new(struct store *store, const unsigned char *part, size_t at, uint32_t *number)
{
    struct dictionary *dictionary = &store->dictionary;
    if (!store_grow(store, &dictionary->parts, dictionary->size))
        return false;
    memcpy(dictionary->parts.bytes + dictionary->parts.used, part, dictionary->size);
    dictionary->parts.used += dictionary->size;
    *number = dictionary->count++;
    dictionary->table[at] = dictionary->count;
    return dictionary->count <= dictionary->table_room / 2 || dictionary_double(store);
}

/* The part's number, new or known; false if there is no room. */
__attribute__((always_inline)) static inline bool
intern(struct store *store, const unsigned char *part, size_t size, uint32_t *number)
{
    const struct dictionary *dictionary = &store->dictionary;
    const size_t mask = dictionary->table_room - 1;
    size_t at = hash_part(part, size) & mask;
    for (; dictionary->table[at]; at = (at + 1) & mask) {
        *number = dictionary->table[at] - 1;
        if (same(dictionary->parts.bytes + *number * size, part, size))
            return true;
    }
    return intern_new(store, part, at, number);
}

static uint64_t hash_key(const struct store *store, const uint32_t *parts)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (unsigned at = 0; at < store->parts; at++)
        hash = mix(hash, parts[at]);
    return hash;
}

static size_t slot_of(const struct store *store, uint64_t hash)
{
    return hash & (store->table_room - 1);
}

__attribute__((always_inline)) static inline bool
number_parts(struct store *store, const unsigned char *state, const unsigned char *origin,
             const struct key *origin_key, struct key *key, size_t size)
{
    for (unsigned at = 0; at < store->parts; at++) {
        if (origin && same(state + at * size, origin + at * size, size))
            key->part[at] = origin_key->part[at];
        else if (!intern(store, state + at * size, size, &key->part[at]))
            return false;
    }
    return true;
}

bool store_key(struct store *store, const unsigned char *state, const unsigned char *origin,
               const struct key *origin_key, struct key *key)
{
    /* The same for every size; where the compiler knows it, it need not loop. */
    const size_t size = store->dictionary.size;
    if (!(size == 16 ? number_parts(store, state, origin, origin_key, key, 16)
                     : number_parts(store, state, origin, origin_key, key, size)))
        return false;
    key->hash = hash_key(store, key->part);
    __builtin_prefetch(&store->table[slot_of(store, key->hash)]);
    return true;
}

static const uint32_t *key_of(const struct store *store, uint32_t number)
{
    return (const uint32_t *)(const void *)store->keys.bytes + (size_t)number * store->parts;
}

void store_look(const struct store *store, const struct key *key)
{
    const uint64_t entry = store->table[slot_of(store, key->hash)];
    if (entry)
        __builtin_prefetch(key_of(store, (uint32_t)entry - 1));
}

/* An entry: the upper half of the hash, so that most strangers are told apart without a look at
 * their key. */
static uint64_t entry_of(uint64_t hash, uint32_t number)
{
    return (hash & 0xffffffff00000000u) | (number + 1u);
}

static bool table_double(struct store *store)
{
    const size_t old = store->table_room * sizeof *store->table;
    if (store->spent + 2 * old > store->budget)
        return false;
    uint64_t *table = pages_fresh(2 * old);
    if (!table) {
        store->refused = true;
        return false;
    }
    pages_release(store->table, old);
    store->table = table;
    store->table_room *= 2;
    spend(store, old);
    for (uint32_t number = 0; number < store->count; number++) {
        const uint64_t hash = hash_key(store, key_of(store, number));
        size_t at = slot_of(store, hash);
        while (table[at])
            at = (at + 1) & (store->table_room - 1);
        table[at] = entry_of(hash, number);
    }
    return true;
}

void store_assemble(const struct store *store, const uint32_t *parts, unsigned char *state)
{
    const size_t size = store->dictionary.size;
    for (unsigned at = 0; at < store->parts; at++)
        memcpy(state + at * size, store->dictionary.parts.bytes + parts[at] * size, size);
}

void store_get(const struct store *store, uint32_t number, unsigned char *state)
{
    store_assemble(store, key_of(store, number), state);
}

void store_get_key(const struct store *store, uint32_t number, struct key *key)
{
    memcpy(key->part, key_of(store, number), store->parts * sizeof *key->part);
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

enum store_answer store_put(struct store *store, const struct key *key, uint32_t parent,
                            struct move move, uint32_t *number)
{
    const size_t key_size = store->parts * sizeof *key->part, mask = store->table_room - 1;
    size_t at = slot_of(store, key->hash);
    for (; store->table[at]; at = (at + 1) & mask) {
        const uint64_t entry = store->table[at];
        if ((entry ^ key->hash) >> 32)
            continue;
        *number = (uint32_t)entry - 1;
        const uint32_t *known = key_of(store, *number);
        uint32_t difference = 0;
        for (unsigned part = 0; part < store->parts; part++)
            difference |= known[part] ^ key->part[part];
        if (difference == 0)
            return STORE_KNOWN;
    }
    if (store->count == STATE_NONE - 1 || !store_grow(store, &store->keys, key_size) ||
        !store_grow(store, &store->parents, sizeof parent) ||
        !store_grow(store, &store->moves, sizeof move))
        return STORE_FULL;
    memcpy(store->keys.bytes + store->keys.used, key->part, key_size);
    memcpy(store->parents.bytes + store->parents.used, &parent, sizeof parent);
    memcpy(store->moves.bytes + store->moves.used, &move, sizeof move);
    store->keys.used += key_size;
    store->parents.used += sizeof parent;
    store->moves.used += sizeof move;
    *number = store->count++;
    store->table[at] = entry_of(key->hash, *number);
    if (store->count > store->table_room / 4 * 3 && !table_double(store))
        return STORE_FULL;
    return STORE_NEW;
}
