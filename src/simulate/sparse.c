/* SPDX-License-Identifier: MIT */
/* Words by number, most of which are zero: those that are not, in a table of open addressing. */
#include "simulate/sparse.h"

#include <stdlib.h>

enum { ROOM_FIRST = 4 };

/* Where a number is, or would be put. There is always a free slot. */
static uint32_t slot_of(const struct sparse *sparse, uint32_t number)
{
    const uint32_t mixed = (number + 1) * 2654435769u;
    uint32_t slot = (uint32_t)((uint64_t)mixed * sparse->room >> 32);
    while (sparse->numbers[slot] && sparse->numbers[slot] != number + 1)
        slot = slot + 1 < sparse->room ? slot + 1 : 0;
    return slot;
}

uint64_t sparse_get(const struct sparse *sparse, uint32_t number)
{
    if (!sparse->room)
        return 0;
    const uint32_t slot = slot_of(sparse, number);
    return sparse->numbers[slot] ? sparse->words[slot] : 0;
}

static void settle(struct sparse *sparse, uint32_t number, uint64_t word)
{
    const uint32_t slot = slot_of(sparse, number);
    sparse->used += sparse->numbers[slot] == 0;
    sparse->numbers[slot] = number + 1;
    sparse->words[slot] = word;
}

/* A table that is half full, of what matters. */
static bool move_out(struct sparse *sparse, uint64_t least)
{
    uint32_t matter = 0;
    for (uint32_t slot = 0; slot < sparse->room; slot++)
        matter += sparse->numbers[slot] && sparse->words[slot] >= least;
    struct sparse moved = {.room = matter < ROOM_FIRST / 2 ? ROOM_FIRST : 2 * matter};
    moved.words = calloc(moved.room, sizeof *moved.words + sizeof *moved.numbers);
    if (!moved.words)
        return false;
    moved.numbers = (uint32_t *)(void *)(moved.words + moved.room);
    for (uint32_t slot = 0; slot < sparse->room; slot++)
        if (sparse->numbers[slot] && sparse->words[slot] >= least)
            settle(&moved, sparse->numbers[slot] - 1, sparse->words[slot]);
    free(sparse->words);
    *sparse = moved;
    return true;
}

bool sparse_put(struct sparse *sparse, uint32_t number, uint64_t word, uint64_t least)
{
    const uint32_t slot = sparse->room ? slot_of(sparse, number) : 0;
    if (sparse->room && sparse->numbers[slot]) {
        sparse->words[slot] = word;
        return true;
    }
    if (word < least)
        return true;
    if (sparse->used >= (uint64_t)sparse->room * 3 / 4 && !move_out(sparse, least))
        return false;
    settle(sparse, number, word);
    return true;
}

bool sparse_replace(struct sparse *sparse, uint32_t number, const uint64_t *words, uint32_t count)
{
    for (uint32_t slot = 0; slot < sparse->room; slot++)
        if (sparse->numbers[slot] && sparse->numbers[slot] - 1 - number < count)
            sparse->words[slot] = 0;
    for (uint32_t i = 0; i < count; i++)
        if (words[i] && !sparse_put(sparse, number + i, words[i], 1))
            return false;
    return true;
}

void sparse_close(struct sparse *sparse)
{
    free(sparse->words);
    *sparse = (struct sparse){0};
}
