/* SPDX-License-Identifier: MIT */
/* The agent: what reaches it from outside, and which of its parts takes it. */
#include "agent/core/agent.h"

#include <stdarg.h>
#include <stdlib.h>

#include "common/printable.h"

enum { MS = 1000 * 1000, LOOK_AGAIN_MS = 200 };

bool agent_begin(struct agent *agent, const struct agent_options *options,
                 const struct surroundings *around)
{
    *agent = (struct agent){
        .options = *options, .around = *around, .self = NO_SLOT, .owed_next = INT64_MAX};
    agent->kept_end = &agent->kept;
    agent->resource = calloc(PERMISSIONS_MOST, sizeof *agent->resource);
    agent->group = calloc(RESOURCES_MOST, sizeof(struct resource *));
    agent->room = calloc(options->protocol->room(SLOTS) + 1, sizeof *agent->room);
    if (!agent->resource || !agent->group || !agent->room) {
        agent_end(agent);
        return false;
    }
    parcel_begin(&agent->out);
    return true;
}

void agent_end(struct agent *agent)
{
    for (uint32_t at = 0; at < agent->group_count; at++)
        free(agent->group[at]->state);
    joining_drop_kept(agent);
    free(agent->resource);
    free(agent->group);
    free(agent->room);
    free(agent->out.bytes);
    *agent = (struct agent){0};
}

void agent_log(struct agent *agent, enum log_level level, const char *event, const char *format,
               ...)
{
    char details[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(details, sizeof details, format, arguments);
    va_end(arguments);
    agent->around.log(agent->around.arg, level, event, details);
}

bool agent_is_member(const struct agent *agent)
{
    return agent->phase == PHASE_MEMBER;
}

void agent_state_changes(struct agent *agent, enum agent_state state)
{
    if (agent->state == state)
        return;
    agent->state = state;
    agent->around.changed(agent->around.arg, state);
}

const char *agent_name(const struct resource *resource)
{
    static char text[2 * PERMISSION_NAME_MOST + 1];
    size_t length = 0;
    for (const char *at = resource->name; *at; at++) {
        if (*at == '"' || *at == '\\')
            text[length++] = '\\';
        text[length++] = *at;
    }
    text[length] = '\0';
    make_printable(text);
    return text;
}

void agent_flush(struct agent *agent)
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
    agent->around.send(agent->around.arg, agent->out.bytes, agent->out.length);
    parcel_begin(&agent->out);
}

void agent_forget(struct agent *agent, const char *why)
{
    agent_log(agent, LOG_WARNING, "cut", "why=\"%s\" view=%llu", why,
              (unsigned long long)agent->view);
    if (agent_is_member(agent)) {
        agent->last_view = agent->view;
        deaths_note_holders(agent);
    }
    resources_forget(agent);
    joining_drop_kept(agent);
    memset(agent->member, 0, sizeof agent->member);
    parcel_begin(&agent->out);
    agent->phase = PHASE_OFF;
    agent->self = NO_SLOT;
    agent->sequence = 0;
    agent->deadline = agent->quarantine = agent->doubts_due = 0;
    agent->was_ready = agent->founding = false;
    agent->hello_count = 0;
}

static void restart(struct agent *agent, const char *why)
{
    agent_forget(agent, why);
    joining_seek(agent);
}

/* A1: false if this parcel is not to be taken: nor what somebody else sends in the name of a
 * member, or again. */
static bool is_in_order(struct agent *agent, struct address from, const struct parcel_head *head)
{
    struct member *sender = head->slot < SLOTS ? &agent->member[head->slot] : NULL;
    if (!sender || !sender->used || sender->ghost || sender->gone ||
        sender->incarnation != head->incarnation || sender->node != from.node ||
        sender->pid != from.pid || head->sequence <= sender->sequence)
        return false;
    if (head->sequence != sender->sequence + 1) {
        restart(agent, "a message was missed");
        return false;
    }
    sender->sequence = head->sequence;
    return true;
}

static void take_member_record(struct agent *agent, uint32_t slot, enum record_kind kind,
                               struct reader *fields)
{
    switch (kind) {
    case RECORD_RENEWAL:
        lease_renewal(agent, slot, fields);
        break;
    case RECORD_BURIAL:
        members_burial(agent, fields);
        break;
    case RECORD_FAREWELL:
        members_farewell(agent, slot);
        break;
    case RECORD_GHOST:
        members_ghost(agent, slot, fields);
        break;
    case RECORD_DIED:
        deaths_record(agent, slot, fields);
        break;
    case RECORD_CREATION:
        resources_creation(agent, slot, fields);
        break;
    case RECORD_PROTOCOL:
        resources_protocol(agent, slot, fields);
        break;
    case RECORD_WAITING:
    case RECORD_HELD:
    case RECORD_FREED:
    case RECORD_BUSY:
    case RECORD_TOLD:
        resources_note(agent, slot, kind, fields);
        break;
    default:
        break;
    }
}

static void take_query(struct agent *agent, struct reader *fields)
{
    static char text[UINT16_MAX];
    const uint64_t query = read_u64(fields);
    const size_t length = agent->around.describe(agent->around.arg, text, sizeof text);
    parcel_record(&agent->out, RECORD_ANSWER);
    parcel_u64(&agent->out, query);
    parcel_text(&agent->out, text, length);
    parcel_end_record(&agent->out);
}

static void take_answer(struct agent *agent, struct address from, struct reader *fields)
{
    const char *text;
    const uint64_t query = read_u64(fields);
    const size_t length = read_text(fields, &text);
    if (!fields->bad)
        agent->around.answered(agent->around.arg, query, from.node, text, length);
}

