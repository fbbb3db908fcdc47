/* SPDX-License-Identifier: MIT */
/* `region`: region mode when condition do … od, with a scheduling function: the general algorithm.
 *
 * L. Lamport, The Synchronization of Independent Processes, Acta Informatica 7 (1976), section 2,
 * "The General Algorithm". "Process i maintains a boolean variable precede[i,j] … Its value is true
 * only if i may enter critical section_i before j enters critical section_j. Process i only sets
 * this variable to true from inside a region(i,j) critical section." region(i,j) is the simple
 * algorithm (the bakery) for two processes, whose numbers are 1, 2, 3 with 1 < 2 < 3 < 1.
 *
 * Public variables of place i, each in the word that its owner stores whole:
 *   R(i)       mode[i], number[i], whether it is in the bakery, choosing[i], and whether its `when`
 *              holds
 *   PAIR(i,j)  for every j: choosing and number of region(i,j), and precede[i,j]
 * Fresh memory is zero: outside, false.
 *
 * Where it departs from the print:
 * - choosing[i] and the wait for it are ours. The paper leaves them out ("the use of the
 *   region(i,j) statements eliminates the need for the choosing flag"), and then D3 is false:
 *   `afteryou check region-printed`.
 * - A place keeps its number when it leaves, and only says that it is outside; where the paper
 *   tests number[j] = 0 we test that. The draw is above every number in sight, one's own last one
 *   included ("any integer >", and rule I2), so numbers grow for ever.
 * - should·precede may look at another's `when`, which only its owner can evaluate: the owner says
 *   in R(i) what it last found.
 *
 * Holds (`afteryou check region`): D1 exclusion of conflicting modes, D2 the condition at entry, D3
 * nobody enters before a conflicting process that is ahead of it and that it should not precede,
 * and somebody can always enter. What a process suffers that finds another in a doorway again and
 * again because that one dies there each time,
 * D4 leaves open, and so do we.
 */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_REGION_H
#define AFTERYOU_PROTOCOLS_REGISTERS_REGION_H

#include "protocols/language/registers.h"

#define R(process)           (process), 0
#define PAIR(process, other) (process), 1u + (other)

/* should·precede(i,j): when i may pass j although j is ahead of it. */
enum region_precedence {
    REGION_IN_ORDER, /* never */
    /* by mode or priority, as the space says: "process i wants to write and process j wants to
     * read" */
    REGION_BY_CLASS,
    /* "process i's when condition is true and process j's when condition is false" */
    REGION_ABLE_FIRST
};

struct region_rules {
    enum region_precedence precedence;
    bool no_choosing;  /* as printed */
    bool no_pair;      /* precede[i,j] is set without region(i,j): for the checker to refute */
    bool stale_mode;   /* conflict(i,j) is not looked at again inside region(i,j): likewise */
    bool keep_precede; /* the epilogue leaves precede[i,j] true: likewise */
};

/* R(i), least significant bits first. */
enum {
    REGION_IN = 1,       /* in the waiting queue or inside: the paper's number[i] ≠ 0 */
    REGION_CHOOSING = 2, /* in the doorway */
    REGION_ABLE = 4,     /* it last found its `when` true; kept with REGION_ABLE_FIRST only */
    REGION_MODE_SHIFT = 3,
    REGION_NUMBER_SHIFT = 6,
    REGION_NUMBER_BITS = 8 * sizeof(word) - REGION_NUMBER_SHIFT
};

/* PAIR(i,j). */
enum { PAIR_PRECEDE = 1, PAIR_CHOOSING = 2, PAIR_NUMBER_SHIFT = 2 };

static inline word region_word(unsigned flags, unsigned mode, word number)
{
    return (word)((word)(flags | mode << REGION_MODE_SHIFT) |
                  (word)(number << REGION_NUMBER_SHIFT));
}

static inline word region_number(word w)
{
    return (word)(w >> REGION_NUMBER_SHIFT);
}

static inline unsigned region_mode(word w)
{
    return (unsigned)(w >> REGION_MODE_SHIFT) & 7;
}

