/* SPDX-License-Identifier: MIT */
/* Space-time diagrams: what there is to draw is gathered here. */
#include "common/draw/spacetime.h"

#include <stdlib.h>
#include <string.h>

#include "common/draw/spacetime_parts.h"
#include "common/grow.h"

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
    for (size_t i = 0; i < diagram->count; i++) {
        free(diagram->marks[i].text);
        free(diagram->marks[i].below);
    }
    free(diagram->marks);
    free(diagram->title);
    free(diagram->x);
    free(diagram);
}

static void add(struct spacetime *diagram, struct mark mark, const char *text, const char *below)
{
    if (diagram->failed)
        return;
    mark.text = text ? strdup(text) : NULL;
    mark.below = below ? strdup(below) : NULL;
    if ((text && !mark.text) || (below && !mark.below) ||
        !grow(&diagram->marks, diagram->count, &diagram->room, sizeof *diagram->marks, 64)) {
        free(mark.text);
        free(mark.below);
        diagram->failed = true;
        return;
    }
    diagram->marks[diagram->count++] = mark;
}

static struct mark at(enum mark_kind kind, unsigned process, double column)
{
    return (struct mark){.kind = kind,
                         .process = process,
                         .other = process,
                         .column = column,
                         .other_column = column};
}

static struct mark between(enum mark_kind kind, unsigned process, double column, unsigned other,
                           double other_column)
{
    return (struct mark){.kind = kind,
                         .process = process,
                         .other = other,
                         .column = column,
                         .other_column = other_column};
}

unsigned spacetime_process(struct spacetime *diagram, const char *name)
{
    add(diagram, at(MARK_PROCESS, diagram->processes, 0), name, NULL);
    return diagram->processes++;
}

void spacetime_step(struct spacetime *diagram, unsigned process, double column, const char *label)
{
    add(diagram, at(MARK_STEP, process, column), NULL, label);
}

void spacetime_death(struct spacetime *diagram, unsigned process, double column, const char *label)
{
    add(diagram, at(MARK_DEATH, process, column), NULL, label);
}

void spacetime_move(struct spacetime *diagram, enum spacetime_move kind, unsigned process,
                    double column, const char *number, const char *did)
{
    static const enum mark_kind kinds[] = {[SPACETIME_STORES] = MARK_STORES,
                                           [SPACETIME_FETCHES] = MARK_FETCHES,
                                           [SPACETIME_ACTS] = MARK_ACTS,
                                           [SPACETIME_DIES] = MARK_DIES};
    add(diagram, at(kinds[kind], process, column), number, did);
}

void spacetime_message(struct spacetime *diagram, unsigned from, double sent, unsigned to,
                       double received, const char *label)
{
    add(diagram, between(MARK_MESSAGE, from, sent, to, received), label, NULL);
}

void spacetime_read(struct spacetime *diagram, unsigned from, double stored, unsigned to,
                    double fetched)
{
    add(diagram, between(MARK_READ, from, stored, to, fetched), NULL, NULL);
}

void spacetime_bar(struct spacetime *diagram, enum spacetime_bar kind, unsigned process,
                   double from, double to)
{
    static const enum mark_kind kinds[] = {[SPACETIME_WAITS] = MARK_WAITS,
                                           [SPACETIME_INSIDE] = MARK_INSIDE,
                                           [SPACETIME_DEAD] = MARK_DEAD};
    add(diagram, between(kinds[kind], process, from, process, to), NULL, NULL);
}

void spacetime_violation(struct spacetime *diagram, unsigned process, double column, unsigned other,
                         double other_column, const char *what)
{
    add(diagram, between(MARK_VIOLATION, process, column, other, other_column), what, NULL);
}

void spacetime_loop(struct spacetime *diagram, double from, double to)
{
    add(diagram, between(MARK_LOOP, 0, from, 0, to), NULL, NULL);
}

void spacetime_note(struct spacetime *diagram, const char *text)
{
    add(diagram, (struct mark){.kind = MARK_NOTE}, text, NULL);
}
