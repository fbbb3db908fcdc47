/* SPDX-License-Identifier: MIT */
/* Links: my end of one to each other member, and the detour through the ledger.
 *
 * A link belongs to two incarnations. It begins when the member is installed, on each side at its
 * own moment, and ends with the member; what comes of it later, or before, is passed over (A7). The
 * elder dials: it has installed the younger, which knew the elder from its first moment.
 *
 * What I have said is kept until it is acknowledged (protocols/messages/link.h). While there is no
 * connection it goes by the ledger at once; and as well if there is one that has acknowledged
 * nothing for a while. Before that something else is sent after it: should a packet have been
 * lost, TCP learns so.
 *
 * A message may come over a link before the CREATION of the resource that it is about, or by which
 * its sender says that it uses it: it is held, and so is all that follows on that link. If there is
 * no room for it, it counts as lost on the way: by the ledger it comes after the CREATION. One that
 * is about a resource that was forgotten is taken, and passed over.
 *
 * A message about another resource than the one that is here with its serial is not taken, nor
 * acknowledged: its sender has missed something, or I have. Whoever has is cut by the gap, or by
 * its ring (A1); nobody is for what another says.
 */
#include "agent/core/parts.h"

enum {
    ANSWER_MS = 3, /* an acknowledgement waits so long for a message to go with */
    NUDGE_MS = 6,  /* and is missed after so long; a packet that was lost is found by the next */
    DOUBT_MS = 15,
    DOUBT_MOST_MS = 240,         /* where answers take long: as long as TCP takes at most */
    ANSWERS_LEARNT = 8,          /* of what is new, such a part is learnt */
    RELAYED_MOST = OUT_ROOM / 16 /* of a parcel: the rest goes with the next step */
};

/* Before the packets. */
struct link_head {
    uint32_t magic, unused;
    uint64_t from, to; /* incarnations */
};

struct held {
    uint32_t slot, length;
    uint64_t incarnation;
};

static uint64_t links_without(const struct agent *agent)
{
    return (is_without(agent, WITHOUT_DETOUR) ? (uint64_t)LINK_WITHOUT_LEDGER : 0) |
           (is_without(agent, WITHOUT_LINK_NUMBERS) ? (uint64_t)LINK_WITHOUT_LAST_SEEN : 0);
}

void peers_add(struct agent *agent, uint32_t slot)
{
    const struct member *member = &agent->member[slot];
    struct linked *peer = &agent->peer[slot];
    if (!agent_is_apart(agent) || slot == agent->self || !member_is_alive(member))
        return;
    assert_invariant(A7, !peer->used);
    agent->linked |= slot_bit(slot);
    *peer = (struct linked){.used = true,
                            .incarnation = member->incarnation,
                            .link.without = links_without(agent),
                            .said = peer->said};
    struct agent_effect *effect = effect_add(agent, DO_PEER);
    effect->peer.slot = slot;
    effect->peer.incarnation = member->incarnation;
    effect->peer.endpoint = member->endpoint;
    effect->peer.dial = agent->member[agent->self].joined < member->joined;
}

void peers_add_all(struct agent *agent)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        peers_add(agent, slot);
}

void peers_remove(struct agent *agent, uint32_t slot)
{
    struct linked *peer = &agent->peer[slot];
    if (!peer->used)
        return;
    peer->used = false;
    agent->linked &= ~slot_bit(slot);
    struct agent_effect *effect = effect_add(agent, DO_FORGET_PEER);
    effect->peer.slot = slot;
    effect->peer.incarnation = peer->incarnation;
}

void peers_forget(struct agent *agent)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        peers_remove(agent, slot);
    agent->held_length = 0;
}

/* ---- what I say ---- */

static struct said *said_at(const struct linked *peer, uint64_t number)
{
    return &peer->said[(number - peer->first) % SAID_MOST];
}

void peers_say(struct agent *agent, uint32_t slot, const struct said *said)
{
    struct linked *peer = &agent->peer[slot];
    assert_invariant(A7, peer->used);
    if (peer->link.said - peer->link.acknowledged == SAID_MOST) {
        agent->out.overflown = true; /* what cannot be said would be missed: I am cut */
        return;
    }
    if (peer->link.said == peer->link.acknowledged) {
        peer->first = peer->link.said + 1; /* so few pages are ever touched */
        peer->since = agent->now;
        peer->nudged = false;
    }
    link_say(&peer->link);
    if (!peer->timed) {
        peer->timed = peer->link.said;
        peer->timed_since = agent->now;
    }
    *said_at(peer, peer->link.said) = *said;
    agent->counters.sent++;
}

