/* SPDX-License-Identifier: MIT */
/* The words of `afteryou check`. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check/check.h"
#include "cli/check/check_messages.h"
#include "cli/commands.h"

enum {
    WORD_ALIVE = 256,
    WORD_NO_DEATHS,
    WORD_ABORTS,
    WORD_MALFUNCTION,
    WORD_HALTS,
    WORD_STOPPED,
    WORD_LATE,
    WORD_TSO,
    WORD_MODES,
    WORD_UNITS,
    WORD_OVERTAKE,
    WORD_PADDING,
    WORD_PRECEDENCE,
    WORD_NO_EXPRESS,
    WORD_WATCH,
    WORD_STRANGERS,
    WORD_FENCES,
    WORD_PASSAGES,
    WORD_NO_REDUCTION,
    WORD_PROPERTY,
    WORD_MEMORY,
    WORD_STATES,
    WORD_SECONDS,
    WORD_RANDOM,
    WORD_PCT,
    WORD_STEPS,
    WORD_SEED,
    WORD_SVG,
    WORD_JSON,
    WORD_LIST
};

static const struct option options[] = {
    {"places", required_argument, NULL, 'n'},
    {"slots", required_argument, NULL, 'l'},
    {"alive", required_argument, NULL, WORD_ALIVE},
    {"no-deaths", no_argument, NULL, WORD_NO_DEATHS},
    {"aborts", no_argument, NULL, WORD_ABORTS},
    {"malfunction", no_argument, NULL, WORD_MALFUNCTION},
    {"halts", required_argument, NULL, WORD_HALTS},
    {"stopped", required_argument, NULL, WORD_STOPPED},
    {"late", no_argument, NULL, WORD_LATE},
    {"tso", no_argument, NULL, WORD_TSO},
    {"modes", required_argument, NULL, WORD_MODES},
    {"units", required_argument, NULL, WORD_UNITS},
    {"overtake", required_argument, NULL, WORD_OVERTAKE},
    {"padding", required_argument, NULL, WORD_PADDING},
    {"precedence", required_argument, NULL, WORD_PRECEDENCE},
    {"no-express", no_argument, NULL, WORD_NO_EXPRESS},
    {"watch", required_argument, NULL, WORD_WATCH},
    {"strangers", no_argument, NULL, WORD_STRANGERS},
    {"fences", no_argument, NULL, WORD_FENCES},
    {"passages", required_argument, NULL, WORD_PASSAGES},
    {"no-reduction", no_argument, NULL, WORD_NO_REDUCTION},
    {"property", required_argument, NULL, WORD_PROPERTY},
    {"memory", required_argument, NULL, WORD_MEMORY},
    {"states", required_argument, NULL, WORD_STATES},
    {"seconds", required_argument, NULL, WORD_SECONDS},
    {"random", required_argument, NULL, WORD_RANDOM},
    {"pct", required_argument, NULL, WORD_PCT},
    {"steps", required_argument, NULL, WORD_STEPS},
    {"seed", required_argument, NULL, WORD_SEED},
    {"svg", required_argument, NULL, WORD_SVG},
    {"json", no_argument, NULL, WORD_JSON},
    {"list", no_argument, NULL, WORD_LIST},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void print_help(void)
{
    puts("usage: afteryou check PROTOCOL [OPTION…]\n"
         "Tries every interleaving of a protocol, with death after any step, and tells what "
         "holds.\n\n"
         "What is checked:\n"
         "  -n, --places N       how many places (default: 3; 2 for pair)\n"
         "  -l, --slots L        how many may be inside at once\n"
         "      --alive LIST     only these places are ever used, as in 0,2,5\n"
         "      --modes MODES    exclusive, shared or both: what a passage may ask for\n"
         "      --units T        the allocation problem: acquire one of T units, then release it\n"
         "      --overtake B     who is awake may pass who sleeps, B times\n"
         "      --precedence P   in-order, writers-first or priority\n"
         "      --padding D      clock: positions of the clock for each place\n"
         "      --no-express     courtesy: without its express lane\n"
         "      --watch N        who sleeps may watch N places, not all\n"
         "      --strangers      a place may pass to one who is no rival, and back\n"
         "      --fences         judge as well that fences grow\n"
         "      --passages K     each place begins at most K passages\n\n"
         "What may go wrong:\n"
         "      --no-deaths      nobody dies\n"
         "      --aborts         who waits may give up\n"
         "      --malfunction    the words of one that died read as anything for a while\n"
         "      --halts K        up to K processes stop for ever, and nobody can tell\n"
         "      --stopped P:HOW  the process at place P has stopped so, in way HOW; several with "
         "commas between\n"
         "      --late           and the others had passed their doorways by then\n"
         "      --tso            stores wait in a buffer, as on x86\n\n"
         "How:\n"
         "      --property LIST  judge only these: exclusion,progress,lockout,reliability,order,\n"
         "                       overtaking,quiet,giving-up\n"
         "      --no-reduction   numbers as they are, not made small: for comparison, with "
         "--passages\n"
         "      --memory SIZE    at most so much, with K, M or G (default: 4G)\n"
         "      --states N, --seconds S\n"
         "      --random RUNS    not all schedules, but RUNS random ones\n"
         "      --pct D          with --random: PCT schedules of depth D\n"
         "      --steps N        of each random run (default: 10000)\n"
         "      --seed S         of the first random run; the same seed is the same run\n"
         "      --svg FILE       draw the first counterexample as a space-time diagram\n"
         "      --json           the answer as JSON\n"
         "      --list           the protocols, and the broken ones\n\n"
         "The message protocols have options of their own: afteryou check token --help.\n\n"
         "Exit status: 0 all that is promised holds; 1 something is broken; 2 a limit was met "
         "first; 125 usage.");
}

static void print_list(void)
{
    for (size_t at = 0; register_protocols[at]; at++) {
        const struct register_protocol *protocol = register_protocols[at];
        printf("%-28s %s%s%s\n", protocol->name, protocol->summary,
               protocol->refutes ? "; refuted: " : "", protocol->refutes ? protocol->refutes : "");
    }
    check_messages_list();
}

/* "0,2,5" as bits. */
static bool parse_places(const char *text, unsigned *bits)
{
    char copy[64], *rest = copy, *item;
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    *bits = 0;
    while ((item = strsep(&rest, ","))) {
        uint64_t place;
        if (!parse_number(item, 0, PROCESSES_MOST - 1, &place))
            return false;
        *bits |= 1u << place;
    }
    return true;
}

