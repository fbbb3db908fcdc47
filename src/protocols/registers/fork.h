/* SPDX-License-Identifier: MIT */
/* The fork: what two processes hand to and fro and everybody can see, from safe bits.
 *
 * D. Dolev, E. Gafni and N. Shavit, Toward a Non-Atomic Era: l-Exclusion as a Test Case, STOC 1988,
 * constructions 1 to 4. "At all times the fork is in the hand of one of the processes. The fork
 * cycles through four states in_use_i, offered_i, in_use_j, and offered_j, in that order." Where
 * only the direction counts it is an arrow: i → j is offered_i or in_use_j.
 *
 * Each of the two writes three safe bits, its half of the fork: f says who holds it (with hi > lo:
 * f_hi = f_lo ? hi : lo), and w whether this one uses it, in two copies: wp for the other of the
 * two, wq for everyone else. wp is written first, so what anybody saw offered to j, j sees offered
 * too ("consistency").
 *
 * A process that has once read a fork of its own as offered by the other remembers it until it
 * takes the fork. The paper asks for that (P3b: "any read R2 by mutator i that follows R1 … will
 * return the same result"), but its construction does not give it where the other stopped in the
 * middle of its offer, and its bit flickers for ever.
 *
 * A process that dies (and is seen to) leaves its halves as they were, perhaps in the middle of a
 * mutation. So a bit is written only where that changes it.
 */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_FORK_H
#define AFTERYOU_PROTOCOLS_REGISTERS_FORK_H

#include "protocols/language/registers.h"

enum fork_structure { FORK_GRAPH, FORK_RANGE, FORK_ID, FORK_STRUCTURES };

/* The paper's text, where we depart from it, and what its footnotes warn of: for the checker to
 * refute. */
struct forks_rules {
    bool redirect_idle;   /* printed: "if not x_j then redirect(i,j,GRAPH)" */
    bool read_twice;      /* printed: update(RANGE) and the test read the graph each for itself */
    bool forgetful;       /* printed: what was read is not remembered */
    bool forget_at_leave; /* what was read is remembered for the passage only */
    /* w is read before f: "The order of the reads of F and w_i, w_j is crucial!" */
    bool swapped;
    bool no_range; /* no RANGE: figure 3 */
    bool one_copy; /* w in one copy for all: without construction 3 */
};

enum { FORK_F, FORK_WP, FORK_WQ, FORK_HALF };

static inline unsigned fork_index(const struct registers *at, unsigned i, unsigned structure,
                                  unsigned j, unsigned bit)
{
    const unsigned others = registers_places(at) - 1;
    return 1 + FORK_HALF * (structure * others + (j < i ? j : j - 1)) + bit;
}

#define F(i, structure, j)  (i), fork_index(at, i, structure, j, FORK_F)
#define WP(i, structure, j) (i), fork_index(at, i, structure, j, FORK_WP)
#define WQ(i, structure, j) (i), fork_index(at, i, structure, j, FORK_WQ)
/* The copy of w that the reader looks at; of my own two, the one that is written last. */
#define W(i, structure, j)                                                                         \
    (i), fork_index(at, i, structure, j,                                                           \
                    registers_self(at) == (j) && !rules.one_copy ? FORK_WP : FORK_WQ)

static inline bool fork_has(place_set set, unsigned place)
{
    return set >> place & 1;
}

static inline place_set fork_with(place_set set, unsigned place)
{
    return (place_set)(set | (place_set)((place_set)1 << place));
}

static inline place_number fork_first(place_set set)
{
    return (place_number)__builtin_ctzll(set);
}

static inline place_set fork_without(place_set set, unsigned place)
{
    return (place_set)(set & ~((place_set)1 << place));
}

/* A fork between a and b, as read. */
struct fork_reading {
    uint8_t held_by_high : 1; /* by the higher of the two */
    uint8_t in_use : 1;       /* else offered */
};

static inline unsigned fork_holder(struct fork_reading reading, unsigned a, unsigned b)
{
    return (a > b) == reading.held_by_high ? a : b;
}

static inline bool fork_offered_by(struct fork_reading reading, unsigned a, unsigned b)
{
    return fork_holder(reading, a, b) == a && !reading.in_use;
}

static inline bool fork_used_by(struct fork_reading reading, unsigned a, unsigned b)
{
    return fork_holder(reading, a, b) == a && reading.in_use;
}

/* "offered_a or in_use_b: return a → b" */
static inline bool fork_arrow(struct fork_reading reading, unsigned a, unsigned b)
{
    return (fork_holder(reading, a, b) == a) != reading.in_use;
}

/* What I remember to have read as offered to me: per structure, by the other. */
struct fork_memory {
    place_set offered[FORK_STRUCTURES];
};

struct fork_read {
    PART_HEAD
    uint8_t f : 1; /* of the lower */
    uint8_t w_low : 1, w_high : 1;
    struct fork_reading reading;
};

