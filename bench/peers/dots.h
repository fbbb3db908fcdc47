/* SPDX-License-Identifier: MIT */
/* Two drawings on logarithmic axes, as SVG: a row of dots for each name, and labelled points. */
#ifndef BENCH_PEERS_DOTS_H
#define BENCH_PEERS_DOTS_H

#include <stddef.h>
#include <stdio.h>

enum { DOTS_ROWS_MOST = 64, DOTS_SERIES_MOST = 6 };

/* Rows of dots: a value of each series in each row; one that is not positive is not drawn. */
struct dots {
    const char *title, *axis;
    size_t rows, series;
    const char *row_names[DOTS_ROWS_MOST], *series_names[DOTS_SERIES_MOST];
    double values[DOTS_ROWS_MOST][DOTS_SERIES_MOST];
    double mark; /* a line there, if it is positive */
};
int dots_write(const struct dots *dots, FILE *out); /* 0 or a negative errno */

/* Points with their names beside them; x and y positive. */
struct cloud {
    const char *title, *x_axis, *y_axis;
    size_t count;
    const char *names[DOTS_ROWS_MOST];
    double x[DOTS_ROWS_MOST], y[DOTS_ROWS_MOST];
    unsigned colours[DOTS_ROWS_MOST];
};
int cloud_write(const struct cloud *cloud, FILE *out); /* 0 or a negative errno */

#endif