/* What R(i) is once i has left: mode and number stay. One who finds precede[j,i] true, and then
 * looks for the conflict, must not find j's mode changed by a departure: readers that come and go
 * would keep another reader waiting for ever.
 */
static inline word region_outside(word w)
{
    return region_word(0, region_mode(w), region_number(w));
}

static inline word pair_word(unsigned flags, unsigned number)
{
    return (word)(flags | number << PAIR_NUMBER_SHIFT);
}

static inline unsigned pair_number(word w)
{
    return (unsigned)(w >> PAIR_NUMBER_SHIFT) & 3;
}

/* "1 < 2, 2 < 3, 3 < 1"; 0 stands for outside. */
static inline uint8_t pair_after(unsigned number)
{
    return (uint8_t)(number % 3 + 1);
}

/* #(i) < #(j) in region(i,j); i is in it. */
static inline bool pair_before(unsigned mine, unsigned i, unsigned its, unsigned j)
{
    return its == 0 || its == pair_after(mine) || (its == mine && i < j);
}

/* #(i) < #(j), both in the bakery. */
static inline bool region_before(word a, unsigned i, word b, unsigned j)
{
    return region_number(a) < region_number(b) || (region_number(a) == region_number(b) && i < j);
}

/* 1: should·precede(i,j); -1: should·precede(j,i). `mine` and `its` are R(i) and R(j), the latter
 * just fetched. */
static inline int region_should(struct registers *at, enum region_precedence precedence, word mine,
                                word its, unsigned j)
{
    switch (precedence) {
    case REGION_BY_CLASS:
        return registers_precedence(at, j);
    case REGION_ABLE_FIRST:
        return ((mine & REGION_ABLE) != 0) - ((its & REGION_ABLE) != 0);
    default:
        return 0;
    }
}

/* may·precede(i,j) = "number[j] = 0 or ~conflict(i,j) or [#(i) < #(j) and ~should·precede(j,i)] or
 * [#(j) < #(i) and should·precede(i,j)]". */
static inline bool region_may(struct registers *at, enum region_precedence precedence, word mine,
                              unsigned i, word its, unsigned j)
{
    if (!(its & REGION_IN) || !registers_conflict(at, j, region_mode(its)))
        return true;
    const int should = region_should(at, precedence, mine, its, j);
    return region_before(mine, i, its, j) ? should >= 0 : should > 0;
}

struct region_pair {
    PART_HEAD
    word w;
    uint8_t number;
    uint8_t precede; /* the outcome */
};

/* "region(i,j) do precede[i,j] := ~precede[j,i] or ~conflict(i,j) od", by the simple algorithm for
 * two. */
static inline enum passage_result region_pair(struct region_pair *my, struct registers *at,
                                              unsigned j, struct region_rules rules)
{
    const unsigned i = registers_self(at), kept = OWN(PAIR(i, j)) & PAIR_PRECEDE;
    PASSAGE_BEGIN
    if (!rules.no_pair) {
        WRITE(pair_choosing, PAIR(i, j), pair_word(kept | PAIR_CHOOSING, 0));
        READ(pair_maximum, my->w, PAIR(j, i));
        my->number = pair_after(pair_number(my->w));
        my->w = 0;
        /* number, and choosing false */
        WRITE(pair_number, PAIR(i, j), pair_word(kept, my->number));
        AWAIT(pair_not_choosing, my->w, PAIR(j, i), !(my->w & PAIR_CHOOSING));
        my->w = 0;
        AWAIT(pair_turn, my->w, PAIR(j, i), pair_before(my->number, i, pair_number(my->w), j));
        my->w = 0;
        my->number = 0;
    }
    READ(precede_other, my->w, PAIR(j, i));
    my->precede = !(my->w & PAIR_PRECEDE);
    my->w = 0;
    if (!my->precede && !rules.stale_mode) {
        READ(conflict, my->w, R(j));
        my->precede = !registers_conflict(at, j, region_mode(my->w));
        my->w = 0;
    }
    /* and region(i,j) is left */
    WRITE(precede, PAIR(i, j), pair_word(my->precede ? PAIR_PRECEDE : 0, 0));
    PASSAGE_END
}

