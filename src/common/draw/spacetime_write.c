/* SPDX-License-Identifier: MIT */
/* Space-time diagrams: the drawing. */
#include <errno.h>
#include <math.h>

#include "common/draw/spacetime_parts.h"

enum {
    BAR = 14,
    BAR_MOVES = 28, /* around moves with numbers in them */
    RING = 14,
    BOTTOM = 40,
    NOTE = 16,
    LEGEND_WORD = 80, /* from one sample of the legend to the next */
    LOOP_DOWN = 14,   /* from the last line's row to the arrow back */
    LOOP_ROOM = 30
};

static const char legend_of_time[] = "time runs to the right";

static bool has(const struct spacetime *diagram, enum mark_kind first, enum mark_kind last)
{
    for (size_t i = 0; i < diagram->count; i++)
        if (diagram->marks[i].kind >= first && diagram->marks[i].kind <= last)
            return true;
    return false;
}

static bool is_numbered(const struct spacetime *diagram)
{
    return has(diagram, MARK_STORES, MARK_DIES);
}

static double bottom_of_lines(const struct spacetime *diagram)
{
    return SPACETIME_TOP + SPACETIME_ROW * (double)diagram->processes;
}

static void draw_below(FILE *out, const struct mark *mark, struct point at)
{
    if (mark->below)
        svg_text(out, "small value", "middle", (struct point){at.x, at.y + SPACETIME_BELOW},
                 mark->below);
}

static void draw_dot(FILE *out, const struct spacetime *diagram, const struct mark *mark)
{
    const struct point at = spacetime_place(diagram, mark->process, mark->column);
    svg_dot(out, mark->kind == MARK_DEATH ? "dead" : "step", at, mark->kind == MARK_DEATH ? 6 : 3);
    draw_below(out, mark, at);
}

static void draw_move(FILE *out, const struct spacetime *diagram, const struct mark *mark)
{
    const struct point at = spacetime_place(diagram, mark->process, mark->column);
    const double radius = SPACETIME_RADIUS;
    if (mark->kind == MARK_STORES)
        svg_box(out, "store", (struct point){at.x - radius, at.y - radius}, 2 * radius, 2 * radius);
    else
        svg_dot(out,
                mark->kind == MARK_DIES      ? "dead"
                : mark->kind == MARK_FETCHES ? "fetch"
                                             : "act",
                at, radius);
    svg_text(out, "number", "middle", (struct point){at.x, at.y + 3}, mark->text);
    draw_below(out, mark, at);
}

static void draw_bar(FILE *out, const struct spacetime *diagram, const struct mark *mark,
                     double high)
{
    const struct point from = spacetime_place(diagram, mark->process, mark->column),
                       to = spacetime_place(diagram, mark->process, mark->other_column);
    svg_box(out,
            mark->kind == MARK_INSIDE  ? "inside"
            : mark->kind == MARK_WAITS ? "wait"
                                       : "gone",
            (struct point){from.x, from.y - high / 2}, to.x - from.x, high);
}

static void draw_message(FILE *out, const struct spacetime *diagram, const struct mark *mark)
{
    svg_arrow(out, "message", spacetime_place(diagram, mark->process, mark->column),
              spacetime_place(diagram, mark->other, mark->other_column));
    if (mark->text)
        svg_text(out, "small", "start", mark->text_at, mark->text);
}

/* From the edge of one move to that of the other, on the sides that face each other. */
static void draw_read(FILE *out, const struct spacetime *diagram, const struct mark *mark)
{
    const struct point from = spacetime_place(diagram, mark->process, mark->column),
                       to = spacetime_place(diagram, mark->other, mark->other_column);
    const double edge = to.y > from.y ? SPACETIME_RADIUS + 1 : -SPACETIME_RADIUS - 1;
    svg_arrow(out, "message", (struct point){from.x, from.y + edge},
              (struct point){to.x, to.y - edge});
}

static void draw_violation(FILE *out, const struct spacetime *diagram, const struct mark *mark)
{
    const struct point one = spacetime_place(diagram, mark->process, mark->column),
                       two = spacetime_place(diagram, mark->other, mark->other_column);
    const double length = hypot(two.x - one.x, two.y - one.y);
    svg_dot(out, "mark", one, RING);
    svg_dot(out, "mark", two, RING);
    if (length > 2 * RING) { /* from ring to ring */
        const struct point edge = {(two.x - one.x) * RING / length,
                                   (two.y - one.y) * RING / length};
        svg_line(out, "mark", (struct point){one.x + edge.x, one.y + edge.y},
                 (struct point){two.x - edge.x, two.y - edge.y});
    }
    if (mark->text)
        svg_text(out, "wrong", "start", (struct point){diagram->left, SPACETIME_TOP - 12},
                 mark->text);
}

