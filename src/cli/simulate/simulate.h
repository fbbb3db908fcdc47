/* SPDX-License-Identifier: MIT */
/* The parts of `afteryou simulate`: what was asked for, one run's report, the table, the sweep. */
#ifndef AFTERYOU_CLI_SIMULATE_SIMULATE_H
#define AFTERYOU_CLI_SIMULATE_SIMULATE_H

#include "simulate/simulate.h"

enum { SWEEP_MOST = 128, SIMULATE_SCHEMA = 1 };

struct simulate_request {
    struct simulation how;
    bool order_given, passages_given, json, table, list, sweep;
    uint64_t seeds;
    uint32_t sizes[SWEEP_MOST]; /* --table, --sweep: the numbers of nodes */
    unsigned sizes_count;
    const char *trace, *csv, *svg;
};

/* 0; negative: done, with success (--help, --list); or an exit status after a complaint.
 * *request is filled in. */
int simulate_parse(int count, char **words, struct simulate_request *request);
/* What stands between the words and a run; EXIT_USAGE after a complaint, or 0. */
int simulate_settle(struct simulate_request *request);

/* A progress bar on stderr, if that is a terminal; NULL for none. */
void simulate_progress(void *request, const struct measure *so_far);
void simulate_progress_end(void);

/* Each returns an exit status. */
int simulate_runs(struct simulate_request *request);
int simulate_table(struct simulate_request *request);
int simulate_sweep(struct simulate_request *request);

void simulate_report(const struct simulate_request *request, const struct outcome *outcome,
                     double seconds, FILE *out);

#endif
