/* SPDX-License-Identifier: MIT */
/* The group: one record after the other, in the agreed order; and how it is forgotten. */
#include "agent/core/parts.h"

void group_forget(struct agent *agent, enum cut_reason why)
{
    effect_say(agent, LINE_CUT)->say.number = why;
    if (agent_is_member(agent)) {
        agent->last_view = agent->view;
        deaths_note_holders(agent);
    }
    resources_forget(agent);
    peers_forget(agent);
    memset(agent->member, 0, sizeof agent->member);
    parcel_begin(&agent->out);
    agent->phase = PHASE_OFF;
    agent->self = NO_SLOT;
    agent->sequence = 0;
    agent->kept_length = 0;
    agent->deadline = agent->quarantine = agent->doubts_due = 0;
    agent->was_ready = agent->founding = false;
    agent->hello_count = agent->queries = 0;
}

/* Every HELLO makes all members send the whole STATE: who has no room for it does not ask in one
 * go. */
void group_restart(struct agent *agent, enum cut_reason why)
{
    group_forget(agent, why);
    if (why == CUT_NO_ROOM || why == CUT_BAD_STATE || why == CUT_OVERWHELMED)
        joining_put_off(agent);
    else
        joining_seek(agent);
}

/* A1: false if this parcel is not to be taken: nor what somebody else sends in the name of a
 * member, or again. */
static bool is_in_order(struct agent *agent, struct address from, const struct parcel_head *head)
{
    struct member *sender = head->slot < SLOTS ? &agent->member[head->slot] : NULL;
    if (!sender || !member_is_alive(sender) || sender->gone ||
        sender->incarnation != head->incarnation || sender->node != from.node ||
        sender->pid != from.pid || head->sequence <= sender->sequence)
        return false;
    if (head->sequence != sender->sequence + 1 && !is_without(agent, WITHOUT_GAPS)) {
        group_restart(agent, CUT_MISSED);
        return false;
    }
    assert_invariant(A1, head->sequence == sender->sequence + 1 || is_without(agent, WITHOUT_GAPS));
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
        members_farewell(agent, slot, fields);
        break;
    case RECORD_GHOST:
        members_ghost(agent, slot, fields);
        break;
    case RECORD_DIED:
        deaths_record(agent, fields);
        break;
    case RECORD_CREATION:
        resources_creation(agent, slot, fields);
        break;
    case RECORD_FORGETTING:
        forgetting_record(agent, slot, fields);
        break;
    case RECORD_PROTOCOL:
        if (!agent_is_apart(agent))
            passages_message(agent, slot, fields);
        break;
    case RECORD_RELAYED:
        peers_relayed(agent, slot, fields);
        break;
    case RECORD_WAITING:
    case RECORD_HELD:
    case RECORD_FREED:
    case RECORD_BUSY:
    case RECORD_TOLD:
        notes_record(agent, slot, kind, fields);
        break;
    default:
        break;
    }
}

/* Who asks beyond QUERIES_MOST does without this machine's answer. */
static void take_query(struct agent *agent, struct reader *fields)
{
    const uint64_t query = read_u64(fields);
    if (fields->bad || agent->queries == QUERIES_MOST)
        return;
    if (agent->queries == 0)
        effect_add(agent, DO_DESCRIBE);
    agent->query[agent->queries++] = query;
}

static void take_answer(struct agent *agent, struct address from, struct reader *fields)
{
    const char *text;
    const uint64_t query = read_u64(fields);
    const size_t length = read_text(fields, &text);
    if (fields->bad)
        return;
    struct agent_effect *effect = effect_add(agent, DO_ANSWER);
    effect->answer.query = query;
    effect->answer.node = from.node;
    effect->answer.text = text;
    effect->answer.length = length;
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
            newcomer_state(agent, fields);
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
        if (kind == RECORD_RENEWAL && !is_without(agent, WITHOUT_SIGNS_OF_LIFE))
            agent->hello_count = 0;
}

void group_process(struct agent *agent, struct address from, const void *bytes, size_t length)
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
        if (fields.bad) {
            struct agent_effect *effect = effect_say(agent, LINE_MALFORMED);
            effect->say.node = from.node;
            effect->say.number = kind;
        }
        /* Cut, or become a member by this very parcel, which is then among those kept. */
        if (agent->incarnation != incarnation || (phase != PHASE_MEMBER && agent->phase != phase))
            return;
        if (agent->has_news) /* by a CREATION, or a death that is counted */
            peers_take_held(agent);
        agent->has_news = false;
        if (agent->incarnation != incarnation)
            return;
        if (effect_is_enough(agent)) {
            group_restart(agent, CUT_OVERWHELMED);
            return;
        }
    }
}

/* A1: machines that stand with me in the ring. */
static uint32_t count_present(const struct agent *agent)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        count += member_is_alive(&agent->member[slot]) && !agent->member[slot].parted;
    return count;
}

void group_note_left(struct agent *agent, struct address who, bool with_its_machine)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        struct member *member = &agent->member[slot];
        if (!member_is_alive(member) || member->node != who.node || member->pid != who.pid)
            continue;
        if (slot == agent->self) { /* the others count me as gone */
            group_restart(agent, CUT_PARTED);
            return;
        }
        member->gone = !is_without(agent, WITHOUT_GONE);
        member->parted |= with_its_machine;
        struct agent_effect *effect = effect_say(agent, LINE_GONE);
        effect->say.node = who.node;
        effect->say.slot = slot;
        effect->say.number = with_its_machine;
    }
    if (agent_is_member(agent) && with_its_machine && count_present(agent) < agent->majority &&
        !is_without(agent, WITHOUT_PARTING))
        group_restart(agent, CUT_PARTED);
}
