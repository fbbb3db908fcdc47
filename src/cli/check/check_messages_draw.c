/* SPDX-License-Identifier: MIT */
/* Draws a counterexample of a message protocol: what each node did, and which message went where.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check/check.h"

/* Whether the step's words say that it sent a message of that kind to that node. */
static bool sent(const char *line, const char *kind, unsigned to)
{
    char target[16];
    snprintf(target, sizeof target, " →%u", to);
    for (const char *at = line; (at = strstr(at, "sends ")); at++) {
        const char *name = at + strlen("sends "), *end = strchr(name, ';');
        const char *found = strstr(name, target);
        if (strncmp(name, kind, strlen(kind)) == 0 && found && (!end || found < end))
            return true;
    }
    return false;
}

/* The arrow of "receives KIND from FROM": from the earliest such send of that node that has no
 * arrow to this one yet. */
static void draw_arrow(struct spacetime *diagram, const struct check_run *run, size_t i,
                       uint8_t *drawn)
{
    const struct run_step *step = &run->steps[i];
    char kind[16];
    unsigned from;
    if (sscanf(step->line, "receives %15s from %u", kind, &from) != 2)
        return;
    const unsigned to = step->move.process;
    for (size_t earlier = 0; earlier < i; earlier++)
        if (run->steps[earlier].move.process == from && !(drawn[earlier] >> to & 1) &&
            sent(run->steps[earlier].line, kind, to)) {
            drawn[earlier] = (uint8_t)(drawn[earlier] | 1u << to);
            spacetime_message(diagram, from, (double)earlier, to, (double)i, kind);
            return;
        }
}

static void draw_step(struct spacetime *diagram, const struct check_run *run, size_t i)
{
    const struct run_step *step = &run->steps[i];
    const bool death = step->move.kind == MOVE_DEATH,
               receives = strncmp(step->line, "receives", 8) == 0;
    char label[16];
    snprintf(label, sizeof label, "%.*s", (int)strcspn(step->line, "; ,"), step->line);
    (death ? spacetime_death : spacetime_step)(diagram, step->move.process, (double)i,
                                               receives ? NULL : label);
}

int check_messages_draw(const char *path, const char *title, unsigned nodes,
                        const struct finding *broken)
{
    const struct check_run *run = &broken->run;
    FILE *svg = fopen(path, "w");
    if (!svg)
        return -errno;
    struct spacetime *diagram = spacetime_open(title);
    uint8_t *drawn = calloc(run->count + 1, sizeof *drawn);
    int error = diagram && drawn ? 0 : -ENOMEM;
    for (unsigned i = 0; !error && i < nodes; i++) {
        char name[16];
        snprintf(name, sizeof name, "node %u", i);
        spacetime_process(diagram, name);
    }
    for (size_t i = 0; !error && i < run->count; i++) {
        draw_step(diagram, run, i);
        draw_arrow(diagram, run, i, drawn);
    }
    if (!error)
        check_draw_bars(diagram, run, nodes);
    if (!error && run->count) {
        const size_t last = run->count - 1;
        const unsigned process = run->steps[last].move.process;
        spacetime_violation(diagram, process, (double)last, process, (double)last,
                            broken->broken ? broken->broken : "nobody can enter any more");
    }
    if (!error)
        error = spacetime_write(diagram, svg);
    free(drawn);
    spacetime_close(diagram);
    if (fclose(svg) != 0 && !error)
        error = -errno;
    return error;
}
