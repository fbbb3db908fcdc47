/* SPDX-License-Identifier: MIT */
/* A run that a person makes, move by move: every state of it is kept. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "playground/playground.h"

static bool make_room(struct session *session, size_t moves)
{
    if (moves <= session->room)
        return true;
    const size_t room = session->room ? 2 * session->room : 256;
    const size_t size = session->asked.system->size;
    unsigned char *states = realloc(session->states, (room + 1) * size);
    if (states)
        session->states = states;
    struct past_move *past = realloc(session->moves, room * sizeof *past);
    if (past)
        session->moves = past;
    struct touch *touches = realloc(session->touches, room * sizeof *touches);
    if (touches)
        session->touches = touches;
    if (!states || !past || !touches)
        return false;
    session->room = room;
    return true;
}

bool session_open(struct session *session, const char *words)
{
    *session = (struct session){0};
    if (!asked_read(&session->asked, words))
        return false;
    /* People want to see the numbers that were drawn, not their ranks. */
    session->asked.words.model.unreduced = true;
    const size_t size = session->asked.system->size;
    session->out = calloc(1, sizeof *session->out);
    session->scratch = calloc(1, STATE_SIZE_MOST);
    if (session->out)
        session->out->states = calloc(SUCCESSORS_MOST, size);
    if (!session->out || !session->out->states || !session->scratch || !make_room(session, 1)) {
        say("check", "there is no memory left for a run");
        session_close(session);
        return false;
    }
    session->out->size = size;
    session->asked.system->begin(session->asked.system, session->states);
    return true;
}

void session_close(struct session *session)
{
    if (session->out)
        free(session->out->states);
    free(session->out);
    free(session->scratch);
    free(session->states);
    free(session->moves);
    free(session->touches);
    *session = (struct session){0};
}

void session_look(struct session *session, size_t index)
{
    const struct system *system = session->asked.system;
    session->out->count = 0;
    session->out->overflow = session->out->full = false;
    system->successors(system, session_state(session, index), session->out);
}

static bool same_move(struct move a, struct move b)
{
    return a.process == b.process && a.kind == b.kind && a.choice == b.choice;
}

enum made session_make(struct session *session, size_t index, struct move move)
{
    const struct system *system = session->asked.system;
    struct successors *out = session->out;
    session_look(session, index);
    unsigned at = 0;
    while (at < out->count && !same_move(out->move[at], move))
        at++;
    if (at == out->count)
        return MADE_NOT_POSSIBLE;
    if (out->overflow || out->full)
        return MADE_OVERFLOW;
    if (!make_room(session, index + 1))
        return MADE_NO_MEMORY;
    unsigned char *next = session_state(session, index + 1);
    memcpy(next, out->states + at * system->size, system->size);
    const char *broken = system->judge(system, next);
    session->moves[index] = (struct past_move){.move = out->move[at],
                                               .stays = out->stays[at],
                                               .broken = broken ? broken : out->complaint[at]};
    if (session->asked.kind == ASKED_REGISTERS) {
        memcpy(session->scratch, session_state(session, index), system->size);
        session->touches[index] =
            register_touch(&session->asked.words.model, session->scratch, out->move[at]);
    }
    session->count = index + 1;
    return MADE;
}
