/* SPDX-License-Identifier: MIT */
/* Sets of nodes: one bit a node, in 64-bit words. */
#ifndef AFTERYOU_PROTOCOLS_MESSAGES_SETS_H
#define AFTERYOU_PROTOCOLS_MESSAGES_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t set_words(uint64_t nodes)
{
    return (size_t)(nodes + 63) / 64;
}

static inline bool set_has(const uint64_t *set, uint64_t j)
{
    return set[j / 64] >> (j % 64) & 1;
}

static inline void set_add(uint64_t *set, uint64_t j)
{
    set[j / 64] |= UINT64_C(1) << (j % 64);
}

static inline void set_remove(uint64_t *set, uint64_t j)
{
    set[j / 64] &= ~(UINT64_C(1) << (j % 64));
}

static inline uint64_t set_size(const uint64_t *set, uint64_t nodes)
{
    uint64_t size = 0;
    for (size_t w = 0; w < set_words(nodes); w++)
        size += (uint64_t)__builtin_popcountll(set[w]);
    return size;
}

static inline void set_fill(uint64_t *set, uint64_t nodes)
{
    for (size_t w = 0; w < set_words(nodes); w++)
        set[w] = UINT64_MAX;
    if (nodes % 64)
        set[nodes / 64] = (UINT64_C(1) << (nodes % 64)) - 1;
}

#endif