static void draw_loop(FILE *out, const struct spacetime *diagram, const struct mark *mark)
{
    const double from = spacetime_place(diagram, 0, mark->column).x - SPACETIME_RADIUS,
                 to = spacetime_place(diagram, 0, mark->other_column).x + SPACETIME_RADIUS,
                 y = bottom_of_lines(diagram) + LOOP_DOWN;
    const struct point back[] = {{to, y - 8},       {to, y},       {from, y},        {from, y - 8},
                                 {from - 4, y - 2}, {from, y - 8}, {from + 4, y - 2}};
    svg_path(out, "mark", back, sizeof back / sizeof *back);
    svg_text(out, "wrong", "start", (struct point){from + 4, y + 13}, "again and again");
}

static void draw(FILE *out, const struct spacetime *diagram, const struct mark *mark, double end,
                 double bar)
{
    switch (mark->kind) {
    case MARK_PROCESS:
        svg_text(
            out, "name", "end",
            (struct point){diagram->left - 14, spacetime_place(diagram, mark->process, 0).y + 4},
            mark->text);
        svg_line(out, "life", spacetime_place(diagram, mark->process, -0.2),
                 spacetime_place(diagram, mark->process, end));
        break;
    case MARK_DEAD:
    case MARK_WAITS:
    case MARK_INSIDE:
        draw_bar(out, diagram, mark, bar);
        break;
    case MARK_MESSAGE:
        draw_message(out, diagram, mark);
        break;
    case MARK_READ:
        draw_read(out, diagram, mark);
        break;
    case MARK_STEP:
    case MARK_DEATH:
        draw_dot(out, diagram, mark);
        break;
    case MARK_STORES:
    case MARK_FETCHES:
    case MARK_ACTS:
    case MARK_DIES:
        draw_move(out, diagram, mark);
        break;
    case MARK_LOOP:
        draw_loop(out, diagram, mark);
        break;
    case MARK_VIOLATION:
        draw_violation(out, diagram, mark);
        break;
    case MARK_NOTE:
        break;
    }
}

/* One line of samples. Where it ends; with no `out`, only that. */
static double draw_legend(FILE *out, const struct spacetime *diagram, double y)
{
    const struct {
        const char *class, *word;
        bool shown, round;
    } samples[] = {{"wait", "waits", true, false},
                   {"inside", "inside", true, false},
                   {"gone", "dead", has(diagram, MARK_DEAD, MARK_DEAD), false},
                   {"store", "stores", has(diagram, MARK_STORES, MARK_STORES), false},
                   {"fetch", "fetches", has(diagram, MARK_FETCHES, MARK_FETCHES), true}};
    double x = diagram->left;
    for (size_t at = 0; at < sizeof samples / sizeof *samples; at++) {
        if (!samples[at].shown)
            continue;
        const bool move = samples[at].class[0] == 's' || samples[at].round;
        if (out && samples[at].round)
            svg_dot(out, samples[at].class, (struct point){x + 14, y - 4}, 5);
        else if (out)
            svg_box(out, samples[at].class, (struct point){move ? x + 9 : x, y - 9}, move ? 10 : 20,
                    10);
        if (out)
            svg_text(out, "small", "start", (struct point){x + 26, y}, samples[at].word);
        x += LEGEND_WORD;
    }
    if (out)
        svg_text(out, "small", "start", (struct point){x, y}, legend_of_time);
    return x + spacetime_text_width(legend_of_time, SVG_SMALL);
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
    if (diagram->failed || !spacetime_lay_out(diagram))
        return -ENOMEM;
    const double end = spacetime_last_column(diagram) + 0.5,
                 below = bottom_of_lines(diagram) +
                         (has(diagram, MARK_LOOP, MARK_LOOP) ? LOOP_ROOM : 0),
                 reach = spacetime_reach(diagram), legend = draw_legend(NULL, diagram, 0),
                 line = spacetime_place(diagram, 0, end).x;
    const double bar = is_numbered(diagram) ? BAR_MOVES : BAR;
    const double width = fmax(line, fmax(reach, legend)) + SPACETIME_MARGIN;
    svg_begin(out, width, draw_notes(NULL, diagram, below + BOTTOM) + 10, diagram->title);
    svg_text(out, "title", "start", (struct point){diagram->left, 26}, diagram->title);
    for (enum mark_kind kind = MARK_PROCESS; kind <= MARK_VIOLATION; kind++)
        for (size_t i = 0; i < diagram->count; i++)
            if (diagram->marks[i].kind == kind)
                draw(out, diagram, &diagram->marks[i], end, bar);
    draw_legend(out, diagram, below + 20);
    draw_notes(out, diagram, below + BOTTOM - 10);
    svg_end(out);
    errno = 0;
    return fflush(out) != 0 || ferror(out) ? (errno ? -errno : -EIO) : 0;
}
