/* SPDX-License-Identifier: MIT */
/* A set of states, exact, in 7 to 11 bytes each. */
#include "check/search/compact.h"

#include <string.h>

#include "check/search/pages.h"

enum {
    NUMBER_BITS = 28, /* of a part or a pair */
    ROOT_BITS = 2 * NUMBER_BITS,
    SEGMENT_BITS = 6,
    WITHIN_BITS = ROOT_BITS - SEGMENT_BITS,
    BUCKET = 64, /* bytes: a line of the cache */
    ENTRY = 6,
    ENTRIES = 10, /* in a bucket */
    /* an entry: the quotient above these, and 1 + how many buckets it went on; 0: free */
    WENT_BITS = 4,
    WENT_MOST = (1 << WENT_BITS) - 2,
    ROOM_FIRST = 64, /* buckets: a page of memory */
    PAIRS_FIRST = 1 << 12,
    LEVELS = 5 /* of pairs, for PARTS_MOST parts and more */
};

#define ROOT_MASK   ((UINT64_C(1) << ROOT_BITS) - 1)
#define WITHIN_MASK ((UINT64_C(1) << WITHIN_BITS) - 1)
#define ENTRY_MASK  ((UINT64_C(1) << 8 * ENTRY) - 1)
_Static_assert(1 << SEGMENT_BITS == COMPACT_SEGMENTS, "the segment is the upper bits");
/* A quotient by ROOM_FIRST or more fits: 50 bits less 6, and 4, are 48. */
_Static_assert(WITHIN_BITS - 6 + WENT_BITS <= 8 * ENTRY && ROOM_FIRST >= 1 << 6, "fits");
_Static_assert(PARTS_MOST <= 1 << LEVELS, "levels");

/* Each step is a permutation: an odd factor has an inverse, and a shifted xor undoes itself. */
static uint64_t scatter(uint64_t root)
{
    root ^= root >> NUMBER_BITS;
    root = root * UINT64_C(0xd6e8feb86659fd93) & ROOT_MASK;
    root ^= root >> NUMBER_BITS;
    root = root * UINT64_C(0xff51afd7ed558ccd) & ROOT_MASK;
    return root ^ root >> NUMBER_BITS;
}

static bool spend(struct store *store, size_t bytes)
{
    if (store->spent + bytes > store->budget)
        return false;
    store->spent += bytes;
    store->peak = store->spent > store->peak ? store->spent : store->peak;
    return true;
}

static void *pages_within(struct store *store, size_t bytes)
{
    if (!spend(store, bytes))
        return NULL;
    void *pages = pages_fresh(bytes);
    if (!pages) {
        store->refused = true;
        store->spent -= bytes;
    }
    return pages;
}

static void give_back(struct store *store, void *pages, size_t bytes)
{
    if (!pages)
        return;
    pages_release(pages, bytes);
    store->spent -= bytes;
}

bool compact_open(struct compact *compact, struct store *store)
{
    *compact = (struct compact){.pair_room = PAIRS_FIRST};
    compact->pair_table = pages_within(store, PAIRS_FIRST * sizeof *compact->pair_table);
    bool there = compact->pair_table != NULL;
    for (unsigned at = 0; at < COMPACT_SEGMENTS; at++) {
        struct segment *segment = &compact->segment[at];
        segment->room = ROOM_FIRST;
        segment->buckets = pages_within(store, ROOM_FIRST * BUCKET);
        there = there && segment->buckets;
    }
    return there;
}

void compact_close(struct compact *compact, struct store *store)
{
    store_release(store, &compact->pairs);
    give_back(store, compact->pair_table, compact->pair_room * sizeof *compact->pair_table);
    for (unsigned at = 0; at < COMPACT_SEGMENTS; at++)
        give_back(store, compact->segment[at].buckets, compact->segment[at].room * BUCKET);
    *compact = (struct compact){0};
}

