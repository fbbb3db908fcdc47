/* SPDX-License-Identifier: MIT */
/* The agent: what reaches it from outside, and which of its parts takes it. */
#include "agent/core/parts.h"

enum { LOOK_AGAIN_MS = 200 };

static size_t state_words(const struct message_protocol *protocol)
{
    return protocol->words(SLOTS);
}

static size_t whole_words(size_t bytes)
{
    return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

size_t agent_room(const struct agent_options *options)
{
    const struct message_protocol *protocol = options->protocol;
    const size_t entries = agent_entries(options->names);
    return sizeof(uint64_t) *
           (whole_words(entries * sizeof(struct resource)) +
            whole_words(entries * (PERMISSION_NAME_MOST + 1)) +
            2 * whole_words(entries * sizeof(uint32_t)) +
            whole_words(options->names * sizeof(struct resource *)) +
            entries * state_words(protocol) + protocol->room(SLOTS) + whole_words(OUT_ROOM) +
            whole_words(KEPT_ROOM) + whole_words(DIRECT_ROOM) + whole_words(HELD_ROOM) +
            SLOTS * whole_words(SAID_MOST * sizeof(struct said)));
}

void agent_begin(struct agent *agent, const struct agent_options *options, void *memory)
{
    assert_required(options->lease > 0 && options->grace > options->lease && options->names > 0);
    const unsigned entries = agent_entries(options->names);
    *agent = (struct agent){.options = *options,
                            .entries = entries,
                            .allowed = entries,
                            .self = NO_SLOT,
                            .owed_next = INT64_MAX,
                            .known_view = options->known_view,
                            .last_view = options->last_view,
                            .obliged =
                                options->without >> WITHOUT_FRESH_GRACE & 1 ? 0 : options->obliged};
    uint64_t *words = memory;
    agent->resource = (struct resource *)words;
    words += whole_words(entries * sizeof *agent->resource);
    agent->long_name = (char(*)[PERMISSION_NAME_MOST + 1]) words;
    words += whole_words(entries * sizeof *agent->long_name);
    agent->of_name = (uint32_t *)words;
    words += whole_words(entries * sizeof *agent->of_name);
    agent->of_serial = (uint32_t *)words;
    words += whole_words(entries * sizeof *agent->of_serial);
    agent->group = (struct resource **)words;
    words += whole_words(options->names * sizeof(struct resource *));
    agent->states = words;
    words += entries * state_words(options->protocol);
    agent->room = words;
    words += options->protocol->room(SLOTS);
    agent->out.bytes = (uint8_t *)words;
    agent->out.room = OUT_ROOM;
    words += whole_words(OUT_ROOM);
    agent->kept = (uint8_t *)words;
    words += whole_words(KEPT_ROOM);
    agent->direct.bytes = (uint8_t *)words;
    agent->direct.room = DIRECT_ROOM;
    words += whole_words(DIRECT_ROOM);
    agent->held = (uint8_t *)words;
    words += whole_words(HELD_ROOM);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        agent->peer[slot].said = (struct said *)words;
        words += whole_words(SAID_MOST * sizeof(struct said));
    }
    parcel_begin(&agent->out);
}

bool agent_is_member(const struct agent *agent)
{
    return agent->phase == PHASE_MEMBER;
}

/* What is to be said goes out as one parcel, at the end of the step. */
static void flush(struct agent *agent)
{
    if (parcel_is_empty(&agent->out))
        return;
    const bool member = agent_is_member(agent);
    const struct parcel_head head = {.magic = WIRE_MAGIC,
                                     .slot = member ? agent->self : NO_SLOT,
                                     .incarnation = agent->incarnation,
                                     .sequence = member ? ++agent->sequence : 0};
    memcpy(agent->out.bytes, &head, sizeof head);
    agent->counters.parcels++;
    struct agent_effect *effect = effect_add(agent, DO_SEND);
    effect->send.bytes = agent->out.bytes;
    effect->send.length = agent->out.length;
}

static void connected(struct agent *agent, const struct agent_event *event)
{
    agent->node = event->connected.self.node;
    agent->pid = event->connected.self.pid;
    agent->nodes = event->connected.nodes ? event->connected.nodes : 1;
    agent->majority = agent->nodes / 2 + 1;
    joining_seek(agent);
}

static void cut(struct agent *agent, enum cut_reason why)
{
    if (agent->phase != PHASE_OFF)
        group_forget(agent, why);
    effect_tell_state(agent, AGENT_NO_QUORUM);
}

static void parcel(struct agent *agent, struct address from, const void *bytes, size_t length)
{
    if (agent->phase == PHASE_OFF)
        return;
    if (agent->phase == PHASE_JOINING)
        newcomer_keep(agent, from, bytes, length);
    group_process(agent, from, bytes, length);
}