/* Records that say who is who come from members and others alike. */
static void take_record(struct agent *agent, struct address from, uint32_t slot,
                        enum record_kind kind, struct reader *fields)
{
    switch (kind) {
    case RECORD_HELLO:
        joining_hello(agent, from, fields);
        break;
    case RECORD_NAY:
        joining_nay(agent, from, fields);
        break;
    case RECORD_REFUSAL:
        joining_refusal(agent, fields);
        break;
    case RECORD_FOUND:
        joining_found(agent, from, fields);
        break;
    case RECORD_STATE:
        if (agent->phase == PHASE_JOINING)
            joining_state(agent, fields);
        break;
    case RECORD_QUERY:
        if (agent_is_member(agent))
            take_query(agent, fields);
        break;
    case RECORD_ANSWER:
        take_answer(agent, from, fields);
        break;
    default:
        if (agent_is_member(agent) && slot != NO_SLOT)
            take_member_record(agent, slot, kind, fields);
    }
}

/* Somebody is a member, and alive: it will answer, and no HELLO before this is a reason to begin a
 * group (joining.c). */
static void look_for_life(struct agent *agent, const struct parcel_head *head,
                          struct reader records)
{
    struct reader fields;
    enum record_kind kind;
    while (head->slot != NO_SLOT && parcel_next(&records, &kind, &fields))
        if (kind == RECORD_RENEWAL)
            agent->hello_count = 0;
}

void agent_process(struct agent *agent, struct address from, const void *bytes, size_t length)
{
    struct parcel_head head;
    struct reader records, fields;
    enum record_kind kind;
    if (!parcel_open(bytes, length, &head, &records))
        return;
    look_for_life(agent, &head, records);
    if (agent_is_member(agent) && head.slot != NO_SLOT && !is_in_order(agent, from, &head))
        return;
    const uint64_t incarnation = agent->incarnation;
    const enum phase phase = agent->phase;
    while (parcel_next(&records, &kind, &fields)) {
        agent->counters.received++;
        take_record(agent, from, head.slot, kind, &fields);
        if (fields.bad)
            agent_log(agent, LOG_WARNING, "malformed", "kind=%d node=%u", (int)kind, from.node);
        /* Cut, or become a member by this very parcel, which is then among those kept. */
        if (agent->incarnation != incarnation || (phase != PHASE_MEMBER && agent->phase != phase))
            return;
    }
}

void agent_delivered(struct agent *agent, int64_t now, struct address from, const void *bytes,
                     size_t length)
{
    agent->now = now;
    if (agent->phase == PHASE_OFF)
        return;
    if (agent->phase == PHASE_JOINING)
        joining_keep(agent, from, bytes, length);
    agent_process(agent, from, bytes, length);
    agent_flush(agent);
}

/* A1: machines that stand with me in the ring. */
static uint32_t count_present(const struct agent *agent)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        count +=
            agent->member[slot].used && !agent->member[slot].ghost && !agent->member[slot].parted;
    return count;
}

void agent_note_left(struct agent *agent, struct address who, bool with_its_machine)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        struct member *member = &agent->member[slot];
        if (!member->used || member->ghost || member->node != who.node || member->pid != who.pid)
            continue;
        member->gone = true;
        member->parted |= with_its_machine;
        agent_log(agent, LOG_INFORMATION, "gone", "node=%u slot=%u machine=%d", who.node, slot,
                  with_its_machine);
    }
    if (agent_is_member(agent) && with_its_machine && count_present(agent) < agent->majority)
        restart(agent, "parted from the majority");
}

void agent_left(struct agent *agent, int64_t now, struct address who, bool with_its_machine)
{
    agent->now = now;
    if (agent->phase == PHASE_JOINING)
        joining_keep_left(agent, who, with_its_machine);
    agent_note_left(agent, who, with_its_machine);
    agent_flush(agent);
}

void agent_connected(struct agent *agent, int64_t now, struct address self, uint32_t nodes)
{
    agent->now = now;
    agent->node = self.node;
    agent->pid = self.pid;
    agent->nodes = nodes ? nodes : 1;
    agent->majority = agent->nodes / 2 + 1;
    joining_seek(agent);
    agent_flush(agent);
}

void agent_cut(struct agent *agent, int64_t now, const char *why)
{
    agent->now = now;
    if (agent->phase != PHASE_OFF)
        agent_forget(agent, why);
    agent_state_changes(agent, AGENT_NO_QUORUM);
}

void agent_query(struct agent *agent, int64_t now, uint64_t query)
{
    agent->now = now;
    parcel_record(&agent->out, RECORD_QUERY);
    parcel_u64(&agent->out, query);
    parcel_end_record(&agent->out);
    agent_flush(agent);
}

int64_t agent_tick(struct agent *agent, int64_t now)
{
    agent->now = now;
    int64_t due = now + LOOK_AGAIN_MS * MS;
    if (agent_is_member(agent)) {
        lease_tick(agent);
        if (!agent_is_member(agent))
            joining_seek(agent);
        else if (agent->renewal_due < due)
            due = agent->renewal_due;
        if (agent->quarantine > now && agent->quarantine < due)
            due = agent->quarantine;
        holdings_tick(agent);
        deaths_tick(agent);
        if (agent->owed_next < due)
            due = agent->owed_next;
    } else if (agent->phase != PHASE_OFF) {
        joining_tick(agent);
    }
    agent_flush(agent);
    return due;
}
