/* SPDX-License-Identifier: MIT */
/* The lease: for how long what is granted to this machine holds, and when somebody else's must have
 * ended.
 *
 * Each member multicasts a renewal, with the time by its own clock, six times a lease; with it goes
 * the time in the last renewal of every other member that it has heard. Of my renewals, the latest
 * that agents on a majority of the machines (mine counted) have heard was *sent* at some time t; my
 * lease ends at t + lease.
 *
 * Whoever acknowledged that renewal had heard it by then, and nobody buries me before the grace has
 * passed since it last heard a renewal of mine: the grace is longer than the lease, and a burial is
 * void if a renewal of mine stands between in the order. So my deadline has passed, by my own
 * clock, before anybody counts me as dead, however long I was stopped; the clocks need to run at
 * the same rate within a tenth.
 */
#include "agent/core/parts.h"

enum { RENEWALS_A_LEASE = 6 };

bool lease_is_valid(const struct agent *agent)
{
    return agent_is_member(agent) && agent->deadline > agent->now;
}

bool agent_is_ready(const struct agent *agent)
{
    return lease_is_valid(agent) && agent->quarantine <= agent->now;
}

void lease_renew(struct agent *agent)
{
    uint8_t count = 0;
    agent->renewal_due = agent->now + agent->options.lease / RENEWALS_A_LEASE;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        count = (uint8_t)(count + member_is_alive(&agent->member[slot]));
    parcel_record(&agent->out, RECORD_RENEWAL);
    parcel_u64(&agent->out, (uint64_t)agent->now);
    parcel_u8(&agent->out, count);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (member_is_alive(&agent->member[slot])) {
            parcel_u8(&agent->out, (uint8_t)slot);
            parcel_u64(&agent->out, agent->member[slot].renewed);
        }
    parcel_end_record(&agent->out);
}

/* The time that agents on a majority of the machines have acknowledged, if it is later than the one
 * that my deadline counts from; 0: it is not. */
static uint64_t majority_time(const struct agent *agent)
{
    const bool counted = agent->deadline && !is_without(agent, WITHOUT_TIME_OF_SENDING);
    const uint64_t before = counted ? (uint64_t)(agent->deadline - agent->options.lease) : 0;
    uint64_t best = 0;
    for (uint32_t candidate = 0; candidate < SLOTS; candidate++) {
        const uint64_t time = agent->member[candidate].acknowledged;
        if (time <= before || time <= best)
            continue;
        uint32_t count = is_without(agent, WITHOUT_MAJORITY) ? SLOTS : 0;
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            count +=
                member_is_alive(&agent->member[slot]) && agent->member[slot].acknowledged >= time;
        if (member_is_alive(&agent->member[candidate]) && count >= agent->majority)
            best = time;
    }
    return best;
}

static void become_ready(struct agent *agent)
{
    if (!agent_is_ready(agent) || agent->was_ready)
        return;
    agent->was_ready = true;
    effect_say(agent, LINE_READY)->say.slot = agent->self;
    effect_tell_state(agent, AGENT_READY);
    passages_pursue_all(agent);
}

static void extend(struct agent *agent)
{
    const uint64_t time = majority_time(agent);
    const int64_t sent = is_without(agent, WITHOUT_TIME_OF_SENDING) ? agent->now : (int64_t)time;
    const int64_t deadline = time ? sent + agent->options.lease : 0;
    if (deadline <= agent->deadline || deadline <= agent->now)
        return;
    if (agent->deadline == 0)
        holdings_settle_inheritance(agent); /* it may have run out meanwhile */
    assert_invariant(A2, deadline <= agent->now + agent->options.lease);
    agent->inherited_until = 0;
    agent->deadline = deadline;
    agent->obliged = deadline + agent->options.grace - agent->options.lease;
    effect_add(agent, DO_LEASE)->deadline = deadline;
    become_ready(agent);
}

static bool has_lapsed(const struct agent *agent)
{
    return agent->deadline && agent->deadline <= agent->now && !is_without(agent, WITHOUT_LAPSING);
}

/* What it says of the renewals that it has heard is older by more than the grace than what all have
 * heard by now: it can write to the ledger, and not read it. So all find it, or none does. */
static bool is_behind(const struct agent *agent, uint32_t slot, struct reader fields)
{
    read_u64(&fields);
    const uint8_t count = read_u8(&fields);
    for (uint8_t at = 0; at < count; at++) {
        const uint8_t whose = read_u8(&fields);
        const uint64_t heard = read_u64(&fields);
        if (!fields.bad && whose < SLOTS && whose != slot && heard &&
            agent->member[whose].renewed > heard + (uint64_t)agent->options.grace)
            return !is_without(agent, WITHOUT_POSITION);
    }
    return false;
}

/* One that is behind is not heard of: it would be waited for until it is buried, and its renewals
 * would void that. */
void lease_renewal(struct agent *agent, uint32_t slot, struct reader *fields)
{
    struct member *member = &agent->member[slot];
    const bool is_first = member->renewed == 0;
    /* stopped, and just now going on: what is granted has been counted as lost */
    if (has_lapsed(agent)) {
        group_restart(agent, CUT_LAPSED);
        return;
    }
    if (is_behind(agent, slot, *fields))
        return;
    member->renewed = read_u64(fields);
    member->heard = agent->now;
    const uint8_t count = read_u8(fields);
    for (uint8_t at = 0; at < count; at++) {
        const uint8_t whose = read_u8(fields);
        const uint64_t time = read_u64(fields);
        /* of none that I have not sent yet, whatever the sender says */
        if (whose == agent->self && !fields->bad && time > member->acknowledged &&
            time <= (uint64_t)agent->now)
            member->acknowledged = time;
    }
    if (slot == agent->self)
        member->acknowledged = member->renewed;
    else if (is_first)
        lease_renew(agent);
    extend(agent);
}

/* Without a lease too: a member that waits for one may wait for machines whose new agents are let
 * in only when the old ones are buried. */
static void bury_the_silent(struct agent *agent)
{
    const int64_t patience =
        is_without(agent, WITHOUT_GRACE) ? agent->options.lease / 2 : agent->options.grace;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        const struct member *member = &agent->member[slot];
        if (!member_is_alive(member) || slot == agent->self ||
            agent->now - member->heard <= patience)
            continue;
        assert_invariant(A3, agent->now - member->heard > agent->options.lease ||
                                 is_without(agent, WITHOUT_GRACE));
        parcel_record(&agent->out, RECORD_BURIAL);
        parcel_u8(&agent->out, (uint8_t)slot);
        parcel_u64(&agent->out, member->incarnation);
        parcel_u64(&agent->out, member->renewed);
        parcel_end_record(&agent->out);
    }
}

void lease_tick(struct agent *agent)
{
    if (has_lapsed(agent)) {
        group_forget(agent, CUT_LAPSED);
        return;
    }
    become_ready(agent);
    if (agent->renewal_due <= agent->now)
        lease_renew(agent);
    bury_the_silent(agent);
}
