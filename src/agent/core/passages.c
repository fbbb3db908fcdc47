/* SPDX-License-Identifier: MIT */
/* Passages of this machine through the protocol of a resource.
 *
 * The protocol's user is the machine. It is inside, for the protocol, from the moment at which the
 * permission is granted until it is taken back, however often processes of this machine pass
 * meanwhile: that is Carvalho and Roucairol's retained permission, for every protocol. It is taken
 * back when another machine waits that it keeps out (`contest`).
 *
 * It has a mode. Where the protocol converts, as much is taken back as is in the other's way, and
 * processes whose mode is not stay inside; and a process that wants more than there is has it asked
 * for beside them. Elsewhere it is taken back whole.
 */
#include "agent/core/parts.h"

#include "protocols/messages/node.h"

/* To all means all that are members at its place in the order, and so also those whose joining I
 * have not seen yet: a newcomer must know of a request that is made before it is established. */
static void multicast(struct agent *agent, const struct resource *resource,
                      const struct effect *effect)
{
    const struct message *message = &effect->message;
    struct parcel *out = &agent->out;
    slot_set to = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (effect_reaches(effect, agent->self, slot))
            to |= slot_bit(slot);
    parcel_record(out, RECORD_PROTOCOL);
    parcel_u64(out, resource->serial);
    parcel_slots(out, to);
    parcel_u8(out, message->kind);
    parcel_u8(out, message->mode);
    parcel_u32(out, message->whom);
    parcel_u64(out, message->number);
    parcel_u64(out, message->about);
    parcel_u64(out, message->view);
    parcel_u64(out, message->fence);
    parcel_u32(out, (uint32_t)effect->body_words);
    parcel_put(out, effect->body, effect->body_words * sizeof *effect->body);
    parcel_end_record(out);
    agent->counters.sent++;
}

/* The agent of a ghost's machine, if there is one: it answers for what the ghost has. */
static uint32_t successor_of(const struct agent *agent, uint32_t ghost)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (member_is_alive(&agent->member[slot]) &&
            agent->member[slot].node == agent->member[ghost].node)
            return slot;
    return NO_SLOT;
}

void passages_say_note(struct agent *agent, const struct resource *resource, uint32_t slot,
                       enum record_kind kind)
{
    peers_say(agent, slot,
              &(struct said){.kind = (uint8_t)kind,
                             .serial = resource->serial,
                             .identity = resource->identity});
}

static void want_of(struct agent *agent, const struct resource *resource, uint32_t ghost)
{
    const uint32_t successor = successor_of(agent, ghost);
    if (successor != NO_SLOT && successor != agent->self)
        passages_say_note(agent, resource, successor, RECORD_WANT);
}

void passages_want_of_successor(struct agent *agent, uint32_t successor)
{
    for (uint32_t at = 0; at < agent->group_count && agent_is_apart(agent); at++) {
        struct resource *resource = agent->group[at];
        const struct node *node = resource_node(resource);
        if (node->status != NODE_WAITING || is_without(agent, WITHOUT_WANT_AT_SUCCESSION))
            continue;
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            if (resource->members & slot_bit(slot) && agent->member[slot].ghost &&
                agent->member[slot].node == agent->member[successor].node &&
                agent->options.protocol->lacks(resource->state, slot, (unsigned)node->mode))
                passages_say_note(agent, resource, successor, RECORD_WANT);
    }
}

/* Over links: to those that I have installed. A ghost cannot answer: who asks it tells its
 * successor. */
static void say_message(struct agent *agent, const struct resource *resource,
                        const struct effect *effect)
{
    const struct message *message = &effect->message;
    const struct said said = {.kind = RECORD_PROTOCOL,
                              .what = message->kind,
                              .mode = message->mode,
                              .serial = resource->serial,
                              .identity = resource->identity,
                              .number = message->number,
                              .view = message->view,
                              .fence = message->fence,
                              .died = message->died,
                              .told = message->told};
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        if (slot == agent->self || !(resource->members & slot_bit(slot)) ||
            !effect_reaches(effect, agent->self, slot))
            continue;
        if (!agent->member[slot].ghost)
            peers_say(agent, slot, &said);
        else if (message->kind == MESSAGE_REQUEST && !is_without(agent, WITHOUT_WANT_LATER))
            want_of(agent, resource, slot);
    }
}

