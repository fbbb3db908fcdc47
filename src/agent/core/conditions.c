/* SPDX-License-Identifier: MIT */
/* Conditions: processes of this machine that found theirs false sleep until somebody may have made
 * it true. Over links alone.
 *
 * Who has the permission and finds its condition false has me arm the page, while it is still
 * inside the region of the space: I say WATCH to all other members. From then on whoever is to be
 * inside, and does not only ask a condition, is announced before it is let in. Here, for the page
 * says that somebody watches. Elsewhere too: that machine needs a REPLY of mine, which comes after
 * the WATCH, and what it is granted then is marked in its pages. To announce is to say CHANGED to
 * all that watch, which wakes those who sleep there. They ask for the permission like anybody, and
 * so ask their condition again when the one that was announced has left, or died.
 *
 * Who only asks its condition is announced to nobody: so two that wait for different things do not
 * wake each other for ever, and while the world stands still nothing is said.
 *
 * Where something may have been missed, those who sleep are woken: by every change of the group, by
 * a loss (DO_WITHDRAW), by an agent that begins. Under a ghost's permission nobody sleeps: who gets
 * it next has it by the ledger, which knows no order with what I say over links.
 */
#include "agent/core/parts.h"

static void publish(struct agent *agent, struct resource *resource, bool heard)
{
    struct agent_effect *effect = effect_on(agent, DO_WATCH, resource);
    effect->watch.armed = resource->armed;
    effect->watch.others = resource->watchers != 0 && !is_without(agent, WITHOUT_MARKS);
    effect->watch.heard = heard;
    resource->marked = effect->watch.others;
}

void conditions_publish(struct agent *agent, struct resource *resource)
{
    if (agent_is_apart(agent) && (resource->watchers || resource->marked))
        publish(agent, resource, false);
}

/* Those who sleep here. */
static void stir(struct agent *agent, struct resource *resource)
{
    if (!agent_is_apart(agent) || !resource->armed)
        return;
    resource->armed = false;
    publish(agent, resource, true);
}

/* WATCH to all, or CHANGED to those who watch. A ghost does not hear. */
static void say_to(struct agent *agent, const struct resource *resource, slot_set slots,
                   enum record_kind kind)
{
    slots &= resource->members & ~slot_bit(agent->self);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (slots & slot_bit(slot) && !agent->member[slot].ghost)
            passages_say_note(agent, resource, slot, kind);
}

/* One of this machine's goes to sleep; or sleeps, and wants to know that I am there. */
static void watch(struct agent *agent, struct resource *resource)
{
    if (resource->armed || !resource->in_group || !agent_is_member(agent))
        return;
    if (resource->granted && resource->ghost >= 0) { /* it asks again, by a permission of mine */
        passages_take_back(agent, resource, PERMISSION_EXCLUSIVE);
        publish(agent, resource, true);
        return;
    }
    resource->armed = true;
    if (!is_without(agent, WITHOUT_WATCHING))
        say_to(agent, resource, resource->members, RECORD_WATCH);
    publish(agent, resource, false);
}

/* One of this machine's is to be inside: those who watch are told first. */
static void announce(struct agent *agent, struct resource *resource)
{
    if (!is_without(agent, WITHOUT_ANNOUNCING))
        say_to(agent, resource, resource->watchers, RECORD_CHANGED);
    resource->watchers = 0;
    resource->armed = false;
    publish(agent, resource, true);
}

void conditions_demand(struct agent *agent, struct resource *resource, enum demand_kind kind)
{
    if (!agent_is_apart(agent))
        return;
    if (kind == DEMAND_WATCH)
        watch(agent, resource);
    else
        announce(agent, resource);
}

void conditions_take(struct agent *agent, struct resource *resource, uint32_t slot,
                     enum record_kind kind)
{
    if (kind == RECORD_WATCH)
        resource->watchers |= slot_bit(slot);
    else
        stir(agent, resource);
}

void conditions_change(struct agent *agent, struct resource *resource, slot_set gone)
{
    if (!agent_is_apart(agent))
        return;
    resource->watchers &= ~gone;
    if (!is_without(agent, WITHOUT_STIRRING))
        stir(agent, resource);
}
