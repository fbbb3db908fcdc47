/* SPDX-License-Identifier: MIT */
/* Those who make the moves out of states: a ring of units, which come back in order. */
#include "check/search/crew.h"

#include <stdlib.h>
#include <string.h>

#include "check/search/helpers.h"

static struct expansion *expansion_new(const struct system *system)
{
    struct expansion *expansion = calloc(1, sizeof *expansion);
    if (!expansion)
        return NULL;
    expansion->out.size = system->size;
    expansion->out.states = calloc(SUCCESSORS_MOST, system->size);
    if (expansion->out.states)
        return expansion;
    free(expansion);
    return NULL;
}

bool crew_open(struct crew *crew, const struct system *system, unsigned threads,
               expansion_filler *fill, const void *context)
{
    *crew = (struct crew){.system = system, .fill = fill, .context = context};
    for (unsigned at = 0; at < CREW_UNITS; at++)
        for (unsigned place = 0; place < (threads > 1 ? CREW_UNIT : 1); place++) {
            crew->unit[at].expansion[place] = expansion_new(system);
            if (!crew->unit[at].expansion[place])
                return false;
        }
    if (threads > 1)
        crew->helpers = helpers_start(crew, threads - 1);
    return true;
}

void crew_close(struct crew *crew)
{
    if (crew->helpers)
        helpers_end(crew->helpers);
    for (unsigned at = 0; at < CREW_UNITS; at++)
        for (unsigned place = 0; place < CREW_UNIT; place++)
            if (crew->unit[at].expansion[place]) {
                free(crew->unit[at].expansion[place]->out.states);
                free(crew->unit[at].expansion[place]);
            }
    *crew = (struct crew){0};
}

void crew_make(const struct crew *crew, struct unit *unit)
{
    for (unsigned at = 0; at < unit->count; at++) {
        struct expansion *expansion = unit->expansion[at];
        expansion->out.count = 0;
        expansion->out.overflow = expansion->out.full = false;
        crew->system->successors(crew->system, expansion->state, &expansion->out);
    }
}

static void fill(struct crew *crew, struct unit *unit, size_t known)
{
    const size_t most = crew->helpers ? CREW_UNIT : 1;
    for (unit->count = 0; unit->count < most && crew->next < known; unit->count++) {
        struct expansion *expansion = unit->expansion[unit->count];
        expansion->which = crew->next++;
        crew->fill(crew->context, expansion->which, expansion);
    }
}

/* Hands out what is known. A unit that is not whole waits, unless there is nothing else to do. The
 * last one taken keeps its place in the ring: what came of it is still being put. */
static void give(struct crew *crew, size_t known)
{
    while (crew->next < known && crew->given < crew->taken + CREW_UNITS - 1 &&
           (known - crew->next >= CREW_UNIT || crew->given == crew->taken)) {
        struct unit *unit = &crew->unit[crew->given % CREW_UNITS];
        fill(crew, unit, known);
        if (crew->helpers) {
            helpers_give(crew->helpers, unit);
        } else {
            crew->given++;
            crew_make(crew, unit);
            return;
        }
    }
}

struct expansion *crew_next(struct crew *crew, size_t known)
{
    struct unit *unit = &crew->unit[crew->taken % CREW_UNITS];
    if (crew->given > crew->taken && crew->place == unit->count) {
        crew->taken++;
        crew->place = 0;
        unit = &crew->unit[crew->taken % CREW_UNITS];
    }
    give(crew, known);
    if (crew->given == crew->taken)
        return NULL;
    if (crew->helpers && crew->place == 0)
        helpers_await(crew->helpers, unit);
    return unit->expansion[crew->place++];
}

void crew_start_over(struct crew *crew)
{
    crew->next = 0;
}
