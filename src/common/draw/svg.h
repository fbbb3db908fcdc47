/* SPDX-License-Identifier: MIT */
/* The few words of SVG that our drawings need, with all text escaped. */
#ifndef AFTERYOU_COMMON_DRAW_SVG_H
#define AFTERYOU_COMMON_DRAW_SVG_H

#include <stdio.h>

/* Sizes of letters: of the class "title", of "small", and of all else. */
enum { SVG_TITLE = 15, SVG_SMALL = 10, SVG_PLAIN = 12 };

struct point {
    double x, y;
};

/* Begins a drawing of that size on white; `title` is what a screen reader says. Styles are the
 * classes of svg.c. */
void svg_begin(FILE *out, double width, double height, const char *title);
void svg_end(FILE *out);

void svg_line(FILE *out, const char *class, struct point from, struct point to);
/* A line whose `to` end bears an arrow head. */
void svg_arrow(FILE *out, const char *class, struct point from, struct point to);
void svg_dot(FILE *out, const char *class, struct point at, double radius);
void svg_box(FILE *out, const char *class, struct point corner, double width, double height);
/* `anchor` is "start", "middle" or "end". */
void svg_text(FILE *out, const char *class, const char *anchor, struct point at, const char *text);
/* One line through all the points. */
void svg_path(FILE *out, const char *class, const struct point *points, size_t count);

/* Text as XML wants it; bytes that XML forbids become '?'. */
void svg_escape(FILE *out, const char *text);

/* The class of the i-th curve or process: a handful of colours that the colour-blind can tell
 * apart, in turn.
 */
const char *svg_colour(unsigned i);

#endif
