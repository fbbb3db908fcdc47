/* SPDX-License-Identifier: MIT */
/* Threads that make units of a crew: helpers.c; where there are no threads, helpers_none.c. */
#ifndef AFTERYOU_CHECK_SEARCH_HELPERS_H
#define AFTERYOU_CHECK_SEARCH_HELPERS_H

#include "check/search/crew.h"

struct helpers;

/* NULL if not one could be started. */
struct helpers *helpers_start(struct crew *crew, unsigned count);
void helpers_end(struct helpers *helpers);
/* The unit of crew->given is filled: it may be made. Counts it. */
void helpers_give(struct helpers *helpers, struct unit *unit);
/* Until the unit is made; whoever waits makes others meanwhile. */
void helpers_await(struct helpers *helpers, struct unit *unit);

#endif
