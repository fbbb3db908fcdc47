/* SPDX-License-Identifier: MIT */
/* A register protocol for the page: what each process has public, and the line it stands at. */
#include <string.h>

#include "check/registers/narrate.h"
#include "playground/playground.h"

static const struct register_model *model_in(const struct session *session)
{
    return &session->asked.words.model;
}

/* The text's path below src/, whatever directory it was compiled from. */
static const char *source_path(const char *file)
{
    const char *path = file;
    for (const char *at = file; (at = strstr(at, "src/")); at++)
        path = at + strlen("src/");
    return path;
}

static void view_line(struct json *json, const struct access *access)
{
    if (!access->line)
        return;
    json_text(json, "label", access->line->label);
    json_text(json, "file", source_path(access->line->file));
    json_number(json, "line", access->line->line);
}

static void view_register(struct json *json, const struct register_model *model, unsigned place,
                          unsigned index, word value)
{
    char text[64];
    register_model_name(model, place, index, text, sizeof text);
    json_text(json, "name", text);
    register_model_value(model, index, value, text, sizeof text);
    json_text(json, "value", text);
}

static void view_words(struct json *json, const struct register_model *model,
                       const unsigned char *state, unsigned process)
{
    json_list(json, "registers");
    for (unsigned index = 0; index < model->words; index++) {
        json_object(json, NULL);
        view_register(json, model, model->place_of[process], index,
                      model_words(model, state, process)[index]);
        json_close(json);
    }
    json_close(json);
}

static void view_bits(struct json *json, const struct register_model *model,
                      const unsigned char *state, unsigned process)
{
    json_list(json, "bits");
    for (unsigned index = 0; index < model->bits; index++) {
        char text[48];
        register_model_name(model, model->place_of[process], index, text, sizeof text);
        json_object(json, NULL);
        json_text(json, "name", text);
        json_text(json, "value", model_bit(model, state, process, index) ? "1" : "0");
        if (model_process(model, state, process)->writing == index + 1)
            json_flag(json, "flickers", true);
        json_close(json);
    }
    json_close(json);
}

static void view_buffer(struct json *json, const struct register_model *model,
                        const unsigned char *state, unsigned process)
{
    const struct buffer *buffer = model_buffer(model, state, process);
    json_list(json, "buffer");
    for (unsigned at = 0; at < buffer->count; at++) {
        json_object(json, NULL);
        view_register(json, model, model->place_of[process], buffer->store[at].index,
                      buffer->store[at].value);
        json_close(json);
    }
    json_close(json);
}

static const char *request_word(unsigned request)
{
    switch (request & 3) {
    case REQUEST_SHARED:
        return "shared";
    case REQUEST_RELEASE:
        return "to release";
    case REQUEST_STRANGER:
        return "for something else";
    default:
        return request & REQUEST_URGENT ? "with priority" : "exclusive";
    }
}

/* What it would do next, tried on a copy: a sleeper's line is the one it sleeps at. */
static struct registers try_next(const struct session *session, size_t index, unsigned process)
{
    const struct register_model *model = model_in(session);
    const struct model_process *now = model_process(model, session_state(session, index), process);
    struct move move = {.process = (uint8_t)process,
                        .kind = now->part == PART_IDLE ? MOVE_START : MOVE_STEP};
    if (now->part == PART_IDLE)
        move.choice = (uint8_t)__builtin_ctz(model->requests);
    struct registers at;
    memcpy(session->scratch, session_state(session, index), model->system.size);
    register_model_make(model, session->scratch, move, &at);
    return at;
}

void register_view_process(struct json *json, const struct session *session, size_t index,
                           unsigned process)
{
    const struct register_model *model = model_in(session);
    const unsigned char *state = session_state(session, index);
    const struct model_process *now = model_process(model, state, process);
    const struct passage_head *my = model_passage(model, state, process);
    if (now->part != PART_IDLE && now->part != PART_MALFUNCTION && model->requests != 1)
        json_text(json, "request", request_word(now->request));
    if (now->held)
        json_number(json, "holds", now->held);
    if (my->watched & ASLEEP)
        json_flag(json, "asleep", true);
    view_words(json, model, state, process);
    if (model->bits)
        view_bits(json, model, state, process);
    if (model->tso)
        view_buffer(json, model, state, process);
    if (now->part == PART_MALFUNCTION)
        return;
    const struct registers next = try_next(session, index, process);
    json_object(json, "next");
    view_line(json, &next.access);
    json_close(json);
}

void register_view_access(struct json *json, const struct session *session, size_t index)
{
    static const char *const kinds[] = {
        [ACCESS_NONE] = "none",     [ACCESS_READ] = "read",   [ACCESS_WRITE] = "write",
        [ACCESS_BIT] = "bit",       [ACCESS_BEGIN] = "begin", [ACCESS_SLEEP] = "sleep",
        [ACCESS_WAKE] = "wake",     [ACCESS_AWAKE] = "awake", [ACCESS_ASK] = "ask",
        [ACCESS_RECALL] = "recall", [ACCESS_WHEN] = "when",   [ACCESS_FENCE] = "fence",
        [ACCESS_GUESS] = "guess"};
    const struct register_model *model = model_in(session);
    const struct access *access = &session->touches[index].access;
    const struct register_run run = {model, session->states, session->touches};
    const size_t origin = register_origin(&run, index);
    json_object(json, "access");
    json_text(json, "kind", kinds[access->kind]);
    json_number(json, "place", access->place);
    json_number(json, "index", access->index);
    if (access->kind == ACCESS_READ || access->kind == ACCESS_WRITE)
        view_register(json, model, access->place, access->index, access->value);
    if (origin != ORIGIN_NONE)
        json_number(json, "from", origin);
    view_line(json, access);
    json_close(json);
}
