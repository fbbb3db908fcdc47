/* SPDX-License-Identifier: MIT */
/* A session for the page: what was opened, a state with all that can happen next, a move made. */
#include <string.h>

#include "playground/playground.h"

static const char *status_word(enum status status)
{
    static const char *const words[] = {"idle",   "doorway", "active",      "queued",
                                        "inside", "leaving", "malfunction", "halted"};
    return words[status];
}

/* By enum move_kind: step, begin, give up, die, system, fault. */
static const char kinds[] = "sbgdyf";

void view_move(struct json *json, const char *name, struct move move)
{
    char text[8], choice[4] = "";
    if (move.choice)
        snprintf(choice, sizeof choice, "%u", move.choice);
    snprintf(text, sizeof text, "%c%c%s", 'A' + move.process, kinds[move.kind], choice);
    json_text(json, name, text);
}

bool move_read(const char **text, struct move *move)
{
    const char *at = *text;
    if (*at < 'A' || *at >= 'A' + PROCESSES_MOST)
        return false;
    *move = (struct move){.process = (uint8_t)(*at++ - 'A')};
    const char *kind = *at ? strchr(kinds, *at++) : NULL;
    if (!kind)
        return false;
    move->kind = (uint8_t)(kind - kinds);
    unsigned choice = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        choice = choice * 10 + (unsigned)(*at - '0');
        if (choice > UINT8_MAX)
            return false;
    }
    move->choice = (uint8_t)choice;
    *text = at;
    return true;
}

/* What the move would do, or did, in words: by making it in a copy. */
static void view_words(struct json *json, const struct session *session, size_t index,
                       struct move move)
{
    const struct system *system = session->asked.system;
    char line[200];
    memcpy(session->scratch, session_state(session, index), system->size);
    system->narrate(system, session->scratch, move, line, sizeof line);
    json_text(json, "text", line);
}

/* What holds rarely stands there only if it does. */
static void view_if(struct json *json, const char *name, bool holds)
{
    if (holds)
        json_flag(json, name, true);
}

static void view_moves(struct json *json, const struct session *session, size_t index,
                       unsigned process)
{
    const struct system *system = session->asked.system;
    const struct successors *out = session->out;
    json_list(json, "moves");
    for (unsigned at = 0; at < out->count; at++) {
        if (out->move[at].process != process)
            continue;
        json_object(json, NULL);
        view_move(json, "move", out->move[at]);
        view_words(json, session, index, out->move[at]);
        view_if(json, "enters", out->move[at].enters);
        view_if(json, "stays", out->stays[at]);
        const char *broken = system->judge(system, out->states + at * system->size);
        if (broken || out->complaint[at])
            json_text(json, "breaks", broken ? broken : out->complaint[at]);
        json_close(json);
    }
    json_close(json);
}

/* By enum asked_kind. */
static const struct view {
    void (*process)(struct json *json, const struct session *session, size_t index,
                    unsigned process);
    void (*flying)(struct json *json, const struct session *session, size_t index);
} views[] = {
    [ASKED_REGISTERS] = {register_view_process, NULL},
    [ASKED_MESSAGES] = {message_view_process, message_view_flying},
    [ASKED_LINK] = {link_view_end, link_view_flying},
};

static const struct view *view_kind(const struct session *session)
{
    return &views[session->asked.kind];
}

static void view_process(struct json *json, struct session *session, size_t index, unsigned process)
{
    const struct system *system = session->asked.system;
    json_object(json, NULL);
    json_number(json, "place", asked_place(&session->asked, process));
    json_text(json, "status",
              status_word(system->status(system, session_state(session, index), process)));
    view_kind(session)->process(json, session, index, process);
    view_moves(json, session, index, process);
    json_close(json);
}

void view_state(struct session *session, size_t index)
{
    struct json json = json_begin(stdout);
    session_look(session, index);
    json_object(&json, NULL);
    json_number(&json, "index", index);
    json_list(&json, "processes");
    for (unsigned process = 0; process < session->asked.system->processes; process++)
        view_process(&json, session, index, process);
    json_close(&json);
    if (view_kind(session)->flying)
        view_kind(session)->flying(&json, session, index);
    if (index && session->moves[index - 1].broken)
        json_text(&json, "broken", session->moves[index - 1].broken);
    json_close(&json);
    json_end(&json);
}

void view_made(const struct session *session)
{
    const struct system *system = session->asked.system;
    const size_t before = session->count - 1;
    const struct past_move *past = &session->moves[before];
    struct json json = json_begin(stdout);
    json_object(&json, NULL);
    view_move(&json, "move", past->move);
    json_number(&json, "process", past->move.process);
    view_words(&json, session, before, past->move);
    view_if(&json, "enters", past->move.enters);
    view_if(&json, "stays", past->stays);
    if (past->broken)
        json_text(&json, "broken", past->broken);
    if (session->asked.kind == ASKED_REGISTERS)
        register_view_access(&json, session, before);
    json_list(&json, "statuses");
    for (unsigned process = 0; process < system->processes; process++)
        json_text(&json, NULL,
                  status_word(system->status(system, session_state(session, before + 1), process)));
    json_close(&json);
    json_close(&json);
    json_end(&json);
}

void view_opened(const struct session *session)
{
    const struct asked_system *asked = &session->asked;
    const unsigned promises = asked_promises(asked);
    char text[CHECK_DESCRIPTION];
    struct json json = json_begin(stdout);
    asked_describe(asked, text, sizeof text);
    json_object(&json, NULL);
    json_text(&json, "protocol", asked->system->name);
    json_text(&json, "kind", asked_kind_word(asked->kind));
    json_number(&json, "processes", asked->system->processes);
    json_text(&json, "described", text);
    json_list(&json, "promises");
    for (unsigned property = 0; property < PROPERTY_COUNT; property++)
        if (promises >> property & 1)
            json_text(&json, NULL, property_name(property));
    json_close(&json);
    json_close(&json);
    json_end(&json);
}
