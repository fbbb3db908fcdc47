/* SPDX-License-Identifier: MIT */
/* The machine that figures come from: what it is, and how much of it others used meanwhile. */
#ifndef BENCH_PEERS_MACHINE_H
#define BENCH_PEERS_MACHINE_H

#include "rows.h"

/* Above these, a run says that it is not to be trusted. */
/* of the reference between alternations: from a quarter to three quarters, by the median */
#define SPREAD_MOST .25
/* processor time used by others, of all there was, while the bench rested */
#define OTHERS_MOST .10
#define STEAL_MOST  .02 /* processor time that the hypervisor gave to others */

/* What is heard of others. */
struct noise {
    double listened,
        /* processor time there was, and that was used, in moments when the bench itself rested;
         * seconds */
        busy;
    /* processor time there was, and that was stolen, since the first moment */
    double passed, stolen;
    double began, stolen_before;
};

/* Rests for some milliseconds, and takes note of who does not. The bench must have no members now.
 */
void noise_listen(struct noise *noise);
void noise_add(struct noise *sum, const struct noise *more);
double noise_others(const struct noise *noise); /* shares of all processors' time */
double noise_steal(const struct noise *noise);

void machine_describe(struct rows *rows);                       /* what it is */
void machine_load_average(struct rows *rows, const char *what); /* as it is now */

#endif
