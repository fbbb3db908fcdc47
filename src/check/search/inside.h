/* SPDX-License-Identifier: MIT */
/* What the two ways to search have in common: the one that keeps how each state was reached
 * (search.c), and the one that keeps the states alone (search_compact.c). */
#ifndef AFTERYOU_CHECK_SEARCH_INSIDE_H
#define AFTERYOU_CHECK_SEARCH_INSIDE_H

#include "check/search/search.h"

/* Between two states; false: a limit was met, and search->end says which. */
bool search_within_limits(struct search *search);
/* A state that was not known before: which goals it reaches, and whether it breaks anything. False:
 * it does. */
bool search_judge_state(struct search *search, const unsigned char *state);
/* The moves out of a state, as the system made them: false if there were more than it has room for.
 */
bool search_judge_moves(struct search *search, const struct successors *out);

/* Searches without parents and graph. search->end tells, but of a violation only that there is one,
 * and how deep. */
void search_compactly(struct search *search);

#endif
