/* SPDX-License-Identifier: MIT */
/* The bench of all peers: the words of its command line, and the run. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "campaign.h"
#include "crew.h"
#include "lists.h"
#include "machine.h"
#include "table.h"

static const char usage[] =
    "usage: bench-peers [OPTION...]\n"
    "Measures afteryou beside other locks, all in one run, in turn; prints tables.\n"
    "  --case NAME,...       only these cases; the beginning of a name up to a hyphen will do "
    "(alone, contended-2)\n"
    "  --peer NAME,...       only these peers, and the reference\n"
    "  --quick               everything briefly: to see that it works, not for figures\n"
    "  --alternations N      how often each peer is measured in a case\n"
    "  --window MS           how long, each time, when contended\n"
    "  --again N             measures a case that was too noisy to trust again, N times at most\n"
    "  --csv FILE            writes all rows there too\n"
    "  --afteryou FILE       the command to start, for start-up; default: the one that was built "
    "with this\n"
    "  --commit WORD         what is measured: kept with the rows\n"
    "  --list                the names of cases and peers\n"
    "  --passages PEER:N     makes N passages of that peer alone and ends, for whoever counts "
    "instructions\n"
    "  -h, --help\n";

static const struct effort whole = {.alternations = 7,
                                    .chunks = 9,
                                    .chunk_us = 2000,
                                    .window_ms = 150,
                                    .counted_ms = 300,
                                    .kills = 100,
                                    .starts = 300};
static const struct effort quick = {.alternations = 2,
                                    .chunks = 3,
                                    .chunk_us = 100,
                                    .window_ms = 10,
                                    .counted_ms = 10,
                                    .kills = 2,
                                    .starts = 2};

struct words {
    struct choice choice;
    struct effort effort;
    const char *csv, *passages, *commit;
    unsigned again;
    bool list;
};

static void __attribute__((noreturn, format(printf, 1, 2))) refuse(const char *format, ...)
{
    va_list words;
    va_start(words, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, words);
    fputs("; --help tells more\n", stderr);
    va_end(words);
    exit(125);
}

static unsigned number_of(const char *option, const char *text)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 10);
    if (*end || end == text || value < 1 || value > 1000000)
        refuse("%s wants a number from 1 to 1000000, not '%s'", option, text);
    return (unsigned)value;
}

static bool is_case(const char *word, size_t length)
{
    for (size_t at = 0; at < bench_case_count; at++)
        if (case_means(word, length, bench_cases[at].name))
            return true;
    return false;
}

static void check_names(const struct choice *choice)
{
    const char *names = choice->peers, *cases = choice->cases, *word;
    size_t length;
    while ((word = next_word(&names, &length)))
        if (!peer_named(word, length))
            refuse("there is no peer '%.*s' (--list has their names)", (int)length, word);
    while ((word = next_word(&cases, &length)))
        if (!is_case(word, length))
            refuse("there is no case '%.*s' (--list has their names)", (int)length, word);
}

enum letter {
    CASE = 256,
    PEER,
    QUICK,
    ALTERNATIONS,
    WINDOW,
    AGAIN,
    CSV,
    AFTERYOU,
    COMMIT,
    LIST,
    PASSAGES
};

static const struct option options[] = {{"case", required_argument, NULL, CASE},
                                        {"peer", required_argument, NULL, PEER},
                                        {"quick", no_argument, NULL, QUICK},
                                        {"alternations", required_argument, NULL, ALTERNATIONS},
                                        {"window", required_argument, NULL, WINDOW},
                                        {"again", required_argument, NULL, AGAIN},
                                        {"csv", required_argument, NULL, CSV},
                                        {"afteryou", required_argument, NULL, AFTERYOU},
                                        {"commit", required_argument, NULL, COMMIT},
                                        {"list", no_argument, NULL, LIST},
                                        {"passages", required_argument, NULL, PASSAGES},
                                        {"help", no_argument, NULL, 'h'},
                                        {0}};

static void take_option(struct words *words, int option)
{
    switch (option) {
    case CASE:
        words->choice.cases = optarg;
        break;
    case PEER:
        words->choice.peers = optarg;
        break;
    case QUICK:
        words->effort = quick;
        break;
    case ALTERNATIONS:
        words->effort.alternations = number_of("--alternations", optarg);
        break;
    case WINDOW:
        words->effort.window_ms = number_of("--window", optarg);
        words->effort.counted_ms = 2 * words->effort.window_ms;
        break;
    case AGAIN:
        words->again = number_of("--again", optarg);
        break;
    case CSV:
        words->csv = optarg;
        break;
    case AFTERYOU:
        words->choice.afteryou = optarg;
        break;
    case COMMIT:
        words->commit = optarg;
        break;
    case LIST:
        words->list = true;
        break;
    case PASSAGES:
        words->passages = optarg;
        break;
    case 'h':
        fputs(usage, stdout);
        exit(0);
    default:
        exit(125); /* getopt has said why */
    }
}

