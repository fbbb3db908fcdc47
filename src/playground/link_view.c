/* SPDX-License-Identifier: MIT */
/* A link for the page: what each end knows, its connections, and what is on its way by which way.
 */
#include <stdio.h>
#include <string.h>

#include "check/messages/link_state.h"
#include "playground/playground.h"

static struct link_bytes state_at(const struct session *session, size_t index)
{
    struct link_bytes state;
    memcpy(&state, session_state(session, index), sizeof state);
    return state;
}

static void view_word(struct json *json, const char *name, const char *value)
{
    json_object(json, NULL);
    json_text(json, "name", name);
    json_text(json, "value", value);
    json_close(json);
}

static void view_number(struct json *json, const char *name, unsigned number)
{
    char text[12];
    snprintf(text, sizeof text, "%u", number);
    view_word(json, name, text);
}

/* The words of struct link, as its file names them. */
void link_view_end(struct json *json, const struct session *session, size_t index, unsigned end)
{
    const struct link_bytes state = state_at(session, index);
    const struct end_bytes *now = &state.end[end];
    json_number(json, "left", now->says_left);
    json_list(json, "registers");
    view_number(json, "said", now->said);
    view_number(json, "acknowledged", now->acknowledged);
    view_number(json, "taken", now->taken);
    view_number(json, "sent directly", now->sent[LINK_DIRECTLY]);
    view_number(json, "sent by ledger", now->sent[LINK_BY_LEDGER]);
    view_number(json, "detour", now->detour);
    view_word(json, "up", now->up ? "yes" : "no");
    view_word(json, "owes",
              now->owes[LINK_DIRECTLY] && now->owes[LINK_BY_LEDGER] ? "both ways"
              : now->owes[LINK_DIRECTLY]                            ? "directly"
              : now->owes[LINK_BY_LEDGER]                           ? "by ledger"
                                                                    : "nothing");
    json_close(json);
}

/* A packet that an end has sent. The oldest of its way is delivered by a move. */
static void view_packet(struct json *json, uint8_t packet, unsigned from, const char *way,
                        const struct move *move)
{
    json_object(json, NULL);
    json_text(json, "name", way);
    json_number(json, "number", packet >> 4);
    json_number(json, "taken", packet & 15);
    json_number(json, "from", from);
    json_list(json, "to");
    json_number(json, NULL, 1 - from);
    json_close(json);
    if (move)
        view_move(json, "move", *move);
    json_close(json);
}

/* Oldest first. `slot` is NONE: through the ledger. */
static void view_packets(struct json *json, const struct session *session,
                         const struct link_bytes *state, unsigned from, unsigned slot)
{
    char way[24] = "ledger";
    const bool ledger = slot == NONE;
    const enum doing_kind kind = ledger ? DOES_RECEIVE_BY_LEDGER : DOES_RECEIVE;
    const uint8_t *packet =
        ledger ? state->ledger.packet[from] : state->connection[slot].packet[from];
    const unsigned count = ledger ? state->ledger.count[from] : state->connection[slot].count[from];
    const struct move move = link_move(1 - from, ledger ? 0 : slot, kind);
    const bool may =
        link_may_do(&session->asked.link_model, state, 1 - from, ledger ? 0 : slot, kind);
    if (!ledger)
        snprintf(way, sizeof way, "connection %u", slot);
    for (unsigned at = 0; at < count; at++)
        view_packet(json, packet[at], from, way, may && at == 0 ? &move : NULL);
}

static void view_connection(struct json *json, const struct connection_bytes *connection)
{
    json_object(json, NULL);
    json_flag(json, "made", connection->made);
    json_flag(json, "accepted", connection->accepted);
    json_list(json, "open");
    for (unsigned end = 0; end < ENDS; end++)
        if (connection->open[end])
            json_number(json, NULL, end);
    json_close(json);
    json_close(json);
}

void link_view_flying(struct json *json, const struct session *session, size_t index)
{
    const struct link_bytes state = state_at(session, index);
    json_list(json, "flying");
    for (unsigned from = 0; from < ENDS; from++)
        for (unsigned slot = 0; slot <= NONE; slot++)
            view_packets(json, session, &state, from, slot);
    json_close(json);
    json_list(json, "connections");
    for (unsigned slot = 0; slot < SLOTS; slot++)
        view_connection(json, &state.connection[slot]);
    json_close(json);
}
