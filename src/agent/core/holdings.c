/* SPDX-License-Identifier: MIT */
/* What this machine has of the resources: what its processes demand, what it takes back and gives
 * up, and what an agent inherits from one before it. */
#include "agent/core/parts.h"

#include "protocols/messages/node.h"

static void owe(struct agent *agent, struct resource *resource, uint32_t slot, int64_t until)
{
    resource->owed = until;
    resource->owed_slot = (int16_t)slot;
    if (until < agent->owed_next)
        agent->owed_next = until;
    if (until > agent->obliged)
        agent->obliged = until;
    assert_invariant(A6, agent->owed_next <= until && agent->obliged >= until);
}

static void withdraw(struct agent *agent, struct resource *resource)
{
    /* Those inside were told when the lease ran out, or are told now. */
    const int64_t lease = agent->deadline ? agent->deadline : agent->inherited_until;
    const int64_t told = lease && lease < agent->now ? lease : agent->now;
    owe(agent, resource, resource->ghost >= 0 ? (uint32_t)resource->ghost : agent->self,
        told + agent->options.grace - agent->options.lease);
    resource->granted = false;
    resource->was_lost = true;
    resource->ghost = -1;
    if (!is_without(agent, WITHOUT_ASKING_ANEW)) /* who waits for more of it asks anew */
        resource->wanted = PERMISSION_NONE;
    if (agent_is_apart(agent))
        resource->armed = false; /* who sleeps is woken with the loss */
    agent->counters.losses++;
    effect_on(agent, DO_WITHDRAW, resource)->owed = resource->owed;
}

/* A6: what is owed counts from this step, and there may be very many. So all are withdrawn before
 * anything else is done about any of them. */
static void lose(struct agent *agent,
                 bool (*is_lost)(const struct agent *, const struct resource *))
{
    const unsigned first = agent->effects->count;
    for (unsigned at = 0; at < agent->resources; at++)
        if (agent->resource[at].granted && is_lost(agent, &agent->resource[at]))
            withdraw(agent, &agent->resource[at]);
    const unsigned end = agent->effects->count;
    for (unsigned at = first; at < end; at++) {
        struct resource *resource = &agent->resource[agent->effects->effect[at].resource];
        deaths_sweep(agent, resource);
        effect_say_resource(agent, LINE_LOST, resource);
    }
}

static bool is_any(const struct agent *agent, const struct resource *resource)
{
    (void)agent, (void)resource;
    return true;
}

void holdings_lose_all(struct agent *agent)
{
    lose(agent, is_any);
}

/* The pages are a file: what makes no sense in them is not believed. Nothing holds for longer than
 * a lease from now, or is owed for longer than a grace. */
static struct inherited_page believable(const struct agent *agent, struct inherited_page page)
{
    const int64_t lease = agent->now + agent->options.lease,
                  grace = agent->now + agent->options.grace;
    page.length = page.length <= PERMISSION_NAME_MOST ? page.length : 0;
    page.mode = page.mode <= PERMISSION_EXCLUSIVE ? page.mode : PERMISSION_EXCLUSIVE;
    page.until = page.until < lease ? page.until : lease;
    page.owed = page.owed < grace ? page.owed : grace;
    if (page.mode != PERMISSION_NONE)
        page.owed = page.until > 0 ? page.until + agent->options.grace - agent->options.lease : 0;
    return page;
}

/* It holds while the lease does; then it is lost, and owed for a while. */
void holdings_inherit(struct agent *agent, unsigned index, const struct inherited_page *said)
{
    const struct inherited_page page = believable(agent, *said);
    struct resource *resource = &agent->resource[index];
    assert_required(index == agent->resources && index < agent->entries);
    agent->resources = index + 1;
    names_set(agent, resource, page.name, page.length);
    resource->published = page.length > 0;
    resource->died_here = page.death;
    resource->was_lost = page.owed > 0; /* and has not been granted since */
    if (page.mode != PERMISSION_NONE) {
        agent->inherited_until = page.until;
        agent->obliged = page.owed > agent->obliged ? page.owed : agent->obliged;
    }
    if (page.mode != PERMISSION_NONE && page.until > agent->now && page.slot < SLOTS) {
        resource->granted = true;
        resource->was_lost = false;
        resource->death = page.death;
        resource->mode = page.mode;
        resource->ghost = (int16_t)page.slot;
        resource->base = page.base;
        resource->first = page.first;
        return;
    }
    if (page.owed > agent->now && page.slot < SLOTS)
        owe(agent, resource, page.slot, page.owed);
    if (page.mode != PERMISSION_NONE) {
        effect_on(agent, DO_WITHDRAW, resource)->owed = page.owed;
        deaths_sweep(agent, resource);
    }
}

