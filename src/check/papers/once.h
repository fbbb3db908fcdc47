/* SPDX-License-Identifier: MIT */
/* `pair-once`: "After you" said once. Rivest and Pratt (MIT/LCS/TM-84, section II): "The repetitive
 * nature of A-D may appear redundant, but we doubt the existence of a solution with only one fetch
 * from the other process's memory (not counting the fetch in the test)."
 *
 * There is none, whatever the values, for one fetch, one store and a test that is repeated. Let
 * P_i fetch D, and stop. P_j comes, fetches D, stores f_j(D), sees D, and must enter: P_i may be
 * dead. Then P_i stores f_i(D), and its test of f_j(D) must say wait. By the same run with the
 * two exchanged, P_j's test of f_i(D) must say wait as well. Now let both fetch D, and then both
 * store: both wait for ever. So of any two tests one lets in too many or both let in nobody;
 * here is one of each kind. */
#ifndef AFTERYOU_CHECK_PAPERS_ONCE_H
#define AFTERYOU_CHECK_PAPERS_ONCE_H

#include "check/registers/accesses.h"
#include "protocols/registers/pair.h"

#define S(process) (process), 0

/* `ties`: the test is that of figure 1; else one waits until the other is gone. */
static inline enum passage_result once_run(struct pair_passage *my, struct registers *at, bool ties)
{
    const unsigned i = registers_self(at), j = 1 - i;
    PASSAGE_BEGIN
    READ(A, my->U, S(j));
    WRITE(B, S(i), my->s = my->U == PAIR_D ? PAIR_FIRST : pair_plus(my->U));
    QUEUE;
    AWAIT(E, my->U, S(j),
          my->U == PAIR_D || (ties && (my->U == pair_plus(my->s) || (i == 0 && my->U == my->s))));
    my->U = my->s = 0;
    PASSAGE_END
}

#undef S
#endif
