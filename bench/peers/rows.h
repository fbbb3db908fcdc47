/* SPDX-License-Identifier: MIT */
/* The rows of a run: what was found of each peer in each case, and of the machine; written as CSV.
 */
#ifndef BENCH_PEERS_ROWS_H
#define BENCH_PEERS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { WORD_ROOM = 32, NOTE_ROOM = 256 };

/* Case of a row that tells of the machine: `peer` is what, `note` its value. */
#define ROW_MACHINE "machine"

/* What is not known is negative. */
struct row {
    char of[WORD_ROOM]; /* the case */
    char peer[WORD_ROOM];
    double samples;
    /* of the samples: half, a quarter, three quarters, 99 % are below */
    double median_ns, low_ns, high_ns, p99_ns;
    double ratio;  /* of the medians: this peer's by the reference's */
    double spread; /* from low to high, by the median */
    double passages_per_second;
    double fairness, overtaken, overtaken_in_queue, cpu_ns;
    char trusted[NOTE_ROOM]; /* "yes", or why not */
    char note[NOTE_ROOM];    /* why there are no figures */
};

struct rows {
    struct row *at;
    size_t count, room;
};

struct row *rows_add(struct rows *rows, const char *of,
                     const char *peer); /* all else unknown; exits if memory is short */
void rows_add_machine(struct rows *rows, const char *what, const char *value);
void rows_free(struct rows *rows);

int rows_write(const struct rows *rows, FILE *out); /* 0 or a negative errno */

#endif