/* "1:853,2:0": places, and the ways in which their processes stopped. */
static bool parse_stopped(const char *text, struct register_model *model)
{
    char copy[160], *rest = copy, *item;
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    while ((item = strsep(&rest, ","))) {
        char *how = item;
        const char *name = strsep(&how, ":");
        uint64_t place;
        if (!how || !parse_number(name, 0, PROCESSES_MOST - 1, &place) ||
            !parse_number(how, 0, UINT64_MAX, &model->stopped_how[place]))
            return false;
        model->stopped |= 1u << place;
    }
    return true;
}

static bool parse_properties(const char *text, unsigned *bits)
{
    char copy[160], *rest = copy, *item;
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    while ((item = strsep(&rest, ","))) {
        unsigned property = 0;
        while (property < PROPERTY_COUNT && strcmp(item, property_name(property)) != 0)
            property++;
        if (property == PROPERTY_COUNT)
            return false;
        *bits |= 1u << property;
    }
    return true;
}

static bool parse_modes(const char *text, unsigned *requests)
{
    *requests = strcmp(text, "exclusive") == 0 ? 1u << REQUEST_EXCLUSIVE
                : strcmp(text, "shared") == 0  ? 1u << REQUEST_SHARED
                : strcmp(text, "both") == 0    ? 1u << REQUEST_EXCLUSIVE | 1u << REQUEST_SHARED
                                               : 0;
    return *requests != 0;
}

static bool parse_precedence(const char *text, struct register_model *model)
{
    model->writers_first = strcmp(text, "writers-first") == 0;
    model->by_priority = strcmp(text, "priority") == 0;
    return model->writers_first || model->by_priority || strcmp(text, "in-order") == 0;
}

static bool parse_count(const char *text, uint64_t least, uint64_t most, unsigned *number)
{
    uint64_t value;
    if (!parse_number(text, least, most, &value))
        return false;
    *number = (unsigned)value;
    return true;
}

