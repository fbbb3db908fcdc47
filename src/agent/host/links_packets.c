/* SPDX-License-Identifier: MIT */
/* What the bytes of a channel mean: first a hello each way, then packets, each with a head of its
 * kind and length. Numbers are in the byte order of the machine, as in parcels.
 *
 * The dialling side says who it is and whom it means. The other one answers likewise, with a
 * verdict, and takes it for the link of that peer if it is welcome. Both incarnations are in both
 * hellos, so nobody's words can be sent back to him as another's. */
#include "agent/host/links_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/clock.h"

enum { HELLO_VERSION = 1 };
#define HELLO_MAGIC UINT64_C(0x316b6e696c796661)

enum greeting_verdict {
    VERDICT_NONE, /* the dialling side's hello has none */
    VERDICT_WELCOME,
    VERDICT_UNKNOWN, /* it, or whom it means: perhaps not yet */
    VERDICT_OTHER_VERSION,
    VERDICT_OTHER_CLUSTER,
    VERDICTS
};

static const char *const verdicts[VERDICTS] = {
    [VERDICT_NONE] = "no verdict",
    [VERDICT_UNKNOWN] = "not known there",
    [VERDICT_OTHER_VERSION] = "another version of the links",
    [VERDICT_OTHER_CLUSTER] = "another cluster",
};

struct link_hello {
    uint64_t magic;
    uint32_t version, verdict;
    uint64_t mine, yours;
    char cluster[72];
};
_Static_assert(sizeof(struct link_hello) == 104, "a hello is a block of bytes, without gaps");

enum packet_kind { PACKET_DATA = 1, PACKET_PING, PACKET_PONG };

/* The head: the kind in the upper byte, the length of what follows in the others. */
_Static_assert(LINK_PACKET_MOST < 1 << 24, "a length fits three bytes");

/* ---- greeting ---- */

static void say_hello(struct link_channel *channel, enum greeting_verdict verdict, uint64_t yours)
{
    struct link_hello hello = {.magic = HELLO_MAGIC,
                               .version = HELLO_VERSION,
                               .verdict = verdict,
                               .mine = channel->links->self,
                               .yours = yours};
    memcpy(hello.cluster, channel->links->cluster, sizeof hello.cluster);
    if (channel_write(channel, &hello, sizeof hello))
        channel_flush(channel); /* at once: it may be the last word */
}

void greeting_begin(struct link_channel *channel)
{
    if (channel->dialled)
        say_hello(channel, VERDICT_NONE, channel->peer->incarnation);
}

static enum greeting_verdict judge(const struct links *links, const struct link_hello *hello)
{
    if (hello->version != HELLO_VERSION)
        return VERDICT_OTHER_VERSION;
    if (memcmp(hello->cluster, links->cluster, sizeof hello->cluster) != 0)
        return VERDICT_OTHER_CLUSTER;
    return VERDICT_WELCOME;
}

static void answer(struct link_channel *channel, const struct link_hello *hello)
{
    struct links *links = channel->links;
    struct link_peer *peer = peer_find(links, hello->mine);
    enum greeting_verdict verdict = judge(links, hello);
    if (verdict == VERDICT_WELCOME &&
        (!links->self || hello->yours != links->self || !peer || peer->dial))
        verdict = VERDICT_UNKNOWN;
    channel->quiet = verdict == VERDICT_UNKNOWN;
    say_hello(channel, verdict, hello->mine);
    if (verdict == VERDICT_WELCOME && !channel->broken)
        peer_up(peer, channel);
    else
        channel_break(channel, "%s", verdicts[verdict]);
}

static void hear_answer(struct link_channel *channel, const struct link_hello *hello)
{
    struct links *links = channel->links;
    enum greeting_verdict verdict = judge(links, hello);
    if (hello->verdict != VERDICT_WELCOME && hello->verdict < VERDICTS)
        verdict = (enum greeting_verdict)hello->verdict;
    if (verdict == VERDICT_WELCOME &&
        (hello->mine != channel->peer->incarnation || hello->yours != links->self))
        verdict = VERDICT_UNKNOWN;
    if (verdict == VERDICT_WELCOME)
        peer_up(channel->peer, channel);
    else
        channel_break(channel, "%s", verdicts[verdict]);
}

