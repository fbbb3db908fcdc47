/* SPDX-License-Identifier: MIT */
/* `ricart-agrawala`: ask everybody, enter when all have replied. 2(N-1) messages.
 *
 * Ricart and Agrawala, "An optimal algorithm for mutual exclusion in computer networks", CACM
 * 24(1), 1981. FIFO is not needed. Names as theirs: Our_Sequence_Number, Highest_Sequence_Number,
 * Outstanding_Reply_Count, Reply_Deferred.
 *
 * Deviations, each refuted by the checker if it alone is left out (ricart-agrawala-no-inside-test,
 * -own-number-unheard, -bare-reply):
 * - Who is inside defers whatever the numbers say. Published, the numbers alone decide, and a
 *   newcomer that
 * has not heard them draws a smaller one.
 * - First come, first served in the sense of happened-before, which the authors claim, needs two
 *   things more:
 * one's own number counts as heard, and a REPLY carries the highest number.
 *
 * Modes are an addition: only a conflicting request is deferred, so readers share.
 *
 * Crash: the dead count as having replied. Join: who waits asks the newcomer too.
 *
 * State: two sets and three words beyond the head; nothing per pair but a bit.
 */
#include "protocols/messages/node.h"

struct ricart_agrawala {
    struct node *node;
    uint64_t *our, *highest, *outstanding_count;
    uint64_t *outstanding, *deferred; /* sets */
};

static size_t ricart_agrawala_words(uint32_t nodes)
{
    return node_words(nodes) + 2 * set_words(nodes);
}

static size_t ricart_agrawala_room(uint32_t nodes)
{
    return set_words(nodes);
}

static struct ricart_agrawala ricart_agrawala_of(uint64_t *state)
{
    struct node *node = (struct node *)state;
    uint64_t *own = state + node_words(node->nodes);
    return (struct ricart_agrawala){node,          node->own, node->own + 1,
                                    node->own + 2, own,       own + set_words(node->nodes)};
}

static void ricart_agrawala_begin(uint64_t *state, const struct beginning *how)
{
    node_begin(state, how);
}

static void ricart_agrawala_try(struct ricart_agrawala my, struct effects *out)
{
    if (my.node->status == NODE_WAITING && my.node->asked && *my.outstanding_count == 0)
        node_enter(my.node, out);
}

static struct message ricart_agrawala_request(struct ricart_agrawala my)
{
    return (struct message){
        .kind = MESSAGE_REQUEST, .mode = (uint8_t)my.node->mode, .number = *my.our};
}

static struct message ricart_agrawala_reply(struct ricart_agrawala my)
{
    const bool tells = !(my.node->without & WITHOUT_REPLY_NUMBER);
    return (struct message){.kind = MESSAGE_REPLY, .number = tells ? *my.highest : 0};
}

/* "Choose a sequence number; send a REQUEST to all other nodes; now wait for a REPLY from each." */
static void ricart_agrawala_ask(struct ricart_agrawala my, struct effects *out)
{
    if (my.node->status != NODE_WAITING || my.node->asked || !my.node->welcome)
        return;
    *my.our = *my.highest + 1;
    if (!(my.node->without & WITHOUT_OWN_NUMBER))
        *my.highest = *my.our;
    memcpy(my.outstanding, node_members(my.node), set_words(my.node->nodes) * sizeof(uint64_t));
    set_remove(my.outstanding, my.node->self);
    *my.outstanding_count = set_size(my.outstanding, my.node->nodes);
    my.node->asked = 1;
    node_send(my.node, out, TO_ALL, ricart_agrawala_request(my));
    ricart_agrawala_try(my, out);
}

