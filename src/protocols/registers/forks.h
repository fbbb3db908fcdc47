/* SPDX-License-Identifier: MIT */
/* `forks`: at most l inside at once, from safe bits, though l-1 processes stop anywhere and nobody
 * can tell.
 *
 * D. Dolev, E. Gafni and N. Shavit, Toward a Non-Atomic Era: l-Exclusion as a Test Case, STOC 1988,
 * construction 8. A safe bit that is read while it is being written reads as anything; a process
 * may stop in the middle of a write, and then it does so for ever.
 *
 * Safe bits of place i, 9(n-1)+1 of them: X(i), that it is outside its Remainder; and its halves of
 * the forks (fork.h) that it shares with every other, one in each of three structures:
 *   GRAPH  i → j: j goes before i. A process enters when it reaches, along arrows between those
 *          outside their
 * Remainder, l processes at most, itself included. RANGE  i → j: i reaches j, or so it last found.
 *   Those with lower ids
 * let j go before them for i's sake. ID     how many forks a process has in use is its id; it takes
 *   them while it
 * waits, and offers them when it leaves.
 *
 * As printed it locks processes out (`afteryou check forks-printed`). Three repairs, each of them
 * needed:
 * 1. update(GRAPH) leaves out "if not x_j then redirect(i,j,GRAPH)".
 * 2. One reading of the reachable set serves both update(RANGE) and the test: an arrow between two
 *    that stopped may read otherwise the second time.
 * 3. What was once read as offered is remembered (fork.h), and not forgotten with the passage: who
 *    leaves takes first, and offers, what it remembers.
 *
 * A process that dies (and is seen to) is one that stopped in its Remainder: x reads as 0, its
 * forks stay.
 */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_FORKS_H
#define AFTERYOU_PROTOCOLS_REGISTERS_FORKS_H

#include "protocols/registers/fork.h"

enum { FORKS_PLACES_MOST = 8 * sizeof(place_set) };

static inline unsigned forks_bits(unsigned places)
{
    return 1 + FORK_HALF * FORK_STRUCTURES * (places - 1);
}

#define X(i) (i), 0

static inline void forks_count(uint8_t *count, struct fork_reading reading, unsigned a, unsigned b)
{
    if (reading.in_use)
        count[fork_holder(reading, a, b)]++;
}

struct forks_observe {
    PART_HEAD
    place_number j, k;
    uint8_t count[FORKS_PLACES_MOST]; /* forks in use, by place */
    place_set higher;                 /* the outcome */
    struct fork_read read;
};

/* The outcome: those with an id above mine; "id_j := (count, j)". */
static inline void forks_compare(struct forks_observe *my, struct registers *at)
{
    const unsigned i = registers_self(at);
    for (unsigned j = registers_next(at, 0); j < registers_places(at);
         j = registers_next(at, j + 1)) {
        if (my->count[j] > my->count[i] || (my->count[j] == my->count[i] && j > i))
            my->higher = fork_with(my->higher, j);
        my->count[j] = 0;
    }
    my->count[i] = 0;
}

/* observe(ID), each fork read once. */
static inline enum passage_result forks_observe(struct forks_observe *my, struct registers *at,
                                                struct fork_memory *memory,
                                                struct forks_rules rules)
{
    PASSAGE_BEGIN
    for (EACH_OTHER(my->j)) {
        CALL(fork_read, &my->read, at, FORK_ID, registers_self(at), my->j, memory, rules);
        forks_count(my->count, fork_outcome(&my->read), registers_self(at), my->j);
        for (EACH_OTHER(my->k))
            if (my->k > my->j) {
                CALL(fork_read, &my->read, at, FORK_ID, my->j, my->k, memory, rules);
                forks_count(my->count, fork_outcome(&my->read), my->j, my->k);
            }
        my->k = 0;
    }
    my->j = 0;
    forks_compare(my, at);
    PASSAGE_END
}

struct forks_update {
    PART_HEAD
    place_number j, k;
    uint8_t x;
    union {
        struct fork_read read;
        struct fork_redirect redirect;
    };
};

/* update(GRAPH): "if j > i and x_j then redirect(i,j,GRAPH); for all k do if j → k in RANGE then
 * redirect(i,k,GRAPH)", where j > i compares their ids. */
static inline enum passage_result forks_update(struct forks_update *my, struct registers *at,
                                               place_set higher, struct fork_memory *memory,
                                               struct forks_rules rules)
{
    PASSAGE_BEGIN
    for (EACH_OTHER(my->j))
        if (fork_has(higher, my->j) || rules.redirect_idle) {
            READ_BIT(x, my->x, X(my->j));
            if (my->x ? fork_has(higher, my->j) : rules.redirect_idle) {
                CALL(fork_redirect, &my->redirect, at, FORK_GRAPH, my->j, memory, rules);
                if (my->x && !rules.no_range)
                    for (EACH_OTHER(my->k))
                        if (my->k != my->j) {
                            CALL(fork_read, &my->read, at, FORK_RANGE, my->j, my->k, memory, rules);
                            if (fork_arrow(fork_outcome(&my->read), my->j, my->k))
                                CALL(fork_redirect, &my->redirect, at, FORK_GRAPH, my->k, memory,
                                     rules);
                        }
                my->k = 0;
            }
            my->x = 0;
        }
    my->j = 0;
    PASSAGE_END
}

