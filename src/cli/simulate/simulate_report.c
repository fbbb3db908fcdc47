/* SPDX-License-Identifier: MIT */
/* What `afteryou simulate` says of its runs, in words or as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/simulate/simulate.h"

static const char *const verdicts[] = {[VERDICT_HOLDS] = "holds",
                                       [VERDICT_EXCLUSION] = "exclusion violated",
                                       [VERDICT_FENCE] = "fence violated",
                                       [VERDICT_DEADLOCK] = "deadlock"};

static double mean_delay(const struct simulation *how)
{
    const struct spread *delay = &how->delay;
    return delay->kind == SPREAD_UNIFORM ? (double)(delay->least + delay->most) / 2
                                         : (double)delay->least;
}

static double round_trips(const struct simulation *how, double nanoseconds)
{
    const double delay = mean_delay(how);
    return delay > 0 ? nanoseconds / (2 * delay) : 0;
}

static double per(uint64_t count, uint64_t of)
{
    return of ? (double)count / (double)of : 0;
}

static void print_verdict(const struct outcome *outcome, FILE *out)
{
    const bool colour = isatty(fileno(out)) && !getenv("NO_COLOR");
    const bool holds = outcome->verdict == VERDICT_HOLDS;
    fprintf(out, "%s%s%s\n", colour ? (holds ? "\033[32m" : "\033[31m") : "",
            verdicts[outcome->verdict], colour ? "\033[0m" : "");
}

static void print_messages(const struct measure *measure, FILE *out)
{
    fprintf(out, "  messages   %.2f a passage", per(measure_messages(measure), measure->entries));
    if (measure->fewest <= measure->greatest)
        fprintf(out, ", from %" PRIu64 " to %" PRIu64, measure->fewest, measure->greatest);
    const char *before = " (";
    for (unsigned kind = 0; kind < MESSAGE_KINDS; kind++)
        if (measure->sent[kind]) {
            fprintf(out, "%s%s %.2f", before, message_name(kind),
                    per(measure->sent[kind], measure->entries));
            before = ", ";
        }
    fprintf(out, "%s\n", *before == ',' ? ")" : "");
}

static void print_waits(const struct simulation *how, const struct measure *measure, FILE *out)
{
    fputs("  waiting    ", out);
    static const double parts[] = {0.5, 0.9, 0.99};
    for (unsigned i = 0; i < 3; i++)
        fprintf(out, "p%.0f %.2f, ", 100 * parts[i],
                round_trips(how, (double)histogram_part(&measure->waits, parts[i])));
    fprintf(out, "most %.2f round trips (one is %.3f ms)\n",
            round_trips(how, (double)measure->waits.most), 2 * mean_delay(how) / 1e6);
    fprintf(
        out,
        "  handover   %.2f round trips from a leaving to the next entry, where somebody waited\n",
        round_trips(how, histogram_mean(&measure->handovers)));
}

static void print_text(const struct simulate_request *request, const struct outcome *outcome,
                       double seconds, FILE *out)
{
    const struct simulation *how = &request->how;
    const struct measure *measure = &outcome->measure;
    const double simulated = (double)measure->now / 1e9;
    fprintf(out, "%s, %u nodes, ", how->variant->name, how->nodes);
    if (request->seeds > 1)
        fprintf(out, "%" PRIu64 " seeds up to %" PRIu64 ": ", request->seeds, how->seed);
    else
        fprintf(out, "seed %" PRIu64 ": ", how->seed);
    print_verdict(outcome, out);
    if (outcome->verdict != VERDICT_HOLDS)
        fprintf(out,
                "  %s\n  after %" PRIu64 " events; the same options with --seed %" PRIu64
                " replay it\n",
                outcome->words, measure->events, how->seed);
    else if (outcome->cut_short)
        fprintf(out,
                "  cut short after %" PRIu64
                " events, before all came to rest; --events says how many there are\n",
                measure->events);
    fprintf(out, "  passages   %" PRIu64 " in %.3f s simulated: %.0f a second\n", measure->entries,
            simulated, simulated > 0 ? (double)measure->entries / simulated : 0);
    print_messages(measure, out);
    print_waits(how, measure, out);
    fprintf(out,
            "  fairness   evenness %.4f; %.1f %% entered out of turn; at most %" PRIu64
            " entries of others in one wait\n",
            measure->evenness, 100 * per(measure->out_of_turn, measure->entries),
            measure->most_overtaken);
    if (measure->crashes || measure->joins || measure->partitions)
        fprintf(out,
                "  faults     %" PRIu64 " crashes, %" PRIu64 " partitions, %" PRIu64 " joinings\n",
                measure->crashes, measure->partitions, measure->joins);
    if (how->faults.wrong_detector)
        fprintf(out,
                "  overlaps   %" PRIu64 " entries beside one that was wrongly given up; %" PRIu64
                " entries of such that a fence refuses\n",
                outcome->overlaps, outcome->refused);
    fprintf(out, "  run        %" PRIu64 " events in %.2f s: %.1f million a second\n",
            measure->events, seconds, seconds > 0 ? (double)measure->events / seconds / 1e6 : 0);
}

static void print_json(const struct simulate_request *request, const struct outcome *outcome,
                       double seconds, FILE *out)
{
    const struct simulation *how = &request->how;
    const struct measure *measure = &outcome->measure;
    fprintf(out,
            "{\"protocol\":\"%s\",\"nodes\":%u,\"seed\":%" PRIu64 ",\"seeds\":%" PRIu64
            ",\"verdict\":\"%s\"",
            how->variant->name, how->nodes, how->seed, request->seeds, verdicts[outcome->verdict]);
    if (outcome->verdict != VERDICT_HOLDS)
        /* our own words: nothing in them needs escaping */
        fprintf(out, ",\"violation\":\"%s\"", outcome->words);
    fprintf(out, ",\"cut_short\":%s", outcome->cut_short ? "true" : "false");
    fprintf(out, ",\"passages\":%" PRIu64 ",\"simulated_seconds\":%.9f", measure->entries,
            (double)measure->now / 1e9);
    fprintf(out, ",\"messages_per_passage\":{\"mean\":%.6f",
            per(measure_messages(measure), measure->entries));
    if (measure->fewest <= measure->greatest)
        fprintf(out, ",\"fewest\":%" PRIu64 ",\"greatest\":%" PRIu64, measure->fewest,
                measure->greatest);
    fputs("},\"messages\":{", out);
    const char *comma = "";
    for (unsigned kind = 0; kind < MESSAGE_KINDS; kind++)
        if (measure->sent[kind]) {
            fprintf(out, "%s\"%s\":%" PRIu64, comma, message_name(kind), measure->sent[kind]);
            comma = ",";
        }
    fprintf(out, "},\"waiting_round_trips\":{\"p50\":%.6f,\"p90\":%.6f,\"p99\":%.6f,\"most\":%.6f}",
            round_trips(how, (double)histogram_part(&measure->waits, 0.5)),
            round_trips(how, (double)histogram_part(&measure->waits, 0.9)),
            round_trips(how, (double)histogram_part(&measure->waits, 0.99)),
            round_trips(how, (double)measure->waits.most));
    fprintf(out, ",\"handover_round_trips\":%.6f",
            round_trips(how, histogram_mean(&measure->handovers)));
    fprintf(out,
            ",\"fairness\":{\"evenness\":%.6f,\"out_of_turn\":%" PRIu64
            ",\"most_overtaken\":%" PRIu64 "}",
            measure->evenness, measure->out_of_turn, measure->most_overtaken);
    fprintf(out,
            ",\"faults\":{\"crashes\":%" PRIu64 ",\"partitions\":%" PRIu64 ",\"joinings\":%" PRIu64
            "}",
            measure->crashes, measure->partitions, measure->joins);
    fprintf(out, ",\"overlaps\":%" PRIu64 ",\"refused_by_fence\":%" PRIu64, outcome->overlaps,
            outcome->refused);
    fprintf(out, ",\"events\":%" PRIu64 ",\"seconds\":%.6f}\n", measure->events, seconds);
}

void simulate_report(const struct simulate_request *request, const struct outcome *outcome,
                     double seconds, FILE *out)
{
    (request->json ? print_json : print_text)(request, outcome, seconds, out);
}
