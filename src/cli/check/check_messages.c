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

const struct finding *check_first_broken(const struct verdict *verdict)
{
    for (unsigned i = 0; i < PROPERTY_COUNT; i++)
        if (verdict->finding[i].answer == ANSWER_BROKEN)
            return &verdict->finding[i];
    return NULL;
}

const char *check_broken(const struct verdict *verdict, const struct finding *finding)
{
    return finding->broken ? finding->broken
                           : property_name((enum property)(finding - verdict->finding));
}

bool check_counts_messages(const struct check_words *asked, const struct messages_model *model,
                           const struct search *search)
{
    return search->end == SEARCH_EXHAUSTED && model->fewest <= model->greatest &&
           !asked->messages.crashes && asked->messages.requests;
}

void check_print_states(FILE *out, const struct search *search)
{
    fprintf(out, "  %u states, %s, depth %u, %.1f s\n", search->store.count,
            search->end == SEARCH_EXHAUSTED  ? "all of them"
            : search->end == SEARCH_VIOLATED ? "up to the violation"
            : search->end == SEARCH_OVERFLOW
                ? "up to a number too great for its field: fewer requests"
            : search->end == SEARCH_FULL
                ? "up to more messages on their way than there is room for: fewer requests"
                : "up to the limit",
            search->depth, search_seconds(search));
}

void check_print_messages_run(FILE *out, const struct search *search, const struct verdict *verdict,
                              const char *who)
{
    const struct finding *broken = check_first_broken(verdict);
    if (!broken || broken == &verdict->finding[PROPERTY_REACHED])
        return;
    if (search->untold) {
        fprintf(out, "  %s: %s\n", check_broken(verdict, broken), broken->detail);
        return;
    }
    fprintf(out, "  %s, in %zu steps:\n", check_broken(verdict, broken), broken->run.count);
    for (size_t i = 0; i < broken->run.count; i++)
        fprintf(out, "  %3zu  %s %u %s\n", i + 1, who, broken->run.steps[i].move.process,
                broken->run.steps[i].line);
}

static const char *answer_word(const struct verdict *verdict, enum property property)
{
    return check_answer(verdict->finding[property].answer);
}

static void report_text(FILE *out, const struct check_words *asked, const struct search *search,
                        const struct messages_model *model, const struct verdict *verdict)
{
    const struct messages_options *options = &asked->messages;
    char described[CHECK_DESCRIPTION];
    check_describe(asked, described, sizeof described);
    fprintf(out, "%s: %s\n", options->variant->name, described);
    check_print_states(out, search);
    const char *comma = "  ";
    for (unsigned i = 0; i < MESSAGES_PROPERTY_COUNT; i++)
        if (model->options.judged >> i & 1) {
            fprintf(out, "%s%s", comma, messages_property_name(i));
            comma = ", ";
        }
    fprintf(out, ": %s\n", answer_word(verdict, PROPERTY_SAFETY));
    if (asked->properties >> PROPERTY_PROGRESS & 1)
        fprintf(out, "  progress: %s\n", answer_word(verdict, PROPERTY_PROGRESS));
    if (asked->properties >> PROPERTY_LOCKOUT & 1)
        fprintf(out, "  lockout%s: %s\n", options->requests ? " (within so many requests)" : "",
                answer_word(verdict, PROPERTY_LOCKOUT));
    fprintf(out, "  reached: %s%s%s\n", answer_word(verdict, PROPERTY_REACHED),
            *verdict->finding[PROPERTY_REACHED].detail ? ": " : "",
            verdict->finding[PROPERTY_REACHED].detail);
    if (check_counts_messages(asked, model, search))
        fprintf(out, "  messages per passage: from %u to %u\n", model->fewest, model->greatest);
    check_print_messages_run(out, search, verdict, "node");
}

int check_told(const struct check_words *asked, const struct check_telling *telling)
{
    struct verdict verdict = {.properties = telling->properties};
    struct search search = {.system = telling->system, .limits = asked->limits};
    const int error = verdict_reach(&search, &verdict);
    int status;
    if (error) {
        status = check_not_begun(error);
    } else {
        const struct finding *broken = check_first_broken(&verdict);
        telling->report(stdout, asked, &search, telling->messages, &verdict);
        const bool has_run =
            broken && broken != &verdict.finding[PROPERTY_REACHED] && !search.untold;
        const int drawn = has_run && asked->svg
                              ? check_messages_draw(asked->svg, telling->name, telling->who,
                                                    telling->nodes, broken)
                              : 0;
        status = broken ? EXIT_VIOLATED : search.end == SEARCH_EXHAUSTED ? EXIT_HOLDS : EXIT_LIMIT;
        if (drawn)
            status = usage_error("check", "cannot write %s: %s", asked->svg, strerror(-drawn));
    }
    verdict_close(&verdict);
    search_close(&search);
    return status;
}

int check_messages(const struct check_words *asked)
{
    static struct messages_model model;
    const char *wrong = messages_model_open(&model, &asked->messages);
    if (wrong)
        return usage_error("check", "%s", wrong);
    return check_told(asked, &(struct check_telling){
                                 .system = &model.system,
                                 .messages = &model,
                                 .properties = asked->properties,
                                 .name = asked->messages.variant->name,
                                 .who = "node",
                                 .nodes = asked->messages.nodes,
                                 .report = asked->json ? check_report_messages_json : report_text,
                             });
}
