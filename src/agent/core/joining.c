/* SPDX-License-Identifier: MIT */
/* How an agent becomes a member.
 *
 * It says HELLO. Members that find it in their order make it one of them, and send it the STATE of
 * that moment; it keeps what is delivered in between, and takes it after the STATE. Who is no
 * member answers NAY. If agents on a majority of the machines are no members, there is no group
 * that could have a lease, or will have one longer: the lowest of them begins one (FOUND), and the
 * others say HELLO again. A FOUND counts if between it and the HELLO it stands on there is, in the
 * order, neither another FOUND that counts nor a renewal: then a group had begun meanwhile, or was
 * alive, and will answer. All agree on that, for all have the same order. Whoever is a member of an
 * old group when a FOUND counts is cut.
 *
 * A new group grants nothing until whatever an earlier one granted must have ended: for the grace;
 * or, if agents on all machines are there to say so, as long as their old leases last.
 */
#include "agent/core/agent.h"

#include <stdlib.h>

enum {
    MS = 1000 * 1000,
    PATIENCE_MS = 1000,
    RETRY_MS = 2500,
    HEARINGS_A_LEASE = 10,
    SECONDS_2026 = 1767225600
};

struct kept_parcel {
    struct kept_parcel *next;
    struct address from;
    bool left, with_its_machine; /* not a parcel: who has left */
    size_t length;
    uint8_t bytes[];
};

void joining_drop_kept(struct agent *agent)
{
    while (agent->kept) {
        struct kept_parcel *next = agent->kept->next;
        free(agent->kept);
        agent->kept = next;
    }
    agent->kept_end = &agent->kept;
}

static struct kept_parcel *keep(struct agent *agent, struct address from, size_t length)
{
    struct kept_parcel *kept = malloc(sizeof *kept + length);
    if (!kept) {
        fputs("afteryou agent: out of memory\n", stderr);
        abort();
    }
    *kept = (struct kept_parcel){.from = from, .length = length};
    *agent->kept_end = kept;
    agent->kept_end = &kept->next;
    return kept;
}

void joining_keep(struct agent *agent, struct address from, const void *bytes, size_t length)
{
    memcpy(keep(agent, from, length)->bytes, bytes, length);
}

void joining_keep_left(struct agent *agent, struct address who, bool with_its_machine)
{
    struct kept_parcel *kept = keep(agent, who, 0);
    kept->left = true;
    kept->with_its_machine = with_its_machine;
}

static int64_t obliged_for(const struct agent *agent)
{
    return agent->obliged > agent->now ? agent->obliged - agent->now : 0;
}

/* The slot that must stay a member of the resource, because the machine has the permission by it
 * (A4) or owes it still (A6); or -1. */
static int kept_slot(const struct agent *agent, const struct resource *resource)
{
    if (resource->granted && resource->ghost >= 0)
        return resource->ghost;
    return resource->owed > agent->now ? resource->owed_slot : -1;
}

static uint32_t count_kept(const struct agent *agent)
{
    uint32_t count = 0;
    for (unsigned at = 0; at < agent->resources; at++)
        count += kept_slot(agent, &agent->resource[at]) >= 0;
    return count;
}

static void write_kept(struct agent *agent)
{
    parcel_u32(&agent->out, count_kept(agent));
    for (unsigned at = 0; at < agent->resources; at++) {
        const struct resource *resource = &agent->resource[at];
        const int slot = kept_slot(agent, resource);
        if (slot >= 0) {
            parcel_u8(&agent->out, (uint8_t)slot);
            parcel_text(&agent->out, resource->name, resource->length);
        }
    }
}

void joining_seek(struct agent *agent)
{
    agent->phase = PHASE_SEEKING;
    agent->incarnation = agent->around.nonce(agent->around.arg);
    agent->said_hello = agent->now;
    agent->nays = 0;
    agent->founding = false;
    joining_drop_kept(agent);
    agent_state_changes(agent, AGENT_JOINING);
    parcel_record(&agent->out, RECORD_HELLO);
    parcel_u64(&agent->out, agent->incarnation);
    parcel_u64(&agent->out, agent->known_view);
    parcel_u64(&agent->out, (uint64_t)obliged_for(agent));
    parcel_u64(&agent->out, agent->options.pages);
    parcel_text(&agent->out, agent->options.protocol->name, strlen(agent->options.protocol->name));
    parcel_u64(&agent->out, (uint64_t)agent->options.lease);
    parcel_u64(&agent->out, (uint64_t)agent->options.grace);
    deaths_write(agent);
    write_kept(agent);
    parcel_end_record(&agent->out);
}

/* NULL, or what we do not agree on. */
static const char *disagreement(const struct agent *agent, struct reader *fields)
{
    const char *name;
    const size_t length = read_text(fields, &name);
    const uint64_t lease = read_u64(fields), grace = read_u64(fields);
    if (fields->bad)
        return "another version of the agent";
    if (length != strlen(agent->options.protocol->name) ||
        memcmp(name, agent->options.protocol->name, length) != 0)
        return "another protocol";
    if (lease != (uint64_t)agent->options.lease || grace != (uint64_t)agent->options.grace)
        return "another lease or grace";
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
        if (member->used && !member->ghost && !member->gone && member->node == from.node &&
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
            return true;
    return false;
}

static uint32_t lowest_member(const struct agent *agent)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (agent->member[slot].used && !agent->member[slot].ghost)
            return slot;
    return NO_SLOT;
}

