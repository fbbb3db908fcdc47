/* SPDX-License-Identifier: MIT */
/* Resources of the group: how they come to be, and how they end.
 *
 * A resource comes into being at the CREATION of its name, by the order of its views: the eldest
 * member is the first, and all others join it one after the other. So a protocol needs no beginning
 * other than joining, which is checked.
 */
#include "agent/core/parts.h"

#include "protocols/messages/node.h"

static void begin(struct agent *agent, struct resource *resource, slot_set members, uint64_t view)
{
    /* the protocol looks after what was said to an earlier incarnation as well */
    const uint64_t without = is_without(agent, WITHOUT_RECEIVERS) ? WITHOUT_INCARNATIONS : 0;
    const struct beginning how = {.self = agent->self,
                                  .nodes = SLOTS,
                                  .agreed = true,
                                  .apart = agent_is_apart(agent),
                                  .view = view,
                                  .members = (const uint64_t *)&members,
                                  .without = without};
    const size_t words = agent->options.protocol->words(SLOTS);
    resource->state = agent->states + resource_index(agent, resource) * words;
    memset(resource->state, 0, words * sizeof *resource->state);
    agent->options.protocol->begin(resource->state, &how);
    if (!is_without(agent, WITHOUT_FLOOR))
        resource_node(resource)->fence = agent->floor;
}

static uint32_t *bucket(const struct agent *agent, uint64_t serial)
{
    return &agent->of_serial[serial % agent->entries];
}

struct resource *resources_at(const struct agent *agent, uint64_t serial)
{
    for (uint32_t at = *bucket(agent, serial); at; at = agent->resource[at - 1].next_of_serial)
        if (agent->resource[at - 1].serial == serial)
            return &agent->resource[at - 1];
    return NULL;
}

static struct resource *add_to_group(struct agent *agent, const char *name, size_t length,
                                     uint64_t serial)
{
    struct resource *resource =
        agent->group_count < agent->options.names ? names_add(agent, name, length) : NULL;
    if (!resource || resource->in_group)
        return NULL;
    resource->in_group = agent->has_news = true;
    resource->creating = resource->creating && agent_is_apart(agent);
    resource->index = agent->group_count;
    agent->group[agent->group_count++] = resource;
    resource->serial = serial;
    resource->next_of_serial = *bucket(agent, serial);
    *bucket(agent, serial) = resource_index(agent, resource) + 1;
    return resource;
}

/* What it is in the group. */
static void forget(struct agent *agent, struct resource *resource)
{
    conditions_change(agent, resource, ~(slot_set)0);
    resource->state = NULL;
    resource->in_group = resource->leaving = false;
    resource->serial = resource->ledger_died = resource->ledger_told = 0;
    resource->members = resource->users = resource->busy_elsewhere = 0;
    memset(resource->waiting, 0, sizeof resource->waiting);
    memset(resource->holding, 0, sizeof resource->holding);
}

void resources_drop(struct agent *agent, struct resource *resource)
{
    uint32_t *link = bucket(agent, resource->serial);
    while (*link != resource_index(agent, resource) + 1)
        link = &agent->resource[*link - 1].next_of_serial;
    *link = resource->next_of_serial;
    struct resource *last = agent->group[--agent->group_count];
    agent->group[resource->index] = last;
    last->index = resource->index;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        agent->member[slot].resources -= (uint32_t)(resource->members >> slot & 1);
    forget(agent, resource);
    if (resource->death)
        effect_tell_death(agent, resource, false);
    names_forget(agent, resource);
    names_tell_room(agent);
}

/* Those who are members, the eldest first; but `first` before all. */
static uint32_t by_seniority(const struct agent *agent, uint32_t first, uint32_t order[SLOTS])
{
    uint32_t count = 0;
    if (first != NO_SLOT)
        order[count++] = first;
    const uint32_t begin = count;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        if (!member_is_alive(&agent->member[slot]) || slot == first)
            continue;
        uint32_t at = count++;
        for (; at > begin && agent->member[order[at - 1]].joined > agent->member[slot].joined; at--)
            order[at] = order[at - 1];
        order[at] = slot;
    }
    return count;
}

