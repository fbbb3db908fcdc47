/* SPDX-License-Identifier: MIT */
/* Forgetting: what becomes of a name that nobody uses.
 *
 * A member uses a resource from the place of its CREATION in the order on, which it says even if
 * there is one of that name, until the place of its FORGETTING, or its own end. When no member uses
 * it all forget it, at that same place. A CREATION that comes later makes another.
 *
 * What must hold is that nobody is inside by the one when others enter by the other. All would see
 * to it if they had the same order at the same moment; but one whose ring breaks may have installed
 * what nobody else has heard, its own CREATION for instance, and holds permissions that it was
 * given earlier. So:
 *   - who sends a FORGETTING throws away all permissions that it has: it needs a word from every
 *     other member before it is inside again;
 *   - a request is answered only to one of whom the ledger says, here, that it uses the resource:
 *     then it will not be forgotten here before that one has said so.
 * Permissions that are thrown away are nobody's, as all are at the very beginning: who wants in
 * asks, and is answered.
 *
 * Fences. A FORGETTING says how far they have come. What is created afterwards begins above the
 * greatest of any name that was forgotten (agent->floor).
 *
 * Deaths. A name is kept while somebody has to be told of a death inside: as far as the ledger
 * knows, which is a user that was buried, or what a FORGETTING or last words say. Whoever has every
 * permission knows of all deaths there were, so if it says that there is none to be told, there is
 * none.
 *
 * Only over links. In the agreed order, where a token or a queue is in common, names stay.
 */
#include "agent/core/parts.h"

#include "protocols/messages/node.h"

bool forgetting_may_ask(const struct agent *agent, const struct resource *resource)
{
    return resource->in_group && (!agent_is_apart(agent) ||
                                  (resource->users & slot_bit(agent->self) && !resource->leaving));
}

bool forgetting_settle(struct agent *agent, struct resource *resource)
{
    if (!agent_is_apart(agent) || !resource->in_group || resource->users ||
        (resource->ledger_died > resource->ledger_told && !is_without(agent, WITHOUT_UNTOLD)))
        return false;
    resources_drop(agent, resource);
    return true;
}

void forgetting_notes_end(struct agent *agent, struct resource *resource, uint32_t slot,
                          const struct message *words)
{
    if (!(resource->users & slot_bit(slot)))
        return;
    resource->users &= ~slot_bit(slot);
    resource->ledger_died =
        larger(resource->ledger_died, words ? words->died : agent->view << FENCE_VIEW_SHIFT);
    resource->ledger_told = larger(resource->ledger_told, words ? words->told : 0);
    forgetting_settle(agent, resource);
}

static bool has_all(const struct agent *agent, const struct resource *resource)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (resource->members & slot_bit(slot) && slot != agent->self &&
            agent->options.protocol->lacks(resource->state, slot, MODE_EXCLUSIVE))
            return false;
    return true;
}

static void send(struct agent *agent, struct resource *resource)
{
    const struct node *node = resource_node(resource);
    const bool settled = node->died <= node->told && has_all(agent, resource);
    const uint64_t now = larger(node->died, node->view << FENCE_VIEW_SHIFT);
    parcel_record(&agent->out, RECORD_FORGETTING);
    parcel_u64(&agent->out, resource->serial);
    parcel_u64(&agent->out, node->fence);
    parcel_u64(&agent->out, node->died);
    parcel_u64(&agent->out, settled ? larger(now, node->told) : node->told);
    parcel_end_record(&agent->out);
    resource->leaving = true;
    if (!is_without(agent, WITHOUT_SHEDDING))
        agent->options.protocol->shed(resource->state);
}

/* My machine is outside, and nobody here wants in; nor is there anything of a predecessor's. */
void forgetting_leave(struct agent *agent, struct resource *resource)
{
    if (!resource->is_idle || !agent_is_apart(agent) || !agent_is_member(agent) ||
        !forgetting_may_ask(agent, resource) || resource->wanted != PERMISSION_NONE ||
        resource->creating || resource->granted || resource->taking_back || resource->owed ||
        resource_node(resource)->status != NODE_OUTSIDE)
        return;
    send(agent, resource);
}

void forgetting_unused(struct agent *agent, struct resource *resource)
{
    if (resource->length == 0 || resource->wanted != PERMISSION_NONE)
        return;
    if (!resource->in_group) {
        if (agent_is_member(agent))
            names_forget(agent, resource);
        return;
    }
    resource->is_idle = true;
    passages_take_back(agent, resource, PERMISSION_EXCLUSIVE);
    forgetting_leave(agent, resource);
}

void forgetting_record(struct agent *agent, uint32_t slot, struct reader *fields)
{
    const uint64_t serial = read_u64(fields), fence = read_u64(fields), died = read_u64(fields),
                   told = read_u64(fields);
    struct resource *resource = fields->bad ? NULL : resources_at(agent, serial);
    if (!resource || !agent_is_apart(agent))
        return;
    if (slot == agent->self)
        resource->leaving = false;
    resource->users &= ~slot_bit(slot);
    resource->ledger_died = larger(resource->ledger_died, died);
    resource->ledger_told = larger(resource->ledger_told, told);
    agent->floor = larger(agent->floor, fence);
    forgetting_settle(agent, resource);
}
