/* SPDX-License-Identifier: MIT */
/* Deaths inside that nobody has been told of yet, when the group in which they happened is no more.
 *
 * While a group lives it knows of every death: a member tells of those that it finds when it takes
 * a permission back, and what a member has lost, or had when it was buried, counts as one. But a
 * group that begins anew knows nothing. So every agent keeps the deaths that it knew to be untold,
 * finds out by a passage of its own what became of those who were inside by permissions that it
 * lost, and says all of it in its HELLO: it counts if the group has begun since the agent was last
 * a member of one.
 *
 * Over links nobody overhears a death. The protocol has a number for each, and says which is the
 * greatest of which nobody has been told (node.h); the page says so too, so that an agent that
 * comes after this one knows (`doubtful`).
 */
#include "agent/core/parts.h"

#include "protocols/messages/node.h"

void deaths_sweep(struct agent *agent, struct resource *resource)
{
    if (resource->taking_back || is_without(agent, WITHOUT_SWEEPING))
        return; /* somebody is on its way */
    resource->taking_back = true;
    effect_on(agent, DO_TAKE_BACK, resource)->mode = PERMISSION_EXCLUSIVE;
}

static void apply(struct agent *agent, const char *name, size_t length)
{
    struct resource *resource = names_find(agent, name, length);
    if (!resource || !resource->in_group)
        resource = resources_create(agent, name, length, NO_SLOT);
    if (!resource && agent_is_member(agent) && agent->group_count < agent->options.names &&
        length >= 1 && length <= PERMISSION_NAME_MOST)
        group_restart(agent, CUT_NO_ROOM); /* the others have it */
    if (!resource || resource->told)
        return;
    if (agent_is_apart(agent)) {
        members_next_view(agent); /* so that it has a number of its own */
        node_counts_death(resource_node(resource), agent->view);
        resource->ledger_died = larger(resource->ledger_died, agent->view << FENCE_VIEW_SHIFT);
        deaths_publish(agent, resource);
    } else if (!resource->death) {
        effect_tell_death(agent, resource, true);
    }
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

static bool is_doubtful(const struct resource *resource)
{
    return resource->length && (resource->death || resource->died_here || resource->was_lost);
}

void deaths_write_doubtful(struct agent *agent)
{
    uint32_t count = 0;
    for (unsigned at = 0; at < agent->resources; at++)
        count += is_doubtful(&agent->resource[at]);
    parcel_u32(&agent->out, count);
    for (unsigned at = 0; at < agent->resources; at++)
        if (is_doubtful(&agent->resource[at]))
            parcel_text(&agent->out, agent->resource[at].name, agent->resource[at].length);
}

void deaths_pass_doubtful(struct reader *fields)
{
    const uint32_t count = read_u32(fields);
    const char *name;
    for (uint32_t at = 0; at < count && !fields->bad; at++)
        read_text(fields, &name);
}

void deaths_read(struct agent *agent, bool count_them, struct reader *fields)
{
    const uint64_t last_view = read_u64(fields);
    const uint32_t count = read_u32(fields);
    for (uint32_t at = 0; at < count && !fields->bad && agent_is_member(agent); at++) {
        const char *name;
        const size_t length = read_text(fields, &name);
        if (!fields->bad && count_them && last_view < agent->founded)
            apply(agent, name, length);
    }
}

void deaths_record(struct agent *agent, struct reader *fields)
{
    const char *name;
    const size_t length = read_text(fields, &name);
    if (!fields->bad)
        apply(agent, name, length);
}

static void put_died(struct agent *agent, const struct resource *resource)
{
    parcel_record(&agent->out, RECORD_DIED);
    parcel_text(&agent->out, resource->name, resource->length);
    parcel_end_record(&agent->out);
}

/* A sweep has found one. A group that was there when the permission was lost has counted it
 * already. Until the group that is to count it knows, it stands in the page: should I be killed
 * before, the next agent says it. */
void deaths_found(struct agent *agent, struct resource *resource)
{
    if (!agent_is_member(agent)) {
        resource->died_here = resource->death = true;
    } else if (agent->last_view < agent->founded) {
        put_died(agent, resource);
        resource->death |= !resource->granted;
    }
}

/* Who had it, or waited; over links, who may have had it: those that use it, and whose permission
 * is not here. */
static slot_set concerned(const struct agent *agent, const struct resource *resource)
{
    slot_set slots = 0;
    for (uint32_t slot = 0; slot < SLOTS && agent_is_apart(agent); slot++)
        if (resource->users & slot_bit(slot) &&
            agent->options.protocol->lacks(resource->state, slot, MODE_EXCLUSIVE))
            slots |= slot_bit(slot);
    if (agent_is_apart(agent))
        return slots;
    for (unsigned mode = 0; mode < PERMISSION_MODES; mode++)
        slots |= resource->holding[mode] | resource->waiting[mode];
    return resource->holding[PERMISSION_EXCLUSIVE] ? resource->holding[PERMISSION_EXCLUSIVE]
                                                   : slots;
}

void deaths_note_holders(struct agent *agent)
{
    slot_set others = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        const struct member *member = &agent->member[slot];
        agent->former[slot] = member->node;
        others |= member->used && member->node != agent->node ? slot_bit(slot) : 0;
    }
    for (uint32_t at = 0; at < agent->group_count; at++)
        agent->group[at]->held_by = concerned(agent, agent->group[at]) & others;
}

