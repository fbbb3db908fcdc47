/* SPDX-License-Identifier: MIT */
/* A newcomer's HELLO at its place in the order, as members find it: who is let in, and what it is
 * told. */
#include "agent/core/parts.h"

/* NULL, or what we do not agree on. */
static const char *disagreement(const struct agent *agent, struct reader *fields)
{
    const char *name;
    const size_t length = read_text(fields, &name);
    const uint64_t lease = read_u64(fields), grace = read_u64(fields);
    const uint8_t apart = read_u8(fields);
    if (fields->bad)
        return "another version of the agent";
    if (length != strlen(agent->options.protocol->name) ||
        memcmp(name, agent->options.protocol->name, length) != 0)
        return "another protocol";
    if (lease != (uint64_t)agent->options.lease || grace != (uint64_t)agent->options.grace)
        return "another lease or grace";
    if (apart != agent_is_apart(agent))
        return apart ? "no links (--no-links)" : "links (no --no-links)";
    return NULL;
}

static void refuse(struct agent *agent, uint64_t incarnation, const char *why)
{
    parcel_record(&agent->out, RECORD_REFUSAL);
    parcel_u64(&agent->out, incarnation);
    parcel_text(&agent->out, why, strlen(why));
    parcel_end_record(&agent->out);
}

static void write_state(struct agent *agent, uint64_t incarnation, uint32_t newcomer)
{
    struct parcel *out = &agent->out;
    uint8_t count = 0;
    parcel_record(out, RECORD_STATE);
    parcel_u64(out, incarnation);
    parcel_u8(out, (uint8_t)newcomer);
    parcel_u64(out, agent->view);
    parcel_u64(out, agent->founded);
    parcel_u64(out,
               agent->quarantine > agent->now ? (uint64_t)(agent->quarantine - agent->now) : 0);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        count = (uint8_t)(count + agent->member[slot].used);
    parcel_u8(out, count);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        const struct member *member = &agent->member[slot];
        if (!member->used)
            continue;
        parcel_u8(out, (uint8_t)slot);
        parcel_u8(out, (uint8_t)(member->ghost | member->gone << 1));
        parcel_u32(out, member->node);
        parcel_u32(out, member->pid);
        parcel_u64(out, member->pages);
        parcel_u64(out, member->incarnation);
        parcel_u64(out, member->joined);
        parcel_u64(out, member->sequence);
        parcel_u64(out, member->renewed);
        parcel_put(out, &member->endpoint, sizeof member->endpoint);
    }
    resources_write_state(agent, out);
    parcel_end_record(out);
}

/* One agent a machine: a second would vouch for pages that are not the first one's (A3). The
 * transport tells of a process's end before anybody can take its place; and should it not, the
 * first is buried in time. */
static bool is_second(const struct agent *agent, struct address from)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        const struct member *member = &agent->member[slot];
        if (member_is_alive(member) && !member->gone && member->node == from.node &&
            member->pid != from.pid)
            return true;
    }
    return false;
}

/* A3: it cannot say what became of a predecessor's permissions. */
static bool cannot_vouch(const struct agent *agent, struct address from, uint64_t pages)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (agent->member[slot].used && agent->member[slot].node == from.node &&
            agent->member[slot].pages != pages)
            return !is_without(agent, WITHOUT_SAME_PAGES);
    return false;
}

static void say_of(struct agent *agent, enum agent_line line, struct address from)
{
    struct agent_effect *effect = effect_say(agent, line);
    effect->say.node = from.node;
    effect->say.number = from.pid;
}

/* It may have installed changes that nobody else has heard of, alone in its ring: no view, and so
 * no fence, is used twice. What cannot be a view is not believed. */
static void raise_view(struct agent *agent, struct reader deaths)
{
    const uint64_t last = read_u64(&deaths);
    if (!deaths.bad && last > agent->view && last >> (64 - FENCE_VIEW_SHIFT) == 0)
        agent->view = last;
}

/* A HELLO at its place in the order, as members find it. */
void admission(struct agent *agent, struct address from, uint64_t incarnation,
               struct reader *fields)
{
    const uint64_t pages = read_u64(fields);
    const char *why = disagreement(agent, fields);
    if (why) {
        refuse(agent, incarnation, why);
        return;
    }
    if (from.node == agent->node && from.pid == agent->pid) {
        group_restart(agent, CUT_LEFT_OUT); /* the others take me for a newcomer */
        return;
    }
    if (is_second(agent, from)) {
        say_of(agent, LINE_SECOND_AGENT, from);
        return; /* it will ask again */
    }
    if (cannot_vouch(agent, from, pages)) {
        say_of(agent, LINE_OTHER_PAGES, from);
        return; /* it will ask again, and be let in when its predecessor has been buried */
    }
    const void *endpoint = read_bytes(fields, sizeof(struct endpoint));
    struct reader deaths = *fields;
    deaths_read(agent, false, fields);
    struct reader doubtful = *fields;
    deaths_pass_doubtful(fields);
    raise_view(agent, deaths);
    resources_restore(agent, from.node, *fields);
    if (!agent_is_member(agent)) /* there was no room for a name */
        return;
    members_succeed(agent, from.node, pages, fields, &doubtful);
    deaths_read(agent, true, &deaths);
    if (!agent_is_member(agent)) /* there was no room for a name */
        return;
    const uint32_t slot = members_add(agent, from, incarnation, pages);
    if (slot == NO_SLOT) {
        say_of(agent, LINE_NO_SLOT, from);
        return; /* it will ask again */
    }
    effect_say_member(agent, LINE_JOINED, from.node, slot);
    if (endpoint)
        memcpy(&agent->member[slot].endpoint, endpoint, sizeof(struct endpoint));
    peers_add(agent, slot);
    resources_joined(agent, slot);
    passages_want_of_successor(agent, slot);
    write_state(agent, incarnation, slot);
    lease_renew(agent); /* so that the newcomer is acknowledged soon */
}
