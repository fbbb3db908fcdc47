/* SPDX-License-Identifier: MIT */
/* Draws a run of a register protocol: who waits, is inside or is dead, what each store left, and
 * which fetch read it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/registers/narrate.h"
#include "check/registers/origin.h"
#include "cli/check/check.h"
#include "cli/commands.h"

enum { NOTHING = -1 };

/* The bar of a process after a move, or NOTHING. A dead one is dead until it begins again, or
 * joins. */
static int bar_of(const struct run_step *step, unsigned process, bool *dead)
{
    if (step->move.process == process)
        *dead = step->move.kind == MOVE_DEATH ||
                (*dead && step->move.kind != MOVE_START && step->move.kind != MOVE_FAULT);
    switch (step->status[process]) {
    case STATUS_DOORWAY:
    case STATUS_ACTIVE:
    case STATUS_QUEUED:
        return SPACETIME_WAITS;
    case STATUS_INSIDE:
        return SPACETIME_INSIDE;
    case STATUS_MALFUNCTION:
    case STATUS_HALTED:
        return SPACETIME_DEAD;
    case STATUS_IDLE:
        return *dead ? SPACETIME_DEAD : NOTHING;
    default:
        return NOTHING;
    }
}

void check_draw_bars(struct spacetime *diagram, const struct check_run *run, unsigned processes)
{
    for (unsigned process = 0; process < processes; process++) {
        bool dead = false;
        int bar = NOTHING;
        size_t from = 0;
        for (size_t at = 0; at <= run->count; at++) {
            const int next = at < run->count ? bar_of(&run->steps[at], process, &dead) : NOTHING;
            if (next == bar)
                continue;
            if (bar != NOTHING)
                spacetime_bar(diagram, (enum spacetime_bar)bar, process, (double)from,
                              (double)at - (at == run->count ? 0.5 : 0));
            bar = next;
            from = at;
        }
    }
}

/* The run made again: every state of it, and what each move did. */
struct remade {
    struct register_run run;
    unsigned char *states;
    struct touch *touches;
};

static bool make_again(const struct register_model *model, const struct check_run *run,
                       struct remade *remade)
{
    const size_t size = model->system.size;
    *remade = (struct remade){.states = aligned_alloc(8, (run->count + 1) * size),
                              .touches = calloc(run->count + 1, sizeof *remade->touches)};
    if (!remade->states || !remade->touches)
        return false;
    model->system.begin(&model->system, remade->states);
    for (size_t at = 0; at < run->count; at++) {
        unsigned char *next = remade->states + (at + 1) * size;
        memcpy(next, remade->states + at * size, size);
        remade->touches[at] = register_touch(model, next, run->steps[at].move);
    }
    remade->run = (struct register_run){model, remade->states, remade->touches};
    return true;
}

/* What a store left: "3", or "number = 3" where a process has several registers. */
static void word_store(const struct register_model *model, const struct access *access, char *text,
                       size_t room)
{
    char name[48] = "", value[64];
    register_model_value(model, access->index, access->value, value, sizeof value);
    if (model->words + model->bits > 1)
        register_model_name(model, access->place, access->index, name, sizeof name);
    snprintf(text, room, "%s%s%s", name, *name ? " = " : "", value);
}

static void draw_move(struct spacetime *diagram, const struct remade *remade,
                      const struct run_step *step, size_t at)
{
    const struct register_model *model = remade->run.model;
    const struct access *access = &remade->touches[at].access;
    const unsigned process = step->move.process;
    char number[24], did[128];
    snprintf(number, sizeof number, "%zu", at + 1);
    if (step->move.kind == MOVE_DEATH) {
        spacetime_move(diagram, SPACETIME_DIES, process, (double)at, number, "dies");
    } else if (access->kind == ACCESS_WRITE || access->kind == ACCESS_BEGIN) {
        word_store(model, access, did, sizeof did);
        spacetime_move(diagram, SPACETIME_STORES, process, (double)at, number, did);
    } else if (access->kind == ACCESS_READ || access->kind == ACCESS_BIT) {
        spacetime_move(diagram, SPACETIME_FETCHES, process, (double)at, number, NULL);
    } else {
        spacetime_move(diagram, SPACETIME_ACTS, process, (double)at, number, NULL);
    }
}

static void draw_moves(struct spacetime *diagram, const struct remade *remade,
                       const struct check_run *run)
{
    for (size_t at = 0; at < run->count; at++) {
        const struct run_step *step = &run->steps[at];
        const size_t origin = register_origin(&remade->run, at);
        char note[280];
        snprintf(note, sizeof note, "%zu   P%u   %s", at + 1,
                 remade->run.model->place_of[step->move.process], step->line);
        draw_move(diagram, remade, step, at);
        if (origin != ORIGIN_NONE && run->steps[origin].move.process != step->move.process)
            spacetime_read(diagram, run->steps[origin].move.process, (double)origin,
                           step->move.process, (double)at);
        if (at == run->loop)
            spacetime_note(diagram, "again and again:");
        spacetime_note(diagram, note);
    }
    if (run->loop < run->count)
        spacetime_loop(diagram, (double)run->loop, (double)run->count - 1);
}

static void draw_violation(struct spacetime *diagram, const struct check_run *run,
                           unsigned processes, const char *broken)
{
    if (!run->count)
        return;
    const size_t last = run->count - 1;
    const unsigned culprit = run->steps[last].move.process;
    /* The other one that is inside, if that is what is wrong. */
    unsigned other = 0;
    while (other < processes &&
           (other == culprit || run->steps[last].status[other] != STATUS_INSIDE))
        other++;
    spacetime_violation(diagram, culprit, (double)last, other < processes ? other : culprit,
                        (double)last, broken);
}

int check_draw_run(const char *path, const struct check_words *asked, const struct check_run *run,
                   const char *broken)
{
    const struct register_model *model = &asked->model;
    char title[400], described[CHECK_DESCRIPTION];
    check_describe(asked, described, sizeof described);
    snprintf(title, sizeof title, "%s: %s", asked->protocol, described);
    struct spacetime *diagram = spacetime_open(title);
    struct remade remade;
    int error = make_again(model, run, &remade) && diagram ? 0 : -ENOMEM;
    for (unsigned process = 0; !error && process < model->system.processes; process++) {
        char name[16];
        snprintf(name, sizeof name, "P%u", model->place_of[process]);
        spacetime_process(diagram, name);
    }
    if (!error) {
        draw_moves(diagram, &remade, run);
        check_draw_bars(diagram, run, model->system.processes);
        draw_violation(diagram, run, model->system.processes, broken);
    }
    FILE *out = error ? NULL : fopen(path, "w");
    if (!error)
        error = out ? spacetime_write(diagram, out) : -errno;
    if (out && fclose(out) && !error)
        error = -errno;
    spacetime_close(diagram);
    free(remade.states);
    free(remade.touches);
    return error;
}

int check_draw(const char *path, const struct check_words *asked, const struct verdict *verdict)
{
    for (unsigned property = 0; property < PROPERTY_COUNT; property++) {
        const struct finding *finding = &verdict->finding[property];
        if (finding->answer == ANSWER_BROKEN && property != PROPERTY_REACHED)
            return check_draw_run(path, asked, &finding->run,
                                  finding->broken ? finding->broken : property_name(property));
    }
    say("check", "nothing is broken, so %s was not drawn", path);
    return 0;
}
