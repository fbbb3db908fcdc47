/* SPDX-License-Identifier: MIT */
/* The network of two planes. A ledger has the changes of the group, in one order; each node
 * installs them in that order, at its own moment. Messages go over links, beside the ledger: so a
 * message may come long before or after a change that its sender has installed.
 *
 * A link belongs to two incarnations. Its rules, each refuted if it is left out (`afteryou check
 * --list`, "-links-"):
 *
 * - What a newcomer sends is held until the receiver has installed its joining: until then there is
 *   no link.
 * - To install a burial closes the link, and throws away what is unread on it.
 * - What was meant for an earlier incarnation of the receiver never comes.
 * - Whoever is buried has stopped: its lease ran out before.
 *
 * What a node has sent before it crashed or was cut off stays on its way. A node that joins takes
 * the place of one that is buried, whether or not the others have installed that yet.
 *
 * In the state, a notice of a change is a packet with all who have yet to install it, and a message
 * is one for one receiver. `incarnation` is the change with which its sender joined.
 */
#include <string.h>

#include "check/messages/messages_state.h"

/* The change with which the node joined: what tells its incarnations apart. */
static uint64_t incarnation(const struct model_state *state, unsigned process)
{
    return ((const struct node *)state->node[process].words)->joined;
}

bool links_reach(const struct messages_model *model, const struct model_state *state, unsigned to,
                 uint64_t view)
{
    return messages_lack(model, WITHOUT_INCARNATIONS) ||
           (state->node[to].up && view >= incarnation(state, to));
}

void links_send(struct doing *doing, unsigned from, unsigned to, const struct effect *effect)
{
    const struct model_state *state = doing->state;
    struct packet *packet = messages_packet_add(doing);
    packet->event = EVENT_MESSAGE;
    packet->mask = (uint8_t)(1u << to);
    packet->knows = messages_known(doing, from, &effect->message);
    packet->incarnation = (uint8_t)incarnation(state, from);
    packet->message = units_message(effect, to);
}

/* The receiver has not installed the joining of the message's sender. */
static bool is_early(const struct model_state *state, unsigned process, const struct packet *packet)
{
    for (unsigned i = 0; i < state->packets; i++) {
        const struct packet *notice = &state->packet[i];
        if (notice->event == EVENT_JOINED && notice->mask >> process & 1 &&
            notice->message.whom == packet->message.from &&
            notice->message.view == packet->incarnation)
            return true;
    }
    return false;
}

bool links_may_arrive(const struct messages_model *model, const struct model_state *state,
                      unsigned process, unsigned i)
{
    const struct packet *packet = &state->packet[i];
    const bool notice = packet->event != EVENT_MESSAGE;
    if (!(packet->mask >> process & 1))
        return false;
    for (unsigned earlier = 0; earlier < i; earlier++) {
        const struct packet *other = &state->packet[earlier];
        const bool other_notice = other->event != EVENT_MESSAGE;
        if (!(other->mask >> process & 1) || notice != other_notice)
            continue;
        if (notice || (model->options.channels == CHANNELS_FIFO &&
                       other->message.from == packet->message.from &&
                       other->incarnation == packet->incarnation))
            return false;
    }
    return notice || messages_lack(model, WITHOUT_HOLDING) || !is_early(state, process, packet);
}

bool links_lose(const struct messages_model *model, const struct model_state *state,
                unsigned process, const struct packet *packet)
{
    return model->options.links && packet->event == EVENT_MESSAGE &&
           is_early(state, process, packet);
}

/* Takes the process from the masks of the messages that `lost` picks. */
static void lose(struct doing *doing, unsigned process,
                 bool (*lost)(const struct packet *packet, const struct packet *burial),
                 const struct packet *burial)
{
    struct model_state *state = doing->state;
    for (unsigned i = state->packets; i-- > 0;) {
        struct packet *packet = &state->packet[i];
        if (!(packet->mask >> process & 1) || (lost && !lost(packet, burial)))
            continue;
        packet->mask = (uint8_t)(packet->mask & ~(1u << process));
        if (!packet->mask)
            messages_packet_remove(doing, i);
    }
}

static bool is_of_the_buried(const struct packet *packet, const struct packet *burial)
{
    return packet->event == EVENT_MESSAGE && packet->message.from == burial->message.whom &&
           packet->incarnation < burial->message.view;
}

void links_close(struct doing *doing, unsigned process, const struct packet *burial)
{
    if (!messages_lack(doing->model, WITHOUT_CLOSING))
        lose(doing, process, is_of_the_buried, burial);
}

static bool is_notice(const struct packet *packet, const struct packet *unused)
{
    (void)unused;
    return packet->event != EVENT_MESSAGE;
}

void links_forget_receiver(struct doing *doing, unsigned process)
{
    const bool kept =
        doing->model->options.links && messages_lack(doing->model, WITHOUT_INCARNATIONS);
    lose(doing, process, kept ? is_notice : NULL, NULL);
}
