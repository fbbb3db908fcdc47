/* SPDX-License-Identifier: MIT */
/* `ricart-agrawala-ring`: the REQUEST goes from node to node, and who has it back may enter. N
 * messages.
 *
 * Ricart and Agrawala's response (CACM 26(2), 1983) recalls it: "A node-by-node version of the
 * original algorithm (which does not leave any distinguished nodes when the network is quiescent)
 * was described in Sec. 6.3 of our paper." A node that would have replied passes the REQUEST on;
 * one that would have deferred its REPLY keeps the REQUEST until it leaves. For the papers' sake:
 * no cluster offers it, and the group does not change.
 *
 * First come, first served by causality needs what `ricart-agrawala` needs: one's own number counts
 * as heard, and what is passed on carries the highest number its sender knows (`about`), besides
 * the number of whoever asks (`whom`).
 *
 * One message may carry several REQUESTs, those that a leaver had kept: its body has their numbers.
 */
#include "protocols/messages/node.h"

struct ring_node {
    struct node *node;
    uint64_t *our, *highest;
    struct per_node kept; /* by node: the number of its REQUEST that waits here; 0: none */
};

static size_t ring_words(uint32_t nodes)
{
    return node_words(nodes) + nodes;
}

static size_t ring_carries(uint32_t nodes, unsigned kind)
{
    return kind == MESSAGE_REQUEST ? nodes : 0;
}

static size_t ring_room(uint32_t nodes)
{
    return nodes;
}

static struct ring_node ring_of(uint64_t *state, const struct keeper *keeper)
{
    struct node *node = (struct node *)state;
    return (struct ring_node){node, node->own, node->own + 1, node_row(node, keeper, 0, 0)};
}

static void ring_begin(uint64_t *state, const struct beginning *how)
{
    node_begin(state, how);
}

static struct effect *ring_send(struct ring_node my, struct effects *out, uint64_t number,
                                uint32_t whom)
{
    const uint64_t next = my.node->self + 1 < my.node->nodes ? my.node->self + 1 : 0;
    const bool tells = !(my.node->without & WITHOUT_REPLY_NUMBER);
    return node_send(my.node, out, (uint32_t)next,
                     (struct message){.kind = MESSAGE_REQUEST,
                                      .number = number,
                                      .about = tells ? *my.highest : 0,
                                      .whom = whom});
}

static bool ring_keeps(struct ring_node my, uint64_t number, uint64_t whom)
{
    return my.node->status == NODE_INSIDE ||
           (my.node->status == NODE_WAITING && !(my.node->without & WITHOUT_DEFERRING) &&
            before(*my.our, my.node->self, number, whom));
}

/* One REQUEST comes by. True: it is to go on. */
static bool ring_comes_by(struct ring_node my, uint64_t number, uint32_t whom, struct effects *out)
{
    *my.highest = larger(*my.highest, number);
    if (whom == my.node->self) {
        node_enter(my.node, out);
        return false;
    }
    const bool keeps = ring_keeps(my, number, whom);
    if (keeps)
        row_put(my.kept, whom, number);
    return !keeps;
}

/* Sends on those of `going`, numbers by node, that are not 0. */
static void ring_pass(struct ring_node my, const uint64_t *going, struct effects *out)
{
    uint32_t count = 0, last = 0;
    for (uint32_t j = 0; j < my.node->nodes; j++)
        if (going[j]) {
            count++;
            last = j;
        }
    if (count == 0)
        return;
    struct effect *send = ring_send(my, out, going[last], last);
    if (count > 1) {
        send->body = going;
        send->body_words = my.node->nodes;
    }
}

static void ring_message(struct ring_node my, const struct event *event, struct effects *out)
{
    const struct message *message = event->message;
    const uint32_t self = (uint32_t)my.node->self, nodes = (uint32_t)my.node->nodes;
    node_hears(my.node, message);
    *my.highest = larger(*my.highest, message->about);
    bool several = false;
    for (uint32_t j = 0; event->body && j < nodes; j++)
        several |= event->body[j] != 0;
    if (!several) {
        if (ring_comes_by(my, message->number, message->whom, out))
            ring_send(my, out, message->number, message->whom);
        return;
    }
    uint64_t *going = effects_keep(out, event->body, nodes);
    /* My own first: if it is among them I am inside, and keep the others. */
    for (uint32_t step = 0, j = self; step < nodes; step++, j = j + 1 < nodes ? j + 1 : 0)
        if (going[j] && !ring_comes_by(my, going[j], j, out))
            going[j] = 0;
    ring_pass(my, going, out);
}

static void ring_step(uint64_t *state, const struct event *event, struct effects *out)
{
    struct ring_node my = ring_of(state, out->keeper);
    switch (event->kind) {
    case EVENT_REQUEST:
        my.node->status = NODE_WAITING;
        my.node->asked = 1;
        *my.our = *my.highest + 1;
        if (!(my.node->without & WITHOUT_OWN_NUMBER))
            *my.highest = *my.our;
        ring_send(my, out, *my.our, (uint32_t)my.node->self);
        break;
    case EVENT_RELEASE:
        node_leave(my.node);
        *my.our = 0;
        ring_pass(my, effects_keep_row(out, my.kept), out);
        for (uint64_t j = 0; j < my.node->nodes; j++)
            row_put(my.kept, j, 0);
        break;
    case EVENT_MESSAGE:
        ring_message(my, event, out);
        break;
    default:
        break;
    }
}

const struct message_protocol ring_protocol = {
    .name = "ricart-agrawala-ring",
    .exclusive_only = true,
    .fair = true,
    .fixed = true,
    .relays = true,
    .rows = 1,
    .words = ring_words,
    .room = ring_room,
    .carries = ring_carries,
    .begin = ring_begin,
    .step = ring_step,
};
