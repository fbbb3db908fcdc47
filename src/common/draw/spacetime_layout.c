/* SPDX-License-Identifier: MIT */
/* Space-time diagrams: how wide each column is, and where the texts of messages stand, so that no
 * two texts collide. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/draw/spacetime_parts.h"

enum {
    LEFT_LEAST = 110,
    COLUMN_LEAST = 44,       /* of messages: their arrows need some slope */
    COLUMN_LEAST_MOVES = 32, /* of moves with numbers */
    GAP = 6,                 /* between two texts on one line */
    NAME_GAP = 14            /* from a name to where time begins */
};

double spacetime_text_width(const char *text, double size)
{
    return 0.75 * size * (double)strlen(text);
}

double spacetime_last_column(const struct spacetime *diagram)
{
    double last = 1;
    for (size_t i = 0; i < diagram->count; i++) {
        const struct mark *mark = &diagram->marks[i];
        last = mark->column > last ? mark->column : last;
        last = mark->other_column > last ? mark->other_column : last;
    }
    return last;
}

struct point spacetime_place(const struct spacetime *diagram, unsigned process, double column)
{
    const double y = SPACETIME_TOP + SPACETIME_ROW * ((double)process + 0.5);
    if (column < 0)
        return (struct point){diagram->x[0] + column * COLUMN_LEAST, y};
    const double whole = floor(column);
    const size_t before = (size_t)whole;
    const double x = diagram->x[before];
    return (struct point){x + (column - whole) * (diagram->x[before + 1] - x), y};
}

static bool is_move(const struct mark *mark)
{
    return mark->kind >= MARK_STORES && mark->kind <= MARK_DIES;
}

static bool is_on_line(const struct mark *mark)
{
    return is_move(mark) || mark->kind == MARK_STEP || mark->kind == MARK_DEATH;
}

/* Half of what a mark on a line takes there. */
static double half_width(const struct mark *mark)
{
    const double below = mark->below ? spacetime_text_width(mark->below, SVG_SMALL) / 2 : 0,
                 shape = is_move(mark) ? SPACETIME_RADIUS : 0;
    return below > shape ? below : shape;
}

static int by_column(const void *left, const void *right)
{
    const struct mark *const *one = left, *const *other = right;
    return ((*one)->column > (*other)->column) - ((*one)->column < (*other)->column);
}

static double left_of(const struct spacetime *diagram)
{
    double left = LEFT_LEAST;
    for (size_t i = 0; i < diagram->count; i++) {
        const struct mark *mark = &diagram->marks[i];
        if (mark->kind != MARK_PROCESS)
            continue;
        const double name = spacetime_text_width(mark->text, SVG_PLAIN) + SPACETIME_MARGIN;
        left = name > left ? name : left;
    }
    return left;
}

/* Columns from the left on, each as near as what is written on its lines allows. `ends`: how far
 * each line is taken so far. */
static void widen(struct spacetime *diagram, struct mark **sorted, size_t count, double *ends,
                  double least)
{
    size_t next = 0;
    for (unsigned process = 0; process < diagram->processes; process++)
        ends[process] = diagram->left - NAME_GAP;
    for (size_t column = 0; column < diagram->columns; column++) {
        double x = column ? diagram->x[column - 1] + least : diagram->left;
        size_t end = next;
        for (; end < count && sorted[end]->column < (double)column + 1; end++) {
            const double needs = ends[sorted[end]->process] + GAP + half_width(sorted[end]);
            x = needs > x ? needs : x;
        }
        diagram->x[column] = x;
        for (; next < end; next++)
            ends[sorted[next]->process] = x + half_width(sorted[next]);
    }
}

static bool find_columns(struct spacetime *diagram)
{
    struct mark **sorted = calloc(diagram->count + 1, sizeof *sorted);
    double *ends = calloc(diagram->processes + 1, sizeof *ends);
    size_t count = 0;
    bool numbered = false;
    diagram->columns = (size_t)spacetime_last_column(diagram) + 3;
    free(diagram->x);
    diagram->x = calloc(diagram->columns, sizeof *diagram->x);
    const bool room = sorted && ends && diagram->x;
    if (room) {
        for (size_t i = 0; i < diagram->count; i++)
            if (is_on_line(&diagram->marks[i])) {
                numbered |= is_move(&diagram->marks[i]);
                sorted[count++] = &diagram->marks[i];
            }
        qsort(sorted, count, sizeof *sorted, by_column);
        widen(diagram, sorted, count, ends, numbered ? COLUMN_LEAST_MOVES : COLUMN_LEAST);
    }
    free(sorted);
    free(ends);
    return room;
}

