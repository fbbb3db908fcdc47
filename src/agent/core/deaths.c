/* SPDX-License-Identifier: MIT */
/* Deaths inside that nobody has been told of yet, when the group in which they happened is no more.
 *
 * While a group lives it knows of every death: a member tells of those that it finds when it takes
 * a permission back, and what a member has lost, or had when it was buried, counts as one. But a
 * group that begins anew knows nothing. So every agent keeps the deaths that it knew to be untold,
 * finds out by a passage of its own what became of those who were inside by permissions that it
 * lost, and says all of it in its HELLO: it counts if the group has begun since the agent was last
 * a member of one.
 */
#include "agent/core/parts.h"

void deaths_sweep(struct agent *agent, struct resource *resource)
{
    if (resource->taking_back || is_without(agent, WITHOUT_SWEEPING))
        return; /* somebody is on its way */
    resource->taking_back = true;
    effect_on(agent, DO_TAKE_BACK, resource);
}

static void apply(struct agent *agent, uint32_t creator, const char *name, size_t length)
{
    struct resource *resource = names_find(agent, name, length);
    if (!resource || !resource->in_group)
        resource = resources_create(agent, name, length, creator);
    if (!resource || resource->death || resource->told)
        return;
    effect_tell_death(agent, resource, true);
}

static bool is_untold(const struct agent *agent, const struct resource *resource)
{
    return resource->length && (resource->death || resource->died_here) &&
           !is_without(agent, WITHOUT_DEATHS_IN_HELLO);
}

void deaths_write(struct agent *agent)
{
    uint32_t count = 0;
    for (unsigned at = 0; at < agent->resources; at++)
        count += is_untold(agent, &agent->resource[at]);
    parcel_u64(&agent->out, agent->last_view);
    parcel_u32(&agent->out, count);
    for (unsigned at = 0; at < agent->resources; at++)
        if (is_untold(agent, &agent->resource[at]))
            parcel_text(&agent->out, agent->resource[at].name, agent->resource[at].length);
}

/* With NO_SLOT they are passed over. */
void deaths_read(struct agent *agent, uint32_t creator, struct reader *fields)
{
    const uint64_t last_view = read_u64(fields);
    const uint32_t count = read_u32(fields);
    for (uint32_t at = 0; at < count && !fields->bad; at++) {
        const char *name;
        const size_t length = read_text(fields, &name);
        if (!fields->bad && creator != NO_SLOT && last_view < agent->founded)
            apply(agent, creator, name, length);
    }
}

void deaths_record(struct agent *agent, uint32_t slot, struct reader *fields)
{
    const char *name;
    const size_t length = read_text(fields, &name);
    if (!fields->bad)
        apply(agent, slot, name, length);
}

static void put_died(struct agent *agent, const struct resource *resource)
{
    parcel_record(&agent->out, RECORD_DIED);
    parcel_text(&agent->out, resource->name, resource->length);
    parcel_end_record(&agent->out);
}

/* A sweep has found one. A group that was there when the permission was lost has counted it
 * already. */
void deaths_found(struct agent *agent, struct resource *resource)
{
    if (!agent_is_member(agent)) {
        resource->died_here = true;
    } else if (agent->last_view < agent->founded) {
        put_died(agent, resource);
    }
}

void deaths_note_holders(struct agent *agent)
{
    for (uint32_t at = 0; at < agent->group_count; at++) {
        struct resource *resource = agent->group[at];
        uint64_t concerned = 0;
        for (unsigned mode = PERMISSION_SHARED; mode <= PERMISSION_EXCLUSIVE; mode++)
            concerned |= resource->holding[mode] | resource->waiting[mode];
        resource->held_by = 0;
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            if (concerned & slot_bit(slot) && agent->member[slot].used &&
                agent->member[slot].node != agent->node &&
                (!resource->held_by || resource->holding[PERMISSION_EXCLUSIVE] & slot_bit(slot)))
                resource->held_by = agent->member[slot].node + 1;
    }
}

static bool is_there(const struct agent *agent, uint32_t node)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (member_is_alive(&agent->member[slot]) && agent->member[slot].node == node)
            return true;
    return false;
}

/* As at a burial: a machine that had the permission when the group ended, and is not there when the
 * next begins, may have died with somebody inside. */
void deaths_tick(struct agent *agent)
{
    if (!agent->doubts_due || agent->doubts_due > agent->now)
        return;
    agent->doubts_due = 0;
    for (unsigned at = 0; at < agent->resources; at++) {
        struct resource *resource = &agent->resource[at];
        if (resource->held_by && !is_there(agent, resource->held_by - 1) &&
            !is_without(agent, WITHOUT_DOUBTS))
            put_died(agent, resource);
        resource->held_by = 0;
    }
}

void deaths_begin(struct agent *agent)
{
    for (unsigned at = 0; at < agent->resources; at++)
        if (is_untold(agent, &agent->resource[at])) {
            agent->resource[at].death = false;
            apply(agent, agent->self, agent->resource[at].name, agent->resource[at].length);
        }
    deaths_settle(agent);
}

/* What was to be said has been; what the group does not know by now is of no account. */
void deaths_settle(struct agent *agent)
{
    /* In the middle of its quarantine: all that are there have joined by then, and nobody has
     * entered. */
    agent->doubts_due = agent->last_view < agent->founded && agent->quarantine > agent->now
                            ? agent->now + (agent->quarantine - agent->now) / 2
                            : 0;
    for (unsigned at = 0; at < agent->resources; at++) {
        struct resource *resource = &agent->resource[at];
        resource->died_here = false;
        if (!agent->doubts_due)
            resource->held_by = 0;
        if (!resource->in_group && resource->death)
            effect_tell_death(agent, resource, false);
    }
}
