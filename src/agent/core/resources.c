/* SPDX-License-Identifier: MIT */
/* Resources of the group: how they come to be, and how they end.
 *
 * A resource comes into being at the CREATION of its name, by the order of its views: the eldest
 * member is the first, and all others join it one after the other. So a protocol needs no beginning
 * other than joining, which is checked.
 */
#include "agent/core/parts.h"

#include "protocols/messages/node.h"

static void begin(struct agent *agent, struct resource *resource, uint64_t members, uint64_t view)
{
    /* the protocol looks after what was said to an earlier incarnation as well */
    const uint64_t without = is_without(agent, WITHOUT_RECEIVERS) ? WITHOUT_INCARNATIONS : 0;
    const struct beginning how = {.self = agent->self,
                                  .nodes = SLOTS,
                                  .agreed = true,
                                  .apart = agent_is_apart(agent),
                                  .view = view,
                                  .members = &members,
                                  .without = without};
    const size_t words = agent->options.protocol->words(SLOTS);
    resource->state = agent->states + resource->index * words;
    memset(resource->state, 0, words * sizeof *resource->state);
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

/* Those who are members, the eldest first. */
static uint32_t by_seniority(const struct agent *agent, uint32_t order[SLOTS])
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        if (!member_is_alive(&agent->member[slot]))
            continue;
        uint32_t at = count++;
        for (; at > 0 && agent->member[order[at - 1]].joined > agent->member[slot].joined; at--)
            order[at] = order[at - 1];
        order[at] = slot;
    }
    return count;
}

/* Fowler, Noll and Vo's. */
static uint64_t hash(uint64_t from, const void *bytes, size_t length)
{
    for (size_t at = 0; at < length; at++)
        from = (from ^ ((const uint8_t *)bytes)[at]) * UINT64_C(0x100000001b3);
    return from;
}

/* Its index and its view alone are not enough: who has missed a CREATION gives both to the next. */
static uint64_t identity_of(const struct agent *agent, const struct resource *resource,
                            const uint32_t order[SLOTS], uint32_t count)
{
    if (is_without(agent, WITHOUT_IDENTITY))
        return agent->view + count;
    uint64_t identity = hash(UINT64_C(0xcbf29ce484222325), &agent->view, sizeof agent->view);
    for (uint32_t at = 0; at < count; at++)
        identity = hash(identity, &agent->member[order[at]].incarnation, sizeof(uint64_t));
    return hash(identity, resource->name, resource->length);
}

/* The eldest first, the others join it in order of seniority, each with a view of its own. It does
 * not matter who creates it: should one have missed another's CREATION, and take its own for the
 * first, it still has nobody's permission without a word from them, and they have none for it.
 */
static void create(struct agent *agent, struct resource *resource)
{
    uint32_t order[SLOTS];
    const uint32_t count = by_seniority(agent, order);
    resource->identity = identity_of(agent, resource, order, count);
    for (uint32_t at = 0; at < count; at++) {
        agent->view++;
        resource->members |= slot_bit(order[at]);
        if (order[at] == agent->self)
            begin(agent, resource, resource->members, agent->view);
        else if (resource->state)
            passages_step(
                agent, resource,
                &(struct event){.kind = EVENT_JOINED, .node = order[at], .view = agent->view});
    }
    members_keep_view(agent, agent->view);
    resource->told = false;
    if (resource->death) /* of an earlier group: who knows of it says so (deaths.c) */
        effect_tell_death(agent, resource, false);
}

struct resource *resources_create(struct agent *agent, const char *name, size_t length)
{
    struct resource *resource = add_to_group(agent, name, length);
    if (resource)
        create(agent, resource);
    return resource;
}

void resources_creation(struct agent *agent, struct reader *fields)
{
    const char *name;
    const size_t length = read_text(fields, &name);
    if (fields->bad)
        return;
    struct resource *resource = names_find(agent, name, length);
    if ((!resource || !resource->in_group) && agent->group_count < RESOURCES_MOST && length >= 1 &&
        length <= PERMISSION_NAME_MOST) {
        resource = resources_create(agent, name, length);
        if (!resource) { /* the others have it, and would wait for my answers */
            group_restart(agent, CUT_NO_ROOM);
            return;
        }
    }
    if (resource) /* refused, if it has come too late */
        passages_pursue(agent, resource);
}

void resources_joined(struct agent *agent, uint32_t slot)
{
    for (uint32_t at = 0; at < agent->group_count; at++) {
        struct resource *resource = agent->group[at];
        resource->members |= slot_bit(slot);
        passages_step(agent, resource,
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
        parcel_u64(out, resource->identity);
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
        /* over links, what a ghost of mine has been told stands in the pages */
        if (!agent_is_apart(agent) || !resource->granted)
            effect_tell_death(agent, resource, flags & 1 && !agent_is_apart(agent));
        resource->told = flags >> 1 & 1;
        resource->identity = read_u64(fields);
        resource->members = read_u64(fields);
        for (unsigned mode = PERMISSION_SHARED; mode <= PERMISSION_EXCLUSIVE; mode++) {
            resource->waiting[mode] = read_u64(fields);
            resource->holding[mode] = read_u64(fields);
        }
        begin(agent, resource, resource->members | slot_bit(agent->self),
              agent->member[agent->self].joined);
    }
    return !fields->bad;
}

void resources_forget(struct agent *agent)
{
    for (unsigned at = 0; at < agent->resources; at++) {
        struct resource *resource = &agent->resource[at];
        holdings_lose(agent, resource);
        resource->state = NULL;
        resource->in_group = resource->creating = false;
        resource->members = resource->busy_elsewhere = 0;
        resource->wanting = resource->told_busy = resource->dying = resource->told_here = 0;
        memset(resource->waiting, 0, sizeof resource->waiting);
        memset(resource->holding, 0, sizeof resource->holding);
    }
    agent->group_count = 0;
    if (agent->is_full)
        effect_add(agent, DO_TELL_FULL)->full = false;
    agent->is_full = false;
}

void resources_died(struct agent *agent, struct resource *resource, uint32_t slot, bool death,
                    const struct message *words)
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
    resource->wanting &= ~bit;
    resource->busy_elsewhere &= ~bit;
    resource->told_busy &= ~bit; /* another may have the slot next */
    if (death && concerned & bit && !resource->death)
        effect_tell_death(agent, resource, true);
    passages_step(agent, resource,
                  &(struct event){.kind = EVENT_DIED,
                                  .node = slot,
                                  .view = agent->view,
                                  .message = agent_is_apart(agent) ? words : NULL});
}
