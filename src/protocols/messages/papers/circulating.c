/* SPDX-License-Identifier: MIT */
/* `token-circulating`: the token goes round for ever, and who has it may enter.
 *
 * "The standard technique of circulating a token among nodes of a communications network … uses
 * sequential, node-by-node processing of the token" (Ricart and Agrawala's response, CACM 26(2),
 * 1983). Nobody asks: the price is a message all the time, whether anybody wants in or not. For the
 * papers' sake: no cluster offers it, and the group does not change.
 */
#include "protocols/messages/node.h"

static size_t circulating_words(uint32_t nodes)
{
    return node_words(nodes);
}

static size_t circulating_room(uint32_t nodes)
{
    (void)nodes;
    return 1;
}

static void circulating_begin(uint64_t *state, const struct beginning *how)
{
    node_begin(state, how);
}

static void circulating_pass(struct node *my, struct effects *out)
{
    const uint64_t next = my->self + 1 < my->nodes ? my->self + 1 : 0;
    node_send(my, out, (uint32_t)next,
              (struct message){.kind = MESSAGE_TOKEN, .whom = (uint32_t)next});
}

static void circulating_step(uint64_t *state, const struct event *event, struct effects *out)
{
    struct node *my = (struct node *)state;
    switch (event->kind) {
    case EVENT_BEGUN:
        if (my->self == 0)
            circulating_pass(my, out);
        break;
    case EVENT_REQUEST:
        my->status = NODE_WAITING;
        my->asked = 1;
        break;
    case EVENT_RELEASE:
        node_leave(my);
        circulating_pass(my, out);
        break;
    case EVENT_MESSAGE:
        node_hears(my, event->message);
        if (my->status == NODE_WAITING)
            node_enter(my, out);
        /* without mutual exclusion: it keeps nothing back from the next */
        if (my->status == NODE_OUTSIDE || my->without & WITHOUT_DEFERRING)
            circulating_pass(my, out);
        break;
    default:
        break;
    }
}

const struct message_protocol circulating_protocol = {
    .name = "token-circulating",
    .exclusive_only = true,
    .fixed = true,
    .restless = true,
    .words = circulating_words,
    .room = circulating_room,
    .begin = circulating_begin,
    .step = circulating_step,
};
