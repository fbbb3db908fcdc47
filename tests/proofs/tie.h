/* SPDX-License-Identifier: MIT */
/* Ties a proof (proofs/NAME.proof, as C that tools/prove.py makes of it) to the shipped text.
 *
 * The checker searches the shipped text. In every state that it reaches, the proof's invariant is
 * evaluated; every move that it makes must be a few steps of the proof, or none. So what a solver
 * proves of the steps, for every number of places, it proves of the text. What a proof sees of a
 * state is its view; ghosts, which only remember, travel with the state.
 */
#ifndef AFTERYOU_TESTS_PROOFS_TIE_H
#define AFTERYOU_TESTS_PROOFS_TIE_H

#include <stdbool.h>
#include <stddef.h>

#include "check/search/system.h"

enum { TIE_PLACES = 4, TIE_MODES = 4, TIE_STEPS_MOST = 3 };

/* How many there are: set by tie_holds. */
extern int tie_places, tie_modes;

struct tie_promise {
    const char *name;
    int (*holds)(const void *view, const int *parameters);
    bool numeric; /* speaks of numbers that a ghost remembers */
};

struct tie_step {
    const char *name;
    const char *parameters; /* a letter each: p is a place, m a mode; the first is who moves */
    int (*when)(const void *view, const int *parameters);
    int (*then)(const void *view, const int *parameters, void *out);
    const struct tie_promise *promises;
};

struct tie_invariant {
    const char *name;
    int (*holds)(const void *view);
    bool numeric;
};

struct tie_variable {
    const char *name;
    size_t at;
    const char *indices; /* a letter each, as above */
    bool numeric;        /* a ghost that remembers numbers */
};

/* A part of the protocol that may be left out. */
struct tie_part {
    const char *name;
    int *left_out;
};

struct proof {
    const char *name;
    size_t size;  /* of a view */
    size_t shown; /* of that, without the ghosts */
    int (*initially)(const void *view);
    /* All end with a NULL name. */
    const struct tie_step *steps;
    const struct tie_invariant *invariants;
    const struct tie_variable *variables;
    const struct tie_part *parts;
};

/* A system of the checker, as a proof sees it. */
struct tie {
    const struct proof *proof;
    const struct system *inner;
    /* makes a move as it is, without the search's reductions */
    void (*make)(const struct system *inner, unsigned char *state, struct move move);
    void (*see)(const struct system *inner, const unsigned char *state, void *view);
    unsigned modes;
    unsigned places; /* of the proof; 0: the system's processes */
    /* the place that makes the move; NULL: the process's number */
    int (*mover)(const struct system *inner, const unsigned char *state, struct move move);
    /* the search renumbers: what ghosts remember of numbers is not judged */
    bool reduced;
    const char *left_out; /* a part that the proof is to leave out; NULL: none */
};

/* Searches it all. NULL if every state has the invariant and every move is in the proof; else what
 * is not so. Says on stdout how much was searched, and what was found. */
const char *tie_search(const struct tie *tie);

#endif
