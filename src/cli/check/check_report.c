/* SPDX-License-Identifier: MIT */
/* What `afteryou check` found, for people and for programs. */
#include <errno.h>
#include <string.h>

#include "cli/check/check.h"
#include "cli/commands.h"
#include "common/draw/spacetime.h"

void check_describe(const struct check_words *asked, char *text, size_t room)
{
    const struct register_model *model = &asked->model;
    char parts[12][40];
    unsigned count = 0;
#define PART(...) snprintf(parts[count++], sizeof *parts, __VA_ARGS__)
    PART("n = %u", model->places);
    if (model->system.processes != model->places)
        PART("%u of them used", model->system.processes);
    if (model->slots > 1)
        PART("%u slots", model->slots);
    if (model->requests & 1u << REQUEST_SHARED)
        PART("readers and writers");
    if (model->problem == PROBLEM_ALLOCATION)
        PART("%u units to allocate", model->units);
    if (model->overtake)
        PART("overtaking up to %u", model->overtake);
    if (model->writers_first || model->by_priority)
        PART(model->writers_first ? "writers first" : "by priority");
    if (model->room < WATCH_MOST)
        PART("a watch of %u", model->room);
    if (model->strangers)
        PART("strangers");
    if (model->passages)
        PART("%u passages each", model->passages);
    PART(model->deaths ? model->malfunction ? "deaths and malfunction" : "deaths after any step"
                       : "no deaths");
    if (model->halts)
        PART("up to %u stopped for ever", model->halts);
    if (model->stopped)
        PART("%d stopped for ever%s", __builtin_popcount(model->stopped),
             model->stopped_late ? ", late" : "");
    if (model->aborts)
        PART("aborts");
    if (model->fences)
        PART("fences judged");
    if (model->tso)
        PART("TSO store buffers");
#undef PART
    *text = '\0';
    for (unsigned at = 0; at < count; at++)
        snprintf(text + strlen(text), room - strlen(text), "%s%s", at ? ", " : "", parts[at]);
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

static const char *end_in_words(enum search_end end)
{
    switch (end) {
    case SEARCH_EXHAUSTED:
        return "exhausted";
    case SEARCH_VIOLATED:
        return "ended at the first violation";
    case SEARCH_OVERFLOW:
        return "NOT exhausted: a number outgrew its field (limit it with --passages)";
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

void check_report_text(FILE *out, const struct check_words *asked, const struct search *search,
                       const struct verdict *verdict, unsigned promised)
{
    char described[320];
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
        if (finding->answer == ANSWER_BROKEN)
            check_print_run(out, &finding->run, &asked->model);
    }
    print_overtaking(out, verdict);
    const double seconds = search_seconds(search);
    fprintf(out, "%u states, %llu moves, depth %u, %.2f s, %.2f M states/s, %zu MB: %s\n",
            search->store.count, (unsigned long long)search->moves, search->depth, seconds,
            seconds > 0 ? search->store.count / seconds / 1e6 : 0, search->peak >> 20,
            end_in_words(search->end));
}

/* Texts of ours hold neither quotes nor control characters; backslashes and quotes are escaped all
 * the same. */
static void print_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_run_json(FILE *out, const struct check_run *run,
                           const struct register_model *model)
{
    fputs(",\"run\":[", out);
    for (size_t at = 0; at < run->count; at++) {
        fprintf(out, "%s{\"place\":%u,\"does\":", at ? "," : "",
                model->place_of[run->steps[at].move.process]);
        print_string(out, run->steps[at].line);
        fputc('}', out);
    }
    fputc(']', out);
    if (run->loop < run->count)
        fprintf(out, ",\"repeats_from\":%zu", run->loop);
}

void check_report_json(FILE *out, const struct check_words *asked, const struct search *search,
                       const struct verdict *verdict, unsigned promised)
{
    char described[320];
    check_describe(asked, described, sizeof described);
    fprintf(out,
            "{\"schema\":1,\"protocol\":\"%s\",\"places\":%u,\"configuration\":", asked->protocol,
            asked->model.places);
    print_string(out, described);
    fputs(",\"properties\":{", out);
    bool first = true;
    for (unsigned property = 0; property < PROPERTY_COUNT; property++) {
        const struct finding *finding = &verdict->finding[property];
        if (finding->answer == ANSWER_SKIPPED)
            continue;
        static const char *const answers[] = {"unknown", "holds", "broken", ""};
        fprintf(out, "%s\"%s\":{\"answer\":\"%s\",\"promised\":%s", first ? "" : ",",
                property_name(property), answers[finding->answer],
                promised >> property & 1 ? "true" : "false");
        first = false;
        if (finding->broken)
            fprintf(out, ",\"broken\":\"%s\"", finding->broken);
        if (finding->answer == ANSWER_BROKEN)
            print_run_json(out, &finding->run, &asked->model);
        fputc('}', out);
    }
    fputc('}', out);
    if (verdict->overtakes_active != -2) {
        /* null: without bound */
        fprintf(out,
                verdict->overtakes_active < 0 ? ",\"overtaken\":{\"from_active\":null"
                                              : ",\"overtaken\":{\"from_active\":%d",
                verdict->overtakes_active);
        fprintf(out,
                verdict->overtakes_queued < 0 ? ",\"from_queue\":null}" : ",\"from_queue\":%d}",
                verdict->overtakes_queued);
    }
    fprintf(
        out,
        ",\"states\":%u,\"moves\":%llu,\"depth\":%u,\"seconds\":%.3f,\"bytes\":%zu,\"exhausted\":%s,\"end\":",
        search->store.count, (unsigned long long)search->moves, search->depth,
        search_seconds(search), search->peak, search->end == SEARCH_EXHAUSTED ? "true" : "false");
    print_string(out, end_in_words(search->end));
    fputs("}\n", out);
}

void check_report_sample(FILE *out, const struct check_words *asked,
                         const struct sample_result *result)
{
    char described[320];
    check_describe(asked, described, sizeof described);
    if (asked->json) {
        fprintf(
            out,
            "{\"schema\":1,\"protocol\":\"%s\",\"places\":%u,\"runs\":%llu,\"steps\":%llu,\"entries\":%llu",
            asked->protocol, asked->model.places, (unsigned long long)result->runs,
            (unsigned long long)result->steps, (unsigned long long)result->entries);
        if (result->violated) {
            fprintf(out, ",\"broken\":\"%s\",\"seed\":%llu", result->violated,
                    (unsigned long long)result->seed);
            print_run_json(out, &result->run, &asked->model);
        }
        fputs("}\n", out);
        return;
    }
    fprintf(out, "%s: %s; %s schedules\n", asked->protocol, described,
            asked->sample.depth ? "PCT" : "random");
    if (result->violated) {
        fprintf(out, "  %s BROKEN with seed %llu\n", result->violated,
                (unsigned long long)result->seed);
        check_print_run(out, &result->run, &asked->model);
    } else {
        fputs("  nothing broken was seen: this is no proof\n", out);
    }
    fprintf(out, "%llu runs, %llu steps, %llu entries%s%s\n", (unsigned long long)result->runs,
            (unsigned long long)result->steps, (unsigned long long)result->entries,
            result->overflow ? "; some runs were cut short: a number outgrew its field" : "",
            result->out_of_time ? "; --seconds was reached" : "");
}

/* A bar for every stretch in which a process is inside. */
static void draw_bars(struct spacetime *diagram, const struct check_run *run, unsigned processes)
{
    for (unsigned process = 0; process < processes; process++)
        for (size_t at = 0; at < run->count; at++) {
            if (!(run->steps[at].inside >> process & 1))
                continue;
            const size_t from = at;
            while (at + 1 < run->count && run->steps[at + 1].inside >> process & 1)
                at++;
            spacetime_bar(diagram, SPACETIME_INSIDE, process, (double)from, (double)at + 0.6, NULL);
        }
}

int check_report_svg_run(const char *path, const struct check_words *asked,
                         const struct check_run *run, const char *broken)
{
    const struct register_model *model = &asked->model;
    char title[400], described[320];
    check_describe(asked, described, sizeof described);
    snprintf(title, sizeof title, "%s: %s", asked->protocol, described);
    struct spacetime *diagram = spacetime_open(title);
    if (!diagram)
        return -ENOMEM;
    for (unsigned process = 0; process < model->system.processes; process++) {
        char name[16];
        snprintf(name, sizeof name, "P%u", model->place_of[process]);
        spacetime_process(diagram, name);
    }
    for (size_t at = 0; at < run->count; at++) {
        const struct run_step *step = &run->steps[at];
        char number[24], note[220];
        snprintf(number, sizeof number, "%zu", at + 1);
        snprintf(note, sizeof note, "%zu   P%u   %s", at + 1, model->place_of[step->move.process],
                 step->line);
        (step->move.kind == MOVE_DEATH ? spacetime_death : spacetime_step)(
            diagram, step->move.process, (double)at, number);
        if (at == run->loop)
            spacetime_note(diagram, "again and again:");
        spacetime_note(diagram, note);
    }
    draw_bars(diagram, run, model->system.processes);
    if (run->count) {
        const size_t last = run->count - 1;
        const unsigned culprit = run->steps[last].move.process;
        /* The other one that is inside, if that is what is wrong. */
        unsigned other = 0;
        while (other < model->system.processes &&
               (other == culprit || !(run->steps[last].inside >> other & 1)))
            other++;
        spacetime_violation(diagram, culprit, (double)last,
                            other < model->system.processes ? other : culprit, (double)last,
                            broken);
    }
    FILE *out = fopen(path, "w");
    int error = out ? spacetime_write(diagram, out) : -errno;
    if (out && fclose(out) && !error)
        error = -errno;
    spacetime_close(diagram);
    return error;
}

int check_report_svg(const char *path, const struct check_words *asked,
                     const struct verdict *verdict)
{
    for (unsigned property = 0; property < PROPERTY_COUNT; property++) {
        const struct finding *finding = &verdict->finding[property];
        if (finding->answer == ANSWER_BROKEN)
            return check_report_svg_run(path, asked, &finding->run,
                                        finding->broken ? finding->broken
                                                        : property_name(property));
    }
    say("check", "nothing is broken, so %s was not drawn", path);
    return 0;
}
