/* SPDX-License-Identifier: MIT */
/* What this machine has of the resources: what its processes demand, what it takes back and gives
 * up, and what an agent inherits from one before it. */
#include "agent/core/agent.h"

void agent_is_obliged(struct agent *agent, int64_t until)
{
    agent->obliged = until;
}

void agent_inherits(struct agent *agent, unsigned resource, unsigned mode, uint32_t slot,
                    uint64_t base, uint64_t first)
{
    struct resource *inherited = &agent->resource[resource];
    inherited->granted = true;
    inherited->mode = (uint8_t)mode;
    inherited->ghost = (int)slot;
    inherited->base = base;
    inherited->first = first;
}

void holdings_owe(struct agent *agent, struct resource *resource, uint32_t slot, int64_t until)
{
    resource->owed = until;
    resource->owed_slot = (int)slot;
    if (until < agent->owed_next)
        agent->owed_next = until;
    if (until > agent->obliged)
        agent->obliged = until;
}

void agent_owes(struct agent *agent, unsigned resource, uint32_t slot, int64_t until)
{
    holdings_owe(agent, &agent->resource[resource], slot, until);
}

static void put_ghost(struct agent *agent, const struct resource *resource, uint32_t ghost,
                      bool death)
{
    parcel_record(&agent->out, RECORD_GHOST);
    parcel_u32(&agent->out, resource->index);
    parcel_u8(&agent->out, (uint8_t)ghost);
    parcel_u8(&agent->out, death);
    parcel_end_record(&agent->out);
}

static bool inheritance_holds(const struct agent *agent, const struct resource *resource)
{
    const uint32_t ghost = (uint32_t)resource->ghost;
    return resource->in_group && ghost < SLOTS && resource->members & slot_bit(ghost) &&
           agent->member[ghost].ghost && agent->member[ghost].node == agent->node &&
           (agent->inherited_until == 0 || agent->inherited_until > agent->now);
}

/* Ghosts of this machine's that are neither granted nor owed. */
static void end_ghosts(struct agent *agent, const struct resource *resource)
{
    for (uint32_t slot = 0; resource->in_group && slot < SLOTS; slot++)
        if (agent->member[slot].ghost && agent->member[slot].node == agent->node &&
            resource->members & slot_bit(slot) && resource->ghost != (int)slot &&
            !(resource->owed > agent->now && resource->owed_slot == (int)slot))
            put_ghost(agent, resource, slot, true);
}

/* A4: what the group does not know of, or has run out, is lost; what it keeps for me in vain is
 * given up. */
void holdings_settle_inheritance(struct agent *agent)
{
    for (unsigned at = 0; at < agent->resources; at++) {
        struct resource *resource = &agent->resource[at];
        if (resource->granted && resource->ghost >= 0 && !inheritance_holds(agent, resource))
            resources_withdraw(agent, resource);
        end_ghosts(agent, resource);
        resources_look_for_contest(agent, resource);
    }
}

void holdings_tick(struct agent *agent)
{
    if (agent->owed_next > agent->now)
        return;
    agent->owed_next = INT64_MAX;
    for (unsigned at = 0; at < agent->resources; at++) {
        struct resource *resource = &agent->resource[at];
        if (resource->owed && resource->owed <= agent->now) {
            resource->owed = 0;
            end_ghosts(agent, resource);
        } else if (resource->owed && resource->owed < agent->owed_next) {
            agent->owed_next = resource->owed;
        }
    }
}

static void release(struct agent *agent, struct resource *resource, uint64_t number, bool death)
{
    const uint64_t used =
        resource->base + (number > resource->first ? number - resource->first : 0);
    const int ghost = resource->ghost;
    agent_log(agent, LOG_DEBUGGING, "released", "resource=\"%s\" fence=%llu ghost=%d",
              agent_name(resource), (unsigned long long)used, ghost);
    resource->granted = false;
    resource->ghost = -1;
    agent->counters.releases++;
    if (ghost >= 0) {
        put_ghost(agent, resource, (uint32_t)ghost, death);
    } else {
        struct node *node = resource_node(resource);
        node->fence = node->fence > used ? node->fence : used;
        resources_put_note(agent, RECORD_FREED, resource,
                           death); /* before the permission goes, so that its next owner knows */
        resources_step(agent, resource, &(struct event){.kind = EVENT_RELEASE});
    }
    resources_pursue(agent, resource);
}

void agent_took_back(struct agent *agent, int64_t now, unsigned which, bool withdrawn,
                     uint64_t number, bool death)
{
    struct resource *resource = &agent->resource[which];
    agent->now = now;
    resource->taking_back = resource->is_busy = false;
    resource->number = number > resource->number ? number : resource->number;
    if (withdrawn && resource->granted && agent_is_member(agent)) {
        release(agent, resource, number, death);
    } else {
        if (death)
            deaths_found(agent, resource);
        /* it was lost, and may have been granted anew since */
        resources_look_for_contest(agent, resource);
    }
    agent_flush(agent);
}

void agent_is_busy(struct agent *agent, int64_t now, unsigned which)
{
    struct resource *resource = &agent->resource[which];
    agent->now = now;
    resource->is_busy = resource->taking_back;
    if (resource->is_busy && resource->in_group && agent_is_member(agent))
        resources_put_note(agent, RECORD_BUSY, resource, 0);
    agent_flush(agent);
}

static void demand_permission(struct agent *agent, struct resource *resource,
                              const struct demand *demand)
{
    if (resource->granted && !resource->taking_back && resource->mode >= demand->mode)
        return; /* granted meanwhile */
    if (demand->mode > resource->wanted)
        resource->wanted = demand->mode;
    if (demand->kind == DEMAND_MORE)
        resources_take_back(agent, resource);
    else if (resource->busy_elsewhere)
        agent->around.busy(agent->around.arg, resource_index(agent, resource));
    resources_pursue(agent, resource);
}

/* NULL: there is no room for the name, and the local processes have been told. */
static struct resource *find_demanded(struct agent *agent, const struct demand *demand)
{
    struct resource *resource = names_find(agent, demand->name, demand->length);
    const bool full = agent_is_member(agent) && agent->group_count == RESOURCES_MOST;
    if (!resource && !full)
        resource = names_add(agent, demand->name, demand->length);
    if (resource && (resource->in_group || !full))
        return resource;
    if (resource)
        names_refuse(agent, resource);
    else
        agent->around.full(agent->around.arg, agent->is_full = true);
    return NULL;
}

bool agent_demand(struct agent *agent, int64_t now, const struct demand *demand)
{
    agent->now = now;
    agent->counters.demands++;
    struct resource *resource = find_demanded(agent, demand);
    if (!resource)
        return false;
    if (demand->kind != DEMAND_TOLD)
        demand_permission(agent, resource, demand);
    else if (resource->death && resource->in_group && agent_is_member(agent))
        resources_put_note(agent, RECORD_TOLD, resource, 0);
    agent_flush(agent);
    return true;
}

void agent_farewell(struct agent *agent, int64_t now)
{
    agent->now = now;
    for (unsigned at = 0; at < agent->resources; at++)
        if (agent->resource[at].granted || agent->resource[at].owed > now)
            return;
    if (!agent_is_member(agent))
        return;
    parcel_record(&agent->out, RECORD_FAREWELL);
    parcel_end_record(&agent->out);
    agent_flush(agent);
}
