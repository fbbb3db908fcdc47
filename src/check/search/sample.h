/* SPDX-License-Identifier: MIT */
/* Schedules by chance, for sizes that no search exhausts: uniformly random, or PCT.
 *
 * PCT (Burckhardt, Kothari, Musuvathi, Nagarakatte, A Randomized Scheduler with Probabilistic
 * Guarantees of Finding Bugs, 2010): every process has a random priority, the highest that can move
 * moves, and at d - 1 random steps the one that runs falls below all others. A bug that needs d
 * ordered steps is met with probability at least 1 / (n k^(d-1)) in a run of k steps.
 */
#ifndef AFTERYOU_CHECK_SEARCH_SAMPLE_H
#define AFTERYOU_CHECK_SEARCH_SAMPLE_H

#include "check/search/run.h"
#include "check/search/system.h"

struct sample_plan {
    uint64_t runs;
    uint64_t steps; /* of each run */
    uint64_t seed;  /* of the first run; the next has seed + 1 */
    unsigned depth; /* PCT's d; 0: uniformly random */
    double seconds; /* 0: no limit */
};

struct sample_result {
    uint64_t runs, steps, entries;
    const char *violated; /* NULL, or the safety property */
    uint64_t seed;        /* of the run that shows it */
    bool overflow, full, out_of_time;
    struct check_run run;
};

/* 0, or -ENOMEM. */
int sample_run(const struct system *system, const struct sample_plan *plan,
               struct sample_result *result);

#endif
