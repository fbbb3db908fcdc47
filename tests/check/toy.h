/* SPDX-License-Identifier: MIT */
/* Toy systems for the checker: a list of moves between numbered states, and where each process is
 * in each state. */
#ifndef AFTERYOU_TESTS_CHECK_TOY_H
#define AFTERYOU_TESTS_CHECK_TOY_H

#include "check/search/run.h"
#include "check/search/search.h"

struct toy_move {
    unsigned from, to;
    unsigned process;
    enum move_kind kind;
    bool enters;
};

enum { TOY_STATES_MOST = 64 };

struct toy {
    struct system system;
    const struct toy_move *moves; /* 256 at most: a move's `choice` is its place in this list */
    size_t count;
    enum status status[TOY_STATES_MOST][PROCESSES_MOST];
    enum waits waits[TOY_STATES_MOST]; /* of each move: where the process stood */
    /* by state and process: what it waits for does not hold; it will look at all others anew */
    bool unable[TOY_STATES_MOST][PROCESSES_MOST], rests[TOY_STATES_MOST][PROCESSES_MOST];
    unsigned bad; /* a state that breaks exclusion; 0: none */
};

/* The toy begins in state 0. Fills in the system; set the statuses before or after, and its goals,
 * a bit for each state that is to be reached, after. */
void toy_open(struct toy *toy, unsigned processes, const struct toy_move *moves, size_t count);

/* The state after so many moves of a run, by the toy's own list; fails the test if a move is not
 * possible where it is made. */
unsigned toy_follow(const struct toy *toy, const struct check_run *run, size_t moves);

#define TOY_OPEN(toy, processes, moves)                                                            \
    toy_open(toy, processes, moves, sizeof(moves) / sizeof *(moves))

#endif