struct forks_reach {
    PART_HEAD
    place_number j, k;
    uint8_t x;
    place_set outside; /* of their Remainder: those with x set */
    place_set reached; /* the outcome */
    place_set done;    /* those of them whose arrows have been followed */
    struct fork_read read;
};

/* R(i, GRAPH, X): "Read X and GRAPH … Return R_i(G'(i))". The order of the reading is free, so an
 * arrow is read when it can matter: once, from a node that is reached to one that is not. Leaves
 * `reached` and `outside`. */
static inline enum passage_result forks_reach(struct forks_reach *my, struct registers *at,
                                              struct fork_memory *memory, struct forks_rules rules)
{
    PASSAGE_BEGIN
    my->outside = my->reached = 0;
    for (EACH_OTHER(my->j)) {
        READ_BIT(x, my->x, X(my->j));
        if (my->x)
            my->outside = fork_with(my->outside, my->j);
        my->x = 0;
    }
    my->reached = fork_with(0, registers_self(at));
    while (my->reached & ~my->done) {
        my->j = fork_first((place_set)(my->reached & ~my->done));
        for (EACH_OTHER(my->k))
            if (fork_has((place_set)(my->outside & ~my->reached), my->k)) {
                CALL(fork_read, &my->read, at, FORK_GRAPH, my->j, my->k, memory, rules);
                if (fork_arrow(fork_outcome(&my->read), my->j, my->k))
                    my->reached = fork_with(my->reached, my->k);
            }
        my->k = 0;
        my->done = fork_with(my->done, my->j);
    }
    my->j = 0;
    my->done = 0;
    PASSAGE_END
}

struct forks_passage {
    PASSAGE_HEAD
    place_number j;
    uint8_t blocked;   /* |R| > l */
    place_set higher;  /* those with a higher id */
    place_set towards; /* where RANGE is to point: those reached, and those in their Remainder */
    struct fork_memory memory;
    union {
        struct fork_redirect redirect;
        struct fork_mutation mutation;
        struct forks_observe observe;
        struct forks_update update;
        struct forks_reach reach;
    };
};

/* |R| > l, and whom RANGE is to point at, of a finished reading; it forgets it. */
static inline void forks_conclude(struct forks_passage *my, struct registers *at)
{
    my->blocked = (unsigned)__builtin_popcountll(my->reach.reached) > registers_slots(at);
    my->towards = 0;
    for (unsigned j = registers_next(at, 0); j < registers_places(at);
         j = registers_next(at, j + 1))
        if (fork_has(my->reach.reached, j) || !fork_has(my->reach.outside, j))
            my->towards = fork_with(my->towards, j);
    my->reach.reached = my->reach.outside = 0;
}

/* Construction 8. */
static inline enum passage_result forks_run(struct forks_passage *my, struct registers *at,
                                            struct forks_rules rules)
{
    const bool range = registers_places(at) > 2 && !rules.no_range; /* of two, neither reads it */
    PASSAGE_BEGIN
    WRITE_BIT(x, X(registers_self(at)), true);
    for (EACH_OTHER(my->j))
        CALL(fork_redirect, &my->redirect, at, FORK_GRAPH, my->j, &my->memory, rules);
    my->j = 0;
    QUEUE;
    for (;;) {
        for (EACH_OTHER(my->j)) /* increment_your(ID) */
            CALL(fork_take, &my->mutation, at, FORK_ID, my->j, &my->memory, rules);
        my->j = 0;
        CALL(forks_observe, &my->observe, at, &my->memory, rules);
        my->higher = my->observe.higher;
        my->observe.higher = 0;
        CALL(forks_update, &my->update, at, my->higher, &my->memory, rules);
        my->higher = 0;
        CALL(forks_reach, &my->reach, at, &my->memory, rules);
        forks_conclude(my, at);
        for (EACH_OTHER(my->j)) /* update(RANGE) */
            if (fork_has(my->towards, my->j) && range)
                CALL(fork_redirect, &my->redirect, at, FORK_RANGE, my->j, &my->memory, rules);
        my->j = 0;
        my->towards = 0;
        if (rules.read_twice) {
            CALL(forks_reach, &my->reach, at, &my->memory, rules);
            forks_conclude(my, at);
            my->towards = 0;
        }
        if (!my->blocked)
            break;
        my->blocked = 0;
        AGAIN;
    }
    PASSAGE_END
}

static inline enum passage_result forks_enter(struct forks_passage *my, struct registers *at)
{
    return forks_run(my, at, (struct forks_rules){0});
}

static inline enum passage_result forks_exit(struct forks_passage *my, struct registers *at,
                                             struct forks_rules rules)
{
    PASSAGE_BEGIN
    if (rules.forget_at_leave)
        my->memory = (struct fork_memory){0};
    for (EACH_OTHER(my->j)) {
        if (fork_has(my->memory.offered[FORK_GRAPH], my->j))
            CALL(fork_redirect, &my->redirect, at, FORK_GRAPH, my->j, &my->memory, rules);
        if (fork_has(my->memory.offered[FORK_ID], my->j))
            CALL(fork_redirect, &my->redirect, at, FORK_ID, my->j, &my->memory, rules);
        /* initialize_your(ID) */
        CALL(fork_offer, &my->mutation, at, FORK_ID, my->j, &my->memory, rules);
    }
    my->j = 0;
    WRITE_BIT(x, X(registers_self(at)), false);
    PASSAGE_END
}

static inline enum passage_result forks_leave(struct forks_passage *my, struct registers *at)
{
    return forks_exit(my, at, (struct forks_rules){0});
}

#undef X
#endif