/* A bit, or what I know of my own. */
#define LOOK_(label, into, place, index)                                                           \
    do {                                                                                           \
        if ((place) == registers_self(at))                                                         \
            (into) = OWN_BIT(place, index);                                                        \
        else                                                                                       \
            READ_BIT(label, into, place, index);                                                   \
    } while (0)
#define LOOK(label, into, ...) LOOK_(label, into, __VA_ARGS__)

/* read(a,b): "if F = 1 then if w_i then return in_use_i …"; or, of my own fork, what I remember. */
static inline enum passage_result fork_read(struct fork_read *my, struct registers *at,
                                            unsigned structure, unsigned a, unsigned b,
                                            struct fork_memory *memory, struct forks_rules rules)
{
    const unsigned self = registers_self(at), low = a < b ? a : b, high = a < b ? b : a,
                   other = a == self ? b : a;
    const bool mine = a == self || b == self;
    PASSAGE_BEGIN
    if (mine && fork_has(memory->offered[structure], other)) {
        my->reading.held_by_high = other == high;
    } else {
        if (rules.swapped) {
            LOOK(w, my->w_low, W(low, structure, high));
            LOOK(w, my->w_high, W(high, structure, low));
        }
        LOOK(f, my->f, F(low, structure, high));
        LOOK(f, my->reading.held_by_high, F(high, structure, low));
        my->reading.held_by_high = my->reading.held_by_high == my->f;
        my->f = 0;
        if (rules.swapped)
            my->reading.in_use = my->reading.held_by_high ? my->w_high : my->w_low;
        else if (my->reading.held_by_high)
            LOOK(w, my->reading.in_use, W(high, structure, low));
        else
            LOOK(w, my->reading.in_use, W(low, structure, high));
        my->w_low = my->w_high = 0;
        if (mine && !rules.forgetful && fork_offered_by(my->reading, other, self))
            memory->offered[structure] = fork_with(memory->offered[structure], other);
    }
    PASSAGE_END
}

/* The outcome of a finished reading; it forgets it. */
static inline struct fork_reading fork_outcome(struct fork_read *read)
{
    const struct fork_reading reading = read->reading;
    read->reading = (struct fork_reading){0};
    return reading;
}

struct fork_mutation {
    PART_HEAD
    struct fork_read read;
};

/* take_i: "if read(FORK_ij) = offered_j then w_i := true; F := 1 fi". To flip one's own f changes
 * who holds it. */
static inline enum passage_result fork_take(struct fork_mutation *my, struct registers *at,
                                            unsigned structure, unsigned j,
                                            struct fork_memory *memory, struct forks_rules rules)
{
    const unsigned i = registers_self(at);
    PASSAGE_BEGIN
    CALL(fork_read, &my->read, at, structure, i, j, memory, rules);
    if (fork_offered_by(fork_outcome(&my->read), j, i)) {
        memory->offered[structure] = fork_without(memory->offered[structure], j);
        if (!OWN_BIT(WP(i, structure, j)) && !rules.one_copy)
            WRITE_BIT(take_wp, WP(i, structure, j), true);
        if (!OWN_BIT(WQ(i, structure, j)))
            WRITE_BIT(take_wq, WQ(i, structure, j), true);
        WRITE_BIT(take_f, F(i, structure, j), !OWN_BIT(F(i, structure, j)));
    }
    PASSAGE_END
}

/* offer_i: "if read(FORK_ij) = in_use_i then w_i := false fi". If w_i is clear there is nothing to
 * read. */
static inline enum passage_result fork_offer(struct fork_mutation *my, struct registers *at,
                                             unsigned structure, unsigned j,
                                             struct fork_memory *memory, struct forks_rules rules)
{
    const unsigned i = registers_self(at);
    PASSAGE_BEGIN
    if (OWN_BIT(WQ(i, structure, j))) {
        CALL(fork_read, &my->read, at, structure, i, j, memory, rules);
        if (fork_used_by(fork_outcome(&my->read), i, j)) {
            if (OWN_BIT(WP(i, structure, j)))
                WRITE_BIT(offer_wp, WP(i, structure, j), false);
            WRITE_BIT(offer_wq, WQ(i, structure, j), false);
        }
    }
    PASSAGE_END
}

struct fork_redirect {
    PART_HEAD
    struct fork_mutation mutation;
};

/* "redirect_i … a sequence of a take_i followed by an offer_i": the arrow points from i to j. */
static inline enum passage_result fork_redirect(struct fork_redirect *my, struct registers *at,
                                                unsigned structure, unsigned j,
                                                struct fork_memory *memory,
                                                struct forks_rules rules)
{
    PASSAGE_BEGIN
    CALL(fork_take, &my->mutation, at, structure, j, memory, rules);
    CALL(fork_offer, &my->mutation, at, structure, j, memory, rules);
    PASSAGE_END
}

#undef F
#undef WP
#undef WQ
#undef W
#undef LOOK
#undef LOOK_
#endif
