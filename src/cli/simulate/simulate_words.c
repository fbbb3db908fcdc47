/* SPDX-License-Identifier: MIT */
/* The words of `afteryou simulate`: reads them, and says what is wrong with them. */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/simulate/simulate.h"

enum { TABLE_NODES_MOST = 200 };
#define HOT_MOST  0.9999999
#define LOSS_MOST 0.99

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

/* 5us, exp:5us, 2us-8us: where the row says. */
static int take_spread(const struct option_word *word)
{
    struct spread *spread = (struct spread *)(void *)((char *)word->asked + word->row->offset);
    const char *text = word->value;
    *spread = (struct spread){.kind = SPREAD_CONSTANT};
    if (strncmp(text, "exp:", 4) == 0) {
        spread->kind = SPREAD_EXPONENTIAL;
        text += 4;
    }
    if (!parse_time(text, &text, &spread->least))
        return OPTION_REFUSED;
    if (*text == '-' && spread->kind == SPREAD_CONSTANT) {
        spread->kind = SPREAD_UNIFORM;
        if (!parse_time(text + 1, &text, &spread->most) || spread->most < spread->least)
            return OPTION_REFUSED;
    }
    return *text == '\0' ? OPTION_TAKEN : OPTION_REFUSED;
}

/* 2-10,20,50 */
static int take_sizes(const struct option_word *word)
{
    struct simulate_request *request = word->asked;
    const char *text = word->value;
    request->sizes_count = 0;
    do {
        char *end;
        const unsigned long first = strtoul(text, &end, 10);
        unsigned long last = first;
        if (end == text)
            return OPTION_REFUSED;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (first < 2 || last < first || last > NODES_MOST ||
            request->sizes_count + last - first >= SWEEP_MOST)
            return OPTION_REFUSED;
        for (unsigned long size = first; size <= last; size++)
            request->sizes[request->sizes_count++] = (uint32_t)size;
        text = end;
    } while (*text++ == ',');
    return text[-1] == '\0' ? OPTION_TAKEN : OPTION_REFUSED;
}

/* Leases, units and the deaths of users are the checker's affair. */
static bool is_simulated(const struct variant *variant)
{
    return !(variant->without & (WITHOUT_LEASE | WITHOUT_OF_DEATHS | WITHOUT_OF_UNITS));
}

/* Those that are not simulated stand last. */
static const char *variant_name_at(size_t at)
{
    const struct variant *variant = variant_at((unsigned)at);
    return variant && is_simulated(variant) ? variant->name : NULL;
}

static int list_variants(void)
{
    for (unsigned i = 0; variant_name_at(i); i++) {
        const struct variant *variant = variant_at(i);
        printf("%-38s%s%s\n", variant->name,
               variant->left_out        ? "  without "
               : variant_ships(variant) ? ""
                                        : "  of the papers",
               variant->left_out ? variant->left_out : "");
    }
    return OPTION_DONE;
}

/* Those that ship stand first in the catalogue. */
static const char *protocol_at(size_t at)
{
    const struct variant *variant = variant_at((unsigned)at);
    return variant && !variant->left_out ? variant->name : NULL;
}

static const char *order_at(size_t at)
{
    static const char *const names[] = {[ORDER_ANY] = "any",
                                        [ORDER_FIFO] = "fifo",
                                        [ORDER_AGREED] = "agreed",
                                        [ORDER_LINKS] = "links"};
    return at < sizeof names / sizeof *names ? names[at] : NULL;
}

/* The number of the second is true: .wrong_detector. */
static const char *detector_at(size_t at)
{
    static const char *const names[] = {"right", "wrong"};
    return at < sizeof names / sizeof *names ? names[at] : NULL;
}

#define SIZES "numbers of nodes from 2 to 1048576, as in 5 or 2-10,20,50"
#define TIME  "a time, as in 5us, exp:5us (the mean) or 2us-8us"
static_assert(NODES_MOST == 1048576, "SIZES says so");

