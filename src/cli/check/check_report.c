/* SPDX-License-Identifier: MIT */
/* What `afteryou check` found, for people and for programs. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "cli/check/check.h"
#include "cli/commands.h"

enum { DESCRIPTION_PARTS = 30, PART_ROOM = 40 };

struct check_parts {
    char part[DESCRIPTION_PARTS][PART_ROOM];
    unsigned count;
};

static void __attribute__((format(printf, 2, 3)))
add(struct check_parts *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (to->count < DESCRIPTION_PARTS)
        vsnprintf(to->part[to->count++], PART_ROOM, format, arguments);
    va_end(arguments);
}

static void describe_registers(const struct register_model *model, struct check_parts *to)
{
    add(to, "n = %u", model->places);
    if (model->system.processes != model->places)
        add(to, "%u of them used", model->system.processes);
    if (model->slots > 1)
        add(to, "%u slots", model->slots);
    if (model->requests & 1u << REQUEST_SHARED)
        add(to, "readers and writers");
    if (model->problem == PROBLEM_ALLOCATION)
        add(to, "%u units to allocate", model->units);
    if (model->needs > 1)
        add(to, "%u each, one after another%s", model->needs, model->banker ? ", by a banker" : "");
    if (model->some_rivals)
        add(to, "some rivals only");
    if (model->errors)
        add(to, "errors%s", model->errors == ERRORS_WAITING ? " of who waits" : "");
    if (model->overtake)
        add(to, "overtaking up to %u", model->overtake);
    if (model->writers_first || model->by_priority)
        add(to, "%s", model->writers_first ? "writers first" : "by priority");
    if (model->room < WATCH_MOST)
        add(to, "a watch of %u", model->room);
    if (model->strangers)
        add(to, "strangers");
    if (model->converts)
        add(to, "conversion%s",
            model->requests & 1u << REQUEST_PROTECTED ? " among three modes" : "");
    if (model->renames)
        add(to, "renamed up to %u times%s", model->renames, model->alike ? ", alike" : "");
    if (model->passages)
        add(to, "%u passages each", model->passages);
    add(to, "%s",
        model->deaths ? model->malfunction ? "deaths and malfunction" : "deaths after any step"
                      : "no deaths");
    if (model->halts)
        add(to, "up to %u stopped for ever", model->halts);
    if (model->timeouts)
        add(to, "%stime-outs", model->timeouts == TIMEOUTS_WRONG ? "wrong " : "");
    if (model->stopped)
        add(to, "%d stopped for ever%s", __builtin_popcount(model->stopped),
            model->stopped_late ? ", late" : "");
    if (model->aborts)
        add(to, "aborts");
    if (model->fences)
        add(to, "fences judged");
    if (model->tso)
        add(to, model->lost_stores ? "TSO store buffers lost in death" : "TSO store buffers");
    if (model->weak)
        add(to, "C11 memory");
    if (model->weak && model->lag != LAG_ANY && !model->protocol->device)
        add(to, "a lag of %u stores at most", model->lag);
    if (model->symmetry)
        add(to, "places taken for one another");
    for (unsigned at = 0; at < model->weakened_count; at++)
        add(to, model->weakened[at].relaxed ? "%s relaxed" : "no fence at %s",
            model->weakened[at].label);
}

static void describe_messages(const struct messages_options *options, struct check_parts *to)
{
    add(to, "%u nodes", options->nodes);
    if (options->requests)
        add(to, "%u requests each", options->requests);
    else
        add(to, "requests without bound");
    add(to, options->links ? "%s links" : "%s network", check_network(options->channels));
    add(to, "%u crashes", options->crashes);
    add(to, "%u joins", options->joinings);
    if (options->deaths)
        add(to, "%u deaths inside", options->deaths);
    if (options->units)
        add(to, "%u units, of which one takes %u", options->units,
            options->take ? options->take : 1);
    if (options->converts)
        add(to, "conversions");
    if (options->ranked)
        add(to, "by priority");
}

static void describe_link(const struct link_options *options, struct check_parts *to)
{
    add(to, "%u messages each way", options->messages);
    add(to, "%u connections", options->connections);
}

void check_describe(const struct check_words *asked, char *text, size_t room)
{
    struct check_parts parts = {.count = 0};
    if (asked->messages.variant)
        describe_messages(&asked->messages, &parts);
    else if (asked->link.variant)
        describe_link(&asked->link, &parts);
    else
        describe_registers(&asked->model, &parts);
    *text = '\0';
    for (unsigned at = 0; at < parts.count; at++)
        snprintf(text + strlen(text), room - strlen(text), "%s%s", at ? ", " : "", parts.part[at]);
}

void check_print_run(FILE *out, const struct check_run *run, const struct register_model *model)
{
    for (size_t at = 0; at < run->count; at++) {
        if (at == run->loop)
            fputs("      again and again:\n", out);
        fprintf(out, "  %4zu  P%u  %s\n", at + 1, model->place_of[run->steps[at].move.process],
                run->steps[at].line);
    }
    if (run->loop == run->count && run->count == 0)
        fputs("      in the first state\n", out);
}

const char *check_answer(enum answer answer)
{
    static const char *const words[] = {"not decided", "holds", "BROKEN", "not asked"};
    return words[answer];
}

const char *check_end(enum search_end end)
{
    switch (end) {
    case SEARCH_EXHAUSTED:
        return "exhausted";
    case SEARCH_VIOLATED:
        return "ended at the first violation";
    case SEARCH_OVERFLOW:
        return "NOT exhausted: a number outgrew its field (bound it with --passages or --requests)";
    case SEARCH_FULL:
        return "NOT exhausted: a store buffer, or the network, had no room for one more";
    case SEARCH_STATES:
        return "NOT exhausted: --states was reached";
    case SEARCH_MEMORY:
        return "NOT exhausted: --memory was reached";
    default:
        return "NOT exhausted: --seconds was reached";
    }
}

static void print_overtaking(FILE *out, const struct verdict *verdict)
{
    if (verdict->overtakes_active == -2)
        return;
    fputs("  overtaken by each other", out);
    if (verdict->overtakes_active < 0)
        fputs(" without bound", out);
    else
        fprintf(out, " at most %d times from the first public step", verdict->overtakes_active);
    if (verdict->overtakes_queued >= 0)
        fprintf(out, ", %d from the queue", verdict->overtakes_queued);
    fputc('\n', out);
}

static void print_rounds(FILE *out, const struct verdict *verdict)
{
    if (verdict->doorway_steps > 0)
        fprintf(out, "  a doorway has at most %d steps\n", verdict->doorway_steps);
    if (verdict->rounds.most >= 0)
        fprintf(out, "  who need not wait is inside within %d rounds of %d steps of each\n",
                verdict->rounds.most, verdict->rounds.events);
}

void check_report_text(FILE *out, const struct check_words *asked, const struct search *search,
                       const struct verdict *verdict, unsigned promised)
{
    char described[CHECK_DESCRIPTION];
    check_describe(asked, described, sizeof described);
    fprintf(out, "%s: %s\n", asked->protocol, described);
    for (unsigned property = 0; property < PROPERTY_COUNT; property++) {
        const struct finding *finding = &verdict->finding[property];
        if (finding->answer == ANSWER_SKIPPED)
            continue;
        fprintf(out, "  %-12s %s%s", property_name(property), check_answer(finding->answer),
                promised >> property & 1 ? "" : " (not promised)");
        if (finding->broken && strcmp(finding->broken, property_name(property)) != 0)
            fprintf(out, " (%s)", finding->broken);
        if (*finding->detail)
            fprintf(out, ": %s", finding->detail);
        fputc('\n', out);
        if (finding->answer == ANSWER_BROKEN && property != PROPERTY_REACHED && !search->untold)
            check_print_run(out, &finding->run, &asked->model);
    }
    print_overtaking(out, verdict);
    print_rounds(out, verdict);
    const double seconds = search_seconds(search);
    fprintf(out, "%u states, %llu moves, depth %u, %.2f s, %.2f M states/s, %zu MB: %s\n",
            search->store.count, (unsigned long long)search->moves, search->depth, seconds,
            seconds > 0 ? search->store.count / seconds / 1e6 : 0, search->peak >> 20,
            check_end(search->end));
}

void check_report_sample(FILE *out, const struct check_words *asked,
                         const struct sample_result *result)
{
    char described[CHECK_DESCRIPTION];
    check_describe(asked, described, sizeof described);
    fprintf(out, "%s: %s; %s schedules\n", asked->protocol, described,
            asked->sample.depth ? "PCT" : "random");
    if (result->violated) {
        fprintf(out, "  %s BROKEN with seed %llu\n", result->violated,
                (unsigned long long)result->seed);
        check_print_run(out, &result->run, &asked->model);
    } else {
        fputs("  nothing broken was seen: this is no proof\n", out);
    }
    fprintf(out, "%llu runs, %llu steps, %llu entries%s%s%s\n", (unsigned long long)result->runs,
            (unsigned long long)result->steps, (unsigned long long)result->entries,
            result->overflow ? "; some runs were cut short: a number outgrew its field" : "",
            result->full ? "; some runs were cut short: a store buffer was full" : "",
            result->out_of_time ? "; --seconds was reached" : "");
}