struct region_passage {
    PASSAGE_HEAD
    word w;
    word number; /* in the doorway: the greatest seen so far */
    place_number j;
    uint8_t condition; /* my `when`, as found in this round */
    uint8_t refused;   /* some precede[i,j] is false */
    struct region_pair pair;
};

/* R(i) with another answer to whether my `when` holds. */
static inline word region_able(word mine, bool able)
{
    return (word)(able ? mine | REGION_ABLE : mine & ~(unsigned)REGION_ABLE);
}

static inline enum passage_result region_run(struct region_passage *my, struct registers *at,
                                             struct region_rules rules)
{
    const unsigned i = registers_self(at), mode = registers_mode(at);
    const bool able_first = rules.precedence == REGION_ABLE_FIRST;
    PASSAGE_BEGIN
    /* "mode[i] := mode_i; number[i] := any integer > maximum{number[j]}" */
    my->number = region_number(OWN(R(i)));
    WRITE(mode, R(i), region_word(rules.no_choosing ? 0 : REGION_CHOOSING, mode, my->number));
    for (EACH_OTHER(my->j)) {
        READ(maximum, my->w, R(my->j));
        if (region_number(my->w) > my->number)
            my->number = region_number(my->w);
        my->w = 0;
    }
    my->j = 0;
    my->number = registers_draw(at, my->number, REGION_NUMBER_BITS);
    WRITE(number, R(i), region_word(REGION_IN, mode, my->number)); /* number, and choosing false */
    my->number = 0;
    QUEUE;
    /* "while ~condition_i or ~∧{precede[i,j]} do": the condition is evaluated after the last
     * precede[i,j] is true. */
    my->refused = 1;
    for (;;) {
        if (!my->refused || able_first) {
            CONDITION(condition, my->condition);
            if (my->condition && !my->refused)
                break;
            if (able_first && region_able(OWN(R(i)), my->condition) != OWN(R(i)))
                WRITE(able, R(i), region_able(OWN(R(i)), my->condition));
            my->condition = 0;
            if (!my->refused)
                AGAIN;
        }
        my->refused = 0;
        for (EACH_OTHER(my->j)) {
            if (!rules.no_choosing) {
                AWAIT(not_choosing, my->w, R(my->j),
                      !(my->w & REGION_CHOOSING) ||
                          !registers_conflict(at, my->j, region_mode(my->w)));
                my->w = 0;
            }
            READ(may_precede, my->w, R(my->j));
            if (region_may(at, rules.precedence, OWN(R(i)), i, my->w, my->j)) {
                my->w = 0;
                CALL(region_pair, &my->pair, at, my->j, rules);
            } else if (OWN(PAIR(i, my->j)) & PAIR_PRECEDE) {
                my->w = 0;
                WRITE(precede_false, PAIR(i, my->j), 0);
            }
            my->w = 0;
            my->refused |= !my->pair.precede;
            my->pair.precede = 0;
        }
        my->j = 0;
        if (my->refused)
            AGAIN;
    }
    my->condition = 0;
    PASSAGE_END
}

static inline enum passage_result region_enter(struct region_passage *my, struct registers *at)
{
    return region_run(my, at, (struct region_rules){.precedence = REGION_IN_ORDER});
}

/* "number[i] := 0; for all j do precede[i,j] := false od". It serves one who gives up as well:
 * whatever it had begun is withdrawn. */
static inline enum passage_result region_withdraw(struct region_passage *my, struct registers *at,
                                                  struct region_rules rules)
{
    PASSAGE_BEGIN
    WRITE_LATE(leave, R(registers_self(at)), region_outside(OWN(R(registers_self(at)))));
    if (!rules.keep_precede)
        for (EACH_OTHER(my->j))
            WRITE_LATE(leave_precede, PAIR(registers_self(at), my->j), 0);
    my->j = 0;
    PASSAGE_END
}

static inline enum passage_result region_leave(struct region_passage *my, struct registers *at)
{
    return region_withdraw(my, at, (struct region_rules){.precedence = REGION_IN_ORDER});
}

#undef R
#undef PAIR
#endif