/* A HELLO at its place in the order, as members find it. */
static void admit(struct agent *agent, struct address from, uint64_t incarnation,
                  struct reader *fields)
{
    const uint64_t pages = read_u64(fields);
    const char *why = disagreement(agent, fields);
    if (why) {
        refuse(agent, incarnation, why);
        return;
    }
    if (is_second(agent, from)) {
        agent_log(agent, LOG_WARNING, "second-agent", "node=%u pid=%u", from.node, from.pid);
        return; /* it will ask again */
    }
    if (cannot_vouch(agent, from, pages)) {
        agent_log(agent, LOG_WARNING, "other-pages", "node=%u pid=%u", from.node, from.pid);
        return; /* it will ask again, and be let in when its predecessor has been buried */
    }
    struct reader deaths = *fields;
    deaths_read(agent, NO_SLOT, fields);
    members_succeed(agent, from.node, NO_SLOT, fields);
    /* before it joins: it is not the one who creates them */
    deaths_read(agent, lowest_member(agent), &deaths);
    const uint32_t slot = members_add(agent, from, incarnation, pages);
    if (slot == NO_SLOT) {
        agent_log(agent, LOG_WARNING, "no-slot", "node=%u", from.node);
        return; /* it will ask again */
    }
    agent_log(agent, LOG_INFORMATION, "joined", "node=%u slot=%u view=%llu", from.node, slot,
              (unsigned long long)agent->view);
    resources_joined(agent, slot);
    write_state(agent, incarnation, slot);
    lease_renew(agent); /* so that the newcomer is acknowledged soon */
}

static void remember_hello(struct agent *agent, struct address from, uint64_t incarnation)
{
    if (agent->hello_count == SLOTS) {
        memmove(agent->hellos, agent->hellos + 1, (SLOTS - 1) * sizeof *agent->hellos);
        agent->hello_count--;
    }
    agent->hellos[agent->hello_count++] = (struct hello){.from = from, .incarnation = incarnation};
}

static bool forget_hellos(struct agent *agent, struct address from, uint64_t incarnation)
{
    bool known = false;
    for (unsigned at = 0; at < agent->hello_count; at++)
        known |= agent->hellos[at].incarnation == incarnation &&
                 agent->hellos[at].from.node == from.node && agent->hellos[at].from.pid == from.pid;
    if (known)
        agent->hello_count = 0;
    return known;
}

static void note_nay(struct agent *agent, struct address from, uint64_t view, uint64_t obliged)
{
    /* another agent of this machine: it counts once, and what that one owes, this one does */
    if (from.node == agent->node) {
        const int64_t until = agent->now + (int64_t)obliged;
        agent->obliged = until > agent->obliged ? until : agent->obliged;
        return;
    }
    for (unsigned at = 0; at < agent->nays; at++)
        if (agent->nay[at].node == from.node)
            return;
    if (agent->nays < SLOTS)
        agent->nay[agent->nays++] = (struct nay){
            .node = from.node, .pid = from.pid, .view = view, .obliged = (int64_t)obliged};
    joining_tick(agent);
}

void joining_hello(struct agent *agent, struct address from, struct reader *fields)
{
    const uint64_t incarnation = read_u64(fields), view = read_u64(fields),
                   obliged = read_u64(fields);
    remember_hello(agent, from, incarnation);
    if (agent_is_member(agent)) {
        admit(agent, from, incarnation, fields);
    } else if (incarnation == agent->incarnation) {
        agent->phase = PHASE_JOINING;
        joining_tick(agent);
    } else if (from.node != agent->node || from.pid != agent->pid) {
        parcel_record(&agent->out, RECORD_NAY);
        parcel_u64(&agent->out, incarnation);
        parcel_u64(&agent->out, agent->known_view);
        parcel_u64(&agent->out, (uint64_t)obliged_for(agent));
        parcel_end_record(&agent->out);
        if (agent->phase == PHASE_JOINING) /* after mine: it was no member then */
            note_nay(agent, from, view, obliged);
    }
}

void joining_refusal(struct agent *agent, struct reader *fields)
{
    char text[256];
    const char *why;
    const bool mine = read_u64(fields) == agent->incarnation;
    const size_t length = read_text(fields, &why);
    if (!mine || agent_is_member(agent) || fields->bad)
        return;
    snprintf(text, sizeof text, "the agents of the other machines have %.*s", (int)length, why);
    agent->around.refused(agent->around.arg, text);
}

void joining_nay(struct agent *agent, struct address from, struct reader *fields)
{
    const bool mine = read_u64(fields) == agent->incarnation;
    const uint64_t view = read_u64(fields), obliged = read_u64(fields);
    if (mine && !agent_is_member(agent) && !fields->bad)
        note_nay(agent, from, view, obliged);
}

