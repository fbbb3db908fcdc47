/* SPDX-License-Identifier: MIT */
/* `afteryou check`: every interleaving of a protocol, or many random ones; what holds, and how it
 * breaks. */
#include "cli/check/check.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"

/* What is asked of every protocol; and of every one that sleeps. */
#define PROMISES_ALWAYS (1u << PROPERTY_SAFETY | 1u << PROPERTY_PROGRESS | 1u << PROPERTY_REACHED)
/* What is asked where memory is weak. */
#define PROMISES_WEAK                                                                              \
    (PROMISES_ALWAYS | 1u << PROPERTY_LOCKOUT | 1u << PROPERTY_RELIABILITY | 1u << PROPERTY_ORDER)
#define PROMISES_PATIENT (1u << PROPERTY_QUIET | 1u << PROPERTY_GIVING_UP)

unsigned check_promises(const struct register_model *model)
{
    unsigned promised = PROMISES_ALWAYS | model->protocol->promises;
    if (model->protocol->sleeps || model->protocol->alarms)
        promised |= PROMISES_PATIENT;
    /* Who should precede decides, not who came first; and who never should may wait for ever, but
     * not once nobody comes any more. */
    const bool by_class = model->writers_first || model->by_priority;
    if (by_class || model->problem == PROBLEM_ALLOCATION) {
        promised &= PROMISES_ALWAYS | PROMISES_PATIENT;
        promised |= 1u << PROPERTY_ABLE;
    }
    if (by_class && !model->overtake)
        promised |= 1u << PROPERTY_PRECEDENCE;
    /* Two that may both be inside enter in either order. */
    if (model->slots > 1)
        promised &= ~(1u << PROPERTY_ORDER | 1u << PROPERTY_OVERTAKING);
    if (model->overtake)
        promised &= ~(1u << PROPERTY_ORDER);
    /* Lamport 1976, D4 (b): while somebody malfunctions, nothing need move. */
    if (model->malfunction)
        promised &= ~(1u << PROPERTY_RELIABILITY);
    /* Those whose passages never end never enter. */
    if (model->protocol->endless)
        promised &= ~(1u << PROPERTY_PROGRESS);
    /* Errors may break anything for a while. */
    if (model->errors)
        promised = (promised &
                    (1u << PROPERTY_PROGRESS | 1u << PROPERTY_LOCKOUT | 1u << PROPERTY_REACHED)) |
                   1u << PROPERTY_RECOVERY;
    /* From its first public step on one may be overtaken as long as nobody need see that step. */
    if (model->weak)
        promised &= PROMISES_WEAK;
    return promised;
}

unsigned check_victims(const struct check_words *asked)
{
    if (!asked->victim && asked->model.protocol->endless)
        return 1u << asked->model.process_of[asked->model.places - 1];
    return asked->victim ? 1u << asked->model.process_of[__builtin_ctz(asked->victim)] : 0;
}

/* A line on the terminal, now and then: "12,345,678 states, 1.2 M/s, 34,567 to go, some 2.5 M more
 * to come, depth 45, 678 MB". */
static void show_progress(const struct search *search)
{
    const double seconds = search_seconds(search), more = estimate_to_come(&search->estimate);
    char to_come[64] = "and ever more of them";
    if (more >= 0)
        snprintf(to_come, sizeof to_come, "some %.*f M more to come", more < 1e7 ? 1 : 0,
                 more / 1e6);
    fprintf(stderr, "\r\033[K%u states, %.2f M/s, %u to go, %s, depth %u, %zu MB ",
            search->store.count, seconds > 0 ? search->store.count / seconds / 1e6 : 0,
            search->store.count - search->expanded, to_come, search->depth,
            search->store.spent >> 20);
    fflush(stderr);
}

/* A label of --no-fence or --relax that the search has not met. NULL: none. */
static const char *unmet(const struct register_model *model)
{
    for (unsigned at = 0; at < model->weakened_count; at++)
        if (!model->weakened[at].met)
            return model->weakened[at].label;
    return NULL;
}

int check_not_begun(int error)
{
    return usage_error("check", "cannot begin the search: %s; raise --memory, or free some memory",
                       strerror(-error));
}

void check_begin(const struct check_words *asked, struct search *search, struct verdict *verdict)
{
    /* Whatever else is asked: it says nothing of a protocol in which nobody ever enters. */
    *verdict = (struct verdict){.properties = asked->properties
                                                  ? asked->properties | 1u << PROPERTY_REACHED
                                                  : check_promises(&asked->model),
                                .newcomers = asked->model.problem == PROBLEM_ALLOCATION,
                                .overtaken = asked->overtaken,
                                .interval = asked->interval};
    *search = (struct search){
        .system = &asked->model.system, .victims = check_victims(asked), .limits = asked->limits};
}

static int check_all(struct check_words *asked)
{
    const unsigned promised = check_promises(&asked->model);
    struct verdict verdict;
    struct search search;
    const bool terminal = isatty(STDERR_FILENO) && !asked->json;
    check_begin(asked, &search, &verdict);
    search.progress = terminal ? show_progress : NULL;
    const int error = verdict_reach(&search, &verdict);
    if (terminal)
        fputs("\r\033[K", stderr);
    int status = EXIT_HOLDS;
    if (error) {
        status = check_not_begun(error);
    } else if (search.end == SEARCH_MEMORY && search.store.refused) {
        status = usage_error(
            "check",
            "the machine has no memory left after %u states (%zu MB): free some, or lower -n",
            search.store.count, search.peak >> 20);
    } else if (search.end == SEARCH_EXHAUSTED && unmet(&asked->model)) {
        status = usage_error("check", "%s has no access labelled '%s' that could be weaker",
                             asked->protocol, unmet(&asked->model));
    } else {
        for (unsigned property = 0; property < PROPERTY_COUNT; property++)
            if (verdict.finding[property].answer == ANSWER_BROKEN &&
                verdict.properties >> property & 1)
                status = EXIT_VIOLATED;
        if (status == EXIT_HOLDS && search.end != SEARCH_EXHAUSTED)
            status = EXIT_LIMIT;
        (asked->json ? check_report_json : check_report_text)(stdout, asked, &search, &verdict,
                                                              promised);
        const int drawn =
            asked->svg && !search.untold ? check_draw(asked->svg, asked, &verdict) : 0;
        if (drawn)
            status = usage_error("check", "cannot write %s: %s", asked->svg, strerror(-drawn));
    }
    verdict_close(&verdict);
    search_close(&search);
    return status;
}

static int check_some(struct check_words *asked)
{
    struct sample_result result;
    const int error = sample_run(&asked->model.system, &asked->sample, &result);
    if (error)
        return usage_error("check", "cannot make the random runs: %s", strerror(-error));
    (asked->json ? check_report_sample_json : check_report_sample)(stdout, asked, &result);
    if (asked->svg && result.violated) {
        const int drawn = check_draw_run(asked->svg, asked, &result.run, result.violated);
        if (drawn)
            return usage_error("check", "cannot write %s: %s", asked->svg, strerror(-drawn));
    }
    run_close(&result.run);
    return result.violated                                        ? EXIT_VIOLATED
           : result.overflow || result.full || result.out_of_time ? EXIT_LIMIT
                                                                  : EXIT_HOLDS;
}

int command_check(int count, char **words)
{
    struct check_words asked;
    const int status = check_words_parse(count, words, &asked);
    if (status)
        return status < 0 ? 0 : status;
    return asked.messages.variant ? check_messages(&asked)
           : asked.link.variant   ? check_link(&asked)
           : asked.sample.runs    ? check_some(&asked)
                                  : check_all(&asked);
}
