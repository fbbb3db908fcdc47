/* SPDX-License-Identifier: MIT */
/* Notes: what members say of a resource beside its protocol, so that all know who waits, who has
 * it, and of which death nobody has been told. */
#include "agent/core/parts.h"

void notes_put(struct agent *agent, enum record_kind kind, const struct resource *resource,
               uint8_t value)
{
    parcel_record(&agent->out, kind);
    parcel_u64(&agent->out, resource->serial);
    parcel_u8(&agent->out, value);
    parcel_end_record(&agent->out);
}

void notes_put_told(struct agent *agent, const struct resource *resource, uint64_t number)
{
    parcel_record(&agent->out, RECORD_TOLD);
    parcel_u64(&agent->out, resource->serial);
    parcel_u8(&agent->out, 0);
    parcel_u64(&agent->out, number);
    parcel_end_record(&agent->out);
}

/* Somebody has been told: the others need not go on saying that nobody was. */
static void note_told(struct agent *agent, struct resource *resource, struct reader *fields)
{
    resource->told = true;
    if (!agent_is_apart(agent)) {
        effect_tell_death(agent, resource, false);
        return;
    }
    const uint64_t number = read_u64(fields);
    struct node *node = resource_node(resource);
    node->told = number > node->told ? number : node->told;
    deaths_publish(agent, resource);
    resource->ledger_told = number > resource->ledger_told ? number : resource->ledger_told;
    forgetting_settle(agent, resource);
}

/* What a member says of itself is a number; the null mode is never waited for, or held. */
static unsigned believable(unsigned mode)
{
    return mode > PERMISSION_NONE && mode < PERMISSION_MODES ? mode : PERMISSION_EXCLUSIVE;
}

void notes_waiting(struct agent *agent, struct resource *resource, uint32_t slot, unsigned mode)
{
    resource->waiting[believable(mode)] |= slot_bit(slot);
    passages_look_for_contest(agent, resource);
    if (resource->is_busy && slot != agent->self)
        notes_put(agent, RECORD_BUSY, resource, 0);
}

static void note_held(struct resource *resource, uint32_t slot, unsigned mode)
{
    const slot_set bit = slot_bit(slot);
    for (unsigned at = 0; at < PERMISSION_MODES; at++)
        resource->waiting[at] &= ~bit;
    resource->holding[believable(mode)] |= bit;
}

static void note_freed(struct agent *agent, struct resource *resource, uint32_t slot, bool death)
{
    const slot_set bit = slot_bit(slot);
    for (unsigned mode = 0; mode < PERMISSION_MODES; mode++) {
        resource->waiting[mode] &= ~bit;
        resource->holding[mode] &= ~bit;
    }
    resource->busy_elsewhere = 0;
    if (death && !resource->death)
        effect_tell_death(agent, resource, true);
}

void notes_busy(struct agent *agent, struct resource *resource, uint32_t slot)
{
    if (slot == agent->self)
        return;
    resource->busy_elsewhere |= slot_bit(slot);
    if (resource->wanted)
        effect_on(agent, DO_TELL_BUSY, resource);
}

void notes_record(struct agent *agent, uint32_t slot, enum record_kind kind, struct reader *fields)
{
    const uint64_t serial = read_u64(fields);
    const uint8_t value = read_u8(fields);
    struct resource *resource = fields->bad ? NULL : resources_at(agent, serial);
    if (!resource || (agent_is_apart(agent) && kind != RECORD_TOLD))
        return;
    switch (kind) {
    case RECORD_WAITING:
        notes_waiting(agent, resource, slot, value);
        break;
    case RECORD_HELD:
        note_held(resource, slot, value);
        break;
    case RECORD_FREED:
        note_freed(agent, resource, slot, value);
        break;
    case RECORD_BUSY:
        notes_busy(agent, resource, slot);
        break;
    default: /* RECORD_TOLD */
        note_told(agent, resource, fields);
    }
}
