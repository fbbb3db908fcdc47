/* SPDX-License-Identifier: MIT */
/* What a run was like: messages per passage, waits, fairness. */
#ifndef AFTERYOU_SIMULATE_MEASURE_H
#define AFTERYOU_SIMULATE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "protocols/messages/messages.h"

/* Durations in buckets of a sixteenth of a power of two: a percentile is right within 6 %. Exact
 * below 16 ns.
 */
enum { HISTOGRAM_STEPS = 16, HISTOGRAM_BUCKETS = 64 * HISTOGRAM_STEPS };
struct histogram {
    uint64_t count, sum, least, most;
    uint64_t bucket[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, uint64_t value);
/* All values of `from`, into `to`. */
void histogram_join(struct histogram *to, const struct histogram *from);
/* The value that the share `part` of all values does not exceed (0.5: the median). */
uint64_t histogram_part(const struct histogram *histogram, double part);
double histogram_mean(const struct histogram *histogram);

struct measure {
    uint64_t events, entries, crashes, joins, partitions;
    uint64_t resent, duplicates, pauses;
    uint64_t now; /* nanoseconds simulated */
    uint64_t sent[MESSAGE_KINDS];
    /* messages on behalf of one finished passage; fewest > greatest: none finished */
    uint64_t fewest, greatest;
    /* how many finished passages took 0, 1, …, counts_most messages; the last: and more */
    uint64_t *passages_with;
    uint64_t counts_most;
    struct histogram waits;     /* request to entry */
    struct histogram responses; /* request to leaving */
    /* a leaving to the next entry, where somebody waited all that time */
    struct histogram handovers;
    /* entries while an earlier request (by the wall clock, which no node sees) waited */
    uint64_t out_of_turn;
    uint64_t most_overtaken; /* the most entries of others during one wait */
    uint64_t last_wait;      /* of the latest entry */
    /* when the first entry at or after simulation->mark happened; 0: none */
    uint64_t first_entry;
    /* Jain's index of entries per node: 1 if all alike, 1/N if one has them all */
    double evenness;
};

bool measure_open(struct measure *measure, uint32_t nodes);
void measure_close(struct measure *measure);
void measure_passage(struct measure *measure, uint64_t messages);
uint64_t measure_messages(const struct measure *measure);

#endif