static void put_message(struct agent *agent, const struct resource *resource,
                        const struct effect *effect)
{
    if (agent_is_apart(agent))
        say_message(agent, resource, effect);
    else
        multicast(agent, resource, effect);
}

void passages_take_back(struct agent *agent, struct resource *resource, unsigned mode)
{
    if (!resource->granted || resource->taking_back || !agent_is_member(agent))
        return;
    resource->taking_back = true;
    effect_on(agent, DO_TAKE_BACK, resource)->mode =
        (uint8_t)(resource_converts(agent, resource) ? mode : PERMISSION_EXCLUSIVE);
}

/* PERMISSION_…: what one that is deferred has asked for. */
static unsigned asked_for(const struct agent *agent, const struct resource *resource, uint32_t slot)
{
    return permission_turned(agent->options.protocol->deferred_mode(resource->state, slot));
}

/* Over links: those that have asked me, and that I keep out. A ghost has nobody's request: those
 * that wait for it have said so. */
static slot_set kept_out(const struct agent *agent, const struct resource *resource)
{
    slot_set deferred = 0;
    if (resource->ghost >= 0)
        return resource->wanting;
    if (resource->state)
        memcpy(&deferred, agent->options.protocol->deferred(resource->state), sizeof deferred);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (deferred & slot_bit(slot) &&
            !permissions_conflict(resource->mode, asked_for(agent, resource, slot)))
            deferred &= ~slot_bit(slot);
    return deferred;
}

void passages_tell_busy(struct agent *agent, struct resource *resource)
{
    const slot_set untold = kept_out(agent, resource) & resource->members & ~resource->told_busy;
    for (uint32_t slot = 0; slot < SLOTS && resource->is_busy; slot++)
        if (untold & slot_bit(slot) && !agent->member[slot].ghost && slot != agent->self) {
            resource->told_busy |= slot_bit(slot);
            passages_say_note(agent, resource, slot, RECORD_BUSY);
        }
}

/* In the agreed order: another machine waits that this one keeps out. */
static bool is_waited_for(const struct agent *agent, const struct resource *resource)
{
    slot_set waiting = 0, mine = slot_bit(agent->self);
    for (unsigned mode = PERMISSION_NONE + 1; mode < PERMISSION_MODES; mode++)
        waiting |= permissions_conflict(resource->mode, mode) ? resource->waiting[mode] : 0;
    if (resource->ghost >= 0)
        mine |= slot_bit((uint32_t)resource->ghost);
    return (waiting & resource->members & ~mine) != 0;
}

/* In which mode another machine waits that this one keeps out; PERMISSION_NONE: none does. Of
 * several the weakest: it keeps the fewest here waiting. The others come next. */
static unsigned contest(const struct agent *agent, const struct resource *resource)
{
    unsigned weakest = PERMISSION_NONE;
    if (!resource->granted || is_without(agent, WITHOUT_CONTEST))
        return PERMISSION_NONE;
    if (!agent_is_apart(agent))
        return is_waited_for(agent, resource) ? PERMISSION_EXCLUSIVE : PERMISSION_NONE;
    const slot_set slots = kept_out(agent, resource);
    if (resource->ghost >= 0)
        return slots ? PERMISSION_EXCLUSIVE : PERMISSION_NONE;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        if (!(slots & slot_bit(slot)))
            continue;
        const unsigned mode = asked_for(agent, resource, slot);
        if (weakest == PERMISSION_NONE || permission_includes(weakest, mode))
            weakest = mode;
    }
    return weakest;
}

void passages_look_for_contest(struct agent *agent, struct resource *resource)
{
    const unsigned mode = agent_is_member(agent) ? contest(agent, resource) : PERMISSION_NONE;
    if (mode != PERMISSION_NONE)
        passages_take_back(agent, resource, mode);
}

