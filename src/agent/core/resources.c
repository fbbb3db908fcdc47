/* SPDX-License-Identifier: MIT */
/* Resources: their protocols, and what this machine has of them.
 *
 * The protocol's user is the machine. It is inside, for the protocol, from the moment at which the
 * permission is granted until it is taken back, however often processes of this machine pass
 * meanwhile: that is Carvalho and Roucairol's retained permission, for every protocol. It is taken
 * back when another machine waits that it keeps out (`contested`).
 *
 * A resource comes into being at the CREATION of its name, by the order of its views: its creator
 * is the first member, and all others join it one after the other. So a protocol needs no beginning
 * other than joining, which is checked.
 */
#include "agent/core/agent.h"

#include <stdlib.h>

#include "protocols/messages/node.h"

static uint8_t permission_of(unsigned mode)
{
    return mode == MODE_SHARED ? PERMISSION_SHARED : PERMISSION_EXCLUSIVE;
}

void resources_put_note(struct agent *agent, enum record_kind kind, const struct resource *resource,
                        uint8_t value)
{
    parcel_record(&agent->out, kind);
    parcel_u32(&agent->out, resource->index);
    parcel_u8(&agent->out, value);
    parcel_end_record(&agent->out);
}

static void put_message(struct agent *agent, const struct resource *resource,
                        const struct effect *effect)
{
    const struct message *message = &effect->message;
    struct parcel *out = &agent->out;
    const uint64_t mine = slot_bit(agent->self);
    const uint64_t to = effect->to == (uint32_t)TO_ALL     ? resource->members & ~mine
                        : effect->to == (uint32_t)TO_GROUP ? resource->members | mine
                        : effect->to == (uint32_t)TO_SET   ? effect->set[0]
                                                           : slot_bit(effect->to);
    parcel_record(out, RECORD_PROTOCOL);
    parcel_u32(out, resource->index);
    parcel_u64(out, to);
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

void resources_take_back(struct agent *agent, struct resource *resource)
{
    if (!resource->granted || resource->taking_back || !agent_is_member(agent))
        return;
    resource->taking_back = true;
    agent->around.take_back(agent->around.arg, resource_index(agent, resource));
}

/* Whether another machine waits that this one keeps out. */
static bool is_contested(const struct agent *agent, const struct resource *resource)
{
    const uint64_t waiting =
        resource->mode == PERMISSION_SHARED
            ? resource->waiting[PERMISSION_EXCLUSIVE]
            : resource->waiting[PERMISSION_EXCLUSIVE] | resource->waiting[PERMISSION_SHARED];
    uint64_t mine = slot_bit(agent->self);
    if (resource->ghost >= 0)
        mine |= slot_bit((uint32_t)resource->ghost);
    return resource->granted && (waiting & resource->members & ~mine) != 0;
}

void resources_look_for_contest(struct agent *agent, struct resource *resource)
{
    if (agent_is_member(agent) && is_contested(agent, resource))
        resources_take_back(agent, resource);
}

static void entered(struct agent *agent, struct resource *resource, uint64_t fence)
{
    resource->granted = true;
    resource->mode = permission_of((unsigned)resource_node(resource)->mode);
    resource->base = fence;
    if (resource->number == 0)
        resource->number = agent->around.number(agent->around.arg, resource_index(agent, resource));
    resource->first = resource->number;
    resource->ghost = -1;
    resource->wanted = PERMISSION_NONE;
    resource->busy_elsewhere = false;
    agent->counters.grants++;
    agent_log(agent, LOG_DEBUGGING, "granted", "resource=\"%s\" mode=%u fence=%llu view=%llu",
              agent_name(resource), resource->mode, (unsigned long long)fence,
              (unsigned long long)agent->view);
    resources_put_note(agent, RECORD_HELD, resource, resource->mode);
    if (lease_is_valid(agent)) /* A2; else it is about to be cut */
        agent->around.grant(agent->around.arg, resource_index(agent, resource));
    resources_look_for_contest(agent, resource);
}

void resources_step(struct agent *agent, struct resource *resource, const struct event *event)
{
    struct effects effects = {.room = agent->room};
    agent->options.protocol->step(resource->state, event, &effects);
    for (unsigned at = 0; at < effects.count; at++)
        if (effects.effect[at].kind == EFFECT_SEND)
            put_message(agent, resource, &effects.effect[at]);
        else if (effects.effect[at].kind == EFFECT_ENTERED)
            entered(agent, resource, effects.effect[at].fence);
}

/* Asks for what processes of this machine want. */
void resources_pursue(struct agent *agent, struct resource *resource)
{
    if (resource->wanted == PERMISSION_NONE || resource->granted || !agent_is_ready(agent))
        return;
    if (!resource->in_group) {
        if (agent->group_count == RESOURCES_MOST) {
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
    const bool shared =
        resource->wanted == PERMISSION_SHARED && !agent->options.protocol->exclusive_only;
    resources_step(agent, resource,
                   &(struct event){.kind = EVENT_REQUEST,
                                   .mode = (uint8_t)(shared ? MODE_SHARED : MODE_EXCLUSIVE)});
    /* Nobody has welcomed me: maybe only a ghost could, and it stays until somebody is known to
     * wait. */
    if (!node_has_requested(resource_node(resource)))
        resources_put_note(agent, RECORD_WAITING, resource,
                           shared ? PERMISSION_SHARED : PERMISSION_EXCLUSIVE);
}

void resources_pursue_all(struct agent *agent)
{
    for (unsigned at = 0; at < agent->resources; at++)
        resources_pursue(agent, &agent->resource[at]);
}

/* ---- how they come to be ---- */

static void begin(struct agent *agent, struct resource *resource, uint64_t members, uint64_t view)
{
    const struct beginning how = {
        .self = agent->self, .nodes = SLOTS, .agreed = true, .view = view, .members = &members};
    resource->state = calloc(agent->options.protocol->words(SLOTS), sizeof *resource->state);
    if (!resource->state) {
        fputs("afteryou agent: out of memory\n", stderr);
        abort();
    }
    agent->options.protocol->begin(resource->state, &how);
}

static struct resource *add_to_group(struct agent *agent, const char *name, size_t length)
{
    struct resource *resource =
        agent->group_count < RESOURCES_MOST ? names_add(agent, name, length) : NULL;
    if (!resource)
        return NULL;
    resource->in_group = true;
    resource->creating = false;
    resource->index = agent->group_count;
    agent->group[agent->group_count++] = resource;
    return resource;
}

/* The creator first, the others join it in order of their slots, each with a view of its own. */
static void create(struct agent *agent, struct resource *resource, uint32_t creator)
{
    uint32_t order[SLOTS], count = 0;
    order[count++] = creator;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (agent->member[slot].used && !agent->member[slot].ghost && slot != creator)
            order[count++] = slot;
    for (uint32_t at = 0; at < count; at++) {
        agent->view++;
        resource->members |= slot_bit(order[at]);
        if (order[at] == agent->self)
            begin(agent, resource, resource->members, agent->view);
        else if (resource->state)
            resources_step(
                agent, resource,
                &(struct event){.kind = EVENT_JOINED, .node = order[at], .view = agent->view});
    }
    if (agent->view > agent->known_view)
        agent->known_view = agent->view;
    agent->around.keep_view(agent->around.arg, agent->view);
    resource->told = false;
    if (resource->death) { /* of an earlier group: who knows of it says so (deaths.c) */
        resource->death = false;
        agent->around.death(agent->around.arg, resource_index(agent, resource));
    }
}

struct resource *resources_create(struct agent *agent, const char *name, size_t length,
                                  uint32_t creator)
{
    struct resource *resource = add_to_group(agent, name, length);
    if (resource)
        create(agent, resource, creator);
    return resource;
}

void resources_creation(struct agent *agent, uint32_t slot, struct reader *fields)
{
    const char *name;
    const size_t length = read_text(fields, &name);
    if (fields->bad)
        return;
    struct resource *resource = names_find(agent, name, length);
    if ((!resource || !resource->in_group) && agent->group_count < RESOURCES_MOST && length >= 1 &&
        length <= PERMISSION_NAME_MOST) {
        resource = resources_create(agent, name, length, slot);
        if (!resource) { /* the others have it, and would wait for my answers */
            agent_forget(agent, "no room for another name");
            joining_seek(agent);
            return;
        }
    }
    if (resource) /* refused, if it has come too late */
        resources_pursue(agent, resource);
}

void resources_joined(struct agent *agent, uint32_t slot)
{
    for (uint32_t at = 0; at < agent->group_count; at++) {
        struct resource *resource = agent->group[at];
        resource->members |= slot_bit(slot);
        resources_step(agent, resource,
                       &(struct event){.kind = EVENT_JOINED, .node = slot, .view = agent->view});
    }
}

void resources_write_state(struct agent *agent, struct parcel *out)
{
    parcel_u32(out, agent->group_count);
    for (uint32_t at = 0; at < agent->group_count; at++) {
        const struct resource *resource = agent->group[at];
        parcel_text(out, resource->name, resource->length);
        parcel_u8(out, (uint8_t)(resource->death | resource->told << 1));
        parcel_u64(out, resource->members);
        for (unsigned mode = PERMISSION_SHARED; mode <= PERMISSION_EXCLUSIVE; mode++) {
            parcel_u64(out, resource->waiting[mode]);
            parcel_u64(out, resource->holding[mode]);
        }
    }
}

bool resources_read_state(struct agent *agent, struct reader *fields)
{
    const uint32_t count = read_u32(fields);
    for (uint32_t at = 0; at < count && !fields->bad; at++) {
        const char *name;
        const size_t length = read_text(fields, &name);
        struct resource *resource = fields->bad ? NULL : add_to_group(agent, name, length);
        if (!resource)
            return false;
        const uint8_t flags = read_u8(fields);
        resource->death = flags & 1;
        resource->told = flags >> 1 & 1;
        resource->members = read_u64(fields);
        for (unsigned mode = PERMISSION_SHARED; mode <= PERMISSION_EXCLUSIVE; mode++) {
            resource->waiting[mode] = read_u64(fields);
            resource->holding[mode] = read_u64(fields);
        }
        begin(agent, resource, resource->members | slot_bit(agent->self),
              agent->member[agent->self].joined);
        agent->around.death(agent->around.arg, resource_index(agent, resource));
    }
    return !fields->bad;
}

/* ---- how they end ---- */

void resources_withdraw(struct agent *agent, struct resource *resource)
{
    if (!resource->granted)
        return;
    /* Those inside were told when the lease ran out, or are told now. */
    const int64_t lease = agent->deadline ? agent->deadline : agent->inherited_until;
    const int64_t told = lease && lease < agent->now ? lease : agent->now;
    holdings_owe(agent, resource, resource->ghost >= 0 ? (uint32_t)resource->ghost : agent->self,
                 told + agent->options.grace - agent->options.lease);
    resource->granted = false;
    resource->ghost = -1;
    agent->counters.losses++;
    agent->around.withdraw(agent->around.arg, resource_index(agent, resource));
    deaths_sweep(agent, resource);
    agent_log(agent, LOG_WARNING, "lost", "resource=\"%s\"", agent_name(resource));
}

void resources_forget(struct agent *agent)
{
    for (unsigned at = 0; at < agent->resources; at++) {
        struct resource *resource = &agent->resource[at];
        resources_withdraw(agent, resource);
        free(resource->state);
        resource->state = NULL;
        resource->in_group = resource->creating = resource->busy_elsewhere = false;
        resource->members = 0;
        memset(resource->waiting, 0, sizeof resource->waiting);
        memset(resource->holding, 0, sizeof resource->holding);
    }
    agent->group_count = 0;
    if (agent->is_full)
        agent->around.full(agent->around.arg, false);
    agent->is_full = false;
}

void resources_died(struct agent *agent, struct resource *resource, uint32_t slot, bool death)
{
    const uint64_t bit = slot_bit(slot);
    if (!(resource->members & bit))
        return;
    uint64_t concerned = 0;
    for (unsigned mode = PERMISSION_SHARED; mode <= PERMISSION_EXCLUSIVE; mode++) {
        concerned |= resource->waiting[mode] | resource->holding[mode];
        resource->waiting[mode] &= ~bit;
        resource->holding[mode] &= ~bit;
    }
    resource->members &= ~bit;
    if (death && concerned & bit && !resource->death) {
        resource->death = true;
        agent->around.death(agent->around.arg, resource_index(agent, resource));
    }
    resources_step(agent, resource,
                   &(struct event){.kind = EVENT_DIED, .node = slot, .view = agent->view});
}

/* ---- what members say of them ---- */

static void note_waiting(struct agent *agent, struct resource *resource, uint32_t slot,
                         unsigned mode)
{
    resource->waiting[mode == PERMISSION_SHARED ? PERMISSION_SHARED : PERMISSION_EXCLUSIVE] |=
        slot_bit(slot);
    resources_look_for_contest(agent, resource);
    if (resource->is_busy && slot != agent->self)
        resources_put_note(agent, RECORD_BUSY, resource, 0);
}

void resources_protocol(struct agent *agent, uint32_t slot, struct reader *fields)
{
    uint64_t body[4 * SLOTS];
    const uint32_t index = read_u32(fields);
    const uint64_t to = read_u64(fields);
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
    if (fields->bad || !bytes || index >= agent->group_count || message.kind >= MESSAGE_KINDS ||
        message.mode >= MODES)
        return;
    memcpy(body, bytes, words * sizeof *body);
    struct resource *resource = agent->group[index];
    if (!(resource->members & slot_bit(slot)))
        return;
    if (to & slot_bit(agent->self))
        resources_step(agent, resource,
                       &(struct event){.kind = EVENT_MESSAGE,
                                       .message = &message,
                                       .body = words ? body : NULL});
    if (message.kind == MESSAGE_REQUEST)
        note_waiting(agent, resource, slot, permission_of(message.mode));
}

static void note_held(struct resource *resource, uint32_t slot, unsigned mode)
{
    const uint64_t bit = slot_bit(slot);
    resource->waiting[PERMISSION_SHARED] &= ~bit;
    resource->waiting[PERMISSION_EXCLUSIVE] &= ~bit;
    resource->holding[mode == PERMISSION_SHARED ? PERMISSION_SHARED : PERMISSION_EXCLUSIVE] |= bit;
}

static void note_freed(struct agent *agent, struct resource *resource, uint32_t slot, bool death)
{
    const uint64_t bit = slot_bit(slot);
    for (unsigned mode = PERMISSION_SHARED; mode <= PERMISSION_EXCLUSIVE; mode++) {
        resource->waiting[mode] &= ~bit;
        resource->holding[mode] &= ~bit;
    }
    resource->busy_elsewhere = false;
    if (death && !resource->death) {
        resource->death = true;
        agent->around.death(agent->around.arg, resource_index(agent, resource));
    }
}

void resources_note(struct agent *agent, uint32_t slot, enum record_kind kind,
                    struct reader *fields)
{
    const uint32_t index = read_u32(fields);
    const uint8_t value = read_u8(fields);
    if (fields->bad || index >= agent->group_count)
        return;
    struct resource *resource = agent->group[index];
    switch (kind) {
    case RECORD_WAITING:
        note_waiting(agent, resource, slot, value);
        break;
    case RECORD_HELD:
        note_held(resource, slot, value);
        break;
    case RECORD_FREED:
        note_freed(agent, resource, slot, value);
        break;
    case RECORD_BUSY:
        resource->busy_elsewhere = slot != agent->self;
        if (resource->busy_elsewhere && resource->wanted)
            agent->around.busy(agent->around.arg, resource_index(agent, resource));
        break;
    default: /* RECORD_TOLD */
        resource->told = true;
        resource->death = false;
        agent->around.death(agent->around.arg, resource_index(agent, resource));
    }
}
