/* SPDX-License-Identifier: MIT */
/* A deterministic network of nodes that run one message protocol: one seed, one run.
 *
 * Every node thinks, requests, waits, is inside, leaves, and thinks again. Time is counted in
 * nanoseconds and costs nothing; steps take none. A judge looks at every entry and every leaving.
 */
#ifndef AFTERYOU_SIMULATE_SIMULATE_H
#define AFTERYOU_SIMULATE_SIMULATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "protocols/messages/catalogue.h"
#include "simulate/measure.h"

/* How long something takes. */
enum spread_kind { SPREAD_CONSTANT, SPREAD_UNIFORM, SPREAD_EXPONENTIAL };
struct spread {
    enum spread_kind kind;
    /* nanoseconds; UNIFORM: between the two; else `least` is the constant or the mean */
    uint64_t least, most;
};

enum order { ORDER_ANY, ORDER_FIFO, ORDER_AGREED, ORDER_LINKS /* links.c */ };

/* What may go wrong, each with its probability. */
struct faults {
    double crash;        /* at each event of a node: it dies right after it */
    double restart;      /* a dead node: it comes back, as a newcomer */
    double delay;        /* a message: it takes twenty times as long */
    double loss;         /* a message, each time it is sent: it is lost, and sent again */
    double duplicate;    /* a message: it arrives twice */
    double pause;        /* at each event of a node: it stands still for a while right after it */
    double partition;    /* at each event: fewer than half of the nodes are cut off, for a while */
    bool wrong_detector; /* those cut off are not told before the others go on without them */
};

struct scripted {
    uint64_t at;
    uint32_t node;
};

struct simulation {
    const struct variant *variant;
    uint32_t nodes;
    uint64_t seed;
    /* after so many requests nobody asks again, and all comes to rest; 0: no limit */
    uint64_t passages;
    /* after so many the run is cut short; 0: no limit, or with faults a great one */
    uint64_t events;
    enum order order;
    struct spread delay, think, section;
    double hot;    /* the share of requests that node 0 makes; 0: as many as the others */
    double skew;   /* node i makes requests in proportion to 1/(i+1)^skew */
    double shared; /* the share of passages in shared mode */
    struct faults faults;
    /* if not NULL, these requests are all there are, in order of time */
    const struct scripted *script;
    size_t script_length;
    uint64_t mark; /* from when measure->first_entry counts */
    /* up to so many bytes the states lie whole in memory; beyond, of their rows only what is not
     * blank (rows.h); 0: 4 GB */
    uint64_t whole;
    FILE *trace; /* JSON lines, or NULL */
    void (*progress)(void *context, const struct measure *so_far);
    void *progress_context;
};

enum verdict { VERDICT_HOLDS, VERDICT_EXCLUSION, VERDICT_FENCE, VERDICT_DEADLOCK };

struct outcome {
    enum verdict verdict;
    char words[256]; /* what was violated, by whom, when */
    /* with a wrong detector: entries while somebody who was given up for dead was still inside */
    uint64_t overlaps;
    /* with a wrong detector: entries of such that a resource which looks at fences refuses */
    uint64_t refused;
    bool cut_short; /* more was to happen when the events had been used up */
    struct measure measure;
};

/* 0, or a negative errno: -ENOMEM, -EOVERFLOW (simulated time ran over), or what writing the trace
 * met. The caller closes outcome->measure. */
int simulate(const struct simulation *simulation, struct outcome *outcome);

#endif
