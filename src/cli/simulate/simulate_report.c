/* SPDX-License-Identifier: MIT */
/* What `afteryou simulate` says of its runs, in words or as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/simulate/simulate.h"
#include "common/json.h"

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
    fprintf(out, "  waiting    mean %.2f, ", round_trips(how, histogram_mean(&measure->waits)));
    static const double parts[] = {0.5, 0.9, 0.99};
    for (unsigned i = 0; i < 3; i++)
        fprintf(out, "p%.0f %.2f, ", 100 * parts[i],
                round_trips(how, (double)histogram_part(&measure->waits, parts[i])));
    fprintf(out, "most %.2f round trips (one is %.3f ms)\n",
            round_trips(how, (double)measure->waits.most), 2 * mean_delay(how) / 1e6);
    fprintf(out, "  response   mean %.2f, most %.2f round trips from a request to the leaving\n",
            round_trips(how, histogram_mean(&measure->responses)),
            round_trips(how, (double)measure->responses.most));
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
    if (measure->resent || measure->duplicates || measure->pauses)
        fprintf(out,
                "  network    %" PRIu64 " messages sent again, %" PRIu64
                " arrived twice; nodes stood still %" PRIu64 " times\n",
                measure->resent, measure->duplicates, measure->pauses);
    if (how->faults.wrong_detector)
        fprintf(out,
                "  overlaps   %" PRIu64 " entries beside one that was wrongly given up; %" PRIu64
                " entries of such that a fence refuses\n",
                outcome->overlaps, outcome->refused);
    fprintf(out, "  run        %" PRIu64 " events in %.2f s: %.1f million a second\n",
            measure->events, seconds, seconds > 0 ? (double)measure->events / seconds / 1e6 : 0);
}

static void print_messages_json(struct json *json, const struct measure *measure)
{
    json_object(json, "messages_per_passage");
    json_real(json, "mean", per(measure_messages(measure), measure->entries), 6);
    if (measure->fewest <= measure->greatest) {
        json_number(json, "fewest", measure->fewest);
        json_number(json, "greatest", measure->greatest);
    }
    json_close(json);
    json_object(json, "messages");
    for (unsigned kind = 0; kind < MESSAGE_KINDS; kind++)
        if (measure->sent[kind])
            json_number(json, message_name(kind), measure->sent[kind]);
    json_close(json);
}

static void print_waits_json(struct json *json, const struct simulation *how,
                             const struct measure *measure)
{
    static const struct {
        const char *name;
        double part;
    } parts[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};
    json_object(json, "waiting_round_trips");
    json_real(json, "mean", round_trips(how, histogram_mean(&measure->waits)), 6);
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        json_real(json, parts[i].name,
                  round_trips(how, (double)histogram_part(&measure->waits, parts[i].part)), 6);
    json_real(json, "most", round_trips(how, (double)measure->waits.most), 6);
    json_close(json);
    json_object(json, "response_round_trips");
    json_real(json, "mean", round_trips(how, histogram_mean(&measure->responses)), 6);
    json_real(json, "most", round_trips(how, (double)measure->responses.most), 6);
    json_close(json);
    json_real(json, "handover_round_trips", round_trips(how, histogram_mean(&measure->handovers)),
              6);
}

static void print_json(const struct simulate_request *request, const struct outcome *outcome,
                       double seconds, FILE *out)
{
    const struct simulation *how = &request->how;
    const struct measure *measure = &outcome->measure;
    struct json json = json_begin(out);
    json_object(&json, NULL);
    json_number(&json, "schema", SIMULATE_SCHEMA);
    json_text(&json, "protocol", how->variant->name);
    json_number(&json, "nodes", how->nodes);
    json_number(&json, "seed", how->seed);
    json_number(&json, "seeds", request->seeds);
    json_text(&json, "verdict", verdicts[outcome->verdict]);
    if (outcome->verdict != VERDICT_HOLDS)
        json_text(&json, "violation", outcome->words);
    json_flag(&json, "cut_short", outcome->cut_short);
    json_number(&json, "passages", measure->entries);
    json_real(&json, "simulated_seconds", (double)measure->now / 1e9, 9);
    print_messages_json(&json, measure);
    print_waits_json(&json, how, measure);
    json_object(&json, "fairness");
    json_real(&json, "evenness", measure->evenness, 6);
    json_number(&json, "out_of_turn", measure->out_of_turn);
    json_number(&json, "most_overtaken", measure->most_overtaken);
    json_close(&json);
    json_object(&json, "faults");
    json_number(&json, "crashes", measure->crashes);
    json_number(&json, "partitions", measure->partitions);
    json_number(&json, "joinings", measure->joins);
    json_number(&json, "resent", measure->resent);
    json_number(&json, "duplicates", measure->duplicates);
    json_number(&json, "pauses", measure->pauses);
    json_close(&json);
    json_number(&json, "overlaps", outcome->overlaps);
    json_number(&json, "refused_by_fence", outcome->refused);
    json_number(&json, "events", measure->events);
    json_real(&json, "seconds", seconds, 6);
    json_close(&json);
    json_end(&json);
}

void simulate_report(const struct simulate_request *request, const struct outcome *outcome,
                     double seconds, FILE *out)
{
    (request->json ? print_json : print_text)(request, outcome, seconds, out);
}
