/* SPDX-License-Identifier: MIT */
/* Table I of the authors' response (CACM 26(2), 1983), measured again: messages and delays to
 * invoke exclusion.
 *
 * Every message takes half a round trip. The quiescent state of notes 2 to 4 is reached by one
 * passage of each node, in order of their numbers. The requests of note 4 are made as late as they
 * can be and still not know of each other.
 */
#include "simulate/table.h"

#include <errno.h>
#include <stdlib.h>

#include "simulate/simulate.h"

/* Nanoseconds. EPSILON is the least by which one comes before another. */
enum { HALF = 1000000, ROUND_TRIP = 2 * HALF, EPSILON = 1 };

/* The runs that make up one row add to one record of messages. */
struct bench {
    struct simulation how;
    struct variant variant;
    struct scripted *script;
    struct table_row *row;
    double *waits; /* of each node, from the quiescent state */
};

static int run(struct bench *bench, struct outcome *outcome)
{
    const int error = simulate(&bench->how, outcome);
    const struct measure *measure = &outcome->measure;
    struct table_row *row = bench->row;
    if (!error && measure->fewest <= measure->greatest) {
        row->fewest = measure->fewest < row->fewest ? measure->fewest : row->fewest;
        row->greatest = measure->greatest > row->greatest ? measure->greatest : row->greatest;
    }
    return error ? error : outcome->verdict == VERDICT_HOLDS ? 0 : -EPROTO;
}

/* Whether a run that went through had passages with a number of messages strictly between the two.
 */
static bool between(const struct measure *measure, const struct table_row *row)
{
    for (uint64_t count = row->fewest + 1; count < row->greatest && count < measure->counts_most;
         count++)
        if (measure->passages_with[count])
            return true;
    return false;
}

/* Note 1: everybody asks all the time, and sections are long enough for the requests to overlap
 * with them. */
static int measure_handover(struct bench *bench)
{
    bench->how.script = NULL;
    bench->how.think = (struct spread){SPREAD_CONSTANT, 0, 0};
    bench->how.passages = 6 * (uint64_t)bench->how.nodes;
    struct outcome outcome;
    const int error = run(bench, &outcome);
    bench->row->delay[0] = histogram_mean(&outcome.measure.handovers) / ROUND_TRIP;
    bench->row->longest_handover = (double)outcome.measure.handovers.most / ROUND_TRIP;
    measure_close(&outcome.measure);
    return error;
}

/* One passage of each, far apart, and from then on `count` requests: node first-k at k times just
 * less than half a trip. */
