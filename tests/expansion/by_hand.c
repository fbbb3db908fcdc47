/* SPDX-License-Identifier: MIT */
/* The same two locks, written by hand with C11 atomics: what the protocols' expansion is measured
 * against. */
#include "bare.h"

#include <stdbool.h>

static uint64_t fetch(_Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_acquire);
}

static void store(_Atomic uint64_t *word, uint64_t value)
{
    atomic_exchange_explicit(word, value, memory_order_seq_cst);
}

/* Rivest and Pratt, figure 2: 0 is dead, 1 to 3 are the paper's 0 to 2. */
static uint64_t after(uint64_t value)
{
    return value == 3 ? 1 : value + 1;
}

void pair_enter_by_hand(_Atomic uint64_t *words, unsigned self)
{
    _Atomic uint64_t *mine = &words[self], *other = &words[1 - self];
    uint64_t u = fetch(other), s = u == 0 ? 1 : after(u);
    store(mine, s);
    u = fetch(other);
    if (u != 0) {
        s = after(u);
        store(mine, s);
    }
    for (;;) {
        u = fetch(other);
        if (u == 0 || u == after(s) || (self == 0 && u == s))
            return;
        bare_pause();
    }
}

void pair_leave_by_hand(_Atomic uint64_t *words, unsigned self)
{
    store(&words[self], 0);
}

/* Lamport's bakery in one word a place: state 2 bits (1 choosing, 2 queued), mode 3 bits (not
 * used), incarnation 6 bits, number. */
enum { STATE = 3, CHOOSING = 1, QUEUED = 2, LIFE_SHIFT = 5, NUMBER_SHIFT = 11 };
#define LIFE ((uint64_t)63 << LIFE_SHIFT)

void bakery_enter_by_hand(_Atomic uint64_t *words, unsigned self, unsigned places)
{
    _Atomic uint64_t *mine = &words[self];
    const uint64_t idle = atomic_load_explicit(mine, memory_order_relaxed) & ~(uint64_t)31;
    uint64_t largest = idle >> NUMBER_SHIFT;
    store(mine, idle | CHOOSING);
    for (unsigned j = 0; j < places; j++) {
        if (j == self)
            continue;
        const uint64_t number = fetch(&words[j]) >> NUMBER_SHIFT;
        if (number > largest)
            largest = number;
    }
    const uint64_t number = largest + 1;
    store(mine, (idle & LIFE) | QUEUED | number << NUMBER_SHIFT);
    for (unsigned j = 0; j < places; j++) {
        if (j == self)
            continue;
        const uint64_t first = fetch(&words[j]);
        uint64_t w = first;
        /* Still in the very doorway I met it in. */
        while ((w & STATE) == CHOOSING && ((w ^ first) >> LIFE_SHIFT) == 0) {
            bare_pause();
            w = fetch(&words[j]);
        }
        while ((w & STATE) == QUEUED && ((w ^ first) & LIFE) == 0) {
            const uint64_t theirs = w >> NUMBER_SHIFT;
            if (number < theirs || (number == theirs && self < j))
                break;
            bare_pause();
            w = fetch(&words[j]);
        }
    }
}

void bakery_leave_by_hand(_Atomic uint64_t *words, unsigned self)
{
    _Atomic uint64_t *mine = &words[self];
    atomic_store_explicit(mine, atomic_load_explicit(mine, memory_order_relaxed) & ~(uint64_t)31,
                          memory_order_release);
}
