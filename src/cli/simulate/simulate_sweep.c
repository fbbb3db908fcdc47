/* SPDX-License-Identifier: MIT */
/* `afteryou simulate --sweep`: one run for each protocol and number of nodes, as CSV and as a
 * drawing. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/simulate/simulate.h"
#include "common/draw/chart.h"

enum { SHIPPED = 4 };

struct sweep {
    struct curve curves[SHIPPED];
    double x[SHIPPED][SWEEP_MOST], y[SHIPPED][SWEEP_MOST];
    unsigned count;
    double most;
};

static void write_line(FILE *csv, const struct simulation *how, const struct measure *measure)
{
    const double trip =
        2 * (how->delay.kind == SPREAD_UNIFORM ? (double)(how->delay.least + how->delay.most) / 2
                                               : (double)how->delay.least);
    fprintf(csv, "%s,%u,%" PRIu64 ",%.4f,%" PRIu64 ",%" PRIu64 ",%.4f,%.4f,%.4f,%.6f\n",
            how->variant->name, how->nodes, measure->entries,
            (double)measure_messages(measure) / (double)measure->entries, measure->fewest,
            measure->greatest, (double)histogram_part(&measure->waits, 0.5) / trip,
            (double)histogram_part(&measure->waits, 0.99) / trip,
            histogram_mean(&measure->handovers) / trip, measure->evenness);
}

static int run_one(struct simulate_request *request, struct sweep *sweep, FILE *csv)
{
    static struct outcome outcome; /* large: histograms */
    int status = simulate_settle(request);
    if (status)
        return status;
    const int error = simulate(&request->how, &outcome);
    if (error || outcome.measure.entries == 0) {
        measure_close(&outcome.measure);
        return usage_error("simulate", "cannot make the run with %u nodes: %s", request->how.nodes,
                           error ? strerror(-error) : "nobody entered");
    }
    write_line(csv, &request->how, &outcome.measure);
    struct curve *curve = &sweep->curves[sweep->count - 1];
    const double mean =
        (double)measure_messages(&outcome.measure) / (double)outcome.measure.entries;
    sweep->x[sweep->count - 1][curve->count] = request->how.nodes;
    sweep->y[sweep->count - 1][curve->count++] = mean;
    sweep->most = mean > sweep->most ? mean : sweep->most;
    if (outcome.verdict != VERDICT_HOLDS) {
        say("simulate", "%s, %u nodes: %s", request->how.variant->name, request->how.nodes,
            outcome.words);
        status = EXIT_VIOLATED;
    }
    measure_close(&outcome.measure);
    return status;
}

static int run_protocol(struct simulate_request *request, const struct variant *variant,
                        struct sweep *sweep, FILE *csv)
{
    struct simulate_request one = *request;
    one.how.variant = variant;
    one.sizes_count = 1;
    sweep->curves[sweep->count] = (struct curve){
        .name = variant->name, .x = sweep->x[sweep->count], .y = sweep->y[sweep->count]};
    sweep->count++;
    int status = 0;
    for (unsigned size = 0; size < request->sizes_count && !status; size++) {
        one.sizes[0] = request->sizes[size];
        one.how.order = request->how.order;
        status = run_one(&one, sweep, csv);
    }
    return status;
}

static int draw(const struct simulate_request *request, const struct sweep *sweep)
{
    FILE *svg = fopen(request->svg, "w");
    if (!svg)
        return usage_error("simulate", "cannot write %s: %s", request->svg, strerror(errno));
    const struct chart chart = {.title = "Messages per passage",
                                .x_name = "nodes",
                                .y_name = "messages",
                                .x_least = request->sizes[0],
                                .x_most = request->sizes[request->sizes_count - 1] + 0.1,
                                .y_least = 0.1,
                                .y_most = sweep->most > 1 ? sweep->most * 1.2 : 1,
                                .curves = sweep->curves,
                                .count = sweep->count};
    const int error = chart_write(&chart, svg);
    if (fclose(svg) != 0 || error)
        return usage_error("simulate", "cannot write %s: %s", request->svg,
                           strerror(error ? -error : errno));
    return 0;
}

int simulate_sweep(struct simulate_request *request)
{
    static struct sweep sweep; /* large */
    sweep = (struct sweep){.most = 0};
    FILE *csv = request->csv ? fopen(request->csv, "w") : stdout;
    if (!csv)
        return usage_error("simulate", "cannot write %s: %s", request->csv, strerror(errno));
    fputs(
        "protocol,nodes,passages,messages_per_passage,fewest,greatest,wait_p50_round_trips,wait_p99_round_trips,"
        "handover_round_trips,evenness\n",
        csv);
    int status = 0;
    if (request->how.variant)
        status = run_protocol(request, request->how.variant, &sweep, csv);
    for (unsigned i = 0; !request->how.variant && i < SHIPPED && !status; i++)
        status = run_protocol(request, variant_at(i), &sweep, csv);
    if (request->csv && fclose(csv) != 0 && !status)
        status = usage_error("simulate", "cannot write %s: %s", request->csv, strerror(errno));
    return !status && request->svg ? draw(request, &sweep) : status;
}
