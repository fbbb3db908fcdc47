/* SPDX-License-Identifier: MIT */
/* Space-time diagrams: processes as lines, steps as dots, messages as arrows, waiting and inside as
 * bars. */
#include "common/draw/spacetime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/draw/svg.h"
#include "common/grow.h"

enum mark_kind {
    MARK_PROCESS,
    MARK_STEP,
    MARK_DEATH,
    MARK_MESSAGE,
    MARK_WAITS,
    MARK_INSIDE,
    MARK_VIOLATION,
    MARK_NOTE
};

/* Whatever is drawn: on one line, or between two. */
struct mark {
    enum mark_kind kind;
    unsigned process, other;
    double column, other_column;
    char *text; /* NULL: none */
};

struct spacetime {
    char *title;
    unsigned processes;
    size_t count, room;
    struct mark *marks;
    bool failed; /* memory ran out */
    double left; /* where time begins: beside the names; set by spacetime_write() */
};

enum {
    LEFT_LEAST = 110,
    TOP = 64,
    ROW = 64,
    COLUMN = 44,
    BOTTOM = 40,
    BAR = 14,
    NOTE = 16,
    MARGIN = 30,
    LEGEND_TIME = 170
};

static const char legend_of_time[] = "time runs to the right";

struct spacetime *spacetime_open(const char *title)
{
    struct spacetime *diagram = calloc(1, sizeof *diagram);
    if (!diagram)
        return NULL;
    diagram->title = strdup(title);
    if (!diagram->title) {
        free(diagram);
        return NULL;
    }
    return diagram;
}

void spacetime_close(struct spacetime *diagram)
{
    if (!diagram)
        return;
    for (size_t i = 0; i < diagram->count; i++)
        free(diagram->marks[i].text);
    free(diagram->marks);
    free(diagram->title);
    free(diagram);
}

static void add(struct spacetime *diagram, struct mark mark, const char *text)
{
    if (diagram->failed)
        return;
    if (!grow(&diagram->marks, diagram->count, &diagram->room, sizeof *diagram->marks, 64) ||
        (text && !(mark.text = strdup(text)))) {
        diagram->failed = true;
        return;
    }
    diagram->marks[diagram->count++] = mark;
}

unsigned spacetime_process(struct spacetime *diagram, const char *name)
{
    add(diagram, (struct mark){.kind = MARK_PROCESS, .process = diagram->processes}, name);
    return diagram->processes++;
}

void spacetime_step(struct spacetime *diagram, unsigned process, double column, const char *label)
{
    add(diagram, (struct mark){MARK_STEP, process, process, column, column, NULL}, label);
}

void spacetime_death(struct spacetime *diagram, unsigned process, double column, const char *label)
{
    add(diagram, (struct mark){MARK_DEATH, process, process, column, column, NULL}, label);
}

void spacetime_message(struct spacetime *diagram, unsigned from, double sent, unsigned to,
                       double received, const char *label)
{
    add(diagram, (struct mark){MARK_MESSAGE, from, to, sent, received, NULL}, label);
}

void spacetime_bar(struct spacetime *diagram, enum spacetime_bar kind, unsigned process,
                   double from, double to, const char *label)
{
    const enum mark_kind mark = kind == SPACETIME_INSIDE ? MARK_INSIDE : MARK_WAITS;
    add(diagram, (struct mark){mark, process, process, from, to, NULL}, label);
}

void spacetime_violation(struct spacetime *diagram, unsigned process, double column, unsigned other,
                         double other_column, const char *what)
{
    add(diagram, (struct mark){MARK_VIOLATION, process, other, column, other_column, NULL}, what);
}

void spacetime_note(struct spacetime *diagram, const char *text)
{
    add(diagram, (struct mark){.kind = MARK_NOTE}, text);
}

static struct point place(const struct spacetime *diagram, unsigned process, double column)
{
    return (struct point){diagram->left + COLUMN * column, TOP + ROW * (double)process + ROW / 2.0};
}

static double last_column(const struct spacetime *diagram)
{
    double last = 1;
    for (size_t i = 0; i < diagram->count; i++) {
        const struct mark *mark = &diagram->marks[i];
        last = mark->column > last ? mark->column : last;
        last = mark->other_column > last ? mark->other_column : last;
    }
    return last;
}

static void draw_dot(FILE *out, const struct spacetime *diagram, const struct mark *mark)
{
    const struct point at = place(diagram, mark->process, mark->column);
    svg_dot(out, mark->kind == MARK_DEATH ? "dead" : "step", at, mark->kind == MARK_DEATH ? 6 : 3);
    if (mark->text)
        svg_text(out, "small", "middle", (struct point){at.x, at.y + BAR + 6}, mark->text);
}

static void draw_bar(FILE *out, const struct spacetime *diagram, const struct mark *mark)
{
    const struct point from = place(diagram, mark->process, mark->column),
                       to = place(diagram, mark->process, mark->other_column);
    svg_box(out, mark->kind == MARK_INSIDE ? "inside" : "wait",
            (struct point){from.x, from.y - BAR / 2.0}, to.x - from.x, BAR);
    if (mark->text)
        svg_text(out, "small", "start", (struct point){from.x + 2, from.y - BAR / 2.0 - 3},
                 mark->text);
}

static void draw_message(FILE *out, const struct spacetime *diagram, const struct mark *mark)
{
    const struct point from = place(diagram, mark->process, mark->column),
                       to = place(diagram, mark->other, mark->other_column);
    svg_arrow(out, "message", from, to);
    /* Nearer to the sender: the arrows of one broadcast part there, and arrive in a crowd. */
    const struct point middle = {from.x + 0.3 * (to.x - from.x) + 4,
                                 from.y + 0.3 * (to.y - from.y)};
    if (mark->text)
        svg_text(out, "small", "start", middle, mark->text);
}

