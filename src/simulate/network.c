/* SPDX-License-Identifier: MIT */
/* The network of a run: who gets what, when, and in which order.
 *
 * Agreed order needs no log: whatever is put into the queue first is first in the order, and
 * nothing arrives at a node before what came earlier in the order. That is one number a node, its
 * floor. FIFO needs one a channel, as long as something is on its way there.
 */
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "simulate/world.h"

enum { SLOW = 20 };  /* a delayed message takes so many times as long */
enum { RESEND = 4 }; /* it is sent again after so many mean delays without an answer */

static struct shipment *parcel_new(struct world *world, uint32_t *number)
{
    if (world->free_parcel != NO_PARCEL) {
        *number = world->free_parcel;
        world->free_parcel = world->parcels[*number].node;
    } else {
        if (!grow(&world->parcels, world->parcels_count, &world->parcels_room,
                  sizeof *world->parcels, 256)) {
            world->failed = true;
            return NULL;
        }
        *number = world->parcels_count++;
    }
    struct shipment *parcel = &world->parcels[*number];
    *parcel = (struct shipment){.id = ++world->sent};
    return parcel;
}

static void parcel_used(struct world *world, uint32_t number)
{
    struct shipment *parcel = &world->parcels[number];
    if (--parcel->copies)
        return;
    free(parcel->body);
    parcel->body = NULL;
    parcel->node = world->free_parcel;
    world->free_parcel = number;
}

static uint64_t arrival(struct world *world, uint32_t from, uint32_t to, bool notice)
{
    const bool agreed =
        world->how->order == ORDER_AGREED || (world->how->order == ORDER_LINKS && notice);
    const double slow = chance_happens(&world->chance, world->how->faults.delay) ? SLOW : 1;
    uint64_t at = world->now + spread_draw(world, &world->how->delay, slow);
    for (; chance_happens(&world->chance, world->how->faults.loss); world->measure->resent++)
        at += faults_time(world, RESEND);
    uint64_t floor = 0;
    if (agreed)
        floor = world->peers[to].floor;
    else if (world->fifo)
        floor = sparse_get(&world->fifo[from], to);
    at = at > floor ? at : floor;
    if (agreed)
        world->peers[to].floor = at;
    else if (world->fifo)
        /* an arrival that is past orders nothing any more */
        world->failed |= !sparse_put(&world->fifo[from], to, at, world->now + 1);
    return at;
}

static void count(struct world *world, uint32_t from, uint32_t to, const struct message *message)
{
    const uint32_t owner = world->protocol->relays                  ? message->whom
                           : message_serves_receiver(message->kind) ? to
                                                                    : from;
    struct tally *tally = world_tally(world, owner),
                 *tallies = world->tallies + (size_t)owner * TALLIES;
    for (unsigned i = 0; message->kind == MESSAGE_ACK && i < TALLIES; i++)
        if (tallies[i].number == message->about)
            tally = &tallies[i];
    tally->messages++;
    world->measure->sent[message->kind]++;
}

/* Passed on together, several REQUESTs count as several messages. A multicast in the agreed
 * order is one message: network_send counts it. */
static void count_all(struct world *world, uint32_t from, uint32_t to, const struct effect *effect)
{
    struct message message = effect->message;
    if (!world->protocol->relays || !effect->body) {
        count(world, from, to, &message);
        return;
    }
    for (message.whom = 0; message.whom < world->how->nodes; message.whom++)
        if (effect->body[message.whom])
            count(world, from, to, &message);
}

static void post(struct world *world, uint32_t from, uint32_t to, const struct effect *effect,
                 uint32_t number)
{
    struct peer *peer = &world->peers[to];
    if (to != from && effect->to != TO_GROUP)
        count_all(world, from, to, effect);
    if (!peer->up || peer->cut != world->peers[from].cut)
        return;
    const bool twice = to != from && world->how->order != ORDER_LINKS &&
                       chance_happens(&world->chance, world->how->faults.duplicate);
    world->measure->duplicates += twice;
    for (unsigned times = 0; times < 1u + twice; times++) {
        world->parcels[number].copies++;
        world_put(world, arrival(world, from, to, false), DUE_PARCEL, to, number);
    }
}

void network_send(struct world *world, uint32_t from, const struct effect *effect)
{
    uint32_t number;
    struct shipment *parcel = parcel_new(world, &number);
    if (!parcel)
        return;
    parcel->message = effect->message;
    parcel->event = EVENT_MESSAGE;
    parcel->view = links_incarnation(world, from);
    parcel->copies = 1; /* until all are posted */
    if (effect->message.kind == MESSAGE_REQUEST && effect->message.about)
        world_tally(world, from)->number = effect->message.about;
    if (effect->body) {
        parcel->body = malloc(effect->body_words * sizeof *parcel->body);
        if (!parcel->body) {
            world->failed = true;
            return;
        }
        memcpy(parcel->body, effect->body, effect->body_words * sizeof *parcel->body);
    }
    if (effect->to == TO_GROUP)
        count(world, from, effect->message.whom, &effect->message);
    if (effect_is_to_one(effect)) { /* not a look at each of a million nodes */
        post(world, from, effect->to, effect, number);
    } else {
        for (uint32_t to = 0; to < world->how->nodes; to++)
            if (effect_reaches(effect, from, to) &&
                (world->peers[to].member || world->peers[to].up))
                post(world, from, to, effect, number);
    }
    trace_send(world, &world->parcels[number], effect->to, world->parcels[number].copies - 1);
    parcel_used(world, number);
}

/* The notice of a change goes through the same order as the messages, or that of the notices alone.
 * Those cut off have no quorum: none reaches them. */
void network_announce(struct world *world, enum event_kind event, uint32_t node)
{
    uint32_t number;
    if (event == EVENT_DIED && world->how->order == ORDER_LINKS)
        links_bury(world, node);
    struct shipment *parcel = parcel_new(world, &number);
    if (!parcel)
        return;
    parcel->event = (uint8_t)event;
    parcel->node = node;
    parcel->view = world->view;
    parcel->copies = 1;
    for (uint32_t to = 0; to < world->how->nodes; to++)
        if (to != node && world->peers[to].up && world->peers[to].member && !world->peers[to].cut) {
            world->parcels[number].copies++;
            world_put(world, arrival(world, node, to, true), DUE_NOTICE, to, number);
        }
    parcel_used(world, number);
}

void network_arrive(struct world *world, const struct due *due)
{
    const struct peer *peer = &world->peers[due->node];
    const struct shipment *parcel = &world->parcels[due->what];
    const bool there = peer->up && due->order >= peer->born,
               over_link = world->how->order == ORDER_LINKS && parcel->event == EVENT_MESSAGE;
    const enum link_answer answer = there && over_link ? links_arrive(world, due) : LINK_TAKES;
    if (answer == LINK_HOLDS)
        return;
    if (there && answer == LINK_TAKES) {
        /* the step may post, and so move the parcels */
        const struct message message = parcel->message;
        if (parcel->event == EVENT_MESSAGE)
            trace_receive(world, due->node, parcel);
        world_step(world, due->node,
                   &(struct event){.kind = parcel->event,
                                   .node = parcel->node,
                                   .view = parcel->view,
                                   .message = &message,
                                   .body = parcel->body});
        faults_after_event(world, due->node);
    }
    parcel_used(world, due->what);
}
