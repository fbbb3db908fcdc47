/* SPDX-License-Identifier: MIT */
/* Those who make the moves out of states: the search itself, and helpers that do it ahead, each on
 * a processor of its own.
 *
 * What a system's successors() does depends on the state alone, and is most of a search's work
 * beside the store. So helpers need not touch the store: the search hands states out, in the order
 * in which they are to be expanded, and gets their successors back in that order. Whatever it puts,
 * numbers and judges is the same as without helpers, in the same order.
 */
#ifndef AFTERYOU_CHECK_SEARCH_CREW_H
#define AFTERYOU_CHECK_SEARCH_CREW_H

#include "check/search/store.h"
#include "check/search/system.h"

enum { CREW_UNIT = 16, CREW_UNITS = 16, CREW_MOST = 64 };

/* A state, and the moves out of it. */
struct expansion {
    size_t which; /* of those to be expanded */
    struct key key;
    unsigned char state[STATE_SIZE_MOST] __attribute__((aligned(8)));
    struct successors out;
};

/* So many states are handed out at a time. */
struct unit {
    unsigned count;
    bool made; /* by its maker, under the helpers' lock; cleared when it is handed out again */
    struct expansion *expansion[CREW_UNIT];
};

/* Writes the state that is the which-th to be expanded, and its key. */
typedef void expansion_filler(const void *context, size_t which, struct expansion *expansion);

struct crew {
    const struct system *system;
    expansion_filler *fill;
    const void *context;
    struct helpers *helpers; /* NULL: none */
    struct unit unit[CREW_UNITS];
    /* Units ever handed out, begun by somebody, and come back to the search. */
    uint64_t given, begun, taken;
    size_t next;    /* the first that was not handed out */
    unsigned place; /* in the unit that is being taken */
};

/* `threads` counts the search itself. False: no memory. If the machine starts fewer threads, there
 * are fewer. */
bool crew_open(struct crew *crew, const struct system *system, unsigned threads,
               expansion_filler *fill, const void *context);
void crew_close(struct crew *crew);
/* The next to be expanded, of so many as are known by now; NULL: all were. It stays as it is until
 * the one after the next is asked for. */
struct expansion *crew_next(struct crew *crew, size_t known);
/* All that were known have been expanded; the next to be expanded is the first of another list. */
void crew_start_over(struct crew *crew);

/* For helpers.c: makes what a unit asks for. */
void crew_make(const struct crew *crew, struct unit *unit);

#endif
