/* SPDX-License-Identifier: MIT */
/* `pair`: mutual exclusion for two processes.
 *
 * R. L. Rivest and V. R. Pratt, The Mutual Exclusion Problem for Unreliable Processes,
 * MIT/LCS/TM-84, April 1977, figure 2, line by line. "The act of setting S_i to 1+S_j is equivalent
 * to saying 'After you' to process P_j."
 *
 * Public variable S: 0, 1, 2 (all arithmetic modulo 3), or D: dead, or not interested.
 *
 * Holds (`afteryou check pair`): exclusion, no deadlock, no lockout, with deaths at every step. A
 * waiting process is overtaken at most twice from S_i ≠ D on, and at most once from its wait at E.
 */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_PAIR_H
#define AFTERYOU_PROTOCOLS_REGISTERS_PAIR_H

#include "protocols/language/registers.h"

#define S(process) (process), 0

/* D is zero, the value of fresh memory; 0, 1, 2 are kept as 1, 2, 3 */
enum { PAIR_D = 0, PAIR_FIRST = 1 };

struct pair_passage {
    PASSAGE_HEAD
    word U;
    word s; /* what S_i holds: the owner need not fetch it */
};

/* The paper's 1+U, modulo 3. */
static inline word pair_plus(word value)
{
    return (word)(value == 3 ? 1 : value + 1);
}

static inline enum passage_result pair_enter(struct pair_passage *my, struct registers *at)
{
    const unsigned i = registers_self(at), j = 1 - i;
    PASSAGE_BEGIN
    READ(A, my->U, S(j));
    WRITE(B, S(i), my->s = my->U == PAIR_D ? PAIR_FIRST : pair_plus(my->U));
    READ(C, my->U, S(j));
    if (my->U != PAIR_D)
        WRITE(D, S(i), my->s = pair_plus(my->U));
    QUEUE;
    AWAIT(E, my->U, S(j),
          my->U == PAIR_D || my->U == pair_plus(my->s) || (i == 0 && my->U == my->s));
    my->U = my->s = 0;
    PASSAGE_END
}

static inline enum passage_result pair_leave(struct pair_passage *my, struct registers *at)
{
    PASSAGE_BEGIN
    /* With a fence: the next passage begins with a fetch, which must not overtake this store. */
    WRITE(F, S(registers_self(at)), PAIR_D);
    PASSAGE_END
}

#undef S
#endif
