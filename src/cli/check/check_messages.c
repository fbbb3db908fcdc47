/* SPDX-License-Identifier: MIT */
/* `afteryou check` of a message protocol: its own words and its own report. */
#include "cli/check/check_messages.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check/messages/messages_model.h"
#include "cli/commands.h"

static const char help[] =
    "usage: afteryou check PROTOCOL [OPTION…]     lamport, ricart-agrawala, carvalho-roucairol, "
    "token, or a broken "
    "variant\n"
    "Tries every order in which messages can arrive, every crash and every joining.\n\n"
    "  -n, --nodes N        how many nodes: 2 to 4 (default 2)\n"
    "      --requests R     of each node: bounds the numbers, and so the states (default 2);\n"
    "                       0: no bound (lamport and ricart-agrawala); fences are not judged then\n"
    "      --network ORDER  reordered, fifo or agreed (default: what the protocol needs; agreed "
    "if nodes come and go)\n"
    "      --crashes C      so many in all (default 0)\n"
    "      --joins J        so many of the dead come back (default 0)\n"
    "      --modes LIST     what a passage may ask for, as in exclusive,shared (default: "
    "exclusive)\n"
    "      --memory SIZE    at most so much, with K, M or G (default: 4G)\n"
    "      --states N       at most so many\n"
    "      --svg FILE       draw the counterexample as a space-time diagram\n"
    "      --json           the answer as JSON\n\n"
    "Exit status: 0 all holds; 1 something is broken; 2 a limit was met first; 125 usage.\n";

struct messages_words {
    struct messages_options options;
    struct search_limits limits;
    const char *svg;
    bool json, network_given;
};

bool check_messages_wanted(int count, char **words)
{
    for (int i = 1; i < count; i++)
        if (variant_find(words[i]))
            return true;
    return false;
}

void check_messages_list(void)
{
    for (unsigned i = 0; variant_at(i); i++)
        printf("%-38s %s%s\n", variant_at(i)->name,
               variant_at(i)->left_out ? "refuted: without " : "messages",
               variant_at(i)->left_out ? variant_at(i)->left_out : "");
}

static bool parse_small(const char *text, unsigned least, unsigned most, unsigned *number)
{
    uint64_t value;
    if (!parse_number(text, least, most, &value))
        return false;
    *number = (unsigned)value;
    return true;
}

static bool parse_modes(const char *text, unsigned *modes)
{
    char copy[128], *rest = copy, *item;
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    *modes = 0;
    while ((item = strsep(&rest, ","))) {
        unsigned mode = 0;
        while (mode < MODES && strcmp(mode_name(mode), item) != 0)
            mode++;
        if (mode == MODES)
            return false;
        *modes |= 1u << mode;
    }
    return true;
}

static bool parse_network(const char *text, struct messages_words *asked)
{
    static const char *const names[] = {"reordered", "fifo", "agreed"};
    asked->network_given = true;
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            asked->options.channels = (enum channels)i;
            return true;
        }
    return false;
}

static bool take(struct messages_words *asked, int option, const char *text)
{
    uint64_t number;
    switch (option) {
    case 'n':
        return parse_small(text, 2, MODEL_NODES_MOST, &asked->options.nodes);
    case 'r':
        return parse_small(text, 0, 9, &asked->options.requests);
    case 'w':
        return parse_network(text, asked);
    case 'c':
        return parse_small(text, 0, 6, &asked->options.crashes);
    case 'J':
        return parse_small(text, 0, 6, &asked->options.joinings);
    case 'm':
        return parse_modes(text, &asked->options.modes);
    case 'M':
        if (!parse_size(text, 1 << 20, UINT64_MAX / 2, &number))
            return false;
        asked->limits.memory = (size_t)number;
        return true;
    case 's':
        return parse_small(text, 1, UINT32_MAX - 1, &asked->limits.states);
    case 'v':
        asked->svg = text;
        return true;
    default:
        return asked->json = true;
    }
}

