/* SPDX-License-Identifier: MIT */
/* The words of `afteryou simulate`: reads them, and says what is wrong with them. */
#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/simulate/simulate.h"

enum { FIFO_NODES_MOST = 4096, TABLE_NODES_MOST = 200 };

/* 250ns, 1.5us, 20ms, 3s */
static bool parse_time(const char *text, const char **end, uint64_t *nanoseconds)
{
    char *after;
    if (!isdigit((unsigned char)*text))
        return false;
    const double value = strtod(text, &after);
    static const struct {
        const char *name;
        double scale;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t length = strlen(units[i].name);
        if (strncmp(after, units[i].name, length) == 0 && value * units[i].scale < 1e18) {
            *nanoseconds = (uint64_t)(value * units[i].scale);
            *end = after + length;
            return true;
        }
    }
    return false;
}

static bool parse_spread(const char *text, struct spread *spread)
{
    *spread = (struct spread){.kind = SPREAD_CONSTANT};
    if (strncmp(text, "exp:", 4) == 0) {
        spread->kind = SPREAD_EXPONENTIAL;
        text += 4;
    }
    if (!parse_time(text, &text, &spread->least))
        return false;
    if (*text == '-' && spread->kind == SPREAD_CONSTANT) {
        spread->kind = SPREAD_UNIFORM;
        return parse_time(text + 1, &text, &spread->most) && *text == '\0' &&
               spread->most >= spread->least;
    }
    return *text == '\0';
}

static bool parse_share(const char *text, double most, double *share)
{
    char *end;
    *share = strtod(text, &end);
    return end != text && *end == '\0' && *share >= 0 && *share <= most;
}

/* 2-10,20,50 */
static bool parse_sizes(const char *text, struct simulate_request *request)
{
    request->sizes_count = 0;
    do {
        char *end;
        const unsigned long first = strtoul(text, &end, 10);
        unsigned long last = first;
        if (end == text)
            return false;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (first < 2 || last < first || last > NODES_MOST ||
            request->sizes_count + last - first >= SWEEP_MOST)
            return false;
        for (unsigned long size = first; size <= last; size++)
            request->sizes[request->sizes_count++] = (uint32_t)size;
        text = end;
    } while (*text++ == ',');
    return text[-1] == '\0';
}

static bool parse_order(const char *text, struct simulate_request *request)
{
    static const char *const names[] = {
        [ORDER_ANY] = "any", [ORDER_FIFO] = "fifo", [ORDER_AGREED] = "agreed"};
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            request->how.order = (enum order)i;
            request->order_given = true;
            return true;
        }
    return false;
}

enum words {
    OPTION_PASSAGES = 256,
    OPTION_EVENTS,
    OPTION_SEED,
    OPTION_SEEDS,
    OPTION_NETWORK,
    OPTION_DELAY,
    OPTION_THINK,
    OPTION_SECTION,
    OPTION_HOT,
    OPTION_SKEW,
    OPTION_SHARED,
    OPTION_CRASH,
    OPTION_RESTART,
    OPTION_SLOW,
    OPTION_PARTITION,
    OPTION_DETECTOR,
    OPTION_TRACE,
    OPTION_CSV,
    OPTION_SVG,
    OPTION_JSON,
    OPTION_TABLE,
    OPTION_SWEEP
};

static const struct option options[] = {{"nodes", required_argument, NULL, 'n'},
                                        {"passages", required_argument, NULL, OPTION_PASSAGES},
                                        {"events", required_argument, NULL, OPTION_EVENTS},
                                        {"seed", required_argument, NULL, OPTION_SEED},
                                        {"seeds", required_argument, NULL, OPTION_SEEDS},
                                        {"network", required_argument, NULL, OPTION_NETWORK},
                                        {"delay", required_argument, NULL, OPTION_DELAY},
                                        {"think", required_argument, NULL, OPTION_THINK},
                                        {"section", required_argument, NULL, OPTION_SECTION},
                                        {"hot", required_argument, NULL, OPTION_HOT},
                                        {"skew", required_argument, NULL, OPTION_SKEW},
                                        {"shared", required_argument, NULL, OPTION_SHARED},
                                        {"crash", required_argument, NULL, OPTION_CRASH},
                                        {"restart", required_argument, NULL, OPTION_RESTART},
                                        {"slow", required_argument, NULL, OPTION_SLOW},
                                        {"partition", required_argument, NULL, OPTION_PARTITION},
                                        {"detector", required_argument, NULL, OPTION_DETECTOR},
                                        {"trace", required_argument, NULL, OPTION_TRACE},
                                        {"csv", required_argument, NULL, OPTION_CSV},
                                        {"svg", required_argument, NULL, OPTION_SVG},
                                        {"json", no_argument, NULL, OPTION_JSON},
                                        {"table", no_argument, NULL, OPTION_TABLE},
                                        {"sweep", required_argument, NULL, OPTION_SWEEP},
                                        {NULL, 0, NULL, 0}};

