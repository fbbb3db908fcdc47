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
#include "agent/core/parts.h"

enum {
    PATIENCE_MS = 1000,
    RETRY_MS = 2500,
    RETRY_MOST_MS = 10 * 1000,
    PAUSE_MOST_MS = 40 * 1000,
    HEARINGS_A_LEASE = 10,
    /* changes of an earlier group of which nobody who is there may have heard: the last that used
     * one may be gone, and the others have been stopped */
    VIEWS_UNHEARD = 256
};

static int64_t obliged_for(const struct agent *agent)
{
    return agent->obliged > agent->now && !is_without(agent, WITHOUT_OBLIGATIONS)
               ? agent->obliged - agent->now
               : 0;
}

/* The slot that must stay a member of the resource, because the machine has the permission by it
 * (A4) or owes it still (A6); or -1. */
static int kept_slot(const struct agent *agent, const struct resource *resource)
{
    if (resource->granted && resource->ghost >= 0)
        return is_without(agent, WITHOUT_GHOSTS) ? -1 : resource->ghost;
    return resource->owed > agent->now && !is_without(agent, WITHOUT_OWING) ? resource->owed_slot
                                                                            : -1;
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

/* Different for every HELLO, and from those of other processes as far as their nonces are: a
 * bijection of 64 bits (Steele, Lea and Flood's SplitMix). */
static uint64_t next_incarnation(struct agent *agent)
{
    uint64_t mixed = agent->options.nonce + ++agent->incarnations * UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

static void begin_search(struct agent *agent, int64_t patience)
{
    agent->phase = PHASE_SEEKING;
    agent->incarnation = next_incarnation(agent);
    agent->searching_since = agent->now;
    agent->patience = patience;
    agent->nays = 0;
    agent->founding = false;
    agent->kept_length = 0;
    effect_tell_state(agent, AGENT_JOINING);
}

void joining_put_off(struct agent *agent)
{
    const int64_t least = (int64_t)RETRY_MS * MS, most = (int64_t)PAUSE_MOST_MS * MS;
    const int64_t twice = 2 * agent->pause;
    agent->pause = twice < least ? least : twice < most ? twice : most;
    begin_search(agent, agent->pause);
}

void joining_seek(struct agent *agent)
{
    begin_search(agent, (int64_t)RETRY_MS * MS);
    parcel_record(&agent->out, RECORD_HELLO);
    parcel_u64(&agent->out, agent->incarnation);
    parcel_u64(&agent->out, agent->known_view);
    parcel_u64(&agent->out, (uint64_t)obliged_for(agent));
    parcel_u64(&agent->out, agent->options.pages);
    parcel_text(&agent->out, agent->options.protocol->name, strlen(agent->options.protocol->name));
    parcel_u64(&agent->out, (uint64_t)agent->options.lease);
    parcel_u64(&agent->out, (uint64_t)agent->options.grace);
    parcel_u8(&agent->out, agent_is_apart(agent));
    parcel_put(&agent->out, &agent->options.endpoint, sizeof agent->options.endpoint);
    deaths_write(agent);
    deaths_write_doubtful(agent);
    write_kept(agent);
    parcel_end_record(&agent->out);
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

static void note_nay(struct agent *agent, struct address from, uint64_t view, int64_t obliged)
{
    /* another agent of this machine: it counts once, and what that one owes, this one does */
    if (from.node == agent->node) {
        const int64_t until = agent->now + obliged;
        agent->obliged = until > agent->obliged ? until : agent->obliged;
        return;
    }
    for (unsigned at = 0; at < agent->nays; at++)
        if (agent->nay[at].node == from.node)
            return;
    if (agent->nays < SLOTS)
        agent->nay[agent->nays++] =
            (struct nay){.node = from.node, .pid = from.pid, .view = view, .obliged = obliged};
    joining_tick(agent);
}

void joining_hello(struct agent *agent, struct address from, struct reader *fields)
{
    const uint64_t incarnation = read_u64(fields), view = read_u64(fields);
    const int64_t obliged = read_span(fields, agent->options.grace);
    remember_hello(agent, from, incarnation);
    if (agent_is_member(agent)) {
        admission(agent, from, incarnation, fields);
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
    const char *why;
    const bool mine = read_u64(fields) == agent->incarnation;
    const size_t length = read_text(fields, &why);
    if (!mine || agent_is_member(agent) || fields->bad)
        return;
    struct agent_effect *effect = effect_add(agent, DO_STOP);
    effect->answer.text = why;
    effect->answer.length = length;
}

void joining_nay(struct agent *agent, struct address from, struct reader *fields)
{
    const bool mine = read_u64(fields) == agent->incarnation;
    const uint64_t view = read_u64(fields);
    const int64_t obliged = read_span(fields, agent->options.grace);
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

static void found(struct agent *agent)
{
    /* the clock on the wall grows by itself, should the files with the last view be lost */
    uint64_t view = agent->known_view > agent->minute ? agent->known_view : agent->minute;
    int64_t quarantine = obliged_for(agent);
    for (unsigned at = 0; at < agent->nays; at++) {
        if (agent->nay[at].view > view && !is_without(agent, WITHOUT_KNOWN_VIEWS))
            view = agent->nay[at].view;
        quarantine = agent->nay[at].obliged > quarantine ? agent->nay[at].obliged : quarantine;
    }
    view += is_without(agent, WITHOUT_KNOWN_VIEWS) ? 0 : VIEWS_UNHEARD;
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

/* A group that is alive has found my HELLO. It may not want me yet; but where there are very many
 * names the STATE may be on its way still, and another HELLO would make this one void. */
static int64_t next_patience(const struct agent *agent)
{
    const int64_t twice = 2 * agent->patience, most = (int64_t)RETRY_MOST_MS * MS;
    if (agent->phase != PHASE_JOINING || agent->hello_count > 0)
        return (int64_t)RETRY_MS * MS;
    return twice < most ? twice : most;
}

static void seek_again(struct agent *agent)
{
    const int64_t patience = next_patience(agent);
    joining_seek(agent);
    agent->patience = patience;
}

void joining_tick(struct agent *agent)
{
    const int64_t waited = agent->now - agent->searching_since;
    const uint32_t present = agent->nays + 1;
    if (agent->phase == PHASE_JOINING && !agent->founding && present >= agent->majority &&
        is_lowest(agent) && (present >= agent->nodes || waited >= (int64_t)PATIENCE_MS * MS))
        found(agent);
    else if (waited >= agent->patience)
        seek_again(agent);
}

/* Whoever is a member now has its first renewal to send, and may find that what it had inherited is
 * gone. */
void joining_become_member(struct agent *agent)
{
    agent->phase = PHASE_MEMBER;
    agent->pause = 0;
    agent->sequence = 0;
    agent->deadline = 0;
    peers_add_all(agent);
    holdings_settle_inheritance(agent);
    effect_say(agent, LINE_MEMBER)->say.slot = agent->self;
    lease_renew(agent);
}

void joining_found(struct agent *agent, struct address from, struct reader *fields)
{
    const uint64_t incarnation = read_u64(fields), view = read_u64(fields);
    const int64_t quarantine = read_span(fields, agent->options.grace);
    const bool counts = !fields->bad && forget_hellos(agent, from, incarnation);
    if (incarnation != agent->incarnation) {
        if (agent_is_member(agent) && counts)
            group_forget(agent, CUT_LEFT_OUT);
        if (!agent_is_member(agent)) /* even if it does not count: there is somebody to ask */
            joining_seek(agent);
        return;
    }
    if (!counts)
        return;
    agent->kept_length = 0;
    parcel_begin(&agent->out); /* what was to be said as one that is no member */
    agent->view = view;
    agent->self = members_add(agent, from, incarnation, agent->options.pages);
    agent->founded = agent->view;
    agent->quarantine = is_without(agent, WITHOUT_QUARANTINE) ? 0 : agent->now + quarantine;
    deaths_begin(agent);
    effect_say(agent, LINE_BEGUN)->say.number = (uint64_t)quarantine;
    joining_become_member(agent);
}
