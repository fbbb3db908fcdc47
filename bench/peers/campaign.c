/* SPDX-License-Identifier: MIT */
/* A campaign: all peers of a case in turn, again and again, so that whatever disturbs the machine
 * disturbs them alike. */
#include "campaign.h"

#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "lists.h"
#include "numbers.h"

enum { SERIES_MOST = 64, ALONE_TIMES = 3 /* it is quick, and its ratios are looked at closely */ };

/* All samples of one peer, or of one command. */
struct series {
    const char *name;
    const struct peer *peer;
    size_t command;
    double *ns, *fairness, *cpu_ns;
    size_t count;
    struct sample counted; /* of the pass that counts overtakings */
    char message[MESSAGE_ROOM];
    bool failed;
};

bool choice_has(const char *list, const char *name)
{
    const bool all = list == NULL;
    size_t length;
    for (const char *word; (word = next_word(&list, &length));)
        if (case_means(word, length, name))
            return true;
    return all;
}

/* A peer is chosen by its whole name only: "courtesy" is not "courtesy-64". */
static bool chosen(const struct choice *choice, const struct peer *peer)
{
    const char *list = choice->peers;
    size_t length;
    for (const char *word; (word = next_word(&list, &length));)
        if (peer_named(word, length) == peer)
            return true;
    return choice->peers == NULL;
}

static void *room_for(size_t count)
{
    void *room = calloc(count, sizeof(double));
    if (!room) {
        fputs("bench: out of memory\n", stderr);
        exit(1);
    }
    return room;
}

static size_t rounds_of(const struct bench_case *of, const struct effort *effort)
{
    switch (of->kind) {
    case CASE_ALONE:
        return ALONE_TIMES * effort->alternations;
    case CASE_KILL:
        return effort->kills;
    case CASE_STARTUP:
        return effort->starts;
    default:
        return effort->alternations;
    }
}

static struct series series_of(const char *name, const struct peer *peer, size_t command,
                               size_t rounds)
{
    return (struct series){.name = name,
                           .peer = peer,
                           .command = command,
                           .ns = room_for(rounds),
                           .fairness = room_for(rounds),
                           .cpu_ns = room_for(rounds),
                           .counted = {.overtaken = -1, .overtaken_in_queue = -1}};
}

/* The reference comes first. */
static size_t gather(const struct bench_case *of, const struct choice *choice, size_t rounds,
                     struct series *all)
{
    size_t count = 0;
    if (of->kind == CASE_STARTUP) {
        for (size_t at = 0; at < startup_command_count(); at++)
            all[count++] = series_of(startup_command_name(at), NULL, at, rounds);
        return count;
    }
    for (size_t at = 0; at < peer_count() && count < SERIES_MOST; at++) {
        const struct peer *peer = peer_at(at);
        if (case_has(of, peer) && (at == 0 || chosen(choice, peer)))
            all[count++] = series_of(peer->name, peer, 0, rounds);
    }
    return count;
}

static int take(const struct bench_case *of, struct series *series, const struct choice *choice,
                const struct effort *effort, struct sample *sample)
{
    switch (of->kind) {
    case CASE_ALONE:
        return measure_alone(of, series->peer, effort, sample, series->message);
    case CASE_KILL:
        return measure_kill(of, series->peer, effort, sample, series->message);
    case CASE_STARTUP:
        return measure_startup(series->command, choice->afteryou, sample, series->message);
    default:
        return measure_contended(of, series->peer, effort, sample, series->message);
    }
}

static void measure_round(const struct bench_case *of, struct series *all, size_t count,
                          const struct choice *choice, const struct effort *effort,
                          struct noise *noise)
{
    for (size_t at = 0; at < count; at++) {
        struct series *series = &all[at];
        struct sample sample;
        if (series->failed)
            continue;
        /* whose rounds are short, and many */
        if (of->kind != CASE_KILL && of->kind != CASE_STARTUP)
            noise_listen(noise);
        if (take(of, series, choice, effort, &sample) != 0) {
            series->failed = true;
            continue;
        }
        series->ns[series->count] = sample.ns;
        series->fairness[series->count] = sample.fairness;
        series->cpu_ns[series->count] = sample.cpu_ns;
        series->count++;
    }
}

static void count_overtakings(const struct bench_case *of, struct series *all, size_t count,
                              const struct effort *effort)
{
    for (size_t at = 0; at < count; at++)
        if (!all[at].failed &&
            measure_overtaken(of, all[at].peer, effort, &all[at].counted, all[at].message) != 0)
            all[at].failed = true;
}

static void sum_up(const struct bench_case *of, struct series *series, double reference,
                   struct rows *rows)
{
    struct row *row = rows_add(rows, of->name, series->name);
    row->samples = (double)series->count;
    if (series->failed) {
        snprintf(row->note, sizeof row->note, "%s", series->message);
        return;
    }
    row->median_ns = quantile(series->ns, series->count, .5);
    row->low_ns = quantile(series->ns, series->count, .25);
    row->high_ns = quantile(series->ns, series->count, .75);
    row->p99_ns = quantile(series->ns, series->count, .99);
    row->ratio = reference > 0 ? row->median_ns / reference : -1;
    row->spread = (row->high_ns - row->low_ns) / row->median_ns;
    row->fairness = quantile(series->fairness, series->count, .5);
    row->cpu_ns = quantile(series->cpu_ns, series->count, .5);
    row->overtaken = series->counted.overtaken;
    row->overtaken_in_queue = series->counted.overtaken_in_queue;
    if (of->kind != CASE_KILL && of->kind != CASE_STARTUP)
        row->passages_per_second = 1e9 / row->median_ns;
}

/* Whether these rows can be trusted, said in each of them. */
static void judge(struct row *rows, size_t count, const struct noise *noise)
{
    char text[NOTE_ROOM] = "yes";
    const double others = noise_others(noise), steal = noise_steal(noise);
    if (rows[0].spread > SPREAD_MOST)
        snprintf(text, sizeof text, "noisy: %s spread by %.0f %%", rows[0].peer,
                 100 * rows[0].spread);
    else if (others > OTHERS_MOST)
        snprintf(text, sizeof text, "noisy: others used %.0f %% of the processors", 100 * others);
    else if (steal > STEAL_MOST)
        snprintf(text, sizeof text, "noisy: %.0f %% of the processors' time was stolen",
                 100 * steal);
    for (size_t at = 0; at < count; at++)
        memcpy(rows[at].trusted, text, sizeof text);
}

void campaign_case(const struct bench_case *of, const struct choice *choice,
                   const struct effort *effort, struct rows *rows, struct noise *whole)
{
    static struct series all[SERIES_MOST];
    const size_t rounds = rounds_of(of, effort), count = gather(of, choice, rounds, all),
                 first = rows->count;
    struct noise noise = {0};
    for (size_t round = 0; round < rounds; round++) {
        noise_listen(&noise);
        measure_round(of, all, count, choice, effort, &noise);
    }
    if (of->kind == CASE_CONTENDED && effort->counted_ms > 0)
        count_overtakings(of, all, count, effort);
    const double reference = all[0].failed ? 0 : quantile(all[0].ns, all[0].count, .5);
    for (size_t at = 0; at < count; at++)
        sum_up(of, &all[at], reference, rows);
    judge(&rows->at[first], count, &noise);
    noise_add(whole, &noise);
    for (size_t at = 0; at < count; at++) {
        free(all[at].ns);
        free(all[at].fairness);
        free(all[at].cpu_ns);
    }
}
