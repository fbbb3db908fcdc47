/* SPDX-License-Identifier: MIT */
/* How many states are to come, as far as the layers of a search tell: those at the same distance
 * from the first state. */
#ifndef AFTERYOU_CHECK_SEARCH_ESTIMATE_H
#define AFTERYOU_CHECK_SEARCH_ESTIMATE_H

#include <stdint.h>

enum { LAYERS_TOGETHER = 4, LAYERS_KEPT = 3 * LAYERS_TOGETHER };

/* Zero at first. */
struct estimate {
    double layer[LAYERS_KEPT]; /* the newest first */
};

/* The next layer is whole, and has this size. */
void estimate_add(struct estimate *estimate, uint64_t layer);
/* Layers grow, then grow less, then shrink. If they go on to grow less as they did lately, so many
 * states lie in the layers to come; below 0: they have not begun to grow less. Early on it is too
 * low by far. */
double estimate_to_come(const struct estimate *estimate);

#endif
