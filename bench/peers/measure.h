/* SPDX-License-Identifier: MIT */
/* One measurement of one peer in one case: each kind of case has a file of its own. */
#ifndef BENCH_PEERS_MEASURE_H
#define BENCH_PEERS_MEASURE_H

#include "cases.h"

/* How long to measure. */
struct effort {
    unsigned alternations;     /* of all peers */
    unsigned chunks, chunk_us; /* alone: the median of so many */
    unsigned window_ms;        /* contended */
    unsigned counted_ms;       /* contended: the pass that counts overtakings */
    unsigned kills, starts;
};

/* What one measurement found. What a case does not know is negative. */
struct sample {
    double ns;       /* a passage, a recovery, a start */
    double fairness; /* most passages of a member by least; infinite: one had none */
    double cpu_ns;   /* processor time of all members, a passage */
    double overtaken, overtaken_in_queue;
};

/* 0, or a negative errno and words in `message`: MESSAGE_ROOM bytes. */
typedef int measure(const struct bench_case *of, const struct peer *peer,
                    const struct effort *effort, struct sample *sample, char *message);

measure measure_alone;     /* alone.c */
measure measure_contended; /* contended.c */
/* contended.c: the same with the ledger, for overtaken and overtaken_in_queue alone */
measure measure_overtaken;
measure measure_kill; /* kill.c */

/* alone.c: joins, and makes so many passages, for whoever counts instructions. */
int run_passages(const struct bench_case *of, const struct peer *peer, uint64_t passages,
                 char *message);

/* startup.c: the commands that start-up is measured of; the first is the reference. */
size_t startup_command_count(void);
const char *startup_command_name(size_t at);
int measure_startup(size_t at, const char *afteryou, struct sample *sample, char *message);

#endif