static int measure_chain(struct bench *bench, uint32_t first, uint32_t count,
                         struct outcome *outcome)
{
    const uint32_t nodes = bench->how.nodes;
    const uint64_t apart = 10 * (uint64_t)ROUND_TRIP, start = apart * (nodes + 1);
    for (uint32_t i = 0; i < nodes; i++)
        bench->script[i] = (struct scripted){apart * (i + 1), i};
    for (uint32_t k = 0; k < count; k++)
        bench->script[nodes + k] =
            (struct scripted){start + k * (uint64_t)(HALF - EPSILON), first - k};
    bench->how.script = bench->script;
    bench->how.script_length = nodes + count;
    bench->how.mark = start;
    bench->how.passages = 0;
    return run(bench, outcome);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Notes 2 and 3: one node asks alone; the least and the middle over all nodes. */
static int measure_alone(struct bench *bench)
{
    const uint32_t nodes = bench->how.nodes;
    for (uint32_t node = 0; node < nodes; node++) {
        struct outcome outcome;
        const int error = measure_chain(bench, node, 1, &outcome);
        bench->waits[node] = (double)outcome.measure.last_wait / ROUND_TRIP;
        bench->row->only_those =
            !error && bench->row->only_those && !between(&outcome.measure, bench->row);
        measure_close(&outcome.measure);
        if (error)
            return error;
    }
    qsort(bench->waits, nodes, sizeof *bench->waits, ascending);
    bench->row->delay[1] = bench->waits[0];
    bench->row->delay[2] = bench->waits[nodes / 2];
    return 0;
}

/* Note 4: the longest time until anybody enters, over chains of every length that ends where the
 * numbers do. */
static int measure_longest(struct bench *bench)
{
    const uint32_t nodes = bench->how.nodes;
    for (uint32_t length = 1; length < nodes; length++) {
        struct outcome outcome;
        const int error = measure_chain(bench, nodes - 2, length, &outcome);
        const double delay = (double)(outcome.measure.first_entry - bench->how.mark) / ROUND_TRIP;
        bench->row->delay[3] = delay > bench->row->delay[3] ? delay : bench->row->delay[3];
        bench->row->only_those = bench->row->only_those && !between(&outcome.measure, bench->row);
        measure_close(&outcome.measure);
        if (error)
            return error;
    }
    return 0;
}

/* False: no memory; close it in either case. */
static bool bench_open(struct bench *bench, const struct message_protocol *protocol, uint32_t nodes,
                       struct table_row *row)
{
    *row = (struct table_row){.fewest = UINT64_MAX, .only_those = true};
    *bench = (struct bench){.variant = {.name = protocol->name, .protocol = protocol}, .row = row};
    bench->how = (struct simulation){.variant = &bench->variant,
                                     .nodes = nodes,
                                     .order = protocol->fifo ? ORDER_FIFO : ORDER_ANY,
                                     .delay = {SPREAD_CONSTANT, HALF, 0},
                                     .section = {SPREAD_CONSTANT, 2 * ROUND_TRIP, 0}};
    bench->script = calloc(2 * (size_t)nodes, sizeof *bench->script);
    bench->waits = calloc(nodes, sizeof *bench->waits);
    return bench->script && bench->waits;
}

static void bench_close(struct bench *bench)
{
    free(bench->waits);
    free(bench->script);
}

int table_measure(const struct message_protocol *protocol, uint32_t nodes, struct table_row *row)
{
    struct bench bench;
    int error = bench_open(&bench, protocol, nodes, row) ? measure_handover(&bench) : -ENOMEM;
    if (!error)
        error = measure_alone(&bench);
    if (!error)
        error = measure_longest(&bench);
    bench_close(&bench);
    return error;
}

int table_trace(const struct message_protocol *protocol, uint32_t nodes, FILE *trace)
{
    struct bench bench;
    struct table_row row;
    int error = -ENOMEM;
    if (bench_open(&bench, protocol, nodes, &row)) {
        struct outcome outcome;
        bench.how.trace = trace;
        error = measure_chain(&bench, nodes - 2, nodes - 1, &outcome);
        measure_close(&outcome.measure);
    }
    bench_close(&bench);
    return error;
}

static const struct printed {
    const struct message_protocol *protocol;
    const char *text[1 + TABLE_NOTES];
    double figure[1 + TABLE_NOTES]; /* negative: none */
    const char *difference[1 + TABLE_NOTES];
} printed[] = {
    {&lamport_protocol, {"3*(N-1)", "-", "-", "-", "-"}, {-1, -1, -1, -1, -1}, {NULL}},
    {&ricart_agrawala_protocol,
     {"2*(N-1)", "0.5", "1.0", "1.0", "1.5"},
     {-1, .5, 1, 1, 1.5},
     {NULL}},
    {&carvalho_roucairol_protocol,
     {"0..2*(N-1)", ">=0.5", "0.0", "1.0", "(N-1)/2"},
     {-1, -1, 0, 1, -1},
     {NULL, NULL, NULL, NULL,
      "N/2, not (N-1)/2: N-1 nodes ask one after the other, each half a round trip after the one "
      "before and just "
      "before it "
      "hears of it, each giving its permission up to the next; the last needs a whole round trip: "
      "(N-2)/2 + 1"}},
    {&token_protocol, {"0 or N", "0.5", "0.0", "1.0", "1.0"}, {-1, .5, 0, 1, 1}, {NULL}},
};

static const struct printed *find(const struct message_protocol *protocol)
{
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++)
        if (printed[i].protocol == protocol)
            return &printed[i];
    return NULL;
}

const char *table_printed(const struct message_protocol *protocol, unsigned note)
{
    const struct printed *row = find(protocol);
    return row ? row->text[note] : "-";
}

double table_printed_figure(const struct message_protocol *protocol, unsigned note, uint32_t nodes)
{
    const struct printed *row = find(protocol);
    if (protocol == &carvalho_roucairol_protocol && note == 4)
        return (nodes - 1) / 2.0;
    return row ? row->figure[note] : -1;
}

const char *table_difference(const struct message_protocol *protocol, unsigned note)
{
    const struct printed *row = find(protocol);
    return row ? row->difference[note] : NULL;
}