static const struct option_row rows[] = {
    {.heading = "What is run",
     .letters = "n",
     .names = {"nodes"},
     .argument = "N",
     .help = "how many nodes; with --table and --sweep a list, as in 2-10,20,50",
     .standard = "5",
     .kind = OPTION_CALL,
     .take = take_sizes,
     .takes = SIZES},
    {.names = {"passages"},
     .argument = "K",
     .help = "after K requests nobody asks again, and all comes to rest",
     .standard = "10000",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = UINT64_MAX / 2,
     OPTION_AT(struct simulate_request, how.passages)},
    {.names = {"events"},
     .argument = "K",
     .help = "cut the run short after K events",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = UINT64_MAX / 2,
     OPTION_AT(struct simulate_request, how.events)},
    {.names = {"seed"},
     .argument = "S",
     .help = "one seed is one run",
     .standard = "1",
     .kind = OPTION_NUMBER,
     .most = UINT64_MAX / 2,
     OPTION_AT(struct simulate_request, how.seed)},
    {.names = {"seeds"},
     .argument = "K",
     .help = "make K runs with the seeds S, S+1, …; stop at the first violation",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = UINT64_MAX / 2,
     OPTION_AT(struct simulate_request, seeds)},
    {.names = {"table"},
     .help = "measure the authors' Table I again",
     .kind = OPTION_FLAG,
     OPTION_AT(struct simulate_request, table)},
    {.names = {"sweep"},
     .argument = "N,…",
     .help = "messages and delays over the number of nodes",
     .kind = OPTION_CALL,
     .take = take_sizes,
     .takes = SIZES},
    {.names = {"list"},
     .help = "name the protocols, and the broken variants",
     .kind = OPTION_FLAG,
     OPTION_AT(struct simulate_request, list)},
    {.heading = "Network and load",
     .names = {"network"},
     .argument = "ORDER",
     .help = "in which order messages arrive",
     .standard = "what the protocol needs; agreed if anything may fail",
     .kind = OPTION_CHOICE,
     OPTION_AT(struct simulate_request, how.order),
     .list = order_at},
    {.names = {"delay"},
     .argument = "TIME",
     .help = "of a message; TIME is 5us, exp:5us (the mean) or 2us-8us",
     .standard = "exp:500us",
     .kind = OPTION_CALL,
     .take = take_spread,
     .takes = TIME,
     OPTION_AT(struct simulate_request, how.delay)},
    {.names = {"think"},
     .argument = "TIME",
     .help = "between passages",
     .standard = "exp:5ms",
     .kind = OPTION_CALL,
     .take = take_spread,
     .takes = TIME,
     OPTION_AT(struct simulate_request, how.think)},
    {.names = {"section"},
     .argument = "TIME",
     .help = "inside",
     .standard = "exp:300us",
     .kind = OPTION_CALL,
     .take = take_spread,
     .takes = TIME,
     OPTION_AT(struct simulate_request, how.section)},
    {.names = {"hot"},
     .argument = "SHARE",
     .help = "node 0 makes this share of the requests",
     .kind = OPTION_REAL,
     .most = 1,
     OPTION_AT(struct simulate_request, how.hot)},
    {.names = {"skew"},
     .argument = "S",
     .help = "node i asks in proportion to 1/(i+1)^S",
     .kind = OPTION_REAL,
     .most = 10,
     OPTION_AT(struct simulate_request, how.skew)},
    {.names = {"shared"},
     .argument = "SHARE",
     .help = "this share of the passages is in shared mode",
     .kind = OPTION_REAL,
     .most = 1,
     OPTION_AT(struct simulate_request, how.shared)},
    {.heading = "What may go wrong",
     .names = {"crash"},
     .argument = "P",
     .help = "a node dies, at each of its events, with this probability",
     .kind = OPTION_REAL,
     .most = 1,
     OPTION_AT(struct simulate_request, how.faults.crash)},
    {.names = {"restart"},
     .argument = "P",
     .help = "a dead node comes back with this probability",
     .standard = "1",
     .kind = OPTION_REAL,
     .most = 1,
     OPTION_AT(struct simulate_request, how.faults.restart)},
    {.names = {"slow"},
     .argument = "P",
     .help = "a message takes twenty times as long with this probability",
     .kind = OPTION_REAL,
     .most = 1,
     OPTION_AT(struct simulate_request, how.faults.delay)},
    {.names = {"loss"},
     .argument = "P",
     .help = "a message is lost with this probability, and sent again after four mean delays",
     .kind = OPTION_REAL,
     .most = 1,
     OPTION_AT(struct simulate_request, how.faults.loss)},
    {.names = {"duplicate"},
     .argument = "P",
     .help = "a message arrives twice with this probability; no paper allows for that",
     .kind = OPTION_REAL,
     .most = 1,
     OPTION_AT(struct simulate_request, how.faults.duplicate)},
    {.names = {"pause"},
     .argument = "P",
     .help = "a node stands still for a while, at each of its events, with this probability",
     .kind = OPTION_REAL,
     .most = 1,
     OPTION_AT(struct simulate_request, how.faults.pause)},
    {.names = {"partition"},
     .argument = "P",
     .help = "fewer than half are cut off, at each event, with this probability",
     .kind = OPTION_REAL,
     .most = 1,
     OPTION_AT(struct simulate_request, how.faults.partition)},
    {.names = {"detector"},
     .argument = "WHICH",
     .help = "whether those cut off stop in time, or do not know",
     .standard = "right",
     .kind = OPTION_CHOICE,
     OPTION_AT(struct simulate_request, how.faults.wrong_detector),
     .list = detector_at},
    {.heading = "What is written",
     .names = {"trace"},
     .argument = "FILE",
     .help = "write the run as JSON lines, for afteryou audit; with --table, a protocol and -n N "
             "the run of its note 4",
     .kind = OPTION_TEXT,
     OPTION_AT(struct simulate_request, trace),
     .offer = OFFER_FILES},
    {.names = {"csv"},
     .argument = "FILE",
     .help = "where --sweep writes its numbers",
     .standard = "standard output",
     .kind = OPTION_TEXT,
     OPTION_AT(struct simulate_request, csv),
     .offer = OFFER_FILES},
    {.names = {"svg"},
     .argument = "FILE",
     .help = "where --sweep draws them",
     .kind = OPTION_TEXT,
     OPTION_AT(struct simulate_request, svg),
     .offer = OFFER_FILES},
    {.names = {"json"},
     .help = "print the report as JSON: docs/json.md",
     .kind = OPTION_FLAG,
     OPTION_AT(struct simulate_request, json)},
    {0},
};

