/* SPDX-License-Identifier: MIT */
/* States of the message model as flat bytes: sixteen bits a word, and what is on its way in a
 * canonical order.
 *
 *   part 0         crashes and joinings left, view, number of packets, highest fences
 *   part 1 … N     a node: five bytes of the model's, then its protocol's words but those that
 *                  never change
 *   the rest       packets
 *
 * A word of 64 bits becomes 4 bits of view and 12 of count (plain numbers have view 0); all ones
 * stay all ones. A number beyond that is an overflow, which the search reports.
 */
#include <stdlib.h>
#include <string.h>

#include "check/messages/messages_state.h"

enum { HEADER = 8 + 2 * MODES, NODE_HEAD = 8, PACKET_HEAD = 16, COUNT_BITS = 12, VIEW_MOST = 14 };
/* its head, the greatest body, and what it tells of deaths and of units */
enum { PACKET_MOST = PACKET_HEAD + 2 * (3 * MODEL_NODES_MOST + 1) + 8 };

struct writer {
    unsigned char *at;
    bool overflow;
};

static void write_byte(struct writer *out, uint64_t value)
{
    out->overflow |= value > UINT8_MAX;
    *out->at++ = (unsigned char)value;
}

static void write_word(struct writer *out, uint64_t word)
{
    const uint64_t view = word >> FENCE_VIEW_SHIFT,
                   count = word & ((UINT64_C(1) << FENCE_VIEW_SHIFT) - 1);
    uint16_t packed = UINT16_MAX;
    if (word != UINT64_MAX) {
        out->overflow |= view > VIEW_MOST || count >> COUNT_BITS;
        packed = (uint16_t)(view << COUNT_BITS | count);
    }
    memcpy(out->at, &packed, sizeof packed);
    out->at += sizeof packed;
}

static uint64_t read_word(const unsigned char **at)
{
    uint16_t packed;
    memcpy(&packed, *at, sizeof packed);
    *at += sizeof packed;
    if (packed == UINT16_MAX)
        return UINT64_MAX;
    return (uint64_t)(packed >> COUNT_BITS) << FENCE_VIEW_SHIFT |
           (packed & ((1 << COUNT_BITS) - 1));
}

static size_t rounded(size_t size)
{
    return (size + 7) / 8 * 8;
}

/* STATE is for newcomers, and only a group of agreed order has them. */
static size_t body_most(const struct message_protocol *protocol, uint32_t nodes, bool agreed)
{
    size_t most = 0;
    for (unsigned kind = 0; protocol->carries && kind < MESSAGE_KINDS; kind++) {
        const size_t words = kind == MESSAGE_STATE && !agreed ? 0 : protocol->carries(nodes, kind);
        most = words > most ? words : most;
    }
    return most;
}

void messages_layout(struct messages_model *model)
{
    const uint32_t nodes = model->options.nodes;
    const struct message_protocol *protocol = model->options.variant->protocol;
    model->words = protocol->words(nodes);
    model->body_most = body_most(protocol, nodes, messages_changes(model));
    model->packet_size = PACKET_HEAD + 2 * model->body_most + (model->tells ? 4 : 0) +
                         (model->options.units ? 4 : 0);
    model->units_words = model->options.units ? units_words(nodes) - UNITS_CONSTANT_WORDS : 0;
    const size_t packet_parts = MODEL_PARTS_MOST - 1 - nodes;
    model->packets_per_part = (MODEL_PACKETS_MOST + packet_parts - 1) / packet_parts;
    const size_t node =
        NODE_HEAD + 2 * (model->words - NODE_CONSTANT_WORDS) + 2 * model->units_words;
    const size_t packets = model->packets_per_part * model->packet_size;
    const size_t least = node > HEADER ? node : HEADER,
                 part = rounded(least > packets ? least : packets);
    model->system.part_size = part;
    model->system.size = part * (1 + nodes + packet_parts);
}

