/* SPDX-License-Identifier: MIT */
/* How many messages a passage takes. */
#include "check/messages/messages_state.h"

void messages_passage_took(struct messages_model *model, unsigned messages)
{
    if (model->options.variant->protocol->restless)
        return;
    /* atomic, since several may make moves at once (search/crew.h) */
    unsigned known = __atomic_load_n(&model->fewest, __ATOMIC_RELAXED);
    while (messages < known && !__atomic_compare_exchange_n(&model->fewest, &known, messages, true,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    known = __atomic_load_n(&model->greatest, __ATOMIC_RELAXED);
    while (messages > known &&
           !__atomic_compare_exchange_n(&model->greatest, &known, messages, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        ;
}

/* An ACK may come after its passage has ended, where another message said as much: its RELEASE,
 * still on its way behind the REQUEST, keeps the tally. */
static void count(struct doing *doing, unsigned from, unsigned to, const struct message *message)
{
    if (doing->model->options.variant->protocol->restless || doing->model->options.units)
        return; /* it sends on nobody's behalf, or for more than a passage */
    struct model_state *state = doing->state;
    const bool relayed = doing->model->options.variant->protocol->relays;
    uint8_t *tally =
        &state->node[relayed                                  ? message->whom
                     : message_serves_receiver(message->kind) ? to
                                                              : from]
             .tally;
    for (unsigned i = 0; message->kind == MESSAGE_ACK && i < state->packets; i++) {
        struct packet *packet = &state->packet[i];
        if (packet->event == EVENT_MESSAGE && packet->message.kind == MESSAGE_RELEASE &&
            packet->message.from == to && packet->message.about == message->about)
            tally = &packet->tally;
    }
    ++*tally;
}

/* Passed on together, several REQUESTs count as several messages. A multicast in the agreed
 * order is one message, on behalf of whom it is for. */
void messages_count(struct doing *doing, unsigned from, unsigned to, const struct effect *effect)
{
    struct message message = effect->message;
    if (!doing->model->options.variant->protocol->relays || !effect->body) {
        count(doing, from, to, &message);
        return;
    }
    for (message.whom = 0; message.whom < doing->model->options.nodes; message.whom++)
        if (effect->body[message.whom])
            count(doing, from, to, &message);
}