static const struct option_place places[] = {{.from = 1, .to = 1, .list = variant_name_at}};

const struct option_table simulate_options = {
    .command = "simulate",
    .usage =
        "usage: afteryou simulate PROTOCOL [OPTION…]        one run, or --seeds many\n"
        "       afteryou simulate --table [-n N,…]          the authors' Table I, measured again\n"
        "       afteryou simulate [PROTOCOL] --sweep N,…    messages and delays over the number\n"
        "                                                   of nodes\n"
        "Runs a message protocol on a simulated network, and reports.",
    .remarks =
        "Exit status: 0 all holds; 1 a property was violated; 125 the command itself failed.",
    .rows = rows,
    .wrong = EXIT_USAGE,
    .places = places,
    .places_count = 1,
};

static int check_shape(struct simulate_request *request, const struct option_reading *reading)
{
    char there[128];
    if (reading->count > 0) {
        request->how.variant = variant_find(reading->words[0]);
        if (!request->how.variant)
            return usage_error("simulate",
                               "there is no protocol '%s'; 'afteryou simulate --list' names them",
                               reading->words[0]);
    }
    if (request->how.variant && !is_simulated(request->how.variant))
        return usage_error("simulate", "%s is refuted by the checker only: 'afteryou check %s'",
                           reading->words[0], reading->words[0]);
    if (reading->count > 1)
        return usage_error("simulate", "one protocol at a time: leave out '%s'", reading->words[1]);
    if (!request->how.variant && !request->table && !request->sweep)
        return usage_error("simulate", "which protocol? %s",
                           option_words(protocol_at, " or ", there, sizeof there));
    for (unsigned i = 0; request->table && i < request->sizes_count; i++)
        if (request->sizes[i] > TABLE_NODES_MOST)
            return usage_error("simulate",
                               "--table tries every chain of requests: it takes at most %u nodes",
                               TABLE_NODES_MOST);
    if ((request->csv || request->svg) && !request->sweep)
        return usage_error("simulate", "--csv and --svg belong to --sweep");
    if (request->trace && (request->seeds > 1 || request->sweep))
        return usage_error("simulate", "--trace writes one run: give one --seed");
    if (request->trace && request->table && (!request->how.variant || request->sizes_count != 1))
        return usage_error("simulate", "--trace writes one run: with --table, that of note 4 with "
                                       "the longest chain of requests; name a protocol and one -n");
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
    struct option_reading reading;
    const int status = options_read(&simulate_options, count, words, request, &reading);
    if (status)
        return status;
    if (request->list)
        return option_alone(&simulate_options, &reading, "list") ? list_variants() : EXIT_USAGE;
    request->order_given = option_given(&simulate_options, &reading, "network");
    request->passages_given = option_given(&simulate_options, &reading, "passages");
    request->sweep = option_given(&simulate_options, &reading, "sweep");
    return check_shape(request, &reading);
}

