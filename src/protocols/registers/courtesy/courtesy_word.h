/* SPDX-License-Identifier: MIT */
/* The word of a place under `courtesy`: its states, its number, and who goes before whom. See
 * courtesy.h. */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_COURTESY_COURTESY_WORD_H
#define AFTERYOU_PROTOCOLS_REGISTERS_COURTESY_COURTESY_WORD_H

#include "protocols/language/registers.h"

enum courtesy_state {
    COURTESY_IDLE,
    COURTESY_CHOOSING,
    COURTESY_QUEUED,
    COURTESY_ASLEEP,
    COURTESY_ASIDE,
    COURTESY_CLAIMS,
    COURTESY_INSIDE,
    COURTESY_HOLDING,
    COURTESY_EXPRESS,
    COURTESY_RETAINED,
    COURTESY_UPGRADES
};

enum {
    COURTESY_STATE_BITS = 4,
    COURTESY_MODE_SHIFT = COURTESY_STATE_BITS,
    COURTESY_INCARNATION_SHIFT = COURTESY_MODE_SHIFT + WORD_MODE_BITS,
    COURTESY_NUMBER_SHIFT = COURTESY_INCARNATION_SHIFT + INCARNATION_BITS,
    COURTESY_STIRS_SHIFT = 8 * (int)sizeof(word) - 1, /* set in every state but IDLE */
    COURTESY_NUMBER_BITS = COURTESY_STIRS_SHIFT - COURTESY_NUMBER_SHIFT
};

static inline enum courtesy_state courtesy_state(word w)
{
    return (enum courtesy_state)(w & ((1u << COURTESY_STATE_BITS) - 1));
}

/* Of the passage that it shows; 0 of an idle place. */
static inline unsigned courtesy_mode(word w)
{
    return (unsigned)(w >> COURTESY_MODE_SHIFT & ((1u << WORD_MODE_BITS) - 1));
}

static inline word courtesy_incarnation(word w)
{
    return (word)(w >> COURTESY_INCARNATION_SHIFT & ((1u << INCARNATION_BITS) - 1));
}

static inline word courtesy_number(word w)
{
    return (word)((word)(w << 1) >> (COURTESY_NUMBER_SHIFT + 1));
}

static inline word courtesy_word(enum courtesy_state state, unsigned mode, word incarnation,
                                 word number)
{
    return (word)((word)state |
                  (word)((word)(state == COURTESY_IDLE ? 0 : mode) << COURTESY_MODE_SHIFT) |
                  (word)(incarnation << COURTESY_INCARNATION_SHIFT) |
                  (word)(number << COURTESY_NUMBER_SHIFT) |
                  (word)((word)(state != COURTESY_IDLE) << COURTESY_STIRS_SHIFT));
}

/* Whether half of the numbers have been drawn that a fence has room for: it has two bits less. */
static inline bool courtesy_is_half_used(word w)
{
    return w >> (COURTESY_STIRS_SHIFT - 3) & 7;
}

/* The next number, in the same state. */
static inline word courtesy_successor(word w)
{
    return (word)(w + (1u << COURTESY_NUMBER_SHIFT));
}

/* Nothing follows from a word up to this one: it is idle, in nobody's way, asleep on nobody, and
 * its number, not above mine, raises no fence. This is what the bit at the top is for: one
 * comparison tells. */
static inline word courtesy_quiet(word own)
{
    return (word)((word)((word)(own << 1) >> 1) | ((1u << COURTESY_NUMBER_SHIFT) - 1));
}

/* What a state alone sets, and the bits that are its own: an idle place has no mode. */
static inline word courtesy_mark(enum courtesy_state state)
{
    return (word)((word)state | (word)((word)(state != COURTESY_IDLE) << COURTESY_STIRS_SHIFT));
}

static inline word courtesy_marked(enum courtesy_state state)
{
    const word mode = (word)(((1u << WORD_MODE_BITS) - 1) << COURTESY_MODE_SHIFT);
    return (word)((word)((1u << COURTESY_STATE_BITS) - 1) |
                  (word)((word)1 << COURTESY_STIRS_SHIFT) | (state == COURTESY_IDLE ? mode : 0));
}

/* The same place in another state. */
static inline word courtesy_in(enum courtesy_state state, word w)
{
    return (word)((w & (word)~courtesy_marked(state)) | courtesy_mark(state));
}

/* Likewise, in another mode; or with another number. Not IDLE. */
static inline word courtesy_as(enum courtesy_state state, unsigned mode, word w)
{
    const word shown = (word)(courtesy_mark(state) | (word)((word)mode << COURTESY_MODE_SHIFT));
    return (word)((w & (word)~courtesy_marked(COURTESY_IDLE)) | shown);
}

static inline word courtesy_numbered(enum courtesy_state state, word w, word number)
{
    const word kept = (word)((1u << COURTESY_NUMBER_SHIFT) - (1u << COURTESY_STATE_BITS));
    return (word)((w & kept) | courtesy_mark(state) | (word)(number << COURTESY_NUMBER_SHIFT));
}

/* What a place's word reads as once its owner has died. */
static inline word courtesy_dead(word w)
{
    const word next = (word)((courtesy_incarnation(w) + 1u) & ((1u << INCARNATION_BITS) - 1));
    return courtesy_word(COURTESY_IDLE, 0, next, courtesy_number(w));
}

/* Whether place j, whose word was seen as w, goes before me. */
static inline bool courtesy_before_me(struct registers *at, unsigned j, word w)
{
    const int precedence = registers_precedence(at, j); /* < 0: the other's class goes first */
    const word mine = courtesy_number(registers_own(at, 0)), other = courtesy_number(w);
    if (precedence)
        return precedence < 0;
    return other < mine || (other == mine && j < registers_self(at));
}

/* Not yet decided: it is in its doorway, or on the express lane. */
static inline bool courtesy_undecided(word w)
{
    return courtesy_state(w) == COURTESY_CHOOSING || courtesy_state(w) == COURTESY_EXPRESS;
}

/* Whether the passage that w shows excludes one in my mode; and whether it would, were I in the
 * strongest mode that I may convert to. The former implies the latter. */
static inline bool courtesy_excludes(struct registers *at, word w)
{
    return registers_excludes(at, registers_mode(at), courtesy_mode(w));
}

static inline bool courtesy_concerns(struct registers *at, word w)
{
    return registers_excludes(at, registers_strongest(at), courtesy_mode(w));
}

/* The same passage, whatever its state: every passage draws a number, and every death changes the
 * incarnation. */
static inline bool courtesy_same(word a, word b)
{
    return courtesy_in(COURTESY_IDLE, a) == courtesy_in(COURTESY_IDLE, b);
}

/* The number I shall have inside: above mine, and above all that I saw; `most` is one above the
 * greatest of these. */
static inline word courtesy_fence(struct registers *at, word most)
{
    const word own = courtesy_number(registers_own(at, 0));
    return most > own ? most : (word)(own + 1u);
}

#endif
