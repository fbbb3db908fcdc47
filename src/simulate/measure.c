/* SPDX-License-Identifier: MIT */
/* What a run was like: messages per passage, waits, fairness. */
#include "simulate/measure.h"

#include <stdlib.h>

static unsigned bucket_of(uint64_t value)
{
    if (value < HISTOGRAM_STEPS)
        return (unsigned)value;
    const unsigned power = 63 - (unsigned)__builtin_clzll(value);
    const unsigned step = (unsigned)(value >> (power - 4)) & (HISTOGRAM_STEPS - 1);
    return (power - 3) * HISTOGRAM_STEPS + step;
}

static uint64_t bucket_end(unsigned bucket)
{
    if (bucket < HISTOGRAM_STEPS)
        return bucket;
    const unsigned power = bucket / HISTOGRAM_STEPS + 3, step = bucket % HISTOGRAM_STEPS;
    return ((uint64_t)(HISTOGRAM_STEPS + step + 1) << (power - 4)) - 1;
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
    if (histogram->count == 0 || value < histogram->least)
        histogram->least = value;
    if (value > histogram->most)
        histogram->most = value;
    histogram->count++;
    histogram->sum += value;
    histogram->bucket[bucket_of(value)]++;
}

void histogram_join(struct histogram *to, const struct histogram *from)
{
    if (from->count == 0)
        return;
    to->least = to->count == 0 || from->least < to->least ? from->least : to->least;
    to->most = from->most > to->most ? from->most : to->most;
    to->count += from->count;
    to->sum += from->sum;
    for (unsigned bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++)
        to->bucket[bucket] += from->bucket[bucket];
}

uint64_t histogram_part(const struct histogram *histogram, double part)
{
    uint64_t below = 0;
    for (unsigned bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
        below += histogram->bucket[bucket];
        if (histogram->bucket[bucket] && (double)below >= part * (double)histogram->count) {
            const uint64_t end = bucket_end(bucket);
            return end < histogram->most ? end : histogram->most;
        }
    }
    return histogram->most;
}

double histogram_mean(const struct histogram *histogram)
{
    return histogram->count ? (double)histogram->sum / (double)histogram->count : 0;
}

bool measure_open(struct measure *measure, uint32_t nodes)
{
    *measure = (struct measure){.fewest = UINT64_MAX, .counts_most = 4 * (uint64_t)nodes};
    measure->passages_with =
        calloc((size_t)measure->counts_most + 1, sizeof *measure->passages_with);
    return measure->passages_with != NULL;
}

void measure_close(struct measure *measure)
{
    free(measure->passages_with);
    measure->passages_with = NULL;
}

void measure_passage(struct measure *measure, uint64_t messages)
{
    measure->fewest = messages < measure->fewest ? messages : measure->fewest;
    measure->greatest = messages > measure->greatest ? messages : measure->greatest;
    measure->passages_with[messages < measure->counts_most ? messages : measure->counts_most]++;
}

uint64_t measure_messages(const struct measure *measure)
{
    uint64_t sum = 0;
    for (unsigned kind = 0; kind < MESSAGE_KINDS; kind++)
        sum += measure->sent[kind];
    return sum;
}