int simulate_settle(struct simulate_request *request)
{
    struct simulation *how = &request->how;
    const struct message_protocol *protocol = how->variant->protocol;
    const bool changes = how->faults.crash > 0 || how->faults.partition > 0;
    if (request->sizes_count > 1)
        return usage_error("simulate",
                           "one run has one number of nodes: lists are for --table and --sweep");
    if (request->sizes_count)
        how->nodes = request->sizes[0];
    if (!request->order_given)
        how->order = changes ? ORDER_AGREED : protocol->fifo ? ORDER_FIFO : ORDER_ANY;
    const bool needs_links = variant_needs_links(how->variant);
    if (needs_links && !request->order_given)
        how->order = ORDER_LINKS;
    if (needs_links && how->order != ORDER_LINKS)
        return usage_error("simulate", "%s is broken over links only: leave --network out",
                           how->variant->name);
    if (changes && how->order < ORDER_AGREED)
        return usage_error("simulate",
                           "nodes that come and go need --network agreed: leave --network out");
    if (how->order == ORDER_LINKS && (protocol == &token_protocol || protocol->fixed))
        return usage_error("simulate", "links are for lamport, ricart-agrawala and "
                                       "carvalho-roucairol");
    if (how->order == ORDER_LINKS && how->faults.duplicate > 0)
        return usage_error("simulate", "links pass over what comes twice: leave --duplicate out");
    if (changes && protocol->fixed)
        return usage_error("simulate", "in the group of %s nobody comes or goes",
                           how->variant->name);
    if (protocol->restless && how->delay.kind != SPREAD_EXPONENTIAL && how->delay.least == 0)
        return usage_error("simulate", "%s never rests: its messages must take some time",
                           how->variant->name);
    if (how->faults.loss > LOSS_MOST)
        return usage_error("simulate", "--loss takes a share of 0.99 or less: some must arrive");
    if (how->hot > HOT_MOST)
        return usage_error("simulate", "--hot takes a share below 1: the other nodes ask, too");
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
