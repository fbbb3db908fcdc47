/* SPDX-License-Identifier: MIT */
/* Effects: what the agent does, one after the other. */
#include "agent/core/parts.h"

struct agent_effect *effect_add(struct agent *agent, enum agent_effect_kind kind)
{
    struct agent_effects *effects = agent->effects;
    assert_required(effects->count < effects->room);
    struct agent_effect *effect = &effects->effect[effects->count++];
    *effect = (struct agent_effect){.kind = kind};
    return effect;
}

struct agent_effect *effect_on(struct agent *agent, enum agent_effect_kind kind,
                               const struct resource *resource)
{
    struct agent_effect *effect = effect_add(agent, kind);
    effect->resource = resource_index(agent, resource);
    return effect;
}

struct agent_effect *effect_say(struct agent *agent, enum agent_line line)
{
    struct agent_effect *effect = effect_add(agent, DO_SAY);
    effect->say.line = line;
    effect->say.view = agent->view;
    return effect;
}

void effect_say_member(struct agent *agent, enum agent_line line, uint32_t node, uint32_t slot)
{
    struct agent_effect *effect = effect_say(agent, line);
    effect->say.node = node;
    effect->say.slot = slot;
}

struct agent_effect *effect_say_resource(struct agent *agent, enum agent_line line,
                                         const struct resource *resource)
{
    struct agent_effect *effect = effect_say(agent, line);
    effect->resource = resource_index(agent, resource);
    return effect;
}

void effect_tell_state(struct agent *agent, enum agent_state state)
{
    if (agent->state == state)
        return;
    agent->state = state;
    effect_add(agent, DO_TELL_STATE)->state = state;
}

void effect_tell_death(struct agent *agent, struct resource *resource, bool death)
{
    resource->death = death;
    if (death) /* should I be killed, the next agent finds it in the pages */
        names_publish(agent, resource);
    if (resource->published)
        effect_on(agent, DO_TELL_DEATH, resource)->death = death;
}

bool effect_is_enough(const struct agent *agent)
{
    return agent->effects->count >= agent->effects->room / 3 || agent->out.overflown;
}
