/* SPDX-License-Identifier: MIT */
/* Numbers that only grow, made finite for the search without changing what can happen.
 *
 * Where every place keeps its last number for all to see, a doorway draws a number greater than all numbers that existed when it
 * began. So of the processes now in a doorway each can land at most once below or at a number that exists now; whoever
 * begins later lands above. Numbers are only compared and incremented; hence two states whose numbers stand in the same order,
 * with the same distances up to d + 1 (d doorways are open), have the same futures, and one of them suffices.
 */
#ifndef AFTERYOU_CHECK_MODELS_RENUMBER_H
#define AFTERYOU_CHECK_MODELS_RENUMBER_H

#include "protocols/registers.h"

enum { RENUMBER_MOST = 48 };

struct renumber {
    unsigned count;
    word value[RENUMBER_MOST];
};

static inline void renumber_add(struct renumber *numbers, word value)
{
    numbers->value[numbers->count++] = value;
}

/* Replaces each value, in the order they were added, with distances cut at `most`. False if all stay as they were. */
static inline bool renumber_close_gaps(struct renumber *numbers, unsigned most)
{
    word sorted[RENUMBER_MOST], fresh[RENUMBER_MOST];
    unsigned distinct = 0;
    for (unsigned at = 0; at < numbers->count; at++) {
        const word value = numbers->value[at];
        unsigned slot = distinct;
        while (slot > 0 && sorted[slot - 1] > value)
            slot--;
        if (slot > 0 && sorted[slot - 1] == value)
            continue;
        for (unsigned move = distinct++; move > slot; move--)
            sorted[move] = sorted[move - 1];
        sorted[slot] = value;
    }
    fresh[0] = 0;
    for (unsigned slot = 1; slot < distinct; slot++) {
        const unsigned gap = (unsigned)sorted[slot] - sorted[slot - 1];
        fresh[slot] = (word)(fresh[slot - 1] + (gap < most ? gap : most));
    }
    /* Every step down is carried on upwards, so the last tells whether anything changed. */
    if (fresh[distinct - 1] == sorted[distinct - 1])
        return false;
    for (unsigned at = 0; at < numbers->count; at++) {
        unsigned slot = 0;
        while (sorted[slot] != numbers->value[at])
            slot++;
        numbers->value[at] = fresh[slot];
    }
    return true;
}

#endif
