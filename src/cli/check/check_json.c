/* SPDX-License-Identifier: MIT */
/* What `afteryou check` found, as JSON: one format for protocols of registers and of messages. */
#include "cli/check/check.h"
#include "common/json.h"

enum { SCHEMA = 1 };

/* `place_of` is NULL where a process is its own place: a node. */
static void print_run(struct json *json, const struct check_run *run, const uint8_t *place_of)
{
    json_list(json, "run");
    for (size_t at = 0; at < run->count; at++) {
        const unsigned process = run->steps[at].move.process;
        json_object(json, NULL);
        json_number(json, "place", place_of ? place_of[process] : process);
        json_text(json, "does", run->steps[at].line);
        json_close(json);
    }
    json_close(json);
    if (run->loop < run->count)
        json_number(json, "repeats_from", run->loop);
}

static void print_properties(struct json *json, const struct verdict *verdict, unsigned promised,
                             const uint8_t *place_of)
{
    static const char *const answers[] = {
        [ANSWER_UNKNOWN] = "unknown", [ANSWER_HOLDS] = "holds", [ANSWER_BROKEN] = "broken"};
    json_object(json, "properties");
    for (unsigned property = 0; property < PROPERTY_COUNT; property++) {
        const struct finding *finding = &verdict->finding[property];
        if (finding->answer == ANSWER_SKIPPED)
            continue;
        json_object(json, property_name(property));
        json_text(json, "answer", answers[finding->answer]);
        json_flag(json, "promised", promised >> property & 1);
        if (finding->broken)
            json_text(json, "broken", finding->broken);
        if (finding->answer == ANSWER_BROKEN && property != PROPERTY_REACHED)
            print_run(json, &finding->run, place_of);
        json_close(json);
    }
    json_close(json);
}

static void print_goals(struct json *json, const char *list, const struct system *system,
                        uint64_t goals)
{
    json_list(json, list);
    for (uint64_t left = goals; left; left &= left - 1) {
        char name[GOAL_NAME];
        system->name_goal(system, (unsigned)__builtin_ctzll(left), name, sizeof name);
        json_text(json, NULL, name);
    }
    json_close(json);
}

/* At most so often; negative: without bound. */
static void print_bound(struct json *json, const char *name, int bound)
{
    if (bound < 0)
        json_null(json, name);
    else
        json_number(json, name, (unsigned)bound);
}

static void print_search(struct json *json, const struct search *search)
{
    if (search->end == SEARCH_EXHAUSTED) {
        const struct system *system = search->system;
        print_goals(json, "reached", system, search->reached);
        print_goals(json, "never_reached", system, system->goals & ~search->reached);
    }
    json_number(json, "states", search->store.count);
    json_number(json, "moves", search->moves);
    json_number(json, "depth", search->depth);
    json_real(json, "seconds", search_seconds(search), 3);
    json_number(json, "bytes", search->peak);
    json_flag(json, "exhausted", search->end == SEARCH_EXHAUSTED);
    json_flag(json, "overflow", search->end == SEARCH_OVERFLOW);
    json_text(json, "end", check_end(search->end));
}

static struct json begin(FILE *out, const struct check_words *asked)
{
    struct json json = json_begin(out);
    char described[CHECK_DESCRIPTION];
    check_describe(asked, described, sizeof described);
    json_object(&json, NULL);
    json_number(&json, "schema", SCHEMA);
    json_text(&json, "protocol", asked->protocol);
    json_text(&json, "configuration", described);
    return json;
}

static void end(struct json *json)
{
    json_close(json);
    json_end(json);
}

void check_report_json(FILE *out, const struct check_words *asked, const struct search *search,
                       const struct verdict *verdict, unsigned promised)
{
    struct json json = begin(out, asked);
    json_number(&json, "places", asked->model.places);
    print_properties(&json, verdict, promised, asked->model.place_of);
    if (verdict->overtakes_active != -2) {
        json_object(&json, "overtaken");
        print_bound(&json, "from_active", verdict->overtakes_active);
        print_bound(&json, "from_queue", verdict->overtakes_queued);
        json_close(&json);
    }
    if (verdict->doorway_steps != -2)
        print_bound(&json, "doorway_steps", verdict->doorway_steps);
    if (verdict->rounds.most != -2) {
        json_object(&json, "admission");
        json_number(&json, "events", (unsigned)verdict->rounds.events);
        print_bound(&json, "rounds", verdict->rounds.most);
        json_close(&json);
    }
    print_search(&json, search);
    end(&json);
}

void check_report_sample_json(FILE *out, const struct check_words *asked,
                              const struct sample_result *result)
{
    struct json json = begin(out, asked);
    json_number(&json, "places", asked->model.places);
    json_number(&json, "runs", result->runs);
    json_number(&json, "steps", result->steps);
    json_number(&json, "entries", result->entries);
    if (result->violated) {
        json_text(&json, "broken", result->violated);
        json_number(&json, "seed", result->seed);
        print_run(&json, &result->run, asked->model.place_of);
    }
    end(&json);
}

static void print_broken(struct json *json, const struct search *search,
                         const struct verdict *verdict)
{
    const struct finding *broken = check_first_broken(verdict);
    if (!broken)
        return;
    json_text(json, "broken", check_broken(verdict, broken));
    if (!search->untold)
        json_number(json, "steps", broken->run.count);
}

void check_report_link_json(FILE *out, const struct check_words *asked, const struct search *search,
                            const struct messages_model *none, const struct verdict *verdict)
{
    (void)none;
    struct json json = begin(out, asked);
    json_number(&json, "nodes", 2);
    json_number(&json, "requests", asked->link.messages);
    json_number(&json, "connections", asked->link.connections);
    print_properties(&json, verdict, CHECK_MESSAGES_PROMISES, NULL);
    json_text(&json, "safety", check_answer(verdict->finding[PROPERTY_SAFETY].answer));
    json_text(&json, "progress", check_answer(verdict->finding[PROPERTY_PROGRESS].answer));
    json_text(&json, "lockout", check_answer(verdict->finding[PROPERTY_LOCKOUT].answer));
    print_broken(&json, search, verdict);
    print_search(&json, search);
    end(&json);
}

void check_report_messages_json(FILE *out, const struct check_words *asked,
                                const struct search *search, const struct messages_model *model,
                                const struct verdict *verdict)
{
    const struct messages_options *options = &asked->messages;
    struct json json = begin(out, asked);
    json_number(&json, "nodes", options->nodes);
    json_number(&json, "requests", options->requests);
    json_number(&json, "crashes", options->crashes);
    json_number(&json, "joins", options->joinings);
    if (options->deaths)
        json_number(&json, "deaths", options->deaths);
    if (options->units) {
        json_number(&json, "units", options->units);
        json_number(&json, "take", options->take ? options->take : 1);
    }
    print_properties(&json, verdict, CHECK_MESSAGES_PROMISES, NULL);
    json_text(&json, "safety", check_answer(verdict->finding[PROPERTY_SAFETY].answer));
    json_text(&json, "progress", check_answer(verdict->finding[PROPERTY_PROGRESS].answer));
    json_text(&json, "lockout", check_answer(verdict->finding[PROPERTY_LOCKOUT].answer));
    if (check_counts_messages(asked, model, search)) {
        json_number(&json, "fewest_messages", model->fewest);
        json_number(&json, "greatest_messages", model->greatest);
    }
    print_broken(&json, search, verdict);
    print_search(&json, search);
    end(&json);
}
