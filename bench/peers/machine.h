/* SPDX-License-Identifier: MIT */
/* The machine that figures come from: what it is, and how much of it others used meanwhile. */
#ifndef BENCH_PEERS_MACHINE_H
#define BENCH_PEERS_MACHINE_H

#include "rows.h"

/* Above these, a run says that it is not to be trusted. */
#define SPREAD_MOST .25 /* of the reference between alternations: from a quarter to three quarters, by the median */
#define OTHERS_MOST .10 /* processor time used by others, of all there was */
#define STEAL_MOST  .02 /* processor time that the hypervisor gave to others */

/* Processor time since the machine and the bench began, in seconds. */
struct load {
    double wall, busy, steal, own;
};

struct load load_now(void);
double load_others(const struct load *before, const struct load *after); /* share of all processors' time */
double load_steal(const struct load *before, const struct load *after);

void machine_describe(struct rows *rows);                       /* what it is */
void machine_load_average(struct rows *rows, const char *what); /* as it is now */

#endif
