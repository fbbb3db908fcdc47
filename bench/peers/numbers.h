/* SPDX-License-Identifier: MIT */
/* Order statistics of small samples. */
#ifndef BENCH_PEERS_NUMBERS_H
#define BENCH_PEERS_NUMBERS_H

#include <stddef.h>

/* Sorts the values; 0 if there are none. */
double quantile(double *values, size_t count, double q);

#endif
