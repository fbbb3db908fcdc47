/* SPDX-License-Identifier: MIT */
/* A message protocol for the page: what each node knows, and what is on its way. */
#include <inttypes.h>
#include <string.h>

#include "check/messages/messages_state.h"
#include "playground/playground.h"
#include "protocols/messages/node.h"

/* The words of a protocol's state that its paper names: single ones (struct node's own), then,
 * behind the head and its sets, sets and arrays with a word for each node. */
enum layout_kind { LAYOUT_END, LAYOUT_SET, LAYOUT_NUMBERS, LAYOUT_REQUESTS };

struct layout {
    const struct message_protocol *protocol;
    const char *own[4];
    struct {
        enum layout_kind kind;
        const char *name;
    } behind[8];
};

static const struct layout layouts[] = {
    {&lamport_protocol, {"c"}, {{LAYOUT_REQUESTS, "q"}, {LAYOUT_NUMBERS, "v"}}},
    {&ricart_agrawala_protocol,
     {"our", "highest", "outstanding"},
     {{LAYOUT_SET, "not yet replied"}, {LAYOUT_SET, "deferred"}}},
    {&carvalho_roucairol_protocol,
     {"our", "highest", "missing"},
     {{LAYOUT_SET, "deferred"}, {LAYOUT_SET, "A"}, {LAYOUT_SET, "A shared"}}},
    {&token_protocol, {"our", "have token"}, {{LAYOUT_NUMBERS, "t"}, {LAYOUT_NUMBERS, "r"}}},
};

static const struct layout *layout_of(const struct session *session)
{
    const struct message_protocol *protocol = session->asked.words.messages.variant->protocol;
    for (size_t at = 0; at < sizeof layouts / sizeof *layouts; at++)
        if (layouts[at].protocol == protocol)
            return &layouts[at];
    return NULL; /* a protocol that is not listed shows its head alone */
}

static void view_number(struct json *json, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    json_part(json, number == UINT64_MAX ? "∞" : text);
}

static void view_set(struct json *json, uint64_t set, unsigned nodes)
{
    const char *comma = "{";
    for (unsigned node = 0; node < nodes; node++)
        if (set >> node & 1) {
            json_part(json, comma);
            view_number(json, node);
            comma = ",";
        }
    json_part(json, set ? "}" : "{}");
}

static void view_array(struct json *json, const uint64_t *words, unsigned nodes,
                       enum layout_kind kind)
{
    enum { MODE_BITS = 3 }; /* as lamport.c keeps a request */
    json_part(json, "[");
    for (unsigned node = 0; node < nodes; node++) {
        const bool shifted = kind == LAYOUT_REQUESTS && words[node] != UINT64_MAX;
        json_part(json, node ? " " : "");
        view_number(json, shifted ? words[node] >> MODE_BITS : words[node]);
    }
    json_part(json, "]");
}

/* A variable, up to its value, which the caller gives part by part. */
static void open_variable(struct json *json, const char *name)
{
    json_object(json, NULL);
    json_text(json, "name", name);
    json_open_text(json, "value");
}

static void close_variable(struct json *json)
{
    json_close_text(json);
    json_close(json);
}

static void view_words(struct json *json, const struct layout *layout, const struct node *node,
                       unsigned nodes)
{
    for (unsigned at = 0; at < 4 && layout->own[at]; at++) {
        open_variable(json, layout->own[at]);
        view_number(json, node->own[at]);
        close_variable(json);
    }
    const uint64_t *words = (const uint64_t *)node + node_words(nodes);
    for (unsigned at = 0; layout->behind[at].kind != LAYOUT_END; at++) {
        open_variable(json, layout->behind[at].name);
        if (layout->behind[at].kind == LAYOUT_SET)
            view_set(json, *words, nodes);
        else
            view_array(json, words, nodes, layout->behind[at].kind);
        close_variable(json);
        words += layout->behind[at].kind == LAYOUT_SET ? set_words(nodes) : nodes;
    }
}

static void view_fence(struct json *json, uint64_t fence)
{
    open_variable(json, "fence");
    view_number(json, fence >> FENCE_VIEW_SHIFT);
    json_part(json, ".");
    view_number(json, fence & ((UINT64_C(1) << FENCE_VIEW_SHIFT) - 1));
    close_variable(json);
}

void message_view_process(struct json *json, const struct session *session, size_t index,
                          unsigned process)
{
    const struct messages_options *options = &session->asked.message_model.options;
    struct model_state state;
    messages_unpack(&session->asked.message_model, session_state(session, index), &state);
    const struct node *node = model_head(&state.node[process]);
    const bool up = state.node[process].up;
    if (!up)
        json_flag(json, "dead", true);
    if (up && node->status != NODE_OUTSIDE && options->modes != 1u << MODE_EXCLUSIVE)
        json_text(json, "request", mode_name((unsigned)node->mode));
    if (options->requests)
        json_number(json, "left", state.node[process].requests_left);
    json_list(json, "registers");
    const struct layout *layout = layout_of(session);
    if (up)
        view_fence(json, node->fence);
    if (up && layout)
        view_words(json, layout, node, options->nodes);
    json_close(json);
}

/* Each message with those who have yet to receive it; a move "y" with its number delivers it. */
void message_view_flying(struct json *json, const struct session *session, size_t index)
{
    struct model_state state;
    messages_unpack(&session->asked.message_model, session_state(session, index), &state);
    json_list(json, "flying");
    for (unsigned at = 0; at < state.packets; at++) {
        const struct packet *packet = &state.packet[at];
        const bool message = packet->event == EVENT_MESSAGE;
        json_object(json, NULL);
        json_text(json, "name",
                  message                       ? message_name(packet->message.kind)
                  : packet->event == EVENT_DIED ? "died"
                                                : "joined");
        json_number(json, "number", message ? packet->message.number : 0);
        json_number(json, "from", message ? packet->message.from : packet->message.whom);
        json_list(json, "to");
        for (unsigned to = 0; to < session->asked.message_model.options.nodes; to++)
            if (packet->mask >> to & 1)
                json_number(json, NULL, to);
        json_close(json);
        json_close(json);
    }
    json_close(json);
}