/* Where a text is: from its lower left corner. */
struct text_box {
    double x, y, width;
};

static double overlap(double from, double to, double other_from, double other_to)
{
    const double first = from > other_from ? from : other_from,
                 last = to < other_to ? to : other_to;
    return last > first ? last - first : 0;
}

static double collision(struct text_box one, struct text_box other)
{
    return overlap(one.x, one.x + one.width, other.x, other.x + other.width) *
           overlap(one.y - SVG_SMALL, one.y + 2, other.y - SVG_SMALL, other.y + 2);
}

/* Along its arrow, where it collides least; nearer to the sender, if it can be: the arrows of one
 * broadcast part there, and arrive in a crowd. */
static struct text_box place_text(const struct spacetime *diagram, const struct mark *mark,
                                  const struct text_box *boxes, size_t count)
{
    static const double tries[] = {0.3, 0.4, 0.2, 0.5, 0.6, 0.7, 0.8, 0.14, 0.86};
    const struct point from = spacetime_place(diagram, mark->process, mark->column),
                       to = spacetime_place(diagram, mark->other, mark->other_column);
    const double width = spacetime_text_width(mark->text, SVG_SMALL);
    struct text_box best = {0};
    double least = INFINITY;
    for (size_t at = 0; at < 2 * sizeof tries / sizeof *tries && least > 0; at++) {
        const double share = tries[at / 2];
        const struct text_box box = {from.x + share * (to.x - from.x) + (at % 2 ? -width - 4 : 4),
                                     from.y + share * (to.y - from.y), width};
        double sum = 0;
        for (size_t i = 0; i < count && sum < least; i++)
            sum += collision(box, boxes[i]);
        if (sum < least) {
            least = sum;
            best = box;
        }
    }
    return best;
}

static bool place_texts(struct spacetime *diagram)
{
    struct text_box *boxes = calloc(diagram->count + 1, sizeof *boxes);
    size_t count = 0;
    if (!boxes)
        return false;
    for (size_t i = 0; i < diagram->count; i++) {
        const struct mark *mark = &diagram->marks[i];
        if (!is_on_line(mark) || !mark->below)
            continue;
        const struct point at = spacetime_place(diagram, mark->process, mark->column);
        const double width = spacetime_text_width(mark->below, SVG_SMALL);
        boxes[count++] = (struct text_box){at.x - width / 2, at.y + SPACETIME_BELOW, width};
    }
    for (size_t i = 0; i < diagram->count; i++) {
        struct mark *mark = &diagram->marks[i];
        if (mark->kind != MARK_MESSAGE || !mark->text)
            continue;
        const struct text_box box = place_text(diagram, mark, boxes, count);
        boxes[count++] = box;
        mark->text_at = (struct point){box.x, box.y};
    }
    free(boxes);
    return true;
}

bool spacetime_lay_out(struct spacetime *diagram)
{
    diagram->left = left_of(diagram);
    return find_columns(diagram) && place_texts(diagram);
}

/* How far to the right the text of a mark reaches. */
static double reach_of(const struct spacetime *diagram, const struct mark *mark)
{
    const char *text = mark->text ? mark->text : "";
    switch (mark->kind) {
    case MARK_NOTE:
        return diagram->left + spacetime_text_width(text, SVG_SMALL);
    case MARK_VIOLATION:
        return diagram->left + spacetime_text_width(text, SVG_PLAIN);
    case MARK_MESSAGE:
        return mark->text_at.x + spacetime_text_width(text, SVG_SMALL);
    default:
        return is_on_line(mark)
                   ? spacetime_place(diagram, mark->process, mark->column).x + half_width(mark)
                   : 0;
    }
}

double spacetime_reach(const struct spacetime *diagram)
{
    double reach = diagram->left + spacetime_text_width(diagram->title, SVG_TITLE);
    for (size_t i = 0; i < diagram->count; i++) {
        const double mark = reach_of(diagram, &diagram->marks[i]);
        reach = mark > reach ? mark : reach;
    }
    return reach;
}