static uint64_t pair_at(const struct compact *compact, uint32_t number)
{
    return ((const uint64_t *)(const void *)compact->pairs.bytes)[number];
}

static uint32_t pair_count(const struct compact *compact)
{
    return (uint32_t)(compact->pairs.used / sizeof(uint64_t));
}

/* Where a pair's number is in the table, or would be put. */
static size_t pair_slot(const struct compact *compact, const uint32_t *table, size_t room,
                        uint64_t pair)
{
    size_t slot = scatter(pair) & (room - 1);
    while (table[slot] && pair_at(compact, table[slot] - 1) != pair)
        slot = (slot + 1) & (room - 1);
    return slot;
}

static bool pairs_double(struct compact *compact, struct store *store)
{
    const size_t old = compact->pair_room * sizeof *compact->pair_table;
    uint32_t *table = pages_within(store, 2 * old);
    if (!table)
        return false;
    for (uint32_t number = 0; number < pair_count(compact); number++)
        table[pair_slot(compact, table, 2 * compact->pair_room, pair_at(compact, number))] =
            number + 1;
    give_back(store, compact->pair_table, old);
    compact->pair_table = table;
    compact->pair_room *= 2;
    return true;
}

static bool pair_number(struct compact *compact, struct store *store, uint64_t pair,
                        uint32_t *number)
{
    const size_t slot = pair_slot(compact, compact->pair_table, compact->pair_room, pair);
    if (compact->pair_table[slot]) {
        *number = compact->pair_table[slot] - 1;
        return true;
    }
    *number = pair_count(compact);
    if (*number >> NUMBER_BITS || !store_grow(store, &compact->pairs, sizeof pair))
        return false;
    memcpy(compact->pairs.bytes + compact->pairs.used, &pair, sizeof pair);
    compact->pairs.used += sizeof pair;
    compact->pair_table[slot] = *number + 1;
    return *number < compact->pair_room / 2 || pairs_double(compact, store);
}

static uint64_t paired(uint32_t left, uint32_t right)
{
    return (uint64_t)left << NUMBER_BITS | right;
}

bool compact_root(struct compact *compact, struct store *store, const uint32_t *parts,
                  uint64_t *root)
{
    uint32_t numbers[PARTS_MOST] = {0};
    unsigned count = store->parts;
    memcpy(numbers, parts, count * sizeof *parts);
    for (unsigned at = 0; at < count; at++)
        if (numbers[at] >> NUMBER_BITS)
            return false;
    for (; count > 2; count = (count + 1) / 2)
        for (unsigned at = 0; at < count; at += 2) {
            if (at + 1 == count)
                numbers[at / 2] = numbers[at];
            else if (!pair_number(compact, store, paired(numbers[at], numbers[at + 1]),
                                  &numbers[at / 2]))
                return false;
        }
    *root = paired(numbers[0], count > 1 ? numbers[1] : 0);
    return true;
}

void compact_parts(const struct compact *compact, const struct store *store, uint64_t root,
                   uint32_t *parts)
{
    unsigned counts[LEVELS] = {store->parts}, level = 0;
    for (; counts[level] > 2; level++)
        counts[level + 1] = (counts[level] + 1) / 2;
    uint32_t numbers[PARTS_MOST] = {(uint32_t)(root >> NUMBER_BITS),
                                    (uint32_t)(root & ((1u << NUMBER_BITS) - 1))};
    /* From the last pair to the first: what is split lies before what it is split into. */
    while (level-- > 0)
        for (unsigned at = counts[level + 1]; at-- > 0;) {
            const uint32_t number = numbers[at];
            if (2 * at + 1 == counts[level]) {
                numbers[2 * at] = number;
                continue;
            }
            const uint64_t pair = pair_at(compact, number);
            numbers[2 * at] = (uint32_t)(pair >> NUMBER_BITS);
            numbers[2 * at + 1] = (uint32_t)(pair & ((1u << NUMBER_BITS) - 1));
        }
    memcpy(parts, numbers, store->parts * sizeof *parts);
}