static void draw_violation(FILE *out, const struct spacetime *diagram, const struct mark *mark)
{
    const struct point one = place(diagram, mark->process, mark->column),
                       two = place(diagram, mark->other, mark->other_column);
    svg_dot(out, "mark", one, 12);
    svg_dot(out, "mark", two, 12);
    svg_line(out, "mark", one, two);
    if (mark->text)
        svg_text(out, "wrong", "start", (struct point){diagram->left, TOP - 12}, mark->text);
}

/* Later kinds lie above earlier ones, so that dots and the violation are never hidden. */
static void draw(FILE *out, const struct spacetime *diagram, const struct mark *mark,
                 enum mark_kind kind, double end)
{
    if (mark->kind != kind)
        return;
    switch (kind) {
    case MARK_PROCESS:
        svg_text(out, "name", "end",
                 (struct point){diagram->left - 14, place(diagram, mark->process, 0).y + 4},
                 mark->text);
        svg_line(out, "life", place(diagram, mark->process, -0.2),
                 place(diagram, mark->process, end));
        break;
    case MARK_WAITS:
    case MARK_INSIDE:
        draw_bar(out, diagram, mark);
        break;
    case MARK_MESSAGE:
        draw_message(out, diagram, mark);
        break;
    case MARK_STEP:
    case MARK_DEATH:
        draw_dot(out, diagram, mark);
        break;
    case MARK_VIOLATION:
        draw_violation(out, diagram, mark);
        break;
    case MARK_NOTE:
        break;
    }
}

/* How wide a text may be, in letters of this size: fonts differ, so it is more than most. */
static double text_width(const char *text, double size)
{
    return 0.75 * size * (double)strlen(text);
}

/* How far to the right the text of a mark reaches. */
static double reach_of(const struct spacetime *diagram, const struct mark *mark)
{
    const double from = place(diagram, mark->process, mark->column).x,
                 to = place(diagram, mark->other, mark->other_column).x;
    const char *text = mark->text ? mark->text : "";
    switch (mark->kind) {
    case MARK_NOTE:
        return diagram->left + text_width(text, SVG_SMALL);
    case MARK_VIOLATION:
        return diagram->left + text_width(text, SVG_PLAIN);
    case MARK_STEP:
    case MARK_DEATH:
        return from + text_width(text, SVG_SMALL) / 2;
    case MARK_WAITS:
    case MARK_INSIDE:
        return from + text_width(text, SVG_SMALL);
    case MARK_MESSAGE:
        return from + 0.3 * (to - from) + text_width(text, SVG_SMALL);
    case MARK_PROCESS:
        break;
    }
    return 0;
}

static double left_of(const struct spacetime *diagram)
{
    double left = LEFT_LEAST;
    for (size_t i = 0; i < diagram->count; i++)
        if (diagram->marks[i].kind == MARK_PROCESS &&
            text_width(diagram->marks[i].text, SVG_PLAIN) + MARGIN > left)
            left = text_width(diagram->marks[i].text, SVG_PLAIN) + MARGIN;
    return left;
}

static double width_of(const struct spacetime *diagram, double end)
{
    const double title = diagram->left + text_width(diagram->title, SVG_TITLE);
    const double legend = diagram->left + LEGEND_TIME + text_width(legend_of_time, SVG_SMALL);
    double width = diagram->left + COLUMN * end;
    width = title > width ? title : width;
    width = legend > width ? legend : width;
    for (size_t i = 0; i < diagram->count; i++) {
        const double reach = reach_of(diagram, &diagram->marks[i]);
        width = reach > width ? reach : width;
    }
    return width + MARGIN;
}

static double draw_notes(FILE *out, const struct spacetime *diagram, double top)
{
    for (size_t i = 0; i < diagram->count; i++)
        if (diagram->marks[i].kind == MARK_NOTE) {
            top += NOTE;
            if (out)
                svg_text(out, "small", "start", (struct point){diagram->left, top},
                         diagram->marks[i].text);
        }
    return top;
}

int spacetime_write(struct spacetime *diagram, FILE *out)
{
    if (diagram->failed)
        return -ENOMEM;
    static const enum mark_kind order[] = {MARK_PROCESS, MARK_WAITS, MARK_INSIDE,   MARK_MESSAGE,
                                           MARK_STEP,    MARK_DEATH, MARK_VIOLATION};
    const double left = diagram->left = left_of(diagram), end = last_column(diagram) + 0.5;
    const double bottom = TOP + ROW * (double)diagram->processes + BOTTOM;
    svg_begin(out, width_of(diagram, end), draw_notes(NULL, diagram, bottom) + 10, diagram->title);
    draw_notes(out, diagram, bottom - 10);
    svg_text(out, "title", "start", (struct point){left, 26}, diagram->title);
    for (size_t kind = 0; kind < sizeof order / sizeof *order; kind++)
        for (size_t i = 0; i < diagram->count; i++)
            draw(out, diagram, &diagram->marks[i], order[kind], end);
    const double legend = TOP + ROW * (double)diagram->processes + 20;
    svg_box(out, "wait", (struct point){left, legend - 9}, 20, 10);
    svg_text(out, "small", "start", (struct point){left + 26, legend}, "waits");
    svg_box(out, "inside", (struct point){left + 80, legend - 9}, 20, 10);
    svg_text(out, "small", "start", (struct point){left + 106, legend}, "inside");
    svg_text(out, "small", "start", (struct point){left + LEGEND_TIME, legend}, legend_of_time);
    svg_end(out);
    errno = 0;
    return fflush(out) != 0 || ferror(out) ? (errno ? -errno : -EIO) : 0;
}
