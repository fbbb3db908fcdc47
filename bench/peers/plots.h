/* SPDX-License-Identifier: MIT */
/* The plots of a run. */
#ifndef BENCH_PEERS_PLOTS_H
#define BENCH_PEERS_PLOTS_H

#include "rows.h"

/* Draws performance-*.svg in that directory, those for which there are rows. 0, or a negative errno
 * and words in `message`. */
int plots_write(const struct rows *rows, const char *directory, char *message, size_t room);

#endif