/* Whoever has the lowest address of those who are no members. */
static bool is_lowest(const struct agent *agent)
{
    for (unsigned at = 0; at < agent->nays; at++)
        if (agent->nay[at].node < agent->node)
            return false;
    return true;
}

/* Minutes since 2026: grows by itself, should the files with the last view be lost. */
static uint64_t view_of_clock(void)
{
    const int64_t seconds = clock_ns(CLOCK_REALTIME) / (1000 * MS) - SECONDS_2026;
    return seconds > 0 ? (uint64_t)seconds / 60 : 0;
}

static void found(struct agent *agent)
{
    uint64_t view = agent->known_view > view_of_clock() ? agent->known_view : view_of_clock();
    int64_t quarantine = obliged_for(agent);
    for (unsigned at = 0; at < agent->nays; at++) {
        view = agent->nay[at].view > view ? agent->nay[at].view : view;
        quarantine = agent->nay[at].obliged > quarantine ? agent->nay[at].obliged : quarantine;
    }
    if (agent->nays + 1 < agent->nodes)
        quarantine = agent->options.grace;
    else if (quarantine < agent->options.lease / HEARINGS_A_LEASE)
        /* all that are there can say which deaths they know of */
        quarantine = agent->options.lease / HEARINGS_A_LEASE;
    agent->founding = true;
    parcel_record(&agent->out, RECORD_FOUND);
    parcel_u64(&agent->out, agent->incarnation);
    parcel_u64(&agent->out, view);
    parcel_u64(&agent->out, (uint64_t)quarantine);
    parcel_end_record(&agent->out);
}

void joining_tick(struct agent *agent)
{
    const int64_t waited = agent->now - agent->said_hello;
    const uint32_t present = agent->nays + 1;
    if (agent->phase == PHASE_JOINING && !agent->founding && present >= agent->majority &&
        is_lowest(agent) && (present >= agent->nodes || waited >= (int64_t)PATIENCE_MS * MS))
        found(agent);
    else if (waited >= (int64_t)RETRY_MS * MS)
        joining_seek(agent);
}

/* Whoever is a member now has its first renewal to send, and may find that what it had inherited is
 * gone. */
static void become_member(struct agent *agent)
{
    agent->phase = PHASE_MEMBER;
    agent->sequence = 0;
    agent->deadline = 0;
    holdings_settle_inheritance(agent);
    agent_log(agent, LOG_INFORMATION, "member", "slot=%u view=%llu", agent->self,
              (unsigned long long)agent->view);
    lease_renew(agent);
}

void joining_found(struct agent *agent, struct address from, struct reader *fields)
{
    const uint64_t incarnation = read_u64(fields), view = read_u64(fields),
                   quarantine = read_u64(fields);
    const bool counts = !fields->bad && forget_hellos(agent, from, incarnation);
    if (incarnation != agent->incarnation) {
        if (agent_is_member(agent) && counts)
            agent_forget(agent, "the others have begun without me");
        if (!agent_is_member(agent)) /* even if it does not count: there is somebody to ask */
            joining_seek(agent);
        return;
    }
    if (!counts)
        return;
    joining_drop_kept(agent);
    parcel_begin(&agent->out); /* what was to be said as one that is no member */
    agent->view = view;
    agent->self = members_add(agent, from, incarnation, agent->options.pages);
    agent->founded = agent->view;
    agent->quarantine = agent->now + (int64_t)quarantine;
    deaths_begin(agent);
    agent_log(agent, LOG_INFORMATION, "begun", "view=%llu quarantine_ms=%lld",
              (unsigned long long)agent->view, (long long)quarantine / MS);
    become_member(agent);
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
    }
    return !fields->bad;
}

static void replay(struct agent *agent)
{
    struct kept_parcel *kept = agent->kept;
    const uint64_t incarnation = agent->incarnation;
    agent->kept = NULL;
    agent->kept_end = &agent->kept;
    while (kept) {
        struct kept_parcel *next = kept->next;
        const bool goes_on = agent->incarnation == incarnation && agent_is_member(agent);
        if (goes_on && kept->left)
            agent_note_left(agent, kept->from, kept->with_its_machine);
        else if (goes_on)
            agent_process(agent, kept->from, kept->bytes, kept->length);
        free(kept);
        kept = next;
    }
}

void joining_state(struct agent *agent, struct reader *fields)
{
    if (read_u64(fields) != agent->incarnation)
        return;
    const uint8_t slot = read_u8(fields);
    const uint64_t view = read_u64(fields), founded = read_u64(fields),
                   quarantine = read_u64(fields);
    agent->self = slot;
    agent->view = view;
    agent->founded = founded;
    agent->quarantine = agent->now + (int64_t)quarantine;
    if (!read_members(agent, fields) || slot >= SLOTS || !agent->member[slot].used ||
        !resources_read_state(agent, fields)) {
        agent_forget(agent, "a state that makes no sense");
        joining_seek(agent);
        return;
    }
    agent->around.keep_view(agent->around.arg, view);
    agent->known_view = view > agent->known_view ? view : agent->known_view;
    parcel_begin(&agent->out);
    deaths_settle(agent);
    become_member(agent);
    replay(agent);
}
