/* SPDX-License-Identifier: MIT */
/* A newcomer: it keeps what is delivered after its own HELLO, until the STATE of that moment comes;
 * then it takes what it has kept. */
#include "agent/core/parts.h"

/* What was kept, one after the other, each with its bytes behind it. */
struct kept_parcel {
    struct address from;
    bool left, with_its_machine; /* not a parcel: who has left */
    size_t length;
};

static size_t kept_size(size_t length)
{
    const size_t whole = sizeof(struct kept_parcel) + length;
    return (whole + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

static void keep(struct agent *agent, const struct kept_parcel *kept, const void *bytes)
{
    if (kept->length > KEPT_ROOM || kept_size(kept->length) > KEPT_ROOM - agent->kept_length) {
        group_restart(agent, CUT_OVERWHELMED);
        return;
    }
    memcpy(agent->kept + agent->kept_length, kept, sizeof *kept);
    if (bytes)
        memcpy(agent->kept + agent->kept_length + sizeof *kept, bytes, kept->length);
    agent->kept_length += kept_size(kept->length);
}

void newcomer_keep(struct agent *agent, struct address from, const void *bytes, size_t length)
{
    keep(agent, &(struct kept_parcel){.from = from, .length = length}, bytes);
}

void newcomer_keep_left(struct agent *agent, struct address who, bool with_its_machine)
{
    const struct kept_parcel kept = {
        .from = who, .left = true, .with_its_machine = with_its_machine};
    keep(agent, &kept, NULL);
}

static bool read_members(struct agent *agent, struct reader *fields)
{
    const uint8_t count = read_u8(fields);
    memset(agent->member, 0, sizeof agent->member);
    for (uint8_t at = 0; at < count; at++) {
        const uint8_t slot = read_u8(fields), flags = read_u8(fields);
        if (slot >= SLOTS)
            return false;
        struct member *member = &agent->member[slot];
        *member = (struct member){
            .used = true, .ghost = flags & 1, .gone = flags >> 1 & 1, .heard = agent->now};
        member->node = read_u32(fields);
        member->pid = read_u32(fields);
        member->pages = read_u64(fields);
        member->incarnation = read_u64(fields);
        member->joined = read_u64(fields);
        member->sequence = read_u64(fields);
        member->renewed = read_u64(fields);
        const void *endpoint = read_bytes(fields, sizeof member->endpoint);
        if (endpoint)
            memcpy(&member->endpoint, endpoint, sizeof member->endpoint);
    }
    return !fields->bad;
}

/* What is kept stays where it is: effects may point into it. */
static void replay(struct agent *agent)
{
    const uint64_t incarnation = agent->incarnation;
    const size_t end = agent->kept_length;
    agent->kept_length = 0;
    for (size_t at = 0; at < end && !is_without(agent, WITHOUT_REPLAY);) {
        struct kept_parcel kept;
        memcpy(&kept, agent->kept + at, sizeof kept);
        if (agent->incarnation != incarnation || !agent_is_member(agent))
            return;
        if (kept.left)
            group_note_left(agent, kept.from, kept.with_its_machine);
        else
            group_process(agent, kept.from, agent->kept + at + sizeof kept, kept.length);
        at += kept_size(kept.length);
    }
}

void newcomer_state(struct agent *agent, struct reader *fields)
{
    if (read_u64(fields) != agent->incarnation)
        return;
    const uint8_t slot = read_u8(fields);
    const uint64_t view = read_u64(fields), founded = read_u64(fields);
    const int64_t quarantine = read_span(fields, agent->options.grace);
    agent->self = slot;
    agent->view = view;
    agent->founded = founded;
    agent->quarantine = is_without(agent, WITHOUT_QUARANTINE) ? 0 : agent->now + quarantine;
    if (!read_members(agent, fields) || slot >= SLOTS || !member_is_alive(&agent->member[slot]) ||
        agent->member[slot].incarnation != agent->incarnation ||
        agent->member[slot].node != agent->node || !resources_read_state(agent, fields)) {
        group_restart(agent, CUT_BAD_STATE);
        return;
    }
    members_keep_view(agent, view);
    parcel_begin(&agent->out);
    deaths_settle(agent);
    joining_become_member(agent);
    replay(agent);
}