/* Its serial alone is not enough: who has missed a CREATION gives it to the next. */
static uint64_t identity_of(const struct agent *agent, const struct resource *resource,
                            const uint32_t order[SLOTS], uint32_t count)
{
    if (is_without(agent, WITHOUT_IDENTITY))
        return resource->serial + count;
    uint64_t identity = permission_hash(PERMISSION_HASH_BEGIN, &agent->view, sizeof agent->view);
    identity = permission_hash(identity, &resource->serial, sizeof resource->serial);
    for (uint32_t at = 0; at < count; at++)
        identity =
            permission_hash(identity, &agent->member[order[at]].incarnation, sizeof(uint64_t));
    return permission_hash(identity, resource->name, resource->length);
}

/* The eldest first, the others join it in order of seniority. It does not matter who creates it:
 * should one have missed another's CREATION, and take its own for the first, it still has nobody's
 * permission without a word from them, and they have none for it.
 *
 * In an agreed order each joins with a view of its own. Over links none has a new one: names come
 * and go, and views are few. There what is about an earlier resource of this name has another
 * serial, and the fences begin above its own.
 */
static void create(struct agent *agent, struct resource *resource, uint32_t first)
{
    uint32_t order[SLOTS];
    const uint32_t count = by_seniority(agent, first, order);
    resource->identity = identity_of(agent, resource, order, count);
    for (uint32_t at = 0; at < count; at++) {
        agent->view += !agent_is_apart(agent);
        resource->members |= slot_bit(order[at]);
        agent->member[order[at]].resources++;
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

struct resource *resources_create(struct agent *agent, const char *name, size_t length,
                                  uint32_t first)
{
    struct resource *resource = add_to_group(agent, name, length, agent->created + 1);
    if (!resource)
        return NULL;
    agent->created++;
    create(agent, resource, first);
    return resource;
}

/* Its CREATION, or that it uses it, was heard by that machine alone, before its ring broke. */
void resources_restore(struct agent *agent, uint32_t node, struct reader kept)
{
    const uint32_t count = read_u32(&kept);
    for (uint32_t at = 0; at < count && !kept.bad; at++) {
        const char *name;
        const uint8_t slot = read_u8(&kept);
        const size_t length = read_text(&kept, &name);
        if (kept.bad || length < 1 || length > PERMISSION_NAME_MOST || slot >= SLOTS ||
            !member_is_alive(&agent->member[slot]) || agent->member[slot].node != node ||
            is_without(agent, WITHOUT_RESTORING))
            continue;
        struct resource *resource = names_find(agent, name, length);
        if (resource && resource->in_group)
            continue;
        if (!resources_create(agent, name, length, slot) &&
            agent->group_count < agent->options.names)
            group_restart(agent, CUT_NO_ROOM); /* the others have it */
        if (!agent_is_member(agent))
            return;
    }
}

void resources_creation(struct agent *agent, uint32_t slot, struct reader *fields)
{
    const char *name;
    const size_t length = read_text(fields, &name);
    if (fields->bad)
        return;
    struct resource *resource = names_find(agent, name, length);
    if ((!resource || !resource->in_group) && agent->group_count < agent->options.names &&
        length >= 1 && length <= PERMISSION_NAME_MOST) {
        resource = resources_create(agent, name, length, NO_SLOT);
        if (!resource) { /* the others have it, and would wait for my answers */
            group_restart(agent, CUT_NO_ROOM);
            return;
        }
    }
    if (!resource)
        return;
    if (resource->in_group) {
        resource->users |= slot_bit(slot);
        agent->has_news = true;
    }
    resource->creating = resource->creating && slot != agent->self;
    passages_pursue(agent, resource); /* refused, if it has come too late */
}

void resources_joined(struct agent *agent, uint32_t slot)
{
    agent->member[slot].resources = agent->group_count;
    for (uint32_t at = 0; at < agent->group_count; at++) {
        struct resource *resource = agent->group[at];
        resource->members |= slot_bit(slot);
        conditions_change(agent, resource, slot_bit(slot));
        passages_step(agent, resource,
                      &(struct event){.kind = EVENT_JOINED, .node = slot, .view = agent->view});
    }
}

void resources_write_state(struct agent *agent, struct parcel *out)
{
    parcel_u64(out, agent->created);
    parcel_u64(out, agent->floor);
    parcel_u32(out, agent->group_count);
    for (uint32_t at = 0; at < agent->group_count; at++) {
        const struct resource *resource = agent->group[at];
        parcel_text(out, resource->name, resource->length);
        parcel_u8(out, (uint8_t)(resource->death | resource->told << 1));
        parcel_u64(out, resource->serial);
        parcel_u64(out, resource->identity);
        parcel_slots(out, resource->members);
        parcel_slots(out, resource->users);
        parcel_u64(out, resource->ledger_died);
        parcel_u64(out, resource->ledger_told);
        for (unsigned mode = PERMISSION_NONE + 1; mode < PERMISSION_MODES && !agent_is_apart(agent);
             mode++) {
            parcel_slots(out, resource->waiting[mode]);
            parcel_slots(out, resource->holding[mode]);
        }
    }
}

static bool read_resource(struct agent *agent, struct reader *fields)
{
    const char *name;
    const size_t length = read_text(fields, &name);
    const uint8_t flags = read_u8(fields);
    const uint64_t serial = read_u64(fields);
    struct resource *resource =
        fields->bad || serial > agent->created ? NULL : add_to_group(agent, name, length, serial);
    if (!resource)
        return false;
    /* over links, what a ghost of mine has been told stands in the pages */
    if (!agent_is_apart(agent) || !resource->granted)
        effect_tell_death(agent, resource, flags & 1 && !agent_is_apart(agent));
    resource->told = flags >> 1 & 1;
    resource->identity = read_u64(fields);
    resource->members = read_slots(fields);
    resource->users = read_slots(fields);
    resource->ledger_died = read_u64(fields);
    resource->ledger_told = read_u64(fields);
    for (unsigned mode = PERMISSION_NONE + 1; mode < PERMISSION_MODES && !agent_is_apart(agent);
         mode++) {
        resource->waiting[mode] = read_slots(fields);
        resource->holding[mode] = read_slots(fields);
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        agent->member[slot].resources += (uint32_t)(resource->members >> slot & 1);
    begin(agent, resource, resource->members | slot_bit(agent->self),
          agent->member[agent->self].joined);
    return !fields->bad;
}

bool resources_read_state(struct agent *agent, struct reader *fields)
{
    agent->created = read_u64(fields);
    agent->floor = read_u64(fields);
    const uint32_t count = read_u32(fields);
    for (uint32_t at = 0; at < count && !fields->bad; at++)
        if (!read_resource(agent, fields))
            return false;
    return !fields->bad;
}

void resources_forget(struct agent *agent)
{
    holdings_lose_all(agent);
    for (unsigned at = 0; at < agent->resources; at++) {
        struct resource *resource = &agent->resource[at];
        resource->creating = false;
        forget(agent, resource);
    }
    memset(agent->of_serial, 0, agent->entries * sizeof *agent->of_serial);
    agent->group_count = 0;
    agent->created = agent->floor = 0;
    names_tell_room(agent);
}

void resources_died(struct agent *agent, struct resource *resource, uint32_t slot, bool death,
                    const struct message *words)
{
    const slot_set bit = slot_bit(slot);
    /* one that does not use it was not inside */
    const struct message outside = {.view = agent->view - 1};
    if (!(resource->members & bit))
        return;
    if (!words && !(resource->users & bit))
        words = &outside;
    slot_set concerned = 0;
    for (unsigned mode = PERMISSION_NONE + 1; mode < PERMISSION_MODES && !agent_is_apart(agent);
         mode++) {
        concerned |= resource->waiting[mode] | resource->holding[mode];
        resource->waiting[mode] &= ~bit;
        resource->holding[mode] &= ~bit;
    }
    resource->members &= ~bit;
    agent->member[slot].resources--;
    resource->busy_elsewhere &= ~bit;
    if (agent_is_apart(agent)) { /* another may have the slot next */
        resource->wanting &= ~bit;
        resource->told_busy &= ~bit;
    }
    conditions_change(agent, resource, bit);
    if (death && concerned & bit && !resource->death)
        effect_tell_death(agent, resource, true);
    passages_step(agent, resource,
                  &(struct event){.kind = EVENT_DIED,
                                  .node = slot,
                                  .view = agent->view,
                                  .message = agent_is_apart(agent) ? words : NULL});
    forgetting_notes_end(agent, resource, slot, words);
}
