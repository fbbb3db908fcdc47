/* SPDX-License-Identifier: MIT */
/* Curves on two logarithmic axes, as SVG. */
#ifndef AFTERYOU_COMMON_DRAW_CHART_H
#define AFTERYOU_COMMON_DRAW_CHART_H

#include <stddef.h>
#include <stdio.h>

struct curve {
    const char *name;
    /* `count` each, x ascending and positive; y below the axis' least is drawn on it */
    const double *x, *y;
    size_t count;
};

struct chart {
    const char *title, *x_name, *y_name;
    double x_least, x_most, y_least, y_most; /* positive */
    const struct curve *curves;
    size_t count;
};

/* 0, or a negative errno. */
int chart_write(const struct chart *chart, FILE *out);

#endif
