/* SPDX-License-Identifier: MIT */
/* A run of a system: the moves from its beginning, told one by one, and where it begins to repeat.
 */
#include "check/search/run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

void run_line_add(char *line, size_t room, const char *format, ...)
{
    if (!line)
        return;
    const size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, room - used, format, arguments);
    va_end(arguments);
}

bool run_append(struct check_run *run, struct move move)
{
    if (!grow(&run->steps, run->count, &run->room, sizeof *run->steps, 64))
        return false;
    run->steps[run->count++] = (struct run_step){.move = move};
    return true;
}

int run_to(const struct search *search, uint32_t state, struct check_run *run)
{
    for (; store_parent(&search->store, state) != STATE_NONE;
         state = store_parent(&search->store, state))
        if (!run_append(run, store_move(&search->store, state)))
            return -ENOMEM;
    for (size_t low = 0, high = run->count; low + 1 < high; low++, high--) {
        const struct run_step kept = run->steps[low];
        run->steps[low] = run->steps[high - 1];
        run->steps[high - 1] = kept;
    }
    run->loop = run->count;
    return 0;
}

/* The graph keeps edges in the order in which the system names its moves. */
static struct move move_of(const struct search *search, struct successors *out, struct hop hop)
{
    unsigned char here[STATE_SIZE_MOST] __attribute__((aligned(8)));
    store_get(&search->store, hop.state, here);
    out->count = 0;
    search->system->successors(search->system, here, out);
    return out->move[hop.edge];
}

int run_along(const struct search *search, const struct hop *hops, size_t count, bool closes,
              struct check_run *run)
{
    struct successors *out = calloc(1, sizeof *out);
    unsigned char *room = calloc(SUCCESSORS_MOST, search->system->size);
    int error = out && room ? 0 : -ENOMEM;
    const size_t loop = run->count;
    if (!error) {
        out->states = room;
        out->size = search->system->size;
    }
    for (size_t at = 0; !error && at < count; at++)
        if (!run_append(run, move_of(search, out, hops[at])))
            error = -ENOMEM;
    run->loop = closes ? loop : run->count;
    free(room);
    free(out);
    return error;
}

int run_tell(const struct system *system, struct check_run *run)
{
    unsigned char *state = aligned_alloc(8, (system->size + 7) & ~(size_t)7);
    if (!state)
        return -ENOMEM;
    system->begin(system, state);
    for (size_t at = 0; at < run->count; at++) {
        struct run_step *step = &run->steps[at];
        system->narrate(system, state, step->move, step->line, sizeof step->line);
        for (unsigned process = 0; process < system->processes; process++)
            step->status[process] = (uint8_t)system->status(system, state, process);
    }
    free(state);
    return 0;
}

void run_close(struct check_run *run)
{
    free(run->steps);
    *run = (struct check_run){0};
}
