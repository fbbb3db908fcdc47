/* SPDX-License-Identifier: MIT */
/* Links of the world: connections that are made, break at one end, carry one way only, and hand
 * over late what an agent has forgotten. See world.h. */
#include "world.h"

#include <stdlib.h>

static void free_connection(struct world *world, struct connection *connection)
{
    for (unsigned at = 0; at < 2; at++) {
        for (size_t packet = 0; packet < connection->end[at].count; packet++)
            world_free(world, connection->end[at].sent[packet].bytes);
        world_free(world, connection->end[at].sent);
    }
    *connection = (struct connection){0};
}

void links_free(struct world *world)
{
    for (unsigned at = 0; at < CONNECTIONS_MOST; at++)
        free_connection(world, &world->connection[at]);
}

/* Its end that is open, and not forgotten. */
static struct end *open_end(const struct machine *machine, uint32_t slot)
{
    struct world *world = machine->world;
    for (unsigned at = 0; at < CONNECTIONS_MOST; at++)
        for (unsigned side = 0; side < 2; side++) {
            struct end *end = &world->connection[at].end[side];
            if (world->connection[at].used && end->open && !end->forgotten &&
                end->machine == machine->number && end->slot == slot &&
                end->incarnation == machine->peer[slot].incarnation)
                return end;
        }
    return NULL;
}

static void feed(struct machine *machine, enum agent_event_kind kind, const struct end *end,
                 const struct packet *packet)
{
    world_feed(machine, (struct agent_event){.kind = kind,
                                             .link = {.slot = end->slot,
                                                      .incarnation = end->incarnation,
                                                      .bytes = packet ? packet->bytes : NULL,
                                                      .length = packet ? packet->length : 0}});
}

void links_close(struct machine *machine, struct end *end)
{
    if (!end->open)
        return;
    end->open = false;
    if (end->told && !end->forgotten && machine->running)
        feed(machine, ON_LINK_DOWN, end, NULL);
}

/* ---- what agents say ---- */

void links_peer(struct machine *machine, const struct agent_effect *effect)
{
    const uint32_t slot = effect->peer.slot;
    if (machine->peer[slot].used)
        world_violate(machine->world, "a peer twice", machine->number, machine->number);
    machine->peer[slot].used = true;
    machine->peer[slot].dial = effect->peer.dial;
    machine->peer[slot].machine = effect->peer.endpoint.bytes[0];
    machine->peer[slot].incarnation = effect->peer.incarnation;
}

void links_forget_peer(struct machine *machine, const struct agent_effect *effect)
{
    const uint32_t slot = effect->peer.slot;
    struct end *end = open_end(machine, slot);
    if (end)
        end->forgotten = true;
    machine->peer[slot].used = false;
}

/* In a search the old list stays as it was. */
static struct packet *with_one_more(struct world *world, const struct end *end)
{
    const size_t bytes = end->count * sizeof(struct packet);
    if (!world->arena)
        return realloc(end->sent, bytes + sizeof(struct packet));
    struct packet *sent = world_allocate(world, bytes + sizeof(struct packet));
    if (bytes)
        memcpy(sent, end->sent, bytes);
    return sent;
}

void links_send(struct machine *machine, const struct agent_effect *effect)
{
    struct end *end = open_end(machine, effect->send_to.slot);
    if (!end || !end->told) /* it has broken meanwhile */
        return;
    end->sent = with_one_more(machine->world, end);
    struct packet *packet = &end->sent[end->count++];
    packet->length = effect->send_to.length;
    packet->bytes = world_allocate(machine->world, packet->length);
    memcpy(packet->bytes, effect->send_to.bytes, packet->length);
}

void links_end_process(struct machine *machine)
{
    struct world *world = machine->world;
    for (unsigned at = 0; at < CONNECTIONS_MOST; at++)
        for (unsigned side = 0; side < 2; side++)
            if (world->connection[at].end[side].machine == machine->number)
                world->connection[at].end[side].open = false;
    memset(machine->peer, 0, sizeof machine->peer);
}

/* ---- what happens by itself ---- */

/* How the other knows it: its slot, or NO_SLOT if the other has not installed it, or no more. */
static uint32_t slot_at(const struct machine *other, const struct machine *machine)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (other->peer[slot].used && other->peer[slot].machine == machine->number &&
            other->peer[slot].incarnation == machine->agent.incarnation)
            return slot;
    return NO_SLOT;
}

static bool is_over(const struct end *end, bool if_forgotten)
{
    return !end->open || (if_forgotten && end->forgotten);
}

/* If there are many that nobody will hear of again, one of these. */
static struct connection *unused(struct world *world)
{
    for (unsigned which = 0; which < 2; which++)
        for (unsigned at = 0; at < CONNECTIONS_MOST; at++) {
            struct connection *connection = &world->connection[at];
            if (is_over(&connection->end[0], which) && is_over(&connection->end[1], which))
                free_connection(world, connection);
            if (!connection->used)
                return connection;
        }
    return NULL;
}

