/* SPDX-License-Identifier: MIT */
/* `afteryou simulate`: runs a message protocol on a simulated network, and
 * reports. */
#include "cli/simulate/simulate.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"

/* In the order they are drawn; one stays on its line. */
void simulate_progress(void *request, const struct measure *so_far)
{
    const struct simulation *how = &((const struct simulate_request *)request)->how;
    const double by_passages = how->passages ? (double)so_far->entries / (double)how->passages : 0;
    const double by_events = how->events ? (double)so_far->events / (double)how->events : 0;
    const double part = by_passages > by_events ? by_passages : by_events;
    enum { WIDTH = 30 };
    const int full = (int)((part < 1 ? part : 1) * WIDTH);
    fprintf(stderr, "\rsimulate [%.*s%*s] %3.0f %%  %.1f million events", full,
            "##############################", WIDTH - full, "", 100 * (part < 1 ? part : 1),
            (double)so_far->events / 1e6);
}

void simulate_progress_end(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Adds one run to the sum over seeds. Extremes are kept; what has no sum (percentiles) is the
 * histograms'. */
static void add_up(struct outcome *sum, const struct outcome *one)
{
    struct measure *to = &sum->measure;
    const struct measure *from = &one->measure;
    to->events += from->events;
    to->entries += from->entries;
    to->crashes += from->crashes;
    to->joins += from->joins;
    to->partitions += from->partitions;
    to->now += from->now;
    to->out_of_turn += from->out_of_turn;
    to->evenness += from->evenness;
    sum->overlaps += one->overlaps;
    sum->refused += one->refused;
    for (unsigned kind = 0; kind < MESSAGE_KINDS; kind++)
        to->sent[kind] += from->sent[kind];
    to->fewest = from->fewest < to->fewest ? from->fewest : to->fewest;
    to->greatest = from->greatest > to->greatest ? from->greatest : to->greatest;
    to->most_overtaken =
        from->most_overtaken > to->most_overtaken ? from->most_overtaken : to->most_overtaken;
    histogram_join(&to->waits, &from->waits);
    histogram_join(&to->responses, &from->responses);
    to->resent += from->resent;
    to->duplicates += from->duplicates;
    to->pauses += from->pauses;
    histogram_join(&to->handovers, &from->handovers);
}

static int open_trace(struct simulate_request *request)
{
    if (!request->trace)
        return 0;
    request->how.trace = fopen(request->trace, "w");
    if (!request->how.trace)
        return usage_error("simulate", "cannot write the trace %s: %s", request->trace,
                           strerror(errno));
    return 0;
}

int simulate_runs(struct simulate_request *request)
{
    int status = open_trace(request);
    if (status)
        return status;
    const double started = clock_seconds();
    static struct outcome sum, one; /* large: histograms */
    sum = (struct outcome){.measure = {.fewest = UINT64_MAX}};
    const uint64_t first = request->how.seed;
    uint64_t runs = 0;
    int error = 0;
    while (runs < request->seeds && !error && sum.verdict == VERDICT_HOLDS) {
        request->how.seed = first + runs++;
        error = simulate(&request->how, &one);
        add_up(&sum, &one);
        sum.verdict = one.verdict;
        sum.cut_short |= one.cut_short;
        memcpy(sum.words, one.words, sizeof sum.words);
        measure_close(&one.measure);
    }
    simulate_progress_end();
    sum.measure.evenness /= (double)runs;
    bool unwritten = request->how.trace && ferror(request->how.trace);
    if (request->how.trace && fclose(request->how.trace) != 0 && !error) {
        error = -errno;
        unwritten = true;
    }
    if (error && unwritten)
        return usage_error("simulate", "cannot write the trace %s: %s", request->trace,
                           strerror(-error));
    if (error)
        return usage_error("simulate", "cannot make the run: %s%s",
                           error == -EOVERFLOW ? "simulated time ran over" : strerror(-error),
                           error == -ENOMEM ? "; fewer nodes need less"
                           : error == -EOVERFLOW
                               ? " (292 years); shorten --think, --delay or --section"
                               : "");
    simulate_report(request, &sum, clock_seconds() - started, stdout);
    return sum.verdict == VERDICT_HOLDS ? EXIT_HOLDS : EXIT_VIOLATED;
}

int command_simulate(int count, char **words)
{
    static struct simulate_request request;
    int status = simulate_parse(count, words, &request);
    if (status)
        return status < 0 ? EXIT_HOLDS : status;
    if (request.table)
        return simulate_table(&request);
    if (request.sweep)
        return simulate_sweep(&request);
    status = simulate_settle(&request);
    if (status)
        return status;
    if (isatty(STDERR_FILENO)) {
        request.how.progress = simulate_progress;
        request.how.progress_context = &request;
    }
    return simulate_runs(&request);
}