static void left(struct agent *agent, struct address who, bool with_its_machine)
{
    if (agent->phase == PHASE_JOINING)
        newcomer_keep_left(agent, who, with_its_machine);
    group_note_left(agent, who, with_its_machine);
}

static void room(struct agent *agent, unsigned entries)
{
    if (entries > agent->allowed)
        names_tell_room(agent);
    agent->allowed = entries < agent->entries ? entries : agent->entries;
}

static void query(struct agent *agent, uint64_t number)
{
    parcel_record(&agent->out, RECORD_QUERY);
    parcel_u64(&agent->out, number);
    parcel_end_record(&agent->out);
}

/* One answer to all who have asked meanwhile. */
static void described(struct agent *agent, const char *text, size_t length)
{
    for (unsigned at = 0; at < agent->queries; at++) {
        parcel_record(&agent->out, RECORD_ANSWER);
        parcel_u64(&agent->out, agent->query[at]);
        parcel_text(&agent->out, text, length);
        parcel_end_record(&agent->out);
    }
    agent->queries = 0;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void tick(struct agent *agent)
{
    int64_t due = agent->now + (int64_t)LOOK_AGAIN_MS * MS;
    if (agent_is_member(agent)) {
        lease_tick(agent);
        if (!agent_is_member(agent))
            joining_seek(agent);
        else
            due = earlier(due, agent->renewal_due);
        if (agent->quarantine > agent->now)
            due = earlier(due, agent->quarantine);
        holdings_tick(agent);
        deaths_tick(agent);
        peers_tick(agent);
    } else if (agent->phase != PHASE_OFF) {
        joining_tick(agent);
    }
    agent->due = due;
}

static void take(struct agent *agent, const struct agent_event *event)
{
    switch (event->kind) {
    case ON_INHERITED:
        holdings_inherit(agent, event->resource, &event->inherited);
        break;
    case ON_DEAD_INSIDE:
        if (!agent->resource[event->resource].granted)
            deaths_sweep(agent, &agent->resource[event->resource]);
        break;
    case ON_CONNECTED:
        connected(agent, event);
        break;
    case ON_CUT:
        cut(agent, event->cut);
        break;
    case ON_PARCEL:
        parcel(agent, event->parcel.from, event->parcel.bytes, event->parcel.length);
        break;
    case ON_LEFT:
        left(agent, event->left.who, event->left.with_its_machine);
        break;
    case ON_LINK_UP:
    case ON_LINK_DOWN:
    case ON_PACKET:
        peers_link(agent, event);
        break;
    case ON_DEMAND:
        holdings_demand(agent, event->demand.what, event->demand.number);
        break;
    case ON_BUSY:
        holdings_busy(agent, &agent->resource[event->resource]);
        break;
    case ON_TAKEN_BACK:
        holdings_taken_back(agent, event);
        break;
    case ON_UNUSED:
        forgetting_unused(agent, &agent->resource[event->resource]);
        break;
    case ON_ROOM:
        room(agent, event->entries);
        break;
    case ON_QUERY:
        query(agent, event->query);
        break;
    case ON_DESCRIBED:
        described(agent, event->described.text, event->described.length);
        break;
    case ON_TICK:
        tick(agent);
        break;
    case ON_ENDING:
        agent->is_ending = true;
        break;
    case ON_FAREWELL:
        holdings_farewell(agent);
        break;
    }
}

/* As the others know it: by its last HELLO. */
static bool knows_itself(const struct agent *agent)
{
    return agent->self < SLOTS && member_is_alive(&agent->member[agent->self]) &&
           agent->member[agent->self].incarnation == agent->incarnation &&
           agent->member[agent->self].node == agent->node;
}

static int64_t next_due(const struct agent *agent)
{
    if (!agent_is_member(agent))
        return agent->due;
    return earlier(agent->due, earlier(agent->owed_next, peers_due(agent)));
}

void agent_step(struct agent *agent, const struct agent_event *event, struct agent_effects *effects)
{
    assert_required(event->now >= agent->now && event->resource < agent->entries);
    agent->now = event->now;
    agent->minute = event->minute;
    agent->effects = effects;
    effects->count = 0;
    parcel_begin(&agent->out);
    take(agent, event);
    if (agent_is_member(agent))
        peers_send(agent);
    if (agent->out.overflown) /* what cannot be said would be missed */
        group_restart(agent, CUT_OVERWHELMED);
    assert_invariant(A1, !agent_is_member(agent) || knows_itself(agent));
    flush(agent);
    const int64_t due = next_due(agent);
    if (event->kind == ON_TICK || due < agent->wakes) {
        effect_add(agent, DO_WAKE)->due = due;
        agent->wakes = due;
    }
}
