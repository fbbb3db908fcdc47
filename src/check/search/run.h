/* SPDX-License-Identifier: MIT */
/* A run of a system: the moves from its beginning, told one by one, and where it begins to repeat.
 */
#ifndef AFTERYOU_CHECK_SEARCH_RUN_H
#define AFTERYOU_CHECK_SEARCH_RUN_H

#include "check/search/search.h"

struct run_step {
    struct move move;
    uint8_t status[PROCESSES_MOST]; /* enum status: of each process, after the move */
    char line[240];
};

struct check_run {
    struct run_step *steps;
    size_t count, room;
    size_t loop; /* the step that begins the cycle; `count` if the run just ends */
};

/* Adds to the line that tells a move; NULL: nobody listens. */
void run_line_add(char *line, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* One more move at the end. False if there is no memory. */
bool run_append(struct check_run *run, struct move move);
/* The shortest run to a state of the search. 0 or -ENOMEM. */
int run_to(const struct search *search, uint32_t state, struct check_run *run);
/* One move of a way through the graph: the edge-th out of a state. Naming the target would not do:
 * several processes may make moves between the same two states, and who moved is what a fair cycle
 * is about. */
struct hop {
    uint32_t state, edge;
};
/* Goes on along hops that follow one another, the first being out of where the run stands; if
 * `closes`, the last leads back to the first, and the run repeats from there. 0 or -ENOMEM. */
int run_along(const struct search *search, const struct hop *hops, size_t count, bool closes,
              struct check_run *run);
/* Tells the moves by making them, from the beginning, without the reductions of the search. 0 or
 * -ENOMEM. */
int run_tell(const struct system *system, struct check_run *run);
void run_close(struct check_run *run);

#endif