static bool is_there(const struct agent *agent, uint32_t node)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (member_is_alive(&agent->member[slot]) && agent->member[slot].node == node)
            return true;
    return false;
}

static bool has_gone(const struct agent *agent, slot_set slots)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (slots & slot_bit(slot) && !is_there(agent, agent->former[slot]))
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
        if (has_gone(agent, resource->held_by) && !is_without(agent, WITHOUT_DOUBTS))
            put_died(agent, resource);
        resource->held_by = 0;
    }
}

void deaths_begin(struct agent *agent)
{
    for (unsigned at = 0; at < agent->resources; at++)
        if (is_untold(agent, &agent->resource[at])) {
            agent->resource[at].death = false;
            apply(agent, agent->resource[at].name, agent->resource[at].length);
        }
    deaths_settle(agent);
}

bool deaths_are_to_come(const struct agent *agent, const struct resource *resource)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (resource->in_group && resource->members & slot_bit(slot) && agent->member[slot].ghost &&
            agent->member[slot].node == agent->node)
            return true;
    return false;
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
        resource->was_lost = resource->was_lost && deaths_are_to_come(agent, resource);
        if (!agent->doubts_due)
            resource->held_by = 0;
        if (!resource->in_group && resource->death)
            effect_tell_death(agent, resource, false);
    }
}

/* What a ghost of mine has was announced to those here before: its end will say what became of it.
 */
void deaths_publish(struct agent *agent, struct resource *resource)
{
    if (!agent_is_apart(agent) || !resource->state || resource->ghost >= 0)
        return;
    const struct node *node = resource_node(resource);
    const uint64_t told = resource->granted ? larger(node->told, resource->told_here) : node->told;
    const bool death = node->died > told;
    if (death && (!resource->death || resource->dying <= told)) /* another, perhaps */
        resource->dying = node->died;
    if (death != resource->death)
        effect_tell_death(agent, resource, death);
}

/* Somebody inside here has been told. Who shares is told too, but the next that is alone will be
 * once more. */
void deaths_told(struct agent *agent, struct resource *resource)
{
    if (!resource->death || !resource->granted)
        return;
    if (resource->mode == PERMISSION_EXCLUSIVE)
        notes_put_told(agent, resource,
                       resource->ghost >= 0 ? resource->base - 1 : resource->dying);
    if (resource->ghost >= 0) {
        effect_tell_death(agent, resource, false);
    } else {
        resource->told_here = resource->dying;
        passages_step(agent, resource,
                      &(struct event){.kind = EVENT_TOLD, .number = resource->dying});
    }
}