/* `told`: all deaths up to this were told of, as far as the ghost knew. */
static void put_ghost(struct agent *agent, const struct resource *resource, uint32_t ghost,
                      bool death, uint64_t told)
{
    const bool speaks = !is_without(agent, WITHOUT_LAST_WORDS_SAID) || !agent_is_apart(agent);
    parcel_record(&agent->out, RECORD_GHOST);
    parcel_u64(&agent->out, resource->serial);
    parcel_u8(&agent->out, (uint8_t)ghost);
    parcel_u8(&agent->out, death && speaks);
    parcel_u64(&agent->out, speaks ? told : 0);
    parcel_end_record(&agent->out);
}

static bool inheritance_holds(const struct agent *agent, const struct resource *resource)
{
    const uint32_t ghost = (uint32_t)resource->ghost;
    return resource->in_group && ghost < SLOTS && resource->members & slot_bit(ghost) &&
           agent->member[ghost].ghost && agent->member[ghost].node == agent->node &&
           (agent->inherited_until == 0 || agent->inherited_until > agent->now);
}

static bool is_inherited_in_vain(const struct agent *agent, const struct resource *resource)
{
    return resource->ghost >= 0 && !inheritance_holds(agent, resource);
}

/* Ghosts of this machine's that are neither granted nor owed. */
static void end_ghosts(struct agent *agent, const struct resource *resource)
{
    for (uint32_t slot = 0; resource->in_group && slot < SLOTS; slot++)
        if (agent->member[slot].ghost && agent->member[slot].node == agent->node &&
            resource->members & slot_bit(slot) && resource->ghost != (int)slot &&
            !(resource->owed > agent->now && resource->owed_slot == (int)slot))
            put_ghost(agent, resource, slot, true, 0);
}

/* A4: what the group does not know of, or has run out, is lost; what it keeps for me in vain is
 * given up. */