static void hear_hello(struct link_channel *channel, const struct link_hello *hello)
{
    if (hello->magic != HELLO_MAGIC)
        channel_break(channel, "no hello of an agent%s",
                      channel->links->key ? "" : "; has it a key, and this one none?");
    else if (channel->dialled)
        hear_answer(channel, hello);
    else
        answer(channel, hello);
}

/* ---- packets ---- */

static bool send_packet(struct link_channel *channel, enum packet_kind kind, const void *bytes,
                        size_t length)
{
    const uint32_t head = (uint32_t)kind << 24 | (uint32_t)length;
    return channel_write(channel, &head, sizeof head) && channel_write(channel, bytes, length);
}

bool packets_send(struct link_channel *channel, const void *bytes, size_t length)
{
    const bool sent = send_packet(channel, PACKET_DATA, bytes, length);
    channel->peer->figures.packets_out += sent;
    return sent;
}

void packets_ping(struct link_channel *channel)
{
    const int64_t now = clock_ns(CLOCK_MONOTONIC);
    channel->pinged = channel->links->now;
    send_packet(channel, PACKET_PING, &now, sizeof now);
}

static void hear_pong(struct link_figures *figures, const uint8_t *bytes)
{
    int64_t sent;
    memcpy(&sent, bytes, sizeof sent);
    const int64_t took = clock_ns(CLOCK_MONOTONIC) - sent;
    if (sent <= 0 || took <= 0)
        return; /* not what was sent: its trouble */
    const uint64_t before = figures->round_trip, measured = (uint64_t)took;
    figures->round_trip = before ? before - before / 8 + measured / 8 : measured;
}

static void hear_packet(struct link_channel *channel, enum packet_kind kind, const uint8_t *bytes,
                        size_t length)
{
    struct links *links = channel->links;
    struct link_peer *peer = channel->peer;
    assert_invariant(H3, peer->link == channel);
    if (kind == PACKET_DATA) {
        assert_invariant(H1, links->telling);
        peer->figures.packets_in++;
        links->events.received(links->events.arg, peer->slot, peer->incarnation, bytes, length);
    } else if (kind == PACKET_PING) {
        send_packet(channel, PACKET_PONG, bytes, length);
    } else {
        hear_pong(&peer->figures, bytes);
    }
}

static bool makes_sense(enum packet_kind kind, size_t length)
{
    if (kind == PACKET_DATA)
        return length > 0 && length <= LINK_PACKET_MOST;
    return (kind == PACKET_PING || kind == PACKET_PONG) && length == sizeof(int64_t);
}

/* ---- what is whole ---- */

/* How many bytes the next one has, or at least has: more than there are, if it is not whole. */
static size_t next_length(struct link_channel *channel, const uint8_t *bytes, size_t there)
{
    if (channel->stage == STAGE_GREETS)
        return sizeof(struct link_hello);
    uint32_t head;
    if (there < sizeof head)
        return sizeof head;
    memcpy(&head, bytes, sizeof head);
    const size_t length = head & 0xffffff;
    if (!makes_sense(head >> 24, length)) {
        channel_break(channel, "a packet that makes no sense");
        return SIZE_MAX;
    }
    return sizeof head + length;
}

/* The bytes stay where they are until the caller of links_dispatch() has its turn again, whatever a
 * callback does to the channel. */
void packets_take(struct link_channel *channel)
{
    struct link_store *in = &channel->in;
    while (channel->stage != STAGE_OVER && !channel->broken) {
        const uint8_t *bytes = in->bytes + in->begin;
        const size_t there = in->end - in->begin, length = next_length(channel, bytes, there);
        if (there == 0 || length > there)
            return;
        if (channel->stage == STAGE_GREETS) {
            struct link_hello hello;
            memcpy(&hello, bytes, sizeof hello);
            hear_hello(channel, &hello);
        } else {
            uint32_t head;
            memcpy(&head, bytes, sizeof head);
            hear_packet(channel, head >> 24, bytes + sizeof head, length - sizeof head);
        }
        store_take(in, length);
    }
}
