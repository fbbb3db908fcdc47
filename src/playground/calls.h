/* SPDX-License-Identifier: MIT */
/* What the page, and the program, ask for by name: one session at a time.
 *
 * Each prints one line of JSON and returns true, or says on stderr what is wrong and returns false.
 * An index is a number of moves: 0 is the beginning of the run. */
#ifndef AFTERYOU_PLAYGROUND_CALLS_H
#define AFTERYOU_PLAYGROUND_CALLS_H

#include <stdbool.h>
#include <stddef.h>

struct search;

bool playground_catalogue(void);
/* The options of `afteryou check`, as `afteryou --options` tells them. */
bool playground_options(void);
/* Whether the words can be opened; nothing is printed. */
bool playground_takes(const char *words);
bool playground_open(const char *words);
bool playground_state(size_t index);
bool playground_make(size_t index, const char *move);
bool playground_shows(size_t index, const char *property);
/* Of exclusion, or of what must be reached. */
bool playground_hint(size_t index, const char *property);
bool playground_check(const char *words, size_t memory,
                      void (*progress)(const struct search *search));

#endif