static void pack_packet(const struct messages_model *model, const struct packet *packet,
                        struct writer *out)
{
    const struct message *message = &packet->message;
    write_byte(out, packet->event);
    write_byte(out, packet->mask);
    write_byte(out, (uint64_t)(packet->knows << 4 | message->mode));
    write_byte(out, packet->tally);
    write_byte(out, (uint64_t)message->kind | (uint64_t)message->rank << 4);
    write_byte(out, message->from);
    write_byte(out, message->whom);
    write_byte(out, message->view);
    write_word(out, message->number);
    write_word(out, message->about);
    write_word(out, message->fence);
    write_byte(out, packet->incarnation);
    write_byte(out, packet->farewell);
    for (size_t w = 0; w < model->body_most; w++)
        write_word(out, packet->body[w]);
    if (model->tells) {
        write_word(out, message->died);
        write_word(out, message->told);
    }
    if (model->options.units) {
        write_word(out, message->units);
        write_word(out, message->version);
    }
}

static void unpack_packet(const struct messages_model *model, const unsigned char *at,
                          struct packet *packet)
{
    *packet = (struct packet){.event = at[0], .mask = at[1], .knows = at[2] >> 4, .tally = at[3]};
    packet->message = (struct message){.mode = at[2] & 15,
                                       .kind = at[4] & 15,
                                       .rank = at[4] >> 4,
                                       .from = at[5],
                                       .whom = at[6],
                                       .view = at[7]};
    at += 8;
    packet->message.number = read_word(&at);
    packet->message.about = read_word(&at);
    packet->message.fence = read_word(&at);
    packet->incarnation = at[0];
    packet->farewell = at[1];
    at += 2;
    for (size_t w = 0; w < model->body_most; w++)
        packet->body[w] = read_word(&at);
    if (model->tells) {
        packet->message.died = read_word(&at);
        packet->message.told = read_word(&at);
    }
    if (model->options.units) {
        packet->message.units = read_word(&at);
        packet->message.version = read_word(&at);
    }
}

/* Over links: notices first, in their order, then messages by link. On one link they keep their
 * order, if links do. */
static bool links_out_of_order(const struct messages_model *model, const unsigned char *a,
                               const unsigned char *b)
{
    enum { EVENT = 0, MASK = 1, FROM = 5, INCARNATION = 14 };
    if (a[EVENT] != EVENT_MESSAGE || b[EVENT] != EVENT_MESSAGE)
        return a[EVENT] == EVENT_MESSAGE && b[EVENT] != EVENT_MESSAGE;
    if (a[FROM] != b[FROM])
        return a[FROM] > b[FROM];
    if (a[INCARNATION] != b[INCARNATION])
        return a[INCARNATION] > b[INCARNATION];
    if (a[MASK] != b[MASK])
        return a[MASK] > b[MASK];
    return model->options.channels == CHANNELS_REORDERED && memcmp(a, b, model->packet_size) > 0;
}

/* Packets that no node can tell the order of are sorted by their bytes. */
static bool may_swap(const struct messages_model *model, const unsigned char *a,
                     const unsigned char *b)
{
    switch (model->options.channels) {
    case CHANNELS_REORDERED:
        return true;
    case CHANNELS_FIFO:
        return a[5] != b[5] || !(a[1] & b[1]); /* another sender, or nobody receives both */
    case CHANNELS_AGREED:
        return !(a[1] & b[1]);
    }
    return false;
}

static void put_in_order(const struct messages_model *model, unsigned char *packets, unsigned count)
{
    const size_t size = model->packet_size;
    unsigned char aside[PACKET_MOST];
    for (unsigned i = 1; i < count; i++)
        for (unsigned j = i; j > 0; j--) {
            unsigned char *a = packets + size * (j - 1), *b = packets + size * j;
            if (model->options.links ? !links_out_of_order(model, a, b)
                                     : memcmp(a, b, size) <= 0 || !may_swap(model, a, b))
                break;
            memcpy(aside, a, size);
            memcpy(a, b, size);
            memcpy(b, aside, size);
        }
}