/* One option; NULL, or what it should have been. */
static const char *take_option(int option, const char *value, struct check_words *asked)
{
    struct register_model *model = &asked->model;
    uint64_t number;
    switch (option) {
    case 'n':
        return parse_count(value, 1, PROCESSES_MOST, &model->places) ? NULL
                                                                     : "-n takes 1 to 8 places";
    case 'l':
        return parse_count(value, 1, PROCESSES_MOST, &model->slots) ? NULL
                                                                    : "-l takes 1 to 8 slots";
    case WORD_ALIVE:
        return parse_places(value, &model->alive) ? NULL
                                                  : "--alive takes places from 0 to 7, as in 0,2,5";
    case WORD_NO_DEATHS:
        model->deaths = false;
        return NULL;
    case WORD_ABORTS:
        model->aborts = true;
        return NULL;
    case WORD_MALFUNCTION:
        model->malfunction = true;
        return NULL;
    case WORD_HALTS:
        return parse_count(value, 0, PROCESSES_MOST, &model->halts)
                   ? NULL
                   : "--halts takes 0 to 8 processes";
    case WORD_STOPPED:
        return parse_stopped(value, model)
                   ? NULL
                   : "--stopped takes PLACE:HOW, as in 1:853, with commas between";
    case WORD_LATE:
        model->stopped_late = true;
        return NULL;
    case WORD_TSO:
        model->tso = true;
        return NULL;
    case WORD_MODES:
        return parse_modes(value, &model->requests) ? NULL
                                                    : "--modes takes exclusive, shared or both";
    case WORD_UNITS:
        model->problem = PROBLEM_ALLOCATION;
        return parse_count(value, 1, PROCESSES_MOST, &model->units) ? NULL
                                                                    : "--units takes 1 to 8 units";
    case WORD_OVERTAKE:
        return parse_count(value, 0, 16, &model->overtake)
                   ? NULL
                   : "--overtake takes a bound from 0 to 16";
    case WORD_PADDING:
        return parse_count(value, 1, 16, &model->padding) ? NULL
                                                          : "--padding takes 1 to 16 positions";
    case WORD_PRECEDENCE:
        return parse_precedence(value, model)
                   ? NULL
                   : "--precedence takes in-order, writers-first or priority";
    case WORD_NO_EXPRESS:
        model->express = false;
        return NULL;
    case WORD_WATCH:
        return parse_count(value, 0, WATCH_MOST, &model->room) ? NULL
                                                               : "--watch takes 0 to 4 places";
    case WORD_STRANGERS:
        model->strangers = true;
        return NULL;
    case WORD_FENCES:
        model->fences = true;
        return NULL;
    case WORD_PASSAGES:
        return parse_count(value, 1, 30, &model->passages) ? NULL
                                                           : "--passages takes 1 to 30 passages";
    case WORD_NO_REDUCTION:
        model->unreduced = true;
        return NULL;
    case WORD_PROPERTY:
        return parse_properties(value, &asked->properties)
                   ? NULL
                   : "--property takes exclusion, progress, lockout, "
                     "reliability, order, overtaking, quiet, giving-up, with commas between";
    case WORD_MEMORY:
        if (!parse_size(value, 16 << 20, (uint64_t)1 << 46, &number))
            return "--memory takes a size of 16M or more, as in 512M or 4G";
        asked->limits.memory = number;
        return NULL;
    case WORD_STATES:
        if (!parse_number(value, 1, STATE_NONE - 1, &number))
            return "--states takes a number of states from 1 to 4294967294";
        asked->limits.states = (uint32_t)number;
        return NULL;
    case WORD_SECONDS:
        if (!parse_number(value, 1, 1000000, &number))
            return "--seconds takes 1 to 1000000 seconds";
        asked->limits.seconds = asked->sample.seconds = (double)number;
        return NULL;
    case WORD_RANDOM:
        return parse_number(value, 1, UINT32_MAX, &asked->sample.runs)
                   ? NULL
                   : "--random takes a number of runs";
    case WORD_PCT:
        return parse_count(value, 1, 16, &asked->sample.depth) ? NULL
                                                               : "--pct takes a depth from 1 to 16";
    case WORD_STEPS:
        return parse_number(value, 1, UINT32_MAX, &asked->sample.steps)
                   ? NULL
                   : "--steps takes a number of steps";
    case WORD_SEED:
        return parse_number(value, 0, UINT64_MAX - UINT32_MAX, &asked->sample.seed)
                   ? NULL
                   : "--seed takes a whole number";
    case WORD_SVG:
        asked->svg = value;
        return NULL;
    case WORD_JSON:
        asked->json = true;
        return NULL;
    default:
        return "unknown option; see 'afteryou check --help'";
    }
}