static void put_packet(struct parcel *out, const struct linked *peer, struct link_packet packet)
{
    parcel_u64(out, packet.number);
    parcel_u64(out, packet.taken);
    if (packet.number == 0)
        return;
    const struct said *said = said_at(peer, packet.number);
    parcel_u8(out, said->kind);
    parcel_u8(out, said->what);
    parcel_u8(out, said->mode);
    parcel_u64(out, said->serial);
    parcel_u64(out, said->identity);
    parcel_u64(out, said->number);
    parcel_u64(out, said->view);
    parcel_u64(out, said->fence);
    parcel_u64(out, said->died);
    parcel_u64(out, said->told);
}

/* A message; or an acknowledgement alone, if it has waited long enough. */
static bool next_packet(const struct agent *agent, struct linked *peer, enum link_way way,
                        struct link_packet *packet)
{
    struct link ahead = peer->link;
    if (!link_next(&ahead, way, packet))
        return false;
    if (packet->number == 0 && peer->answer_due > agent->now)
        return false;
    peer->link = ahead;
    return true;
}

static void send_by_ledger(struct agent *agent, uint32_t slot)
{
    struct linked *peer = &agent->peer[slot];
    struct link_packet packet;
    if (!peer->link.up || peer->suspect)
        link_doubt(&peer->link);
    while (agent->out.length < RELAYED_MOST && next_packet(agent, peer, LINK_BY_LEDGER, &packet)) {
        parcel_record(&agent->out, RECORD_RELAYED);
        parcel_u8(&agent->out, (uint8_t)slot);
        parcel_u64(&agent->out, peer->incarnation);
        put_packet(&agent->out, peer, packet);
        parcel_end_record(&agent->out);
        peer->relayed += packet.number != 0;
        agent->counters.relayed += packet.number != 0;
    }
}

/* One packet of the host's; false: there is nothing more to be sent, or no room. */
static bool send_some(struct agent *agent, uint32_t slot)
{
    enum { PACKET_ROOM = 128 };
    struct linked *peer = &agent->peer[slot];
    struct parcel *out = &agent->direct;
    const size_t begin = out->length, left = out->room - begin,
                 end = begin + (left < SENT_MOST ? left : (size_t)SENT_MOST);
    struct link_packet packet;
    const struct link_head head = {
        .magic = LINK_MAGIC, .from = agent->incarnation, .to = peer->incarnation};
    if (left < sizeof head + PACKET_ROOM)
        return false;
    parcel_put(out, &head, sizeof head);
    while (end - out->length >= PACKET_ROOM && next_packet(agent, peer, LINK_DIRECTLY, &packet)) {
        put_packet(out, peer, packet);
        const bool again = packet.number && packet.number <= peer->sent;
        peer->resent += again;
        agent->counters.resent += again;
        peer->sent = packet.number > peer->sent ? packet.number : peer->sent;
    }
    if (out->length == begin + sizeof head) {
        out->length = begin;
        return false;
    }
    struct agent_effect *effect = effect_add(agent, DO_SEND_TO);
    effect->send_to.slot = slot;
    effect->send_to.incarnation = peer->incarnation;
    effect->send_to.bytes = out->bytes + begin;
    effect->send_to.length = out->length - begin;
    return true;
}

/* As much as there is room for: the rest goes with the next step. */
static void send_directly(struct agent *agent, uint32_t slot)
{
    while (send_some(agent, slot)) {
    }
}

static bool owes(const struct linked *peer)
{
    return peer->link.owes[LINK_DIRECTLY] || peer->link.owes[LINK_BY_LEDGER];
}

void peers_send(struct agent *agent)
{
    agent->direct.length = 0;
    for (slot_set left = agent->linked; left; left &= left - 1) {
        const uint32_t slot = first_slot(left);
        struct linked *peer = &agent->peer[slot];
        if (owes(peer) && peer->answer_due == 0)
            peer->answer_due = agent->now + (int64_t)ANSWER_MS * MS;
        send_directly(agent, slot);
        send_by_ledger(agent, slot);
        if (!owes(peer))
            peer->answer_due = 0;
    }
}

static bool waits_for_answer(const struct linked *peer)
{
    return peer->link.up && !peer->suspect && peer->link.acknowledged < peer->link.said;
}

/* On a machine that is busy answers take long, and the ledger would make it busier. */
static int64_t patience(const struct linked *peer)
{
    const int64_t least = (int64_t)DOUBT_MS * MS, most = (int64_t)DOUBT_MOST_MS * MS,
                  usual = 4 * peer->answered_in;
    if (!peer->nudged)
        return (int64_t)NUDGE_MS * MS;
    return usual < least ? least : usual < most ? usual : most;
}

