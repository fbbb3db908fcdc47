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

/* Of a link, "receives NUMBER, the other having taken TAKEN, WAY": from the earliest such send of
 * the other end that has no arrow yet; over a connection, since that was dialled. */
static void draw_link_arrow(struct spacetime *diagram, const struct check_run *run, size_t i,
                            uint8_t *drawn)
{
    const struct run_step *step = &run->steps[i];
    unsigned number, taken;
    char way[32], sends[96], dials[48], label[16];
    if (sscanf(step->line, "receives %u, the other having taken %u, %31[^,;]", &number, &taken,
               way) != 3)
        return;
    const bool ledger = strcmp(way, "through the ledger") == 0;
    snprintf(sends, sizeof sends, "sends %u, having taken %u, %s", number, taken, way);
    snprintf(dials, sizeof dials, "dials %s", ledger ? "" : way + strlen("over "));
    size_t from = i;
    for (size_t earlier = i; earlier-- > 0;) {
        const struct run_step *before = &run->steps[earlier];
        if (!ledger && strncmp(before->line, dials, strlen(dials)) == 0)
            break;
        if (before->move.process != step->move.process && strstr(before->line, sends) &&
            !(drawn[earlier] >> ledger & 1))
            from = earlier;
    }
    if (from == i)
        return;
    drawn[from] = (uint8_t)(drawn[from] | 1u << ledger);
    snprintf(label, sizeof label, number ? "%u" : "taken %u", number ? number : taken);
    spacetime_message(diagram, 1u - step->move.process, (double)from, step->move.process, (double)i,
                      label);
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

/* What is wrong at the end: a run that goes round for ever shows it there, too. */
static void draw_violation(struct spacetime *diagram, const struct finding *broken, bool link)
{
    const struct check_run *run = &broken->run;
    if (run->count == 0)
        return;
    const size_t last = run->count - 1;
    const unsigned process = run->steps[last].move.process;
    const bool round = run->loop < run->count;
    spacetime_violation(diagram, process, (double)last, process, (double)last,
                        broken->broken ? broken->broken
                        : round        ? broken->detail
                        : link         ? "what was said need not arrive any more"
                                       : "nobody can enter any more");
    if (round)
        spacetime_loop(diagram, (double)run->loop, (double)last);
}

int check_messages_draw(const char *path, const char *title, const char *who, unsigned nodes,
                        const struct finding *broken)
{
    const bool link = strcmp(who, "end") == 0;
    const struct check_run *run = &broken->run;
    FILE *svg = fopen(path, "w");
    if (!svg)
        return -errno;
    struct spacetime *diagram = spacetime_open(title);
    uint8_t *drawn = calloc(run->count + 1, sizeof *drawn);
    int error = diagram && drawn ? 0 : -ENOMEM;
    for (unsigned i = 0; !error && i < nodes; i++) {
        char name[16];
        snprintf(name, sizeof name, "%s %u", who, i);
        spacetime_process(diagram, name);
    }
    for (size_t i = 0; !error && i < run->count; i++) {
        draw_step(diagram, run, i);
        (link ? draw_link_arrow : draw_arrow)(diagram, run, i, drawn);
    }
    if (!error)
        check_draw_bars(diagram, run, nodes);
    if (!error)
        draw_violation(diagram, broken, link);
    if (!error)
        error = spacetime_write(diagram, svg);
    free(drawn);
    spacetime_close(diagram);
    if (fclose(svg) != 0 && !error)
        error = -errno;
    return error;
}
