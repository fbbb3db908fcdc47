/* SPDX-License-Identifier: MIT */
/* `bakery`: Lamport's simple region: modes that conflict or not, first come first served.
 *
 * L. Lamport, The Synchronization of Independent Processes, Acta Informatica 7, 1976: "A Simple
 * Algorithm", with mode, choosing and number in one word. Deviations, each of them allowed by the
 * paper or checked:
 *
 * - "any integer > maximum": a place keeps its last number in its word while it is idle, and after
 *   its owner's death.
 * So every number drawn is greater than all numbers that were public when its doorway began,
 * numbers never go back, and
 *   a number can serve as a fence. Zero, the paper's infinity, is the state IDLE here.
 * - An incarnation stands beside the number, and changes when the owner dies. A waiter passes a
 *   place as soon as it sees another incarnation or another choosing than the first: whoever began
 *   anew began after the waiter was
 * queued, and draws a greater number. The paper lets a process that dies again and again in its
 * doorway lock others out
 *   (condition D4 (b)); with this, it cannot: Rivest and Pratt's ultrareliability.
 *
 * Word 0, least significant bits first: state, mode, incarnation, number.
 * Fences: after the store of CHOOSING and after the store of the number. Leaving needs none.
 */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_BAKERY_H
#define AFTERYOU_PROTOCOLS_REGISTERS_BAKERY_H

#include "protocols/language/registers.h"
#include "protocols/modes.h"

enum bakery_state { BAKERY_IDLE, BAKERY_CHOOSING, BAKERY_QUEUED };

enum {
    BAKERY_STATE_BITS = 2,
    BAKERY_MODE_SHIFT = BAKERY_STATE_BITS,
    BAKERY_MODE_BITS = 3,
    BAKERY_INCARNATION_SHIFT = BAKERY_MODE_SHIFT + BAKERY_MODE_BITS,
    BAKERY_NUMBER_SHIFT = BAKERY_INCARNATION_SHIFT + INCARNATION_BITS,
    BAKERY_NUMBER_BITS = 8 * (int)sizeof(word) - BAKERY_NUMBER_SHIFT
};
_Static_assert(MODES <= 1 << BAKERY_MODE_BITS, "every mode has room");
_Static_assert(BAKERY_NUMBER_SHIFT + BAKERY_NUMBER_BITS <= 8 * (int)sizeof(word),
               "so has a number");

static inline enum bakery_state bakery_state(word w)
{
    return (enum bakery_state)(w & ((1u << BAKERY_STATE_BITS) - 1));
}

static inline unsigned bakery_mode(word w)
{
    return (unsigned)(w >> BAKERY_MODE_SHIFT) & ((1u << BAKERY_MODE_BITS) - 1);
}

static inline word bakery_incarnation(word w)
{
    return (word)(w >> BAKERY_INCARNATION_SHIFT & ((1u << INCARNATION_BITS) - 1));
}

static inline word bakery_number(word w)
{
    return (word)(w >> BAKERY_NUMBER_SHIFT);
}

static inline word bakery_word(enum bakery_state state, unsigned mode, word incarnation,
                               word number)
{
    return (word)((word)state | (word)(mode << BAKERY_MODE_SHIFT) |
                  (word)(incarnation << BAKERY_INCARNATION_SHIFT) |
                  (word)(number << BAKERY_NUMBER_SHIFT));
}

/* What a place's word reads as once its owner has died: idle, one incarnation on, the number kept.
 */
static inline word bakery_dead(word w)
{
    const word next = (word)((bakery_incarnation(w) + 1u) & ((1u << INCARNATION_BITS) - 1));
    return bakery_word(BAKERY_IDLE, 0, next, bakery_number(w));
}

/* #(i) < #(j), both in the queue. */
static inline bool bakery_before(word number_i, unsigned i, word number_j, unsigned j)
{
    return number_i < number_j || (number_i == number_j && i < j);
}

#define W(process) (process), 0

struct bakery_passage {
    /* what was first seen of the place now waited for */
    PASSAGE_HEAD
    word first;
    word number; /* in the doorway: the greatest seen so far */
    place_number j;
};

/* Mutants, for the checker to refute. */
struct bakery_without {
    bool choosing, incarnation;
};

/* "wait until not choosing[j] or not conflict(i, j)", or j has begun anew. */
static inline bool bakery_chosen(struct registers *at, word w, unsigned j, word first,
                                 struct bakery_without without)
{
    if (bakery_state(w) != BAKERY_CHOOSING || !registers_conflict(at, j, bakery_mode(w)) ||
        without.choosing)
        return true;
    /* the incarnation, or the number kept */
    return !without.incarnation &&
           w >> BAKERY_INCARNATION_SHIFT != first >> BAKERY_INCARNATION_SHIFT;
}

/* "wait until #(i) < #(j) or not conflict(i, j)", or j has begun anew. A place that chooses again
 * will draw a greater number than mine. */
static inline bool bakery_first(struct registers *at, word w, unsigned j, word first,
                                struct bakery_without without)
{
    if (bakery_state(w) != BAKERY_QUEUED || !registers_conflict(at, j, bakery_mode(w)))
        return true;
    if (!without.incarnation && bakery_incarnation(w) != bakery_incarnation(first))
        return true;
    return bakery_before(bakery_number(registers_own(at, 0)), registers_self(at), bakery_number(w),
                         j);
}

static inline enum passage_result bakery_run(struct bakery_passage *my, struct registers *at,
                                             struct bakery_without without)
{
    const unsigned mode = registers_mode(at);
    const word incarnation = bakery_incarnation(registers_own(at, 0));
    word w = 0;
    PASSAGE_BEGIN
    /* doorway */
    my->number = bakery_number(registers_own(at, 0));
    WRITE(choosing, W(registers_self(at)),
          bakery_word(BAKERY_CHOOSING, mode, incarnation, my->number));
    for (EACH_OTHER(my->j)) {
        READ(maximum, w, W(my->j));
        if (bakery_number(w) > my->number)
            my->number = bakery_number(w);
    }
    my->j = 0;
    my->number = registers_draw(at, my->number, BAKERY_NUMBER_BITS);
    WRITE(number, W(registers_self(at)), bakery_word(BAKERY_QUEUED, mode, incarnation, my->number));
    my->number = 0;
    /* waiting queue */
    QUEUE;
    for (EACH_OTHER(my->j)) {
        READ(look, my->first, W(my->j));
        if (!bakery_chosen(at, my->first, my->j, my->first, without))
            AWAIT(chosen, w, W(my->j), bakery_chosen(at, w, my->j, my->first, without));
        else
            w = my->first;
        if (!bakery_first(at, w, my->j, my->first, without))
            AWAIT(turn, w, W(my->j), bakery_first(at, w, my->j, my->first, without));
        my->first = 0;
    }
    my->j = 0;
    PASSAGE_END
}

static inline enum passage_result bakery_enter(struct bakery_passage *my, struct registers *at)
{
    return bakery_run(my, at, (struct bakery_without){0});
}

static inline enum passage_result bakery_leave(struct bakery_passage *my, struct registers *at)
{
    const word own = registers_own(at, 0);
    PASSAGE_BEGIN
    WRITE_LATE(epilogue, W(registers_self(at)),
               bakery_word(BAKERY_IDLE, 0, bakery_incarnation(own), bakery_number(own)));
    PASSAGE_END
}

#undef W
#endif
