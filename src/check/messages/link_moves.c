/* SPDX-License-Identifier: MIT */
/* The moves of the link's model: what its ends do, and what befalls its connections. */
#include <string.h>

#include "check/messages/link_state.h"
#include "check/search/run.h"

#define tell(doing, ...) run_line_add((doing)->line, (doing)->room, __VA_ARGS__)

static struct link read_end(const struct link_model *model, const struct end_bytes *end)
{
    return (struct link){.without = model->options.variant->without,
                         .said = end->said,
                         .acknowledged = end->acknowledged,
                         .taken = end->taken,
                         .sent = {end->sent[0], end->sent[1]},
                         .detour = end->detour,
                         .up = end->up,
                         .owes = {end->owes[0], end->owes[1]}};
}

static void write_end(struct end_bytes *end, const struct link *link)
{
    end->said = (uint8_t)link->said;
    end->acknowledged = (uint8_t)link->acknowledged;
    end->taken = (uint8_t)link->taken;
    for (unsigned way = 0; way < LINK_WAYS; way++) {
        end->sent[way] = (uint8_t)link->sent[way];
        end->owes[way] = link->owes[way];
    }
    end->detour = (uint8_t)link->detour;
    end->up = link->up;
}

static uint8_t pack(struct link_packet packet)
{
    return (uint8_t)(packet.number << 4 | packet.taken);
}

static struct link_packet unpack(uint8_t byte)
{
    return (struct link_packet){.number = byte >> 4, .taken = byte & 15};
}

static uint8_t take_first(uint8_t *list, uint8_t *count)
{
    const uint8_t first = list[0];
    --*count;
    memmove(list, list + 1, *count);
    list[*count] = 0;
    return first;
}

/* The end reads it no longer: what it has not read is lost. */
static void stop_reading(struct link_doing *doing, unsigned slot)
{
    struct connection_bytes *connection = &doing->state->connection[slot];
    const unsigned peer = 1 - doing->self;
    connection->open[doing->self] = 0;
    connection->count[peer] = 0;
    memset(connection->packet[peer], 0, sizeof connection->packet[peer]);
    if (!connection->open[0] && !connection->open[1] && connection->accepted)
        memset(connection, 0, sizeof *connection);
}

static void close_at(struct link_doing *doing, unsigned slot)
{
    struct end_bytes *end = &doing->state->end[doing->self];
    stop_reading(doing, slot);
    if (end->present == slot) {
        struct link link = read_end(doing->model, end);
        link_down(&link);
        write_end(end, &link);
        end->present = NONE;
    }
}

/* K2: all that is not acknowledged goes over it, or, if there is nothing, how much was taken. */
static void judge_begun(struct link_doing *doing, struct link link)
{
    const uint64_t heard = link.acknowledged;
    struct link_packet packet = {0};
    if (doing->model->options.variant->without & LINK_WITHOUT_RESENDING)
        return;
    const bool sends = link_next(&link, LINK_DIRECTLY, &packet);
    if (heard < link.said ? packet.number != heard + 1 : sends != (link.taken > 0))
        doing->complaint = "delivery: a new connection does not begin with what was not heard";
}

/* In place of any other, of which it need not have heard that it is down. */
static void open_at(struct link_doing *doing)
{
    struct end_bytes *end = &doing->state->end[doing->self];
    for (unsigned slot = 0; slot < SLOTS; slot++)
        if (slot != doing->slot && doing->state->connection[slot].open[doing->self])
            stop_reading(doing, slot);
    struct link link = read_end(doing->model, end);
    link_up(&link);
    write_end(end, &link);
    judge_begun(doing, link);
    end->present = (uint8_t)doing->slot;
    doing->state->connection[doing->slot].open[doing->self] = 1;
}

static void dial(struct link_doing *doing)
{
    tell(doing, "dials connection %u", doing->slot);
    struct connection_bytes *connection = &doing->state->connection[doing->slot];
    memset(connection, 0, sizeof *connection);
    connection->made = 1;
    doing->state->ledger.connections_left--;
    open_at(doing);
}

/* link_next(); what is acknowledged is kept no longer. */
static bool next_packet(struct link_doing *doing, struct link *link, enum link_way way,
                        struct link_packet *packet)
{
    const uint64_t acknowledged = link->acknowledged;
    if (!link_next(link, way, packet))
        return false;
    if (packet->number && packet->number <= acknowledged)
        doing->complaint = "delivery: what was acknowledged is to be sent again";
    return true;
}

static void send(struct link_doing *doing)
{
    struct end_bytes *end = &doing->state->end[doing->self];
    struct connection_bytes *connection = &doing->state->connection[doing->slot];
    struct link link = read_end(doing->model, end);
    struct link_packet packet = {0};
    next_packet(doing, &link, LINK_DIRECTLY, &packet);
    write_end(end, &link);
    tell(doing, "sends %u, having taken %u, over connection %u", (unsigned)packet.number,
         (unsigned)packet.taken, doing->slot);
    if (connection->accepted && !connection->open[1 - doing->self])
        tell(doing, ", which nobody reads");
    else
        connection->packet[doing->self][connection->count[doing->self]++] = pack(packet);
}

