/* SPDX-License-Identifier: MIT */
/* The complete search for the page: the verdict on each property, and the runs as moves. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "playground/playground.h"

static const char *end_word(enum search_end end)
{
    static const char *const words[] = {
        "every reachable state was seen",
        "ended at the first violation",
        "a number outgrew its field: limit it with --passages or --requests",
        "a store buffer, or the network, had no room for one more",
        "the limit of states was reached",
        "the memory was used up",
        "the time was used up"};
    return words[end];
}

static void view_run(struct json *json, const struct check_run *run)
{
    json_list(json, "run");
    for (size_t at = 0; at < run->count; at++)
        view_move(json, NULL, run->steps[at].move);
    json_close(json);
    if (run->loop < run->count)
        json_number(json, "loop", run->loop);
}

static void view_finding(struct json *json, const struct finding *finding, enum property property,
                         bool promised)
{
    static const char *const answers[] = {"unknown", "holds", "broken", "skipped"};
    json_object(json, property_name(property));
    json_text(json, "answer", answers[finding->answer]);
    json_flag(json, "promised", promised);
    if (finding->broken)
        json_text(json, "broken", finding->broken);
    if (*finding->detail)
        json_text(json, "detail", finding->detail);
    if (finding->answer == ANSWER_BROKEN && property != PROPERTY_REACHED)
        view_run(json, &finding->run);
    json_close(json);
}

static void view_all(const struct asked_system *asked, const struct search *search,
                     const struct verdict *verdict)
{
    const unsigned promised = asked_promises(asked);
    struct json json = json_begin(stdout);
    json_object(&json, NULL);
    json_object(&json, "properties");
    for (unsigned property = 0; property < PROPERTY_COUNT; property++)
        if (verdict->finding[property].answer != ANSWER_SKIPPED)
            view_finding(&json, &verdict->finding[property], property, promised >> property & 1);
    json_close(&json);
    json_number(&json, "states", search->store.count);
    json_number(&json, "moves", search->moves);
    json_number(&json, "depth", search->depth);
    json_real(&json, "seconds", search_seconds(search), 3);
    json_number(&json, "bytes", search->peak);
    json_flag(&json, "exhausted", search->end == SEARCH_EXHAUSTED);
    json_text(&json, "end", end_word(search->end));
    if (verdict->overtakes_active >= 0)
        json_signed(&json, "overtaken", verdict->overtakes_active);
    json_close(&json);
    json_end(&json);
}

bool view_verdict(const char *words, size_t memory, void (*progress)(const struct search *search))
{
    struct asked_system *asked = calloc(1, sizeof *asked);
    if (!asked || !asked_read(asked, words)) {
        free(asked);
        return false;
    }
    const unsigned properties = asked->words.properties;
    struct verdict verdict = {.properties = properties ? properties : asked_promises(asked)};
    struct search search = {.system = asked->system, .limits = asked->words.limits};
    if (asked->kind == ASKED_REGISTERS)
        check_begin(&asked->words, &search, &verdict);
    search.progress = progress;
    search.limits.memory = memory;
    const int error = verdict_reach(&search, &verdict);
    if (error)
        say("check", "%s to begin with", strerror(-error));
    else
        view_all(asked, &search, &verdict);
    verdict_close(&verdict);
    search_close(&search);
    free(asked);
    return !error;
}
