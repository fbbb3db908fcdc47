/* SPDX-License-Identifier: MIT */
/* Members: how they get a slot, and how they cease to be. Each change is a view. */
#include "agent/core/parts.h"

void members_keep_view(struct agent *agent, uint64_t view)
{
    agent->known_view = view > agent->known_view ? view : agent->known_view;
    effect_add(agent, DO_KEEP_VIEW)->view = view;
}

void members_next_view(struct agent *agent)
{
    agent->view++;
    members_keep_view(agent, agent->view);
}

bool member_is_alive(const struct member *member)
{
    return member->used && !member->ghost;
}

uint32_t members_add(struct agent *agent, struct address address, uint64_t incarnation,
                     uint64_t pages)
{
    uint32_t slot = 0;
    while (slot < SLOTS && agent->member[slot].used)
        slot++;
    if (slot == SLOTS)
        return NO_SLOT;
    members_next_view(agent);
    agent->member[slot] = (struct member){.used = true,
                                          .node = address.node,
                                          .pid = address.pid,
                                          .pages = pages,
                                          .incarnation = incarnation,
                                          .joined = agent->view,
                                          .heard = agent->now};
    return slot;
}

/* A ghost's slot is free when no resource needs it any more. */
void members_free_slots(struct agent *agent)
{
    uint64_t needed = 0;
    for (uint32_t at = 0; at < agent->group_count; at++)
        needed |= agent->group[at]->members;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (agent->member[slot].ghost && !(needed & slot_bit(slot)))
            agent->member[slot] = (struct member){0};
}

/* Whether the resource is in a list of (slot, name); NO_SLOT: of names alone. */
static bool is_listed(struct reader list, uint32_t slot, const struct resource *resource)
{
    const uint32_t count = read_u32(&list);
    for (uint32_t at = 0; at < count && !list.bad; at++) {
        const char *name;
        const uint32_t its = slot == NO_SLOT ? NO_SLOT : read_u8(&list);
        const size_t length = read_text(&list, &name);
        if (!list.bad && its == slot && length == resource->length &&
            memcmp(name, resource->name, length) == 0)
            return true;
    }
    return false;
}

/* Its link with it: what it has said and I have not taken is of no account any more. */
static void begin_end(struct agent *agent, uint32_t slot)
{
    assert_invariant(A3, slot != agent->self);
    members_next_view(agent);
    agent->member[slot].ghost = true;
    peers_remove(agent, slot);
}

static void bury_slot(struct agent *agent, uint32_t slot)
{
    begin_end(agent, slot);
    for (uint32_t at = 0; at < agent->group_count; at++)
        resources_died(agent, agent->group[at], slot, true, NULL);
}

/* What it vouches for: nobody is inside by it, and nobody has died, but where it says so. */
static struct message words_of_successor(const struct agent *agent, bool doubtful)
{
    doubtful = doubtful && !is_without(agent, WITHOUT_LAST_WORDS_SAID);
    return (struct message){.view = agent->view - 1,
                            .died = doubtful ? agent->view << FENCE_VIEW_SHIFT : 0};
}

/* A new agent on `node` takes the place of the old: A4, A6. */
void members_succeed(struct agent *agent, uint32_t node, uint64_t pages, struct reader *kept,
                     struct reader *doubtful)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        if (!agent->member[slot].used || agent->member[slot].node != node)
            continue;
        assert_invariant(A3, agent->member[slot].pages == pages ||
                                 is_without(agent, WITHOUT_SAME_PAGES));
        begin_end(agent, slot);
        for (uint32_t at = 0; at < agent->group_count; at++) {
            struct resource *resource = agent->group[at];
            if (is_listed(*kept, slot, resource))
                continue;
            const struct message words =
                words_of_successor(agent, is_listed(*doubtful, NO_SLOT, resource));
            resources_died(agent, resource, slot, true, &words);
        }
    }
    members_free_slots(agent);
}

/* A3. Void if it has been heard of since the one who buries it last heard of it. */
void members_burial(struct agent *agent, struct reader *fields)
{
    const uint8_t slot = read_u8(fields);
    const uint64_t incarnation = read_u64(fields), renewed = read_u64(fields);
    if (fields->bad || slot >= SLOTS)
        return;
    const struct member *member = &agent->member[slot];
    if (!member_is_alive(member) || member->incarnation != incarnation ||
        (member->renewed != renewed && !is_without(agent, WITHOUT_VOID_BURIALS)))
        return;
    const uint32_t node = member->node;
    if (node == agent->node) { /* I am meant */
        group_restart(agent, CUT_BURIED);
        return;
    }
    agent->counters.burials++;
    effect_say_member(agent, LINE_BURIED, node, slot);
    for (uint32_t each = 0; each < SLOTS; each++)
        if (agent->member[each].used && agent->member[each].node == node)
            bury_slot(agent, each);
    members_free_slots(agent);
}

static uint32_t next_index(struct reader *fields, uint32_t *left)
{
    if (*left == 0 || fields->bad)
        return UINT32_MAX;
    --*left;
    return read_u32(fields);
}

/* What it knew of deaths comes in order of the resources. */
void members_farewell(struct agent *agent, uint32_t slot, struct reader *fields)
{
    if (slot == agent->self)
        return;
    effect_say_member(agent, LINE_FAREWELL, agent->member[slot].node, slot);
    begin_end(agent, slot);
    const uint64_t view = read_u64(fields);
    uint32_t left = read_u32(fields), next = next_index(fields, &left);
    for (uint32_t at = 0; at < agent->group_count; at++) {
        struct message words = {.view = view};
        if (at == next) {
            words.died = read_u64(fields);
            words.told = read_u64(fields);
            next = next_index(fields, &left);
        }
        resources_died(agent, agent->group[at], slot, false, &words);
    }
    members_free_slots(agent);
}

/* What a predecessor of `slot` had of one resource has ended. */
void members_ghost(struct agent *agent, uint32_t slot, struct reader *fields)
{
    const uint32_t index = read_u32(fields);
    const uint8_t ghost = read_u8(fields), death = read_u8(fields);
    const uint64_t told = read_u64(fields);
    if (fields->bad || index >= agent->group_count || ghost >= SLOTS ||
        !agent->member[ghost].ghost || agent->member[ghost].node != agent->member[slot].node ||
        !(agent->group[index]->members & slot_bit(ghost)))
        return;
    members_next_view(agent);
    struct resource *resource = agent->group[index];
    effect_say_resource(agent, LINE_GHOST_ENDED, resource)->say.slot = ghost;
    if (death && !resource->death && !agent_is_apart(agent))
        effect_tell_death(agent, resource, true);
    const struct message words = {
        .view = agent->view - 1, .died = death ? agent->view << FENCE_VIEW_SHIFT : 0, .told = told};
    resource->busy_elsewhere &= ~slot_bit(slot);
    resources_died(agent, resource, ghost, false, &words);
    resource->was_lost = resource->was_lost && deaths_are_to_come(agent, resource);
    members_free_slots(agent);
}