static void list(void)
{
    puts("cases:");
    for (size_t at = 0; at < bench_case_count; at++)
        printf("  %-20s %s\n", bench_cases[at].name, bench_cases[at].what);
    puts("peers:");
    for (size_t at = 0; at < peer_count(); at++)
        printf("  %-20s %s\n", peer_at(at)->name, peer_at(at)->what);
}

static int make_passages(const char *word)
{
    char message[MESSAGE_ROOM] = "";
    const char *colon = strchr(word, ':');
    const struct peer *peer = colon ? peer_named(word, (size_t)(colon - word)) : NULL;
    if (!peer)
        refuse("--passages wants PEER:N, not '%s'", word);
    if (run_passages(&bench_cases[0], peer, number_of("--passages", colon + 1), message) == 0)
        return 0;
    fprintf(stderr, "bench: %s: %s\n", peer->name, message);
    return 1;
}

static const char *built_command(void)
{
    static char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 32);
    path[length > 0 ? length : 0] = '\0';
    for (int up = 0; up < 3; up++) /* build/bench/peers/bench-peers */
        if (strrchr(path, '/'))
            *strrchr(path, '/') = '\0';
    strcat(path, "/afteryou");
    return path;
}

/* Measures a case until it can be trusted, or often enough. What is trusted does not depend on what
 * is found of anybody but the reference. */
static void measure_case(const struct bench_case *of, const struct words *words, struct rows *rows,
                         struct noise *noise)
{
    const size_t first = rows->count;
    for (unsigned times = 0; times <= words->again; times++) {
        rows->count = first;
        campaign_case(of, &words->choice, &words->effort, rows, noise);
        if (strcmp(rows->at[first].trusted, "yes") == 0)
            break;
    }
    table_case(of, rows, stdout);
    fflush(stdout);
}

static void measure_all(const struct words *words, struct rows *rows)
{
    char text[NOTE_ROOM];
    machine_describe(rows);
    if (words->commit)
        rows_add_machine(rows, "commit", words->commit);
    machine_load_average(rows, "load before");
    table_machine(rows, stdout);
    struct noise noise = {0};
    for (size_t at = 0; at < bench_case_count; at++)
        if (choice_has(words->choice.cases, bench_cases[at].name))
            measure_case(&bench_cases[at], words, rows, &noise);
    machine_load_average(rows, "load after");
    snprintf(text, sizeof text, "%.1f %%", 100 * noise_others(&noise));
    rows_add_machine(rows, "used by others", text);
    snprintf(text, sizeof text, "%.1f %%", 100 * noise_steal(&noise));
    rows_add_machine(rows, "stolen", text);
    printf("\n");
    table_machine(rows, stdout);
    table_legend(stdout);
}

static int write_csv(const struct rows *rows, const char *path)
{
    FILE *out = fopen(path, "w");
    const int result = out ? rows_write(rows, out) : -errno;
    if (out && fclose(out) != 0)
        return -errno;
    return result;
}

int main(int count, char **arguments)
{
    struct words words = {.effort = whole, .choice = {.afteryou = built_command()}};
    struct rows rows = {0};
    for (int option; (option = getopt_long(count, arguments, "h", options, NULL)) >= 0;)
        take_option(&words, option);
    if (optind < count)
        refuse("unexpected word '%s'", arguments[optind]);
    check_names(&words.choice);
    if (words.list) {
        list();
        return 0;
    }
    crew_prepare();
    if (words.passages)
        return make_passages(words.passages);
    measure_all(&words, &rows);
    const int result = words.csv ? write_csv(&rows, words.csv) : 0;
    if (result != 0)
        fprintf(stderr, "bench: %s: %s\n", words.csv, strerror(-result));
    rows_free(&rows);
    return result == 0 ? 0 : 1;
}