/* Defer_it: I am inside, or I ask as well and come first. */
static bool ricart_agrawala_defers(struct ricart_agrawala my, const struct message *request)
{
    const bool shares = !modes_conflict(my.node->mode, request->mode);
    if (my.node->status == NODE_OUTSIDE || (shares && !(my.node->without & WITHOUT_SHARING)))
        return false;
    if (my.node->status == NODE_INSIDE && !(my.node->without & WITHOUT_INSIDE_TEST))
        return true;
    if (my.node->status == NODE_WAITING &&
        (!my.node->asked || my.node->without & WITHOUT_DEFERRING))
        return false;
    return before(*my.our, my.node->self, request->number, request->from);
}

static void ricart_agrawala_replied(struct ricart_agrawala my, uint64_t j, struct effects *out)
{
    if (!set_has(my.outstanding, j))
        return;
    set_remove(my.outstanding, j);
    *my.outstanding_count -= 1;
    ricart_agrawala_try(my, out);
}

static void ricart_agrawala_message(struct ricart_agrawala my, const struct message *message,
                                    struct effects *out)
{
    *my.highest =
        /* whomever it was meant for: what I ask from now on comes after it */
        larger(*my.highest, message->number);
    if (!node_hears(my.node, message))
        return;
    switch (message->kind) {
    case MESSAGE_REQUEST:
        if (ricart_agrawala_defers(my, message))
            set_add(my.deferred, message->from);
        else
            node_send(my.node, out, message->from, ricart_agrawala_reply(my));
        break;
    case MESSAGE_REPLY:
        ricart_agrawala_replied(my, message->from, out);
        break;
    case MESSAGE_WELCOME:
        node_is_welcomed(my.node, message->from);
        ricart_agrawala_ask(my, out);
        break;
    }
}

/* "Release the critical section: REPLY to those deferred." */
static void ricart_agrawala_release(struct ricart_agrawala my, struct effects *out)
{
    node_leave(my.node);
    *my.our = 0;
    if (set_size(my.deferred, my.node->nodes) == 0)
        return;
    struct effect *send = node_send(my.node, out, TO_SET, ricart_agrawala_reply(my));
    send->set = effects_keep(out, my.deferred, set_words(my.node->nodes));
    memset(my.deferred, 0, set_words(my.node->nodes) * sizeof(uint64_t));
}

static void ricart_agrawala_joined(struct ricart_agrawala my, const struct event *event,
                                   struct effects *out)
{
    node_sees_joining(my.node, event);
    node_welcomes(my.node, out, event->node, *my.highest);
    if (my.node->status != NODE_WAITING || !my.node->asked ||
        my.node->without & WITHOUT_ASKING_NEWCOMERS)
        return;
    set_add(my.outstanding, event->node);
    *my.outstanding_count += 1;
    node_send(my.node, out, event->node, ricart_agrawala_request(my));
}

static void ricart_agrawala_step(uint64_t *state, const struct event *event, struct effects *out)
{
    struct ricart_agrawala my = ricart_agrawala_of(state);
    switch (event->kind) {
    case EVENT_REQUEST:
        if (my.node->without & WITHOUT_ASKING)
            break;
        my.node->status = NODE_WAITING;
        my.node->mode = event->mode;
        ricart_agrawala_ask(my, out);
        break;
    case EVENT_RELEASE:
        ricart_agrawala_release(my, out);
        break;
    case EVENT_MESSAGE:
        ricart_agrawala_message(my, event->message, out);
        break;
    case EVENT_DIED:
        node_sees_death(my.node, event);
        set_remove(my.deferred, event->node);
        if (!(my.node->without & WITHOUT_IMPLIED_REPLY))
            ricart_agrawala_replied(my, event->node, out);
        ricart_agrawala_ask(my, out);
        break;
    case EVENT_JOINED:
        ricart_agrawala_joined(my, event, out);
        break;
    case EVENT_CUT:
        node_cut(my.node, out);
        break;
    }
}

const struct message_protocol ricart_agrawala_protocol = {
    .name = "ricart-agrawala",
    .fair = true,
    .words = ricart_agrawala_words,
    .room = ricart_agrawala_room,
    .begin = ricart_agrawala_begin,
    .step = ricart_agrawala_step,
};
