/* SPDX-License-Identifier: MIT */
/* `forks-oracle`, `forks-static`, `forks-ids`: the constructions that `forks` is put together from.
 *
 * D. Dolev, E. Gafni and N. Shavit, Toward a Non-Atomic Era: l-Exclusion as a Test Case, STOC 1988,
 * constructions 5, 6 and 7. The first excludes, whatever an oracle redirects; the second does not
 * deadlock, with ids that never change, and does not lock out the highest; the third gives ids that
 * grow while one is blocked.
 */
#ifndef AFTERYOU_CHECK_PAPERS_CONSTRUCTIONS_H
#define AFTERYOU_CHECK_PAPERS_CONSTRUCTIONS_H

#include "check/registers/accesses.h"
#include "protocols/registers/forks.h"

#define X(i) (i), 0

/* For the checker to refute. */
struct constructions_rules {
    bool no_redirect; /* construction 5 without "for all j do redirect(i,j,GRAPH)" */
    bool initializes; /* construction 7: the blocked process offers its forks in every round */
    bool keeps;       /* claim 2: the other never offers */
};

/* Construction 5: "oracle(GRAPH) when called by i arbitrarily chooses some subset of arrows of
 * which i is a mutator, and performs redirect on them". */
static inline enum passage_result constructions_oracle(struct forks_passage *my,
                                                       struct registers *at,
                                                       struct constructions_rules wrong)
{
    const struct forks_rules rules = {0};
    PASSAGE_BEGIN
    WRITE_BIT(x, X(registers_self(at)), true);
    if (!wrong.no_redirect)
        for (EACH_OTHER(my->j))
            CALL(fork_redirect, &my->redirect, at, FORK_GRAPH, my->j, &my->memory, rules);
    my->j = 0;
    QUEUE;
    for (;;) {
        for (EACH_OTHER(my->j)) {
            STOP(oracle);
            if (registers_guess(at))
                CALL(fork_redirect, &my->redirect, at, FORK_GRAPH, my->j, &my->memory, rules);
        }
        my->j = 0;
        CALL(forks_reach, &my->reach, at, &my->memory, rules);
        forks_conclude(my, at);
        my->towards = 0;
        if (!my->blocked)
            break;
        my->blocked = 0;
        AGAIN;
    }
    PASSAGE_END
}

/* Those with a higher id, which is the place. */
static inline place_set constructions_higher(struct registers *at)
{
    place_set higher = 0;
    for (unsigned j = registers_next(at, registers_self(at)); j < registers_places(at);
         j = registers_next(at, j + 1))
        higher = fork_with(higher, j);
    return higher;
}

/* Construction 6, with the repairs of `forks`. */
static inline enum passage_result constructions_static(struct forks_passage *my,
                                                       struct registers *at)
{
    const struct forks_rules rules = {0};
    PASSAGE_BEGIN
    WRITE_BIT(x, X(registers_self(at)), true);
    for (EACH_OTHER(my->j))
        CALL(fork_redirect, &my->redirect, at, FORK_GRAPH, my->j, &my->memory, rules);
    my->j = 0;
    QUEUE;
    for (;;) {
        CALL(forks_update, &my->update, at, constructions_higher(at), &my->memory, rules);
        CALL(forks_reach, &my->reach, at, &my->memory, rules);
        forks_conclude(my, at);
        for (EACH_OTHER(my->j)) /* update(RANGE) */
            if (fork_has(my->towards, my->j) && registers_places(at) > 2)
                CALL(fork_redirect, &my->redirect, at, FORK_RANGE, my->j, &my->memory, rules);
        my->j = 0;
        my->towards = 0;
        if (!my->blocked)
            break;
        my->blocked = 0;
        AGAIN;
    }
    PASSAGE_END
}

/* Construction 7. The process at the last place is blocked until it finds that its id is the
 * highest; all others go round for ever, and offer their forks in every round. */
static inline enum passage_result constructions_ids(struct forks_passage *my, struct registers *at,
                                                    struct constructions_rules wrong)
{
    const struct forks_rules rules = {0};
    const bool is_last = registers_self(at) + 1 == registers_places(at);
    PASSAGE_BEGIN
    for (;;) {
        for (EACH_OTHER(my->j)) /* increment_your(ID) */
            CALL(fork_take, &my->mutation, at, FORK_ID, my->j, &my->memory, rules);
        my->j = 0;
        CALL(forks_observe, &my->observe, at, &my->memory, rules);
        my->higher = my->observe.higher;
        my->observe.higher = 0;
        if (is_last && !my->higher)
            break;
        my->higher = 0;
        if (!is_last || wrong.initializes)
            for (EACH_OTHER(my->j)) /* initialize_your(ID) */
                CALL(fork_offer, &my->mutation, at, FORK_ID, my->j, &my->memory, rules);
        my->j = 0;
        AGAIN;
    }
    PASSAGE_END
}

/* Claim 2: "all mutations apart from offer_i are executed infinitely often": place 1 takes until it
 * reads that it has the fork in use; place 0 takes and offers for ever. */
static inline enum passage_result constructions_claim_2(struct forks_passage *my,
                                                        struct registers *at,
                                                        struct constructions_rules wrong)
{
    const struct forks_rules rules = {0};
    const unsigned other = !registers_self(at);
    PASSAGE_BEGIN
    for (;;) {
        CALL(fork_take, &my->mutation, at, FORK_GRAPH, other, &my->memory, rules);
        if (registers_self(at) == 1) {
            CALL(fork_read, &my->mutation.read, at, FORK_GRAPH, 0, 1, &my->memory, rules);
            if (fork_used_by(fork_outcome(&my->mutation.read), 1, 0))
                break;
        } else if (!wrong.keeps) {
            CALL(fork_offer, &my->mutation, at, FORK_GRAPH, other, &my->memory, rules);
        }
        AGAIN;
    }
    PASSAGE_END
}

#undef X
#endif
