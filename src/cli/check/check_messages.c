/* SPDX-License-Identifier: MIT */
/* `afteryou check` of a message protocol: the search, and its report. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/check/check.h"
#include "cli/commands.h"

const char *check_network(enum channels channels)
{
    static const char *const names[] = {
        [CHANNELS_REORDERED] = "reordered", [CHANNELS_FIFO] = "fifo", [CHANNELS_AGREED] = "agreed"};
    return names[channels];
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

static void report_text(const struct check_words *asked, const struct search *search,
                        const struct messages_model *model, const struct verdict *verdict)
{
    const struct messages_options *options = &asked->messages;
    printf("%s: %u nodes, ", options->variant->name, options->nodes);
    if (options->requests)
        printf("%u requests each", options->requests);
    else
        printf("requests without bound");
    printf(", %s network, %u crashes, %u joins\n", check_network(options->channels),
           options->crashes, options->joinings);
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

static void report_json(const struct check_words *asked, const struct search *search,
                        const struct messages_model *model, const struct verdict *verdict)
{
    const struct finding *broken = first_broken(verdict);
    printf(
        "{\"protocol\":\"%s\",\"nodes\":%u,\"requests\":%u,\"crashes\":%u,\"joins\":%u,\"states\":%u,\"depth\":%u,"
        "\"exhausted\":%s,\"overflow\":%s,\"safety\":\"%s\",\"progress\":\"%s\",\"lockout\":\"%s\"",
        asked->messages.variant->name, asked->messages.nodes, asked->messages.requests,
        asked->messages.crashes, asked->messages.joinings, search->store.count, search->depth,
        search->end == SEARCH_EXHAUSTED ? "true" : "false",
        search->end == SEARCH_OVERFLOW ? "true" : "false", answer_word(verdict, PROPERTY_SAFETY),
        answer_word(verdict, PROPERTY_PROGRESS), answer_word(verdict, PROPERTY_LOCKOUT));
    if (model->fewest <= model->greatest && !asked->messages.crashes && asked->messages.requests)
        printf(",\"fewest_messages\":%u,\"greatest_messages\":%u", model->fewest, model->greatest);
    if (broken)
        printf(",\"broken\":\"%s\",\"steps\":%zu", broken->broken ? broken->broken : "progress",
               broken->run.count);
    puts("}");
}

int check_messages(const struct check_words *asked)
{
    int status;
    static struct messages_model model;
    const char *wrong = messages_model_open(&model, &asked->messages);
    if (wrong)
        return usage_error("check", "%s", wrong);
    struct verdict verdict = {.properties = 1u << PROPERTY_SAFETY | 1u << PROPERTY_PROGRESS |
                                            1u << PROPERTY_LOCKOUT};
    struct search search = {.system = &model.system, .limits = asked->limits};
    const int error = verdict_reach(&search, &verdict);
    if (error) {
        status =
            usage_error("check", "%s to begin with: give it more with --memory", strerror(-error));
    } else {
        const struct finding *broken = first_broken(&verdict);
        (asked->json ? report_json : report_text)(asked, &search, &model, &verdict);
        const int drawn = broken && asked->svg
                              ? check_messages_draw(asked->svg, asked->messages.variant->name,
                                                    asked->messages.nodes, broken)
                              : 0;
        status = broken ? EXIT_VIOLATED : search.end == SEARCH_EXHAUSTED ? EXIT_HOLDS : EXIT_LIMIT;
        if (drawn)
            status = usage_error("check", "cannot write %s: %s", asked->svg, strerror(-drawn));
    }
    verdict_close(&verdict);
    search_close(&search);
    return status;
}