static void publish(struct agent *agent, struct resource *resource, bool raised)
{
    assert_invariant(A2, lease_is_valid(agent));
    assert_invariant(A4, resource->granted && resource->ghost == -1);
    conditions_publish(agent, resource);
    struct agent_effect *effect = effect_on(agent, DO_GRANT, resource);
    effect->grant.mode = resource->mode;
    effect->grant.raised = raised;
    effect->grant.slot = agent->self;
    effect->grant.base = resource->base;
    effect->grant.first = resource->first;
}

static void entered(struct agent *agent, struct resource *resource, const struct effect *entry)
{
    const uint64_t fence = entry->fence;
    const bool raised = resource->granted;
    resource->granted = true;
    resource->mode = (uint8_t)permission_turned((unsigned)resource_node(resource)->mode);
    resource->base = fence;
    resource->first = resource->number;
    resource->ghost = -1;
    resource->wanted = PERMISSION_NONE;
    resource->was_lost = false;
    resource->busy_elsewhere = 0;
    if (agent_is_apart(agent)) {
        resource->told_here = 0;
        resource->wanting = 0;
        resource->dying = entry->died;
    }
    agent->counters.grants++;
    struct agent_effect *line = effect_say_resource(agent, LINE_GRANTED, resource);
    line->say.mode = resource->mode;
    line->say.number = fence;
    if (!agent_is_apart(agent))
        notes_put(agent, RECORD_HELD, resource, resource->mode);
    deaths_publish(agent, resource);
    if (lease_is_valid(agent)) /* A2; else it is about to be cut */
        publish(agent, resource, raised);
    passages_look_for_contest(agent, resource);
}

void passages_step(struct agent *agent, struct resource *resource, const struct event *event)
{
    struct effects effects = {.room = agent->room};
    agent->options.protocol->step(resource->state, event, &effects);
    for (unsigned at = 0; at < effects.count; at++)
        if (effects.effect[at].kind == EFFECT_SEND)
            put_message(agent, resource, &effects.effect[at]);
        else if (effects.effect[at].kind == EFFECT_ENTERED)
            entered(agent, resource, &effects.effect[at]);
    deaths_publish(agent, resource);
}

/* What is granted does not suffice. What of it is in the way of what is wanted is given back first;
 * the rest stays meanwhile. */
static void pursue_more(struct agent *agent, struct resource *resource)
{
    const unsigned wanted = resource->wanted;
    if (resource->taking_back || permission_includes(resource->mode, wanted))
        return;
    if (!resource_converts(agent, resource) ||
        permission_beside(resource->mode, wanted) != resource->mode)
        passages_take_back(agent, resource, wanted);
    else if (resource_node(resource)->status == NODE_INSIDE)
        passages_step(
            agent, resource,
            &(struct event){.kind = EVENT_RAISE, .mode = (uint8_t)permission_turned(wanted)});
}

/* Asks for what processes of this machine want. */
void passages_pursue(struct agent *agent, struct resource *resource)
{
    if (resource->wanted == PERMISSION_NONE || agent->is_ending || !agent_is_ready(agent))
        return;
    if (resource->granted) {
        pursue_more(agent, resource);
        return;
    }
    if (!forgetting_may_ask(agent, resource)) {
        if (!resource->in_group && agent->group_count == agent->options.names) {
            names_refuse(agent, resource);
        } else if (!resource->creating) {
            resource->creating = true;
            parcel_record(&agent->out, RECORD_CREATION);
            parcel_text(&agent->out, resource->name, resource->length);
            parcel_end_record(&agent->out);
        }
        return;
    }
    if (resource_node(resource)->status != NODE_OUTSIDE)
        return;
    const unsigned wanted =
        agent->options.protocol->exclusive_only ? PERMISSION_EXCLUSIVE : resource->wanted;
    passages_step(
        agent, resource,
        &(struct event){.kind = EVENT_REQUEST, .mode = (uint8_t)permission_turned(wanted)});
    /* Nobody has welcomed me: maybe only a ghost could, and it stays until somebody is known to
     * wait. */
    if (!node_has_requested(resource_node(resource)) && !agent_is_apart(agent))
        notes_put(agent, RECORD_WAITING, resource, (uint8_t)wanted);
}

