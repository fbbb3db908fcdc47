/* SPDX-License-Identifier: MIT */
/* Chance that a seed repeats: xoshiro256** of Blackman and Vigna, seeded by splitmix64. */
#ifndef AFTERYOU_SIMULATE_RANDOM_H
#define AFTERYOU_SIMULATE_RANDOM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct chance {
    uint64_t s[4];
};

static inline struct chance chance_seeded(uint64_t seed)
{
    struct chance chance;
    for (int i = 0; i < 4; i++) {
        uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        chance.s[i] = z ^ (z >> 31);
    }
    return chance;
}

static inline uint64_t chance_bits(struct chance *chance)
{
    uint64_t *s = chance->s;
    const uint64_t five = s[1] * 5, result = (five << 7 | five >> 57) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return result;
}

/* In [0, 1). */
static inline double chance_unit(struct chance *chance)
{
    return (double)(chance_bits(chance) >> 11) * 0x1p-53;
}

static inline bool chance_happens(struct chance *chance, double probability)
{
    return probability > 0 && chance_unit(chance) < probability;
}

/* In 0 … below-1; `below` is far less than 2^32 here, so the bias is nil. */
static inline uint32_t chance_below(struct chance *chance, uint32_t below)
{
    return (uint32_t)((chance_bits(chance) >> 32) * below >> 32);
}

#endif
