/* SPDX-License-Identifier: MIT */
/* Schedules by chance, for sizes that no search exhausts: uniformly random, or PCT. */
#include "check/search/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/search/search.h"

enum { DEPTH_MOST = 16 };

/* SplitMix64: Steele, Lea, Flood 2014. One seed, one run. */
static uint64_t chance(uint64_t *state)
{
    uint64_t mixed = *state += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

struct schedule {
    uint64_t random;
    unsigned depth;
    unsigned priority[PROCESSES_MOST];
    unsigned lowest;             /* the next priority below all */
    uint64_t change[DEPTH_MOST]; /* the steps at which whoever runs falls */
};

static void schedule_begin(struct schedule *schedule, const struct sample_plan *plan, uint64_t seed,
                           unsigned processes)
{
    *schedule = (struct schedule){.random = seed, .depth = plan->depth, .lowest = DEPTH_MOST};
    for (unsigned process = 0; process < processes; process++)
        schedule->priority[process] = DEPTH_MOST + 1 + process;
    for (unsigned process = processes; process > 1; process--) {
        const unsigned other = (unsigned)(chance(&schedule->random) % process);
        const unsigned kept = schedule->priority[process - 1];
        schedule->priority[process - 1] = schedule->priority[other];
        schedule->priority[other] = kept;
    }
    for (unsigned at = 0; at + 1 < schedule->depth; at++)
        schedule->change[at] = chance(&schedule->random) % plan->steps;
}

/* Deaths, aborts and stops come by chance, rarely enough that passages are made. */
static bool rare(uint8_t kind)
{
    return kind == MOVE_DEATH || kind == MOVE_ABORT || kind == MOVE_FAULT;
}

/* One of the moves of this process, or of any (PROCESSES_MOST): uniformly, the rare ones one time
 * in 16. */
static unsigned pick(struct schedule *schedule, const struct successors *out, unsigned process)
{
    const bool rarely = chance(&schedule->random) % 16 == 0;
    unsigned chosen = out->count, seen = 0;
    for (unsigned pass = 0; pass < 2 && chosen == out->count; pass++)
        for (unsigned at = 0; at < out->count; at++) {
            if (process != PROCESSES_MOST && out->move[at].process != process)
                continue;
            if (pass == 0 && rare(out->move[at].kind) != rarely)
                continue;
            if (chance(&schedule->random) % ++seen == 0)
                chosen = at;
        }
    return chosen;
}

static unsigned pick_by_priority(struct schedule *schedule, const struct successors *out,
                                 uint64_t step)
{
    unsigned best = PROCESSES_MOST;
    for (unsigned at = 0; at < out->count; at++) {
        const unsigned process = out->move[at].process;
        /* One that only finds that it must wait lets the others go on. */
        if (out->stays[at])
            continue;
        if (best == PROCESSES_MOST || schedule->priority[process] > schedule->priority[best])
            best = process;
    }
    if (best == PROCESSES_MOST)
        return pick(schedule, out, best);
    for (unsigned at = 0; at + 1 < schedule->depth; at++)
        if (schedule->change[at] == step && schedule->lowest > 0)
            schedule->priority[best] = --schedule->lowest;
    return pick(schedule, out, best);
}

static int run_once(const struct system *system, const struct sample_plan *plan, uint64_t seed,
                    struct successors *out, unsigned char *state, struct sample_result *result)
{
    struct schedule schedule;
    schedule_begin(&schedule, plan, seed, system->processes);
    system->begin(system, state);
    for (uint64_t step = 0; step < plan->steps && !result->violated; step++) {
        out->count = 0;
        out->overflow = out->full = false;
        system->successors(system, state, out);
        result->overflow |= out->overflow;
        result->full |= out->full;
        if (out->count == 0 || out->overflow || out->full)
            break;
        const unsigned chosen = plan->depth ? pick_by_priority(&schedule, out, step)
                                            : pick(&schedule, out, PROCESSES_MOST);
        if (!run_append(&result->run, out->move[chosen]))
            return -ENOMEM;
        memcpy(state, out->states + chosen * out->size, out->size);
        result->steps++;
        result->entries += out->move[chosen].enters;
        if (out->complaint[chosen])
            result->violated = out->complaint[chosen];
        else
            result->violated = system->judge(system, state);
    }
    result->runs++;
    if (!result->violated)
        result->run.count = 0;
    return 0;
}

int sample_run(const struct system *system, const struct sample_plan *plan,
               struct sample_result *result)
{
    *result = (struct sample_result){0};
    struct successors *out = calloc(1, sizeof *out);
    unsigned char *room = calloc(SUCCESSORS_MOST + 1, system->size);
    const double began = search_clock();
    int error = out && room ? 0 : -ENOMEM;
    if (!error) {
        out->size = system->size;
        out->states = room + system->size;
    }
    for (uint64_t at = 0; !error && at < plan->runs && !result->violated && !result->out_of_time;
         at++) {
        result->seed = plan->seed + at;
        error = run_once(system, plan, result->seed, out, room, result);
        result->out_of_time = plan->seconds > 0 && search_clock() - began > plan->seconds;
    }
    free(room);
    free(out);
    if (!error && result->violated) {
        result->run.loop = result->run.count;
        error = run_tell(system, &result->run);
    }
    return error;
}