void passages_pursue_all(struct agent *agent)
{
    for (unsigned at = 0; at < agent->resources; at++)
        passages_pursue(agent, &agent->resource[at]);
}

void passages_message(struct agent *agent, uint32_t slot, struct reader *fields)
{
    uint64_t body[4 * SLOTS];
    const uint64_t serial = read_u64(fields);
    const slot_set to = read_slots(fields);
    struct message message = {.from = slot};
    message.kind = read_u8(fields);
    message.mode = read_u8(fields);
    message.whom = read_u32(fields);
    message.number = read_u64(fields);
    message.about = read_u64(fields);
    message.view = read_u64(fields);
    message.fence = read_u64(fields);
    const uint32_t words = read_u32(fields);
    const void *bytes =
        words <= sizeof body / sizeof *body ? read_bytes(fields, words * sizeof *body) : NULL;
    if (fields->bad || !bytes)
        return;
    if (!message_makes_sense(agent->options.protocol, SLOTS, &message, words)) {
        fields->bad = true;
        return;
    }
    memcpy(body, bytes, words * sizeof *body);
    struct resource *resource = resources_at(agent, serial);
    if (!resource || !(resource->members & slot_bit(slot)))
        return;
    if (to & slot_bit(agent->self))
        passages_step(agent, resource,
                      &(struct event){
                          .kind = EVENT_MESSAGE, .message = &message, .body = words ? body : NULL});
    if (message.kind == MESSAGE_REQUEST)
        notes_waiting(agent, resource, slot, permission_turned(message.mode));
}

static void take_message(struct agent *agent, struct resource *resource, uint32_t slot,
                         const struct said *said)
{
    const struct message message = {.kind = said->what,
                                    .mode = said->mode,
                                    .from = slot,
                                    .number = said->number,
                                    .view = said->view,
                                    .fence = said->fence,
                                    .died = said->died,
                                    .told = said->told};
    if (!message_makes_sense(agent->options.protocol, SLOTS, &message, 0))
        return;
    /* it may have come before the change, and the fence that it brings is of that view */
    if (message.fence >> FENCE_VIEW_SHIFT > agent->known_view)
        members_keep_view(agent, message.fence >> FENCE_VIEW_SHIFT);
    if (message.kind == MESSAGE_REPLY)
        resource->busy_elsewhere &= ~slot_bit(slot);
    passages_step(agent, resource, &(struct event){.kind = EVENT_MESSAGE, .message = &message});
}

enum said_fate passages_judge(const struct agent *agent, uint32_t slot, const struct said *said)
{
    const struct resource *resource = resources_at(agent, said->serial);
    if (!resource)
        return said->serial > agent->created ? SAID_EARLY : SAID_TO_BE_TAKEN;
    if (resource->identity != said->identity)
        return SAID_OF_ANOTHER;
    return said->kind == RECORD_PROTOCOL && said->what == MESSAGE_REQUEST &&
                   !(resource->users & slot_bit(slot)) && !is_without(agent, WITHOUT_USERS_FIRST)
               ? SAID_EARLY
               : SAID_TO_BE_TAKEN;
}

void passages_take(struct agent *agent, uint32_t slot, const struct said *said)
{
    struct resource *resource = resources_at(agent, said->serial);
    if (!resource || !resource->state || !(resource->members & slot_bit(slot)) ||
        passages_judge(agent, slot, said) != SAID_TO_BE_TAKEN)
        return;
    agent->counters.received++;
    if (said->kind == RECORD_PROTOCOL)
        take_message(agent, resource, slot, said);
    else if (said->kind == RECORD_BUSY)
        notes_busy(agent, resource, slot);
    else if (said->kind == RECORD_WATCH || said->kind == RECORD_CHANGED)
        conditions_take(agent, resource, slot, (enum record_kind)said->kind);
    else if (said->kind == RECORD_WANT && resource->granted && resource->ghost >= 0)
        resource->wanting |= slot_bit(slot);
    passages_look_for_contest(agent, resource);
    passages_tell_busy(agent, resource);
}