void holdings_settle_inheritance(struct agent *agent)
{
    lose(agent, is_inherited_in_vain);
    for (unsigned at = 0; at < agent->resources; at++) {
        struct resource *resource = &agent->resource[at];
        end_ghosts(agent, resource);
        passages_look_for_contest(agent, resource);
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

/* Whatever was to be told when it was granted has been by now, or is to be still. The page keeps a
 * death until the group knows, should I be killed before. */
static void release_ghost(struct agent *agent, struct resource *resource, uint32_t ghost,
                          bool death)
{
    const bool untold = death || (agent_is_apart(agent) && resource->death);
    put_ghost(agent, resource, ghost, untold,
              !untold && resource->mode == PERMISSION_EXCLUSIVE ? resource->base - 1 : 0);
    if (untold && agent_is_apart(agent))
        node_counts_death(resource_node(resource), agent->view);
    deaths_publish(agent, resource);
}

/* The greatest fence that the processes of this machine can have had before the agent's passage of
 * this number: who enters next elsewhere, or here by a new grant, is above it. */
static uint64_t note_used(struct agent *agent, struct resource *resource, uint64_t number)
{
    const uint64_t used =
        resource->base + (number > resource->first ? number - resource->first : 0);
    struct node *node = resource->ghost < 0 ? resource_node(resource) : NULL;
    if (node && used > node->fence && !is_without(agent, WITHOUT_USED_FENCES))
        node->fence = used;
    return used;
}

/* After the agent was inside the region of the space in a mode, and left so much of the permission
 * as may be inside beside that. */
static void lower(struct agent *agent, struct resource *resource, unsigned left,
                  const struct agent_event *event)
{
    note_used(agent, resource, event->taken_back.number);
    if (left != resource->mode) {
        resource->mode = (uint8_t)left;
        effect_say_resource(agent, LINE_LOWERED, resource)->say.mode = (uint8_t)left;
        passages_step(agent, resource,
                      &(struct event){.kind = EVENT_LOWER,
                                      .mode = (uint8_t)permission_turned(left),
                                      .number = event->taken_back.death});
    } else if (event->taken_back.death) {
        node_dies_inside(resource_node(resource));
        deaths_publish(agent, resource);
    }
    passages_look_for_contest(agent, resource);
    passages_pursue(agent, resource);
    if (resource->is_idle) /* by now all of it is to go */
        passages_take_back(agent, resource, PERMISSION_EXCLUSIVE);
}

/* After the agent was inside the region of the space, and withdrew the permission there. */
static void release(struct agent *agent, struct resource *resource, const struct agent_event *event)
{
    const bool death = event->taken_back.death;
    assert_invariant(A5, event->kind == ON_TAKEN_BACK && event->taken_back.withdrawn);
    const uint64_t used = note_used(agent, resource, event->taken_back.number);
    const int ghost = resource->ghost;
    struct agent_effect *line = effect_say_resource(agent, LINE_RELEASED, resource);
    line->say.slot = ghost >= 0 ? (uint32_t)ghost : NO_SLOT;
    line->say.number = used;
    resource->granted = false;
    resource->ghost = -1;
    agent->counters.releases++;
    if (ghost >= 0) {
        release_ghost(agent, resource, (uint32_t)ghost, death);
    } else {
        /* It may wait for a stronger mode, and have had a weaker one meanwhile. */
        const bool waits = resource_node(resource)->status == NODE_WAITING;
        if (!agent_is_apart(agent)) /* before the permission goes, so that its next owner knows */
            notes_put(agent, RECORD_FREED, resource, death);
        passages_step(agent, resource,
                      &(struct event){.kind = waits ? EVENT_LOWER : EVENT_RELEASE,
                                      .mode = MODE_NULL,
                                      .number = death});
    }
    passages_pursue(agent, resource);
}

void holdings_taken_back(struct agent *agent, const struct agent_event *event)
{
    struct resource *resource = &agent->resource[event->resource];
    const uint64_t number = event->taken_back.number;
    resource->taking_back = resource->is_busy = false;
    if (agent_is_apart(agent))
        resource->told_busy = 0;
    resource->number = number > resource->number ? number : resource->number;
    if (event->taken_back.withdrawn && resource->granted && agent_is_member(agent)) {
        const unsigned left = permission_beside(resource->mode, event->taken_back.mode);
        if (left == PERMISSION_NONE)
            release(agent, resource, event);
        else
            lower(agent, resource, left, event);
    } else {
        if (event->taken_back.death)
            deaths_found(agent, resource);
        /* it was lost, and may have been granted anew since */
        passages_look_for_contest(agent, resource);
    }
    if (event->taken_back.death) /* who took it back has noted it in the page */
        effect_tell_death(agent, resource, resource->death);
    if (!is_without(agent, WITHOUT_LEAVING_LATE))
        forgetting_leave(agent, resource);
}

void holdings_busy(struct agent *agent, struct resource *resource)
{
    resource->is_busy = resource->taking_back;
    if (!resource->is_busy || !resource->in_group || !agent_is_member(agent))
        return;
    if (agent_is_apart(agent))
        passages_tell_busy(agent, resource);
    else
        notes_put(agent, RECORD_BUSY, resource, 0);
}

static void demand_permission(struct agent *agent, struct resource *resource,
                              const struct demand *demand)
{
    if (resource->granted && !resource->taking_back &&
        permission_includes(resource->mode, demand->mode))
        return; /* granted meanwhile */
    /* Who wants another that does not include what is wanted asks again when that is granted. */
    if (permission_includes(demand->mode, resource->wanted))
        resource->wanted = demand->mode;
    if (resource->busy_elsewhere)
        effect_on(agent, DO_TELL_BUSY, resource);
    passages_pursue(agent, resource);
}

/* NULL: there is no room for the name, and the local processes have been told. */
static struct resource *find_demanded(struct agent *agent, const struct demand *demand)
{
    struct resource *resource = names_find(agent, demand->name, demand->length);
    const bool full = agent_is_member(agent) && agent->group_count == agent->options.names;
    if (!resource && !full)
        resource = names_add(agent, demand->name, demand->length);
    if (resource && (resource->in_group || !full))
        return resource;
    if (resource)
        names_refuse(agent, resource);
    else
        names_tell_full(agent);
    return NULL;
}

void holdings_demand(struct agent *agent, const struct demand *demand, uint64_t number)
{
    agent->counters.demands++;
    struct resource *resource = find_demanded(agent, demand);
    if (!resource)
        return;
    names_publish(agent, resource);
    resource->is_idle = resource->is_idle && demand->kind == DEMAND_TOLD;
    resource->number = resource->number ? resource->number : number;
    if (demand->kind == DEMAND_WATCH || demand->kind == DEMAND_REAL)
        conditions_demand(agent, resource, (enum demand_kind)demand->kind);
    else if (demand->kind != DEMAND_TOLD)
        demand_permission(agent, resource, demand);
    else if (resource->death && resource->in_group && agent_is_member(agent)) {
        if (agent_is_apart(agent))
            deaths_told(agent, resource);
        else
            notes_put(agent, RECORD_TOLD, resource, 0);
    }
}

/* What I know of deaths, for those who would not hear it from anybody else. */
static void write_last_words(struct agent *agent)
{
    uint32_t count = 0;
    const bool speaks = agent_is_apart(agent) && !is_without(agent, WITHOUT_LAST_WORDS_SAID);
    for (uint32_t at = 0; at < agent->group_count && speaks; at++)
        count += resource_node(agent->group[at])->died != 0;
    parcel_u64(&agent->out, agent->view);
    parcel_u32(&agent->out, count);
    for (uint32_t at = 0; at < agent->group_count && count; at++) {
        const struct node *node = resource_node(agent->group[at]);
        if (node->died == 0)
            continue;
        parcel_u64(&agent->out, agent->group[at]->serial);
        parcel_u64(&agent->out, node->died);
        parcel_u64(&agent->out, node->told);
    }
}

void holdings_farewell(struct agent *agent)
{
    if (agent_is_member(agent))
        holdings_tick(agent); /* what is owed no longer ends before I do */
    for (unsigned at = 0; at < agent->resources; at++)
        if (agent->resource[at].granted || agent->resource[at].owed > agent->now)
            return;
    if (!agent_is_member(agent))
        return;
    parcel_record(&agent->out, RECORD_FAREWELL);
    write_last_words(agent);
    parcel_end_record(&agent->out);
}