bool links_can_dial(const struct machine *machine, uint32_t slot)
{
    const struct world *world = machine->world;
    const struct machine *other = &world->machine[machine->peer[slot].machine];
    return machine->peer[slot].used && machine->peer[slot].dial && !open_end(machine, slot) &&
           other->running && !other->stopped &&
           other->agent.incarnation == machine->peer[slot].incarnation &&
           !world->blocked[machine->number][other->number] &&
           !world->blocked[other->number][machine->number] && slot_at(other, machine) != NO_SLOT;
}

void links_dial(struct machine *machine, uint32_t slot)
{
    struct world *world = machine->world;
    if (!links_can_dial(machine, slot))
        return;
    struct machine *other = &world->machine[machine->peer[slot].machine];
    const uint32_t back = slot_at(other, machine);
    struct connection *connection = unused(world);
    if (!connection)
        return;
    *connection = (struct connection){.used = true,
                                      .end = {{.machine = machine->number,
                                               .slot = slot,
                                               .incarnation = machine->peer[slot].incarnation,
                                               .open = true,
                                               .told = true},
                                              {.machine = other->number,
                                               .slot = back,
                                               .incarnation = machine->agent.incarnation,
                                               .open = true}}};
    feed(machine, ON_LINK_UP, &connection->end[0], NULL);
}

/* The new one is in place of any other. */
void links_accept(struct machine *machine, struct connection *connection, struct end *end)
{
    struct world *world = machine->world;
    for (unsigned at = 0; at < CONNECTIONS_MOST; at++)
        for (unsigned side = 0; side < 2; side++) {
            struct end *old = &world->connection[at].end[side];
            if (&world->connection[at] != connection && world->connection[at].used &&
                old->machine == end->machine && old->slot == end->slot && old->told &&
                !old->forgotten)
                old->open = false;
        }
    end->told = true;
    if (machine->peer[end->slot].used && machine->peer[end->slot].incarnation == end->incarnation)
        feed(machine, ON_LINK_UP, end, NULL);
    else
        end->open = false;
}

void links_read(struct machine *machine, struct connection *connection, unsigned side)
{
    struct world *world = machine->world;
    struct end *end = &connection->end[side], *from = &connection->end[1 - side];
    if (from->read < from->count && !world->blocked[from->machine][end->machine]) {
        const struct packet packet = from->sent[from->read++];
        feed(machine, ON_PACKET, end, &packet);
    } else if (from->read == from->count && (!from->open || end->forgotten)) {
        links_close(machine, end);
    }
}

void links_step(struct world *world, struct machine *machine)
{
    if (world_draw(world, 4) == 0) {
        links_dial(machine, (uint32_t)world_draw(world, 8));
        return;
    }
    struct connection *chosen = NULL;
    unsigned chosen_side = 0, candidates = 0;
    for (unsigned at = 0; at < 2 * CONNECTIONS_MOST; at++) {
        struct connection *connection = &world->connection[at / 2];
        const struct end *end = &connection->end[at % 2];
        if (connection->used && end->open && end->machine == machine->number &&
            world_draw(world, ++candidates) == 0) {
            chosen = connection;
            chosen_side = at % 2;
        }
    }
    if (chosen && chosen->end[chosen_side].told)
        links_read(machine, chosen, chosen_side);
    else if (chosen)
        links_accept(machine, chosen, &chosen->end[chosen_side]);
}

/* ---- what befalls them ---- */

bool world_all_linked(struct world *world)
{
    for (unsigned number = 0; number < world->machines; number++)
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            const struct linked *peer = &world->machine[number].agent.peer[slot];
            if (peer->used && !peer->link.up)
                return false;
        }
    return true;
}

bool world_break(struct world *world, unsigned number, unsigned other)
{
    struct machine *machine = &world->machine[number];
    for (unsigned at = 0; at < CONNECTIONS_MOST; at++)
        for (unsigned side = 0; side < 2; side++) {
            struct connection *connection = &world->connection[at];
            struct end *end = &connection->end[side];
            if (connection->used && end->open && end->machine == number &&
                connection->end[1 - side].machine == other) {
                world_tell(machine, "loses a connection with machine", other);
                links_close(machine, end);
                return true;
            }
        }
    return false;
}

void world_block(struct world *world, unsigned from, unsigned to, bool blocked)
{
    world->blocked[from][to] = blocked;
    world_tell(&world->machine[from], blocked ? "reaches no longer machine" : "reaches machine",
               to);
}

void world_unblock_all(struct world *world)
{
    memset(world->blocked, 0, sizeof world->blocked);
}