static uint64_t entry_at(const unsigned char *bucket, unsigned at)
{
    uint64_t entry;
    memcpy(&entry, bucket + ENTRY * at, sizeof entry); /* the last one ends before the bucket */
    return entry & ENTRY_MASK;
}

void compact_look(const struct compact *compact, uint64_t root)
{
    const uint64_t scattered = scatter(root);
    const struct segment *segment = &compact->segment[scattered >> WITHIN_BITS];
    __builtin_prefetch(segment->buckets + (scattered & WITHIN_MASK) % segment->room * BUCKET);
}

/* STORE_FULL: the buckets that it might lie in are full. */
static enum store_answer segment_put(struct segment *segment, uint64_t within)
{
    const uint64_t quotient = within / segment->room;
    uint64_t bucket = within % segment->room;
    for (uint64_t went = 0; went <= WENT_MOST; went++) {
        unsigned char *here = segment->buckets + bucket * BUCKET;
        const uint64_t wanted = quotient << WENT_BITS | (went + 1);
        for (unsigned at = 0; at < ENTRIES; at++) {
            const uint64_t entry = entry_at(here, at);
            if (entry == wanted)
                return STORE_KNOWN;
            if (entry)
                continue;
            memcpy(here + ENTRY * at, &wanted, ENTRY);
            segment->used++;
            return STORE_NEW;
        }
        bucket = bucket + 1 < segment->room ? bucket + 1 : 0;
    }
    return STORE_FULL;
}

static size_t whole_pages(size_t buckets)
{
    return (buckets + ROOM_FIRST - 1) / ROOM_FIRST * ROOM_FIRST;
}

/* Half as many buckets again. Each entry's root is put together from its place and its quotient. */
static bool segment_grow(struct segment *segment, struct store *store)
{
    struct segment grown = {.room = whole_pages(segment->room + segment->room / 2)};
    bool whole = false;
    while (!whole) {
        grown.used = 0;
        grown.buckets = pages_within(store, grown.room * BUCKET);
        if (!grown.buckets)
            return false;
        whole = true;
        for (size_t bucket = 0; whole && bucket < segment->room; bucket++)
            for (unsigned at = 0; whole && at < ENTRIES; at++) {
                const uint64_t entry = entry_at(segment->buckets + bucket * BUCKET, at);
                if (!entry)
                    break;
                const uint64_t went = (entry & ((1u << WENT_BITS) - 1)) - 1;
                const uint64_t home =
                    bucket >= went ? bucket - went : bucket + segment->room - went;
                whole =
                    segment_put(&grown, (entry >> WENT_BITS) * segment->room + home) != STORE_FULL;
            }
        if (!whole) { /* too crowded somewhere: with a few buckets more it is not */
            give_back(store, grown.buckets, grown.room * BUCKET);
            grown.room = whole_pages(grown.room + grown.room / 8);
        }
    }
    give_back(store, segment->buckets, segment->room * BUCKET);
    *segment = grown;
    return true;
}

enum store_answer compact_put(struct compact *compact, struct store *store, uint64_t root)
{
    const uint64_t scattered = scatter(root), within = scattered & WITHIN_MASK;
    struct segment *segment = &compact->segment[scattered >> WITHIN_BITS];
    /* Seven eighths full. If there is no memory to grow in, the rest is used as well. */
    const bool crowded = segment->used > segment->room * ENTRIES / 8 * 7;
    if (crowded && segment->used % 64 == 0)
        segment_grow(segment, store);
    enum store_answer answer = segment_put(segment, within);
    if (answer == STORE_FULL && segment_grow(segment, store))
        answer = segment_put(segment, within);
    if (answer == STORE_NEW && store->count++ == STATE_NONE - 1)
        return STORE_FULL;
    return answer;
}
