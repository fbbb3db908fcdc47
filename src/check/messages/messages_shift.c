/* SPDX-License-Identifier: MIT */
/* Requests without bound: brings numbers down by what all of them have in common, so that the
 * states are finitely many.
 *
 * Ricart–Agrawala and Lamport compare numbers, take the greater, and add one; nothing else. So a
 * state in which every number that still matters is lower by the same amount behaves alike. A
 * number below all those only loses every comparison, and becomes 0. Fences and tallies grow for
 * ever: they are left out, and not judged. Carvalho–Roucairol's numbers can fall behind without
 * bound, and a token's REQUESTs can pile up unread, so those two are not searched in this way.
 */
#include <string.h>

#include "check/messages/messages_state.h"
#include "protocols/messages/sets.h"

enum { MODE_BITS = 3, MODE_MASK = (1 << MODE_BITS) - 1 }; /* as lamport.c packs its queue */

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t lowered(uint64_t number, uint64_t by)
{
    return number > by ? number - by : 0;
}

/* Where Lamport's q begins; v follows it. */
static uint64_t *lamport_queue(const struct messages_model *model, struct model_node *node)
{
    return node->words + model->words - 2 * (size_t)model->options.nodes;
}

static void shift_lamport(const struct messages_model *model, struct model_state *state)
{
    const unsigned nodes = model->options.nodes;
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < nodes; i++) {
        /* it may ask with this number next */
        least = lesser(least, model_head(&state->node[i])->own[0] + 1);
        for (unsigned j = 0; j < nodes; j++)
            least = lesser(least, lamport_queue(model, &state->node[i])[j] >> MODE_BITS);
    }
    for (unsigned i = 0; i < state->packets; i++)
        if (state->packet[i].message.kind == MESSAGE_REQUEST)
            least = lesser(least, state->packet[i].message.about);
    const uint64_t by = least - 1; /* the least that matters becomes 1, above all that does not */
    for (unsigned i = 0; i < nodes; i++) {
        uint64_t *c = model_head(&state->node[i])->own, *q = lamport_queue(model, &state->node[i]),
                 *v = q + nodes;
        *c = lowered(*c, by);
        for (unsigned j = 0; j < nodes; j++) {
            if (q[j] != UINT64_MAX)
                q[j] = lowered(q[j] >> MODE_BITS, by) << MODE_BITS | (q[j] & MODE_MASK);
            v[j] = lowered(v[j], by);
        }
    }
    for (unsigned i = 0; i < state->packets; i++) {
        struct message *message = &state->packet[i].message;
        message->number = lowered(message->number, by);
        message->about = message->kind == MESSAGE_REQUEST ? lowered(message->about, by) : 0;
    }
}

static void shift_ricart_agrawala(const struct messages_model *model, struct model_state *state)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < model->options.nodes; i++) {
        const struct node *node = model_head(&state->node[i]);
        least = lesser(least, node->own[1] + 1); /* highest: it may ask with the next number */
        if (node->status == NODE_WAITING)
            least = lesser(least, node->own[0]); /* our */
    }
    for (unsigned i = 0; i < state->packets; i++)
        if (state->packet[i].message.kind == MESSAGE_REQUEST)
            least = lesser(least, state->packet[i].message.number);
    const uint64_t by = least - 1;
    for (unsigned i = 0; i < model->options.nodes; i++) {
        uint64_t *own = model_head(&state->node[i])->own;
        own[0] = model_head(&state->node[i])->status == NODE_WAITING ? lowered(own[0], by) : 0;
        own[1] = lowered(own[1], by);
    }
    for (unsigned i = 0; i < state->packets; i++)
        state->packet[i].message.number = lowered(state->packet[i].message.number, by);
}

void messages_shift(const struct messages_model *model, struct model_state *state)
{
    memset(state->highest_fence, 0, sizeof state->highest_fence);
    for (unsigned i = 0; i < model->options.nodes; i++) {
        state->node[i].tally = 0;
        state->node[i].requests_left = 1;
        model_head(&state->node[i])->fence = 0;
    }
    for (unsigned i = 0; i < state->packets; i++) {
        state->packet[i].tally = 0;
        state->packet[i].message.fence = 0;
    }
    if (model->options.variant->protocol == &lamport_protocol)
        shift_lamport(model, state);
    else
        shift_ricart_agrawala(model, state);
}
