/* SPDX-License-Identifier: MIT */
/* Places taken for one another (`--symmetry`): fewer states, where safety alone is asked.
 *
 * A text treats places unlike in two ways only: a scan looks at them in ascending order, and of two
 * equal numbers the lesser place goes first. Let a *ranking* of the processes decide both, and let
 * it change at any moment, as long as it keeps
 *   (1) whom a scan has passed before whom it has not, and whom it is at between them,
 *   (2) two with equal numbers in the order that they have.
 * The shipped text is the case in which the ranking never changes. So whatever it can do is done
 * here as well, and what is safe here is safe there; not the other way round, so a violation is
 * looked for again without symmetry.
 *
 * Processes are numbered by rank: then a state with its ranking is a state of the shipped text, and
 * a change of the ranking permutes its places. (1) and (2) are a partial order, which is the same
 * before and after such a change; the states that it leads to, a *class*, are the linear extensions
 * of that order. Of a class one state is kept (symmetry_canonical), and from it go the moves of all
 * its members (symmetry_successors).
 */
#ifndef AFTERYOU_CHECK_REGISTERS_SYMMETRY_H
#define AFTERYOU_CHECK_REGISTERS_SYMMETRY_H

#include <stdatomic.h>

#include "check/registers/register_model.h"

/* So many places at most: a class has at most as many members as they have orders. */
enum { SYMMETRY_PLACES = 5, SYMMETRY_POINTS = 1 << 13 };

/* What is known of a point where a part with a cursor stops. */
enum symmetry_point {
    POINT_UNKNOWN,
    POINT_APART, /* it does not scan there */
    POINT_FIRST, /* it is about to look at one place of those that it has not passed */
    POINT_WITH   /* it has looked at that place, and looks again */
};

struct symmetry {
    _Atomic uint8_t point[SYMMETRY_POINTS]; /* enum symmetry_point; learnt as they are met */
    /* make the moves of every member, though the ranking makes no difference to them: a test */
    bool thorough;
};

/* The state to which each process may as well have gone on (register_protocol.hasten). */
void symmetry_hasten(const struct register_model *model, unsigned char *state);

/* Permutes the places of a state: the one that is kept of its class. */
void symmetry_canonical(const struct register_model *model, unsigned char *state);
void symmetry_successors(const struct system *system, const unsigned char *state,
                         struct successors *out);

/* For the protocols' own: a set of places, or what is kept of each, by rank. `rank`: by place. */
static inline unsigned symmetry_set(unsigned set, unsigned places, const uint8_t *rank)
{
    unsigned permuted = set >> places << places;
    for (unsigned place = 0; place < places; place++)
        permuted |= (set >> place & 1) << rank[place];
    return permuted;
}

static inline void symmetry_words(word *words, unsigned places, const uint8_t *rank)
{
    word permuted[PROCESSES_MOST];
    for (unsigned place = 0; place < places; place++)
        permuted[rank[place]] = words[place];
    for (unsigned place = 0; place < places; place++)
        words[place] = permuted[place];
}

#endif
