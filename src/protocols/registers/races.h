/* SPDX-License-Identifier: MIT */
/* `races`: mutual exclusion for n processes, first version: a process races with each of the others
 * in turn.
 *
 * Rivest and Pratt 1977, figure 4, corrected. In the print, lines A and C test R_j = D; they must
 * test what the wait tests (R_j = D or R_j < i), for else a process takes the S of a race with
 * somebody else, and exclusion breaks with two processes (`afteryou check races-printed`). The wait
 * has ∧ for ∨; the prose above the figure has it right.
 *
 * Public variable: (R, S) in one word, fetched and stored as one. R is the process raced with, or
 * D; S is a number modulo 3.
 *
 * Holds: exclusion, no deadlock, no lockout, with deaths at every step. Overtaking is unbounded: a
 * process that re-enters wins its races again while a slower one works its way up. `clock` mends
 * that.
 */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_RACES_H
#define AFTERYOU_PROTOCOLS_REGISTERS_RACES_H

#include "protocols/language/registers.h"

/* The word, least significant bits first: R (D is 0, the value of fresh memory; Q is 1; process j
 * is j+2), S, c. */
enum {
    RACES_D = 0,
    RACES_Q = 1, /* `clock` only: in the system */
    RACES_FIRST = 2,
    RACES_S_SHIFT = PLACE_BITS,
    RACES_C_SHIFT = PLACE_BITS + 2
};

static inline word races_word(unsigned R, unsigned S, unsigned c)
{
    return (word)((word)R | (word)S << RACES_S_SHIFT | (word)c << RACES_C_SHIFT);
}

static inline unsigned races_R(word w)
{
    return (unsigned)(w & ((1u << PLACE_BITS) - 1));
}

static inline uint8_t races_S(word w)
{
    return (uint8_t)(w >> RACES_S_SHIFT & 3);
}

static inline uint8_t races_plus(uint8_t S)
{
    return S == 2 ? 0 : (uint8_t)(S + 1);
}

/* P_j is no rival of P_i: dead, not yet come as far as i, or (in `clock`) past its races and in the
 * system. */
static inline bool races_absent(word w, unsigned i)
{
    return races_R(w) < RACES_FIRST + i;
}

/* The test of the wait: P_i may go on past P_j. */
static inline bool races_won(word w, uint8_t s, unsigned i, unsigned j)
{
    if (races_absent(w, i))
        return true;
    return races_R(w) == RACES_FIRST + i &&
           (races_S(w) == races_plus(s) || (races_S(w) == s && i <= j));
}

#define P(process) (process), 0

struct races_race {
    PART_HEAD
    uint8_t s;
};

/* twoprocess(j): P_i races with P_j, and leaves in s the S with which it won. The word stored at B
 * and D also carries c, which only `clock` uses. `printed` is the figure as printed. */
static inline enum passage_result races_race(struct races_race *my, struct registers *at,
                                             unsigned j, unsigned c, bool printed)
{
    const unsigned i = registers_self(at);
    word w = 0;
    PASSAGE_BEGIN
    my->s = 0;
    READ(A, w, P(j));
    if (!(printed ? races_R(w) == RACES_D : races_absent(w, i)))
        my->s = races_plus(races_S(w));
    WRITE(B, P(i), races_word(RACES_FIRST + j, my->s, c));
    READ(C, w, P(j));
    if (!(printed ? races_R(w) == RACES_D : races_absent(w, i))) {
        my->s = races_plus(races_S(w));
        WRITE(D, P(i), races_word(RACES_FIRST + j, my->s, c));
    }
    AWAIT(E, w, P(j), races_won(w, my->s, i, j));
    PASSAGE_END
}

struct races_passage {
    PASSAGE_HEAD
    struct races_race race;
    place_number j;
};

static inline enum passage_result races_run(struct races_passage *my, struct registers *at,
                                            bool printed)
{
    PASSAGE_BEGIN
    for (EACH_OTHER(my->j)) {
        /* in print a process races with itself too, and wins */
        if (printed && my->j > registers_self(at))
            CALL(races_race, &my->race, at, registers_self(at), 0, printed);
        CALL(races_race, &my->race, at, my->j, 0, printed);
    }
    my->j = 0;
    if (printed && registers_next(at, registers_self(at)) == registers_places(at))
        CALL(races_race, &my->race, at, registers_self(at), 0, printed);
    my->race.s = 0;
    PASSAGE_END
}

static inline enum passage_result races_enter(struct races_passage *my, struct registers *at)
{
    return races_run(my, at, false);
}

static inline enum passage_result races_leave(struct races_passage *my, struct registers *at)
{
    PASSAGE_BEGIN
    /* With a fence: the next passage begins with a fetch, which must not overtake this store. */
    WRITE(F, P(registers_self(at)), races_word(RACES_D, 0, 0));
    PASSAGE_END
}

#undef P
#endif