/* One message at a time is timed, if its answer comes by the connection it went by. */
static void learn_answer(const struct agent *agent, struct linked *peer, enum link_way way)
{
    if (!peer->timed || peer->link.acknowledged < peer->timed)
        return;
    if (way == LINK_DIRECTLY && !peer->suspect)
        peer->answered_in += (agent->now - peer->timed_since - peer->answered_in) / ANSWERS_LEARNT;
    peer->timed = 0;
}

void peers_tick(struct agent *agent)
{
    for (slot_set left = agent->linked; left; left &= left - 1) {
        const uint32_t slot = first_slot(left);
        struct linked *peer = &agent->peer[slot];
        if (!waits_for_answer(peer) || agent->now - peer->since < patience(peer))
            continue;
        peer->suspect = peer->nudged;
        if (!peer->nudged) {
            struct agent_effect *effect = effect_add(agent, DO_NUDGE);
            effect->peer.slot = slot;
            effect->peer.incarnation = peer->incarnation;
        }
        peer->nudged = true;
    }
}

static bool has_more_to_send(const struct link *link)
{
    const uint64_t directly = link->up ? link->said : 0, done = link->acknowledged;
    return (link->sent[LINK_DIRECTLY] < directly && done < directly) ||
           (link->sent[LINK_BY_LEDGER] < link->detour && done < link->detour);
}

int64_t peers_due(const struct agent *agent)
{
    int64_t due = INT64_MAX;
    for (slot_set left = agent->linked; left; left &= left - 1) {
        const struct linked *peer = &agent->peer[first_slot(left)];
        if (has_more_to_send(&peer->link))
            return agent->now;
        const int64_t doubt = waits_for_answer(peer) ? peer->since + patience(peer) : INT64_MAX;
        const int64_t answer = owes(peer) ? peer->answer_due : INT64_MAX;
        due = doubt < due ? doubt : due;
        due = answer < due ? answer : due;
    }
    return due;
}

/* ---- what comes ---- */

static void say_malformed(struct agent *agent, uint32_t slot)
{
    struct agent_effect *effect = effect_say(agent, LINE_MALFORMED);
    effect->say.node = agent->member[slot].node;
    effect->say.number = RECORD_RELAYED;
}

static bool read_packet(struct reader *fields, struct link_packet *packet, struct said *said)
{
    packet->number = read_u64(fields);
    packet->taken = read_u64(fields);
    *said = (struct said){0};
    if (packet->number == 0)
        return !fields->bad;
    said->kind = read_u8(fields);
    said->what = read_u8(fields);
    said->mode = read_u8(fields);
    said->serial = read_u64(fields);
    said->identity = read_u64(fields);
    said->number = read_u64(fields);
    said->view = read_u64(fields);
    said->fence = read_u64(fields);
    said->died = read_u64(fields);
    said->told = read_u64(fields);
    return !fields->bad;
}

static void take_packet(struct agent *agent, uint32_t slot, enum link_way way,
                        struct link_packet packet, const struct said *said)
{
    struct linked *peer = &agent->peer[slot];
    const uint64_t before = peer->link.acknowledged;
    const bool is_next = link_receive(&peer->link, way, packet);
    if (peer->link.acknowledged > before) {
        peer->since = agent->now;
        peer->nudged = false;
        learn_answer(agent, peer, way);
        if (way == LINK_DIRECTLY)
            peer->suspect = false;
    }
    if (is_next)
        passages_take(agent, slot, said);
}

static void hold(struct agent *agent, uint32_t slot, const void *bytes, size_t length)
{
    const struct held held = {
        .slot = slot, .length = (uint32_t)length, .incarnation = agent->peer[slot].incarnation};
    agent->peer[slot].holds = true;
    if (length > HELD_ROOM || agent->held_length + sizeof held + length > HELD_ROOM)
        return; /* lost on the way */
    memmove(agent->held + agent->held_length + sizeof held, bytes, length);
    memcpy(agent->held + agent->held_length, &held, sizeof held);
    agent->held_length += sizeof held + length;
}

/* The packets of one peer, one after the other. */
static void take_packets(struct agent *agent, uint32_t slot, const uint8_t *bytes, size_t length)
{
    struct reader packets = {.at = bytes, .end = bytes + length};
    const uint64_t incarnation = agent->incarnation;
    while (packets.at < packets.end) {
        const uint8_t *begin = packets.at;
        struct link_packet packet;
        struct said said;
        struct linked *peer = &agent->peer[slot];
        if (!read_packet(&packets, &packet, &said) || !link_makes_sense(&peer->link, packet)) {
            say_malformed(agent, slot);
            return;
        }
        const enum said_fate fate = packet.number > peer->link.taken
                                        ? passages_judge(agent, slot, &said)
                                        : SAID_TO_BE_TAKEN;
        if (fate == SAID_EARLY && !is_without(agent, WITHOUT_HOLDING_EARLY)) {
            hold(agent, slot, begin, (size_t)(packets.end - begin));
            return;
        }
        if (fate == SAID_OF_ANOTHER)
            return;
        take_packet(agent, slot, LINK_DIRECTLY, packet, &said);
        if (effect_is_enough(agent))
            group_restart(agent, CUT_OVERWHELMED);
        if (agent->incarnation != incarnation)
            return;
    }
}