/* The options that are numbers, times, shares. False: the argument makes no sense. */
static bool take_quantity(struct simulate_request *request, int option, const char *text)
{
    struct simulation *how = &request->how;
    switch (option) {
    case 'n':
        return parse_sizes(text, request);
    case OPTION_SWEEP:
        request->sweep = true;
        return parse_sizes(text, request);
    case OPTION_PASSAGES:
        request->passages_given = true;
        return parse_number(text, 1, UINT64_MAX / 2, &how->passages);
    case OPTION_EVENTS:
        return parse_number(text, 1, UINT64_MAX / 2, &how->events);
    case OPTION_SEED:
        return parse_number(text, 0, UINT64_MAX / 2, &how->seed);
    case OPTION_SEEDS:
        return parse_number(text, 1, UINT64_MAX / 2, &request->seeds);
    case OPTION_DELAY:
        return parse_spread(text, &how->delay);
    case OPTION_THINK:
        return parse_spread(text, &how->think);
    case OPTION_SECTION:
        return parse_spread(text, &how->section);
    case OPTION_HOT:
        return parse_share(text, 0.9999999, &how->hot);
    case OPTION_SKEW:
        return parse_share(text, 10, &how->skew);
    case OPTION_SHARED:
        return parse_share(text, 1, &how->shared);
    case OPTION_CRASH:
        return parse_share(text, 1, &how->faults.crash);
    case OPTION_RESTART:
        return parse_share(text, 1, &how->faults.restart);
    case OPTION_SLOW:
        return parse_share(text, 1, &how->faults.delay);
    default:
        return parse_share(text, 1, &how->faults.partition);
    }
}

static bool take(struct simulate_request *request, int option, const char *text)
{
    switch (option) {
    case OPTION_NETWORK:
        return parse_order(text, request);
    case OPTION_DETECTOR:
        request->how.faults.wrong_detector = strcmp(text, "wrong") == 0;
        return request->how.faults.wrong_detector || strcmp(text, "right") == 0;
    case OPTION_TRACE:
        request->trace = text;
        return true;
    case OPTION_CSV:
        request->csv = text;
        return true;
    case OPTION_SVG:
        request->svg = text;
        return true;
    case OPTION_JSON:
        return request->json = true;
    case OPTION_TABLE:
        return request->table = true;
    default:
        return take_quantity(request, option, text);
    }
}

static int check_shape(struct simulate_request *request, int count, char **words)
{
    if (optind < count) {
        request->how.variant = variant_find(words[optind]);
        if (!request->how.variant)
            return usage_error("simulate", "no protocol '%s'; afteryou simulate --list names them",
                               words[optind]);
        optind++;
    }
    if (optind < count)
        return usage_error("simulate", "'%s' is one word too many; one protocol at a time",
                           words[optind]);
    if (!request->how.variant && !request->table && !request->sweep)
        return usage_error("simulate",
                           "which protocol? lamport, ricart-agrawala, carvalho-roucairol or token");
    for (unsigned i = 0; request->table && i < request->sizes_count; i++)
        if (request->sizes[i] > TABLE_NODES_MOST)
            return usage_error("simulate",
                               "--table tries every chain of requests: at most %u nodes",
                               TABLE_NODES_MOST);
    if ((request->csv || request->svg) && !request->sweep)
        return usage_error("simulate", "--csv and --svg belong to --sweep");
    if (request->trace && (request->seeds > 1 || request->sweep || request->table))
        return usage_error("simulate", "--trace writes one run: give one --seed");
    return 0;
}

int simulate_parse(int count, char **words, struct simulate_request *request)
{
    *request = (struct simulate_request){
        .how = {.nodes = 5,
                .seed = 1,
                .passages = 10000,
                .delay = {SPREAD_EXPONENTIAL, 500000, 0},
                .think = {SPREAD_EXPONENTIAL, 5000000, 0},
                .section = {SPREAD_EXPONENTIAL, 300000, 0},
                .faults = {.restart = 1}},
        .seeds = 1,
    };
    optind = 0;
    opterr = 0;
    int option;
    while ((option = getopt_long(count, words, ":n:", options, NULL)) != -1) {
        if (option == '?' || option == ':')
            return option_error("simulate", option, words);
        if (!take(request, option, optarg))
            return usage_error(
                "simulate", "'%s' is not a value that '%s' can take; see afteryou simulate --help",
                optarg, words[optind - 1] == optarg ? words[optind - 2] : words[optind - 1]);
    }
    return check_shape(request, count, words);
}

int simulate_settle(struct simulate_request *request)
{
    struct simulation *how = &request->how;
    const struct message_protocol *protocol = how->variant->protocol;
    const bool changes = how->faults.crash > 0 || how->faults.partition > 0;
    if (request->sizes_count > 1)
        return usage_error("simulate",
                           "one run has one number of nodes; lists are for --table and --sweep");
    if (request->sizes_count)
        how->nodes = request->sizes[0];
    if (!request->order_given)
        how->order = changes ? ORDER_AGREED : protocol->fifo ? ORDER_FIFO : ORDER_ANY;
    if (changes && how->order != ORDER_AGREED)
        return usage_error("simulate", "nodes that come and go need --network agreed");
    if (how->order == ORDER_FIFO && how->nodes > FIFO_NODES_MOST)
        return usage_error(
            "simulate",
            "fifo keeps a word for each of N² channels: at most %u nodes, or --network agreed",
            FIFO_NODES_MOST);
    if (how->hot > 0 && how->skew > 0)
        return usage_error("simulate",
                           "--hot and --skew are two ways to load the nodes; choose one");
    if (how->shared > 0 && protocol->exclusive_only)
        return usage_error("simulate", "%s carries the exclusive mode only: leave --shared out",
                           protocol->name);
    if (how->events && !request->passages_given)
        how->passages = 0;
    return 0;
}
