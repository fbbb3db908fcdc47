/* SPDX-License-Identifier: MIT */
/* States of the search over a small cluster: see search.h. */
#include "search.h"

#include <stddef.h>
#include <stdlib.h>

static uint64_t key[2]; /* of the state that is looked at */

static void mix(uint64_t word)
{
    key[0] = (key[0] ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    key[0] ^= key[0] >> 29;
    key[1] = (key[1] + word) * UINT64_C(0xd6e8feb86659fd93);
    key[1] ^= key[1] >> 32;
}

static void mix_bytes(const void *bytes, size_t length)
{
    uint64_t word = 0;
    for (size_t at = 0; at < length; at += sizeof word) {
        const size_t rest = length - at < sizeof word ? length - at : sizeof word;
        word = 0;
        memcpy(&word, (const uint8_t *)bytes + at, rest);
        mix(word);
    }
    mix(length);
}

/* Of what is not acknowledged. */
static size_t said_bytes(const struct linked *peer)
{
    return (size_t)(peer->link.said + 1 - peer->first) * sizeof *peer->said;
}

/* A struct, without what lies between its fields, which may be anything. */
#if __has_builtin(__builtin_clear_padding)
#define CLEAR_PADDING(structure) __builtin_clear_padding(&(structure))
const bool state_key_is_exact = true;
#else
#define CLEAR_PADDING(structure) ((void)0)
const bool state_key_is_exact = false;
#endif
#define MIX(structure)                                                                             \
    do {                                                                                           \
        CLEAR_PADDING(structure);                                                                  \
        mix_bytes(&(structure), sizeof(structure));                                                \
    } while (0)

/* All of it but what has no meaning between two steps, and counters that are for people. */
static void mix_agent(const struct agent *agent)
{
    static struct agent copy;
    memcpy(&copy, agent, sizeof copy);
    copy.now = copy.due = 0;
    copy.minute = 0;
    copy.effects = NULL;
    copy.out = copy.direct = (struct parcel){0};
    copy.counters = (struct counters){0};
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        copy.peer[slot].resent = copy.peer[slot].relayed = 0;
    MIX(copy);
    for (unsigned at = 0; at < agent->resources; at++) {
        struct resource resource = agent->resource[at];
        MIX(resource);
    }
    mix_bytes(agent->of_name, agent->entries * sizeof *agent->of_name);
    mix_bytes(agent->of_serial, agent->entries * sizeof *agent->of_serial);
    mix_bytes(agent->group, agent->group_count * sizeof *agent->group);
    mix_bytes(agent->states,
              agent->resources * agent->options.protocol->words(SLOTS) * sizeof(uint64_t));
    mix_bytes(agent->kept, agent->kept_length);
    mix_bytes(agent->held, agent->held_length);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        const struct linked *peer = &agent->peer[slot];
        for (uint64_t at = peer->link.acknowledged; peer->used && at < peer->link.said; at++) {
            struct said said = peer->said[at + 1 - peer->first];
            MIX(said);
        }
    }
}

static void mix_process(const struct machine *machine, const struct process *process)
{
    mix(process->inside);
    mix(process->wants);
    mix((uint64_t)process->lost);
    mix((uint64_t)process->next_demand);
    mix(process->mode);
    mix(process->era);
    mix(process->step);
    mix(process->fence);
    mix(process->needs);
    mix(process->passing);
    mix(process->holds);
    mix(process->asleep);
    mix(process->asked);
    mix(process->heard);
    mix(process->stirs == machine->world->stirs);
}

static void mix_machine(const struct machine *machine)
{
    mix(machine->running);
    for (unsigned at = 0; at < PROCESSES; at++)
        mix_process(machine, &machine->process[at]);
    mix(machine->dead_inside);
    mix(machine->told_unheard);
    mix(machine->pid);
    mix((uint64_t)machine->deadline);
    mix((uint64_t)machine->obliged);
    mix(machine->passage);
    mix(machine->known_view);
    mix(machine->seen_view);
    mix_bytes(machine->page, machine->pages * sizeof *machine->page);
    mix_bytes(machine->taking_back, machine->pages * sizeof *machine->taking_back);
    mix_bytes(machine->peer, sizeof machine->peer);
    if (!machine->running)
        return;
    mix_agent(&machine->agent);
    for (size_t at = machine->cursor; at < machine->world->logged; at++) {
        const struct log_entry *entry = &machine->world->log[at];
        mix(entry->kind);
        mix(entry->with_its_machine);
        mix((uint64_t)entry->who.node << 32 | entry->who.pid);
        mix_bytes(entry->bytes, entry->length);
    }
}

