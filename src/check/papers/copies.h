/* SPDX-License-Identifier: MIT */
/* `races-copies`: Rivest and Pratt's n processes with n-1 copies of the two-process data.
 *
 * MIT/LCS/TM-84 (1977), section III: "One way of implementing this scheme is to let each process
 * have n-1 copies of the data structures used in the two-process solution, one for each of the
 * other processes. When process P_i races with process P_j, process P_i fetches from copy i of
 * process P_j's data, and stores into copy j of its own data. Then when it has won against process
 * P_j, it leaves copy j of its data as it is … when done it sets all n-1 copies of its public
 * variable to D."
 *
 * A process's own copy is not used. The copies are set to D one after the other; a death sets all.
 */
#ifndef AFTERYOU_CHECK_PAPERS_COPIES_H
#define AFTERYOU_CHECK_PAPERS_COPIES_H

#include "check/registers/accesses.h"
#include "protocols/registers/pair.h"

#define COPY(process, other) (process), (other)

struct copies_passage {
    PASSAGE_HEAD
    word U;
    word s; /* what the copy for j holds */
    place_number j;
};

/* `forgetful`: for the checker to refute. */
static inline enum passage_result copies_run(struct copies_passage *my, struct registers *at,
                                             bool forgetful)
{
    const unsigned i = registers_self(at);
    PASSAGE_BEGIN
    for (EACH_OTHER(my->j)) {
        READ(A, my->U, COPY(my->j, i));
        WRITE(B, COPY(i, my->j), my->s = my->U == PAIR_D ? PAIR_FIRST : pair_plus(my->U));
        READ(C, my->U, COPY(my->j, i));
        if (my->U != PAIR_D)
            WRITE(D, COPY(i, my->j), my->s = pair_plus(my->U));
        AWAIT(E, my->U, COPY(my->j, i),
              my->U == PAIR_D || my->U == pair_plus(my->s) || (i < my->j && my->U == my->s));
        if (forgetful)
            WRITE(forget, COPY(i, my->j), PAIR_D);
    }
    my->U = my->s = 0;
    my->j = 0;
    PASSAGE_END
}

static inline enum passage_result copies_leave(struct copies_passage *my, struct registers *at)
{
    PASSAGE_BEGIN
    for (EACH_OTHER(my->j))
        WRITE(F, COPY(registers_self(at), my->j), PAIR_D);
    my->j = 0;
    PASSAGE_END
}

#undef COPY
#endif
