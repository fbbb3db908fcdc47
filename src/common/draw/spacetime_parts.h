/* SPDX-License-Identifier: MIT */
/* Space-time diagrams: what their files share. spacetime.c gathers marks, spacetime_layout.c finds
 * room for them, spacetime_write.c draws them. */
#ifndef AFTERYOU_COMMON_DRAW_SPACETIME_PARTS_H
#define AFTERYOU_COMMON_DRAW_SPACETIME_PARTS_H

#include <stddef.h>

#include "common/draw/spacetime.h"
#include "common/draw/svg.h"

/* In the order in which they are drawn: later kinds lie above earlier ones, so that moves and the
 * violation are never hidden. */
enum mark_kind {
    MARK_PROCESS,
    MARK_DEAD,
    MARK_WAITS,
    MARK_INSIDE,
    MARK_MESSAGE,
    MARK_READ,
    MARK_STEP,
    MARK_DEATH,
    MARK_STORES,
    MARK_FETCHES,
    MARK_ACTS,
    MARK_DIES,
    MARK_LOOP,
    MARK_VIOLATION,
    MARK_NOTE
};

/* Whatever is drawn: on one line, or between two. */
struct mark {
    enum mark_kind kind;
    unsigned process, other;
    double column, other_column;
    char *text, *below;   /* NULL: none */
    struct point text_at; /* of a message: where its text begins; set by the layout */
};

struct spacetime {
    char *title;
    unsigned processes;
    size_t count, room;
    struct mark *marks;
    bool failed; /* memory ran out */
    /* Set by spacetime_lay_out(). */
    double left; /* where time begins: beside the names */
    double *x;   /* of each whole column */
    size_t columns;
};

enum {
    SPACETIME_TOP = 64,
    SPACETIME_ROW = 64,
    SPACETIME_MARGIN = 30,
    SPACETIME_RADIUS = 10, /* of a move with a number in it */
    SPACETIME_BELOW = 22,  /* from a line down to what is written below it */
};

/* False: no memory. */
bool spacetime_lay_out(struct spacetime *diagram);
struct point spacetime_place(const struct spacetime *diagram, unsigned process, double column);
double spacetime_last_column(const struct spacetime *diagram);
/* How wide a text may be, in letters of this size: fonts differ, so it is more than most. */
double spacetime_text_width(const char *text, double size);
/* How far to the right anything reaches but the line of a process. */
double spacetime_reach(const struct spacetime *diagram);

#endif