/* At the end of a step: what is to go through the ledger goes. */
static void send_by_ledger(struct link_doing *doing)
{
    struct end_bytes *end = &doing->state->end[doing->self];
    struct link link = read_end(doing->model, end);
    struct link_packet packet;
    uint8_t *count = &doing->state->ledger.count[doing->self];
    while (next_packet(doing, &link, LINK_BY_LEDGER, &packet)) {
        tell(doing, "; sends %u, having taken %u, through the ledger", (unsigned)packet.number,
             (unsigned)packet.taken);
        doing->full |= *count == LEDGER_ROOM;
        if (!doing->full)
            doing->state->ledger.packet[doing->self][(*count)++] = pack(packet);
    }
    write_end(end, &link);
}

static void receive(struct link_doing *doing, enum link_way way, struct link_packet packet)
{
    struct end_bytes *end = &doing->state->end[doing->self];
    struct link link = read_end(doing->model, end);
    tell(doing, "receives %u, the other having taken %u, ", (unsigned)packet.number,
         (unsigned)packet.taken);
    if (way == LINK_DIRECTLY)
        tell(doing, "over connection %u", doing->slot);
    else
        tell(doing, "through the ledger");
    if (!link_makes_sense(&link, packet))
        doing->complaint = "delivery: more is acknowledged than was said";
    const bool owed = link.owes[way], taken = link_receive(&link, way, packet);
    if (packet.number == 0 && link.owes[way] && !owed)
        doing->complaint = "delivery: an acknowledgement is acknowledged";
    if (packet.number && (way == LINK_BY_LEDGER || link.up) && !link.owes[way] &&
        !(link.without & LINK_WITHOUT_ANSWER))
        doing->complaint = "delivery: a message is not acknowledged by the way it came"; /* K4 */
    if (taken) {
        tell(doing, ", and takes it");
        if (packet.number <= end->got)
            doing->complaint = "delivery: a message is taken twice";
        else if (packet.number > end->got + 1u)
            doing->complaint = "delivery: a message is left out";
        end->got = (uint8_t)packet.number;
    }
    write_end(end, &link);
}

static void judge_doubt(struct link_doing *doing, struct link link)
{
    struct link_packet packet;
    if (!link_next(&link, LINK_BY_LEDGER, &packet) || packet.number == 0)
        doing->complaint = "delivery: a doubt sends nothing";
}

static bool has_to_send(const struct link_model *model, const struct end_bytes *end)
{
    struct link link = read_end(model, end);
    struct link_packet packet;
    return link_next(&link, LINK_DIRECTLY, &packet);
}

void link_make(struct link_doing *doing, enum doing_kind kind)
{
    struct link_bytes *state = doing->state;
    struct end_bytes *end = &state->end[doing->self];
    const unsigned peer = 1 - doing->self;
    struct link link = read_end(doing->model, end);
    switch (kind) {
    case DOES_SAY:
        link_say(&link);
        write_end(end, &link);
        end->says_left--;
        tell(doing, "says %u", end->said);
        break;
    case DOES_DOUBT:
        link_doubt(&link);
        write_end(end, &link);
        judge_doubt(doing, link);
        tell(doing, "doubts, having heard that %u were taken", end->acknowledged);
        break;
    case DOES_DIAL:
        dial(doing);
        break;
    case DOES_ACCEPT:
        tell(doing, "accepts connection %u", doing->slot);
        state->connection[doing->slot].accepted = 1;
        open_at(doing);
        break;
    case DOES_CLOSE:
        tell(doing, "closes connection %u", doing->slot);
        close_at(doing, doing->slot);
        break;
    case DOES_SEND:
        send(doing);
        break;
    case DOES_RECEIVE:
        receive(doing, LINK_DIRECTLY,
                unpack(take_first(state->connection[doing->slot].packet[peer],
                                  &state->connection[doing->slot].count[peer])));
        break;
    case DOES_RECEIVE_BY_LEDGER:
        receive(doing, LINK_BY_LEDGER,
                unpack(take_first(state->ledger.packet[peer], &state->ledger.count[peer])));
        break;
    case DOES_KINDS:
        break;
    }
    send_by_ledger(doing);
    if (end->present == NONE && has_to_send(doing->model, end))
        doing->complaint = "delivery: something is to be sent over no connection";
}

bool link_may_do(const struct link_model *model, const struct link_bytes *state, unsigned self,
                 unsigned slot, enum doing_kind kind)
{
    const struct end_bytes *end = &state->end[self];
    const struct connection_bytes *connection = &state->connection[slot];
    const struct link link = read_end(model, end);
    switch (kind) {
    case DOES_SAY:
        return end->says_left > 0;
    case DOES_DOUBT:
        return link_can_doubt(&link);
    case DOES_RECEIVE_BY_LEDGER:
        return state->ledger.count[1 - self] > 0;
    case DOES_DIAL:
        return self == 0 && end->present == NONE && state->ledger.connections_left > 0 &&
               (!connection->made || (!connection->accepted && !connection->open[0]));
    case DOES_ACCEPT:
        return self == 1 && connection->made && !connection->accepted;
    case DOES_CLOSE:
        return connection->open[self];
    case DOES_SEND:
        return end->present == slot && connection->count[self] < ROOM && has_to_send(model, end);
    case DOES_RECEIVE:
        return connection->open[self] && connection->count[1 - self] > 0;
    case DOES_KINDS:
        break;
    }
    return false;
}