static void mix_connection(const struct connection *connection)
{
    if (!connection->used || (!connection->end[0].open && !connection->end[1].open))
        return;
    for (unsigned side = 0; side < 2; side++) {
        const struct end *end = &connection->end[side];
        mix(end->machine);
        mix(end->slot);
        mix(end->open);
        mix(end->told);
        mix(end->forgotten);
        mix(end->incarnation);
        for (size_t at = end->read; at < end->count; at++)
            mix_bytes(end->sent[at].bytes, end->sent[at].length);
        mix(end->count - end->read);
    }
}

void state_key(const struct searched *state, uint64_t made[2])
{
    const struct world *world = &state->world;
    key[0] = key[1] = 0;
    mix((uint64_t)world->now);
    mix(world->chance);
    mix_bytes(world->greatest_fence, sizeof world->greatest_fence);
    mix(world->untold);
    mix(world->ended);
    mix_bytes(&state->left, sizeof state->left);
    mix_bytes(state->wants_left, sizeof state->wants_left);
    for (unsigned number = 0; number < MACHINES_HERE; number++)
        mix_machine(&world->machine[number]);
    for (unsigned at = 0; at < CONNECTIONS_MOST; at++)
        mix_connection(&world->connection[at]);
    made[0] = key[0] | (key[0] == 0); /* 0 stands for none */
    made[1] = key[1];
}

/* ---- back to an earlier state ---- */

static void keep(struct snapshot *snapshot, void *memory, size_t length)
{
    if (snapshot->ranges == RANGES_MOST)
        abort();
    while (snapshot->used + length > snapshot->room) {
        snapshot->room = snapshot->room ? 2 * snapshot->room : 1 << 20;
        snapshot->bytes = realloc(snapshot->bytes, snapshot->room);
        if (!snapshot->bytes)
            abort();
    }
    snapshot->range[snapshot->ranges++] = (struct range){memory, length};
    memcpy(snapshot->bytes + snapshot->used, memory, length);
    snapshot->used += length;
}

static void keep_machine(struct snapshot *snapshot, struct machine *machine)
{
    struct agent *agent = &machine->agent;
    if (agent->resources > NAMES_SEARCHED || agent->group_count > NAMES_SEARCHED)
        abort();
    keep(snapshot, machine, sizeof *machine);
    keep(snapshot, machine->page, NAMES_SEARCHED * sizeof *machine->page);
    keep(snapshot, machine->taking_back, NAMES_SEARCHED * sizeof *machine->taking_back);
    keep(snapshot, agent->resource, NAMES_SEARCHED * sizeof *agent->resource);
    keep(snapshot, agent->of_name, agent->entries * sizeof *agent->of_name);
    keep(snapshot, agent->of_serial, agent->entries * sizeof *agent->of_serial);
    keep(snapshot, agent->group, NAMES_SEARCHED * sizeof(struct resource *));
    keep(snapshot, agent->states,
         NAMES_SEARCHED * agent->options.protocol->words(SLOTS) * sizeof *agent->states);
    keep(snapshot, agent->kept, agent->kept_length);
    keep(snapshot, agent->held, agent->held_length);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (agent->peer[slot].used)
            keep(snapshot, agent->peer[slot].said, said_bytes(&agent->peer[slot]));
}

/* Entries of these lists are aligned. What lies between them is what was there before: zeros, as
 * far as the next step may write. */
void clear_gaps(struct searched *state)
{
    for (unsigned number = 0; number < MACHINES_HERE; number++) {
        struct agent *agent = &state->world.machine[number].agent;
        memset(agent->kept + agent->kept_length, 0, GAPS);
        memset(agent->held + agent->held_length, 0, GAPS);
    }
}

void snapshot_take(struct snapshot *snapshot, struct searched *state)
{
    uint8_t *whole = (uint8_t *)state;
    const size_t machines = offsetof(struct searched, world.machine),
                 after = machines + sizeof state->world.machine;
    snapshot->ranges = 0;
    snapshot->used = 0;
    keep(snapshot, whole, machines);
    keep(snapshot, whole + after, sizeof *state - after);
    for (unsigned number = 0; number < MACHINES_HERE; number++)
        keep_machine(snapshot, &state->world.machine[number]);
}

void snapshot_put_back(const struct snapshot *snapshot)
{
    const uint8_t *from = snapshot->bytes;
    for (unsigned at = 0; at < snapshot->ranges; at++) {
        memcpy(snapshot->range[at].memory, from, snapshot->range[at].length);
        from += snapshot->range[at].length;
    }
}
