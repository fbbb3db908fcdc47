/* SPDX-License-Identifier: MIT */
/* Numbers that only grow, made finite for the search without changing what can happen.
 *
 * Where every place keeps its last number for all to see, a doorway draws a number greater than all
 * numbers that existed when it began. So of the processes now in a doorway each can land at most
 * once below or at a number that exists now; whoever begins later lands above. Numbers are only
 * compared and incremented; hence two states whose numbers stand in the same order, with the same
 * distances up to d + 1 (d doorways are open), have the same futures, and one of them suffices.
 */
#ifndef AFTERYOU_CHECK_REGISTERS_MODELS_RENUMBER_H
#define AFTERYOU_CHECK_REGISTERS_MODELS_RENUMBER_H

#include "check/registers/register_model.h"

/* Renumbered values are small: at most a dozen of them, d + 1 apart. One move adds at most one. */
enum { RENUMBER_MOST = 64 };

struct renumber {
    uint64_t present; /* a bit for each value that occurs */
    uint8_t fresh[RENUMBER_MOST];
};

static inline void renumber_add(struct renumber *numbers, word value)
{
    if (value >= RENUMBER_MOST)
        /* the argument above is wrong for this protocol: never go on as if nothing were */
        __builtin_trap();
    numbers->present |= (uint64_t)1 << value;
}

/* Whether nothing is to be done: the least value is 0, and no two neighbours are more than `most`
 * apart. */
static inline bool renumber_is_closed(const struct renumber *numbers, unsigned most)
{
    uint64_t reached = numbers->present;
    for (unsigned distance = 1; distance < most; distance++)
        reached |= numbers->present << distance;
    const uint64_t gap = ~reached & (reached + 1); /* the least bit that is not reached */
    return numbers->present & 1 && (gap == 0 || numbers->present < gap);
}

/* Finds for each value a fresh one: the least is 0, and distances are cut at `most`. False if all
 * stay as they are. */
static inline bool renumber_close_gaps(struct renumber *numbers, unsigned most)
{
    if (numbers->present == 0 || renumber_is_closed(numbers, most))
        return false;
    uint64_t left = numbers->present;
    unsigned last = (unsigned)__builtin_ctzll(left), fresh = 0;
    numbers->fresh[last] = 0;
    for (left &= left - 1; left; left &= left - 1) {
        const unsigned value = (unsigned)__builtin_ctzll(left), gap = value - last;
        fresh += gap < most ? gap : most;
        numbers->fresh[value] = (uint8_t)fresh;
        last = value;
    }
    return true;
}

/* The greatest fence so far is a number like the others; of each kind, if there are several. */
static inline void renumber_add_fence(struct renumber *numbers, const struct register_model *model,
                                      const unsigned char *state)
{
    for (unsigned kind = 0; model->fences && kind < model_fence_kinds(model); kind++)
        if (model_fence(model, state, kind)->fence)
            renumber_add(numbers, fence_number(model_fence(model, state, kind)->fence));
}

static inline void renumber_fence(const struct renumber *numbers,
                                  const struct register_model *model, unsigned char *state)
{
    for (unsigned kind = 0; model->fences && kind < model_fence_kinds(model); kind++) {
        struct model_process *keeper = model_fence(model, state, kind);
        if (keeper->fence)
            keeper->fence = (uint16_t)fence_of(numbers->fresh[fence_number(keeper->fence)],
                                               keeper->fence & ((1u << FENCE_PLACE_BITS) - 1));
    }
}

#endif