/* What is held again lies no further on than where it lay. */
void peers_take_held(struct agent *agent)
{
    const uint64_t incarnation = agent->incarnation;
    const size_t end = agent->held_length;
    agent->held_length = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        agent->peer[slot].holds = false;
    for (size_t at = 0; at < end && agent->incarnation == incarnation;) {
        struct held held;
        memcpy(&held, agent->held + at, sizeof held);
        const uint8_t *bytes = agent->held + at + sizeof held;
        at += sizeof held + held.length;
        const struct linked *peer = &agent->peer[held.slot];
        if (!peer->used || peer->incarnation != held.incarnation || agent->member[held.slot].gone)
            continue;
        if (peer->holds)
            hold(agent, held.slot, bytes, held.length);
        else
            take_packets(agent, held.slot, bytes, held.length);
    }
}

/* A7. Without the rule it is taken, whatever its number. */
static bool is_of_another(const struct agent *agent, uint32_t slot, uint64_t incarnation,
                          const struct link_head *head)
{
    const struct linked *peer = &agent->peer[slot];
    return (!is_without(agent, WITHOUT_CLOSING_LINKS) &&
            (!peer->used || peer->incarnation != incarnation || head->from != incarnation)) ||
           (!is_without(agent, WITHOUT_RECEIVERS) && head->to != agent->incarnation);
}

static void take_foreign(struct agent *agent, uint32_t slot, struct reader packets)
{
    struct link_packet packet;
    struct said said;
    while (packets.at < packets.end && read_packet(&packets, &packet, &said))
        if (packet.number)
            passages_take(agent, slot, &said);
}

static void take_bytes(struct agent *agent, const struct agent_event *event)
{
    const uint32_t slot = event->link.slot;
    const uint64_t incarnation = event->link.incarnation;
    struct reader packets = {.at = event->link.bytes,
                             .end = (const uint8_t *)event->link.bytes + event->link.length};
    struct link_head head = {0};
    const void *bytes = read_bytes(&packets, sizeof head);
    if (bytes)
        memcpy(&head, bytes, sizeof head);
    if (!bytes || head.magic != LINK_MAGIC || is_of_another(agent, slot, incarnation, &head))
        return;
    const struct linked *peer = &agent->peer[slot];
    if (!peer->used || peer->incarnation != incarnation || head.to != agent->incarnation)
        take_foreign(agent, slot, packets);
    else if (agent->member[slot].gone)
        return; /* it may have installed what only its ring has heard */
    else if (peer->holds)
        hold(agent, slot, packets.at, (size_t)(packets.end - packets.at));
    else
        take_packets(agent, slot, packets.at, (size_t)(packets.end - packets.at));
}

void peers_link(struct agent *agent, const struct agent_event *event)
{
    const uint32_t slot = event->link.slot;
    if (!agent_is_member(agent) || slot >= SLOTS)
        return;
    struct linked *peer = &agent->peer[slot];
    const bool is_its = peer->used && peer->incarnation == event->link.incarnation;
    if (event->kind == ON_PACKET) {
        take_bytes(agent, event);
    } else if (is_its && event->kind == ON_LINK_UP) {
        link_up(&peer->link);
        peer->suspect = peer->nudged = false;
        peer->since = agent->now;
        peer->timed = 0;
        peer->answered_in = 0;
    } else if (is_its) {
        link_down(&peer->link);
    }
}

/* At its place in the order: what it is about is known, and who says it is a member. */
void peers_relayed(struct agent *agent, uint32_t slot, struct reader *fields)
{
    const uint8_t to = read_u8(fields);
    const uint64_t incarnation = read_u64(fields);
    struct link_packet packet;
    struct said said;
    if (!read_packet(fields, &packet, &said) || to != agent->self ||
        incarnation != agent->incarnation)
        return;
    const struct linked *peer = &agent->peer[slot];
    if (!peer->used || !link_makes_sense(&peer->link, packet)) {
        fields->bad |= peer->used;
        return;
    }
    if (packet.number > peer->link.taken && passages_judge(agent, slot, &said) == SAID_OF_ANOTHER)
        return;
    take_packet(agent, slot, LINK_BY_LEDGER, packet, &said);
}