static int parse(int count, char **words, struct messages_words *asked)
{
    static const struct option options[] = {
        {"nodes", required_argument, NULL, 'n'},   {"requests", required_argument, NULL, 'r'},
        {"network", required_argument, NULL, 'w'}, {"crashes", required_argument, NULL, 'c'},
        {"joins", required_argument, NULL, 'J'},   {"modes", required_argument, NULL, 'm'},
        {"memory", required_argument, NULL, 'M'},  {"states", required_argument, NULL, 's'},
        {"svg", required_argument, NULL, 'v'},     {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    *asked = (struct messages_words){.options = {.nodes = 2, .requests = 2},
                                     .limits = {.memory = (size_t)4 << 30}};
    optind = 0;
    opterr = 0;
    int option;
    while ((option = getopt_long(count, words, ":n:h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            return -1;
        }
        if (option == '?' || option == ':')
            /* whose --help lists those of all message protocols */
            return option_error("check token", option, words);
        if (!take(asked, option, optarg))
            return usage_error("check", "'%s' is not a value that '%s' can take", optarg,
                               words[optind - 1] == optarg ? words[optind - 2] : words[optind - 1]);
    }
    asked->options.variant = optind == count - 1 ? variant_find(words[optind]) : NULL;
    if (!asked->options.variant)
        return usage_error("check", "one protocol at a time");
    const bool changes = asked->options.crashes || asked->options.joinings;
    if (!asked->network_given)
        asked->options.channels = changes                                  ? CHANNELS_AGREED
                                  : asked->options.variant->protocol->fifo ? CHANNELS_FIFO
                                                                           : CHANNELS_REORDERED;
    return 0;
}

static const char *answer_word(const struct verdict *verdict, enum property property)
{
    switch (verdict->finding[property].answer) {
    case ANSWER_HOLDS:
        return "holds";
    case ANSWER_BROKEN:
        return "BROKEN";
    default:
        return "not decided";
    }
}

static const struct finding *first_broken(const struct verdict *verdict)
{
    for (unsigned i = 0; i < PROPERTY_COUNT; i++)
        if (verdict->finding[i].answer == ANSWER_BROKEN)
            return &verdict->finding[i];
    return NULL;
}

static void report_text(const struct messages_words *asked, const struct search *search,
                        const struct messages_model *model, const struct verdict *verdict)
{
    static const char *const networks[] = {"reordered", "fifo", "agreed"};
    const struct messages_options *options = &asked->options;
    printf("%s: %u nodes, ", options->variant->name, options->nodes);
    if (options->requests)
        printf("%u requests each", options->requests);
    else
        printf("requests without bound");
    printf(", %s network, %u crashes, %u joins\n", networks[options->channels], options->crashes,
           options->joinings);
    printf("  %u states, %s, depth %u, %.1f s\n", search->store.count,
           search->end == SEARCH_EXHAUSTED  ? "all of them"
           : search->end == SEARCH_VIOLATED ? "up to the violation"
           : search->end == SEARCH_OVERFLOW
               ? "up to a number too great for its field: fewer requests"
               : "up to the limit",
           search->depth, search_seconds(search));
    printf("  exclusion%s%s: %s\n", options->requests ? ", fences" : "",
           options->variant->protocol->fair ? ", fairness" : "",
           answer_word(verdict, PROPERTY_SAFETY));
    printf("  progress: %s\n", answer_word(verdict, PROPERTY_PROGRESS));
    printf("  lockout%s: %s\n", options->requests ? " (within so many requests)" : "",
           answer_word(verdict, PROPERTY_LOCKOUT));
    if (model->fewest <= model->greatest && !options->crashes && options->requests)
        printf("  messages per passage: from %u to %u\n", model->fewest, model->greatest);
    const struct finding *broken = first_broken(verdict);
    if (!broken)
        return;
    printf("  %s, in %zu steps:\n",
           broken->broken ? broken->broken : "progress: nobody can enter any more",
           broken->run.count);
    for (size_t i = 0; i < broken->run.count; i++)
        printf("  %3zu  node %u %s\n", i + 1, broken->run.steps[i].move.process,
               broken->run.steps[i].line);
}

static void report_json(const struct messages_words *asked, const struct search *search,
                        const struct messages_model *model, const struct verdict *verdict)
{
    const struct finding *broken = first_broken(verdict);
    printf(
        "{\"protocol\":\"%s\",\"nodes\":%u,\"requests\":%u,\"crashes\":%u,\"joins\":%u,\"states\":%u,\"depth\":%u,"
        "\"exhausted\":%s,\"overflow\":%s,\"safety\":\"%s\",\"progress\":\"%s\",\"lockout\":\"%s\"",
        asked->options.variant->name, asked->options.nodes, asked->options.requests,
        asked->options.crashes, asked->options.joinings, search->store.count, search->depth,
        search->end == SEARCH_EXHAUSTED ? "true" : "false",
        search->end == SEARCH_OVERFLOW ? "true" : "false", answer_word(verdict, PROPERTY_SAFETY),
        answer_word(verdict, PROPERTY_PROGRESS), answer_word(verdict, PROPERTY_LOCKOUT));
    if (model->fewest <= model->greatest && !asked->options.crashes && asked->options.requests)
        printf(",\"fewest_messages\":%u,\"greatest_messages\":%u", model->fewest, model->greatest);
    if (broken)
        printf(",\"broken\":\"%s\",\"steps\":%zu", broken->broken ? broken->broken : "progress",
               broken->run.count);
    puts("}");
}

int check_messages(int count, char **words)
{
    struct messages_words asked;
    int status = parse(count, words, &asked);
    if (status)
        return status < 0 ? EXIT_HOLDS : status;
    static struct messages_model model;
    const char *wrong = messages_model_open(&model, &asked.options);
    if (wrong)
        return usage_error("check", "%s", wrong);
    struct verdict verdict = {.properties = 1u << PROPERTY_SAFETY | 1u << PROPERTY_PROGRESS |
                                            1u << PROPERTY_LOCKOUT};
    struct search search = {.system = &model.system, .limits = asked.limits};
    const int error = verdict_reach(&search, &verdict);
    if (error) {
        status =
            usage_error("check", "%s to begin with: give it more with --memory", strerror(-error));
    } else {
        const struct finding *broken = first_broken(&verdict);
        (asked.json ? report_json : report_text)(&asked, &search, &model, &verdict);
        const int drawn = broken && asked.svg
                              ? check_messages_draw(asked.svg, asked.options.variant->name,
                                                    asked.options.nodes, broken)
                              : 0;
        status = broken ? EXIT_VIOLATED : search.end == SEARCH_EXHAUSTED ? EXIT_HOLDS : EXIT_LIMIT;
        if (drawn)
            status = usage_error("check", "cannot write %s: %s", asked.svg, strerror(-drawn));
    }
    verdict_close(&verdict);
    search_close(&search);
    return status;
}