static unsigned char *packet_place(const struct messages_model *model, unsigned char *bytes,
                                   unsigned i)
{
    const size_t part = model->system.part_size, per = model->packets_per_part;
    return bytes + part * (1 + model->options.nodes + i / per) + i % per * model->packet_size;
}

bool messages_pack(const struct messages_model *model, const struct model_state *state,
                   unsigned char *bytes)
{
    memset(bytes, 0, model->system.size);
    struct writer out = {.at = bytes};
    write_byte(&out, state->crashes_left);
    write_byte(&out, state->joinings_left);
    write_byte(&out, state->view);
    write_byte(&out, state->packets);
    write_byte(&out, state->deaths_left);
    write_byte(&out, state->owed);
    write_word(&out, state->highest_told);
    for (unsigned mode = 0; mode < MODES; mode++)
        write_word(&out, state->highest_fence[mode]);
    for (unsigned i = 0; i < model->options.nodes; i++) {
        const struct model_node *node = &state->node[i];
        out.at = bytes + model->system.part_size * (1 + i);
        write_byte(&out, node->up);
        write_byte(&out, node->requests_left);
        write_byte(&out, node->knows);
        write_byte(&out, node->after);
        write_byte(&out, node->tally);
        write_word(&out, node->tells);
        write_byte(&out, node->stage);
        for (size_t w = NODE_CONSTANT_WORDS; w < model->words; w++)
            write_word(&out, node->words[w]);
        for (size_t w = 0; w < model->units_words; w++)
            write_word(&out, node->units[UNITS_CONSTANT_WORDS + w]);
    }
    unsigned char packets[MODEL_PACKETS_MOST * PACKET_MOST];
    out.at = packets;
    for (unsigned i = 0; i < state->packets; i++)
        pack_packet(model, &state->packet[i], &out);
    put_in_order(model, packets, state->packets);
    for (unsigned i = 0; i < state->packets; i++)
        memcpy(packet_place(model, bytes, i), packets + model->packet_size * i, model->packet_size);
    return !out.overflow;
}

void messages_unpack(const struct messages_model *model, const unsigned char *bytes,
                     struct model_state *state)
{
    memset(state, 0, sizeof *state);
    const struct messages_options *options = &model->options;
    const unsigned char *at = bytes;
    state->crashes_left = at[0];
    state->joinings_left = at[1];
    state->view = at[2];
    state->packets = at[3];
    state->deaths_left = at[4];
    state->owed = at[5];
    at += 6;
    state->highest_told = read_word(&at);
    for (unsigned mode = 0; mode < MODES; mode++)
        state->highest_fence[mode] = read_word(&at);
    for (unsigned i = 0; i < options->nodes; i++) {
        struct model_node *node = &state->node[i];
        at = bytes + model->system.part_size * (1 + i);
        node->up = at[0];
        node->requests_left = at[1];
        node->knows = at[2];
        node->after = at[3];
        node->tally = at[4];
        at += 5;
        node->tells = read_word(&at);
        node->stage = *at++;
        struct node *head = model_head(node);
        head->self = i;
        head->nodes = options->nodes;
        head->agreed = messages_changes(model);
        head->apart = options->links;
        head->ranked = options->ranked;
        head->without = options->variant->without;
        for (size_t w = NODE_CONSTANT_WORDS; w < model->words; w++)
            node->words[w] = read_word(&at);
        if (!options->units)
            continue;
        struct units *units = (struct units *)node->units;
        units->self = i;
        units->nodes = options->nodes;
        units->without = options->variant->without;
        for (size_t w = 0; w < model->units_words; w++)
            node->units[UNITS_CONSTANT_WORDS + w] = read_word(&at);
    }
    for (unsigned i = 0; i < state->packets; i++)
        unpack_packet(model, packet_place(model, (unsigned char *)bytes, i), &state->packet[i]);
}