/* What no protocol's text can know: settings that it has not got, or that contradict each other. */
static const char *contradiction(const struct check_words *asked)
{
    const struct register_model *model = &asked->model;
    const struct register_protocol *protocol = model->protocol;
    if (model->slots > 1 && !protocol->slots)
        return "has one slot; -l works with courtesy and forks";
    if (model->problem == PROBLEM_ALLOCATION && !protocol->conditions)
        return "has no conditions; --units works with region and courtesy";
    if (model->requests & 1u << REQUEST_SHARED && !protocol->modes)
        return "has no modes; --modes works with bakery, region and courtesy";
    if ((model->writers_first || model->by_priority) && !protocol->priorities)
        return "has no precedence but its own; --precedence works with region and courtesy";
    if (model->slots > 1 && (model->writers_first || model->by_priority || model->overtake) &&
        protocol->sleeps)
        return "gives its slots in order: --precedence and --overtake are for one slot";
    if ((model->room < WATCH_MOST || model->strangers) && !protocol->sleeps)
        return "watches nobody in its sleep; --watch and --strangers work with courtesy";
    if (model->malfunction && !protocol->domain)
        return "is not meant for malfunction; --malfunction works with bakery-words";
    if (model->stopped && !protocol->stop)
        return "has no list of ways to stop; --stopped works with forks";
    if (model->stopped >> model->places)
        return "has fewer places than --stopped names; raise -n";
    for (unsigned place = 0; place < model->places; place++)
        if (model->stopped >> place & 1 && model->stopped_how[place] >= protocol->stops(model))
            return "cannot have stopped in so many ways; lower the HOW of --stopped";
    if (model->fences && (!protocol->fence || model->slots > 1 ||
                          !(model->requests == 1u << REQUEST_EXCLUSIVE ||
                            (!model->requests && !protocol->default_requests) ||
                            model->problem == PROBLEM_ALLOCATION)))
        return "has no fences to judge so; --fences works with bakery and courtesy, one slot, "
               "--modes exclusive";
    if (protocol->hold && !model->units)
        return "is about units; say how many there are with --units";
    if (model->alive >> model->places)
        return "has fewer places than --alive names; raise -n";
    if (asked->sample.depth && !asked->sample.runs)
        return "needs --random RUNS for --pct";
    return NULL;
}

static int settle(struct check_words *asked)
{
    struct register_model *model = &asked->model;
    const struct register_protocol *protocol = model->protocol;
    if (!model->places)
        model->places = protocol->default_places ? protocol->default_places : 3;
    if (model->places < protocol->places_least || model->places > protocol->places_most)
        return usage_error("check", "%s takes %u to %u places here, not %u", protocol->name,
                           protocol->places_least, protocol->places_most, model->places);
    if (model->problem == PROBLEM_ALLOCATION)
        model->requests = 1u << REQUEST_EXCLUSIVE | (protocol->hold ? 0 : 1u << REQUEST_RELEASE);
    if (model->by_priority)
        model->requests = 1u << REQUEST_EXCLUSIVE | 1u << REQUEST_URGENT;
    const char *wrong = contradiction(asked);
    if (wrong)
        return usage_error("check", "%s %s", protocol->name, wrong);
    return register_model_open(model)
               ? usage_error("check", "%s cannot be checked with these settings", protocol->name)
               : 0;
}

int check_words_parse(int count, char **words, struct check_words *asked)
{
    *asked = (struct check_words){
        .model = {.deaths = true, .express = true, .room = WATCH_MOST},
        .limits = {.memory = (size_t)4 << 30},
        .sample = {.steps = 10000, .seed = 1},
    };
    optind = 1;
    opterr = 0;
    for (int option; (option = getopt_long(count, words, ":n:l:h", options, NULL)) != -1;) {
        if (option == 'h') {
            print_help();
            return -1;
        }
        if (option == WORD_LIST) {
            print_list();
            return -1;
        }
        if (option == ':' || option == '?')
            return option_error("check", option, words);
        const char *wrong = take_option(option, optarg, asked);
        if (wrong)
            return usage_error("check", "%s, not '%s'", wrong, optarg ? optarg : "");
    }
    if (optind + 1 != count)
        return usage_error("check", optind == count
                                        ? "which protocol? 'afteryou check --list' names them"
                                        : "one protocol at a time");
    asked->protocol = words[optind];
    asked->model.protocol = register_protocol_find(asked->protocol);
    if (!asked->model.protocol)
        return usage_error("check", "no protocol '%s'; 'afteryou check --list' names them",
                           asked->protocol);
    return settle(asked);
}
