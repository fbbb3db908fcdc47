/* SPDX-License-Identifier: MIT */
/* Members: how they get a slot, and how they cease to be. Each change is a view. */
#include "agent/core/parts.h"

/* Changes that one may have installed whose ring broke, and of which nobody else has heard: ends of
 * its ghosts, of which there may be one for each of their names; and so many others, which itself
 * has said. When it comes back, it tells how far it came (admission.c); if it is buried, nobody
 * does. */
enum { VIEWS_ALONE = 64 };

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
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (agent->member[slot].ghost && agent->member[slot].resources == 0)
            agent->member[slot] = (struct member){0};
}

/* Its link with it: what it has said and I have not taken is of no account any more. */
static void begin_end(struct agent *agent, uint32_t slot)
{
    assert_invariant(A3, slot != agent->self);
    members_next_view(agent);
    agent->member[slot].ghost = true;
    peers_remove(agent, slot);
}

/* Those that remain: the last first, for one that is forgotten gives its place to the last. */
static void end_of_all(struct agent *agent, uint32_t slot, const struct message *words)
{
    for (uint32_t at = agent->group_count; at-- > 0;)
        if (!agent->group[at]->is_kept)
            resources_died(agent, agent->group[at], slot, true, words);
}

/* What it vouches for: nobody is inside by it, and nobody has died, but where it says so. */
static struct message words_of_successor(const struct agent *agent, bool doubtful)
{
    doubtful = doubtful && !is_without(agent, WITHOUT_LAST_WORDS_SAID);
    return (struct message){.view = agent->view - 1,
                            .died = doubtful ? agent->view << FENCE_VIEW_SHIFT : 0};
}

/* The next of a list of (slot, name), or of names alone, which is of the group and of this slot;
 * NULL: there is none. */
static struct resource *next_listed(const struct agent *agent, struct reader *list, uint32_t *left,
                                    uint32_t slot, bool with_slots)
{
    while (*left > 0 && !list->bad) {
        const char *name;
        --*left;
        const uint32_t its = with_slots ? read_u8(list) : slot;
        const size_t length = read_text(list, &name);
        struct resource *resource =
            list->bad || its != slot ? NULL : names_find(agent, name, length);
        if (resource && resource->in_group && resource->members & slot_bit(slot))
            return resource;
    }
    return NULL;
}

static void mark_kept(struct agent *agent, struct reader kept, uint32_t slot, bool is_kept)
{
    uint32_t left = read_u32(&kept);
    for (struct resource *each; (each = next_listed(agent, &kept, &left, slot, true));) {
        each->is_kept = is_kept;
        each->users |= slot_bit(slot); /* even if nobody but itself has heard so */
    }
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
        mark_kept(agent, *kept, slot, true);
        struct message words = words_of_successor(agent, true);
        struct reader list = *doubtful;
        uint32_t left = read_u32(&list);
        for (struct resource *each; (each = next_listed(agent, &list, &left, slot, false));)
            if (!each->is_kept)
                resources_died(agent, each, slot, true, &words);
        words = words_of_successor(agent, false);
        end_of_all(agent, slot, &words);
        mark_kept(agent, *kept, slot, false);
    }
    members_free_slots(agent);
}

/* By the ledger, so all have the same. */
static uint64_t count_views_alone(const struct agent *agent, uint32_t node)
{
    uint64_t count = VIEWS_ALONE;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (agent->member[slot].ghost && agent->member[slot].node == node)
            count += agent->member[slot].resources;
    return is_without(agent, WITHOUT_MARGIN) ? 0 : count;
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
    agent->view += count_views_alone(agent, node);
    effect_say_member(agent, LINE_BURIED, node, slot);
    for (uint32_t each = 0; each < SLOTS; each++)
        if (agent->member[each].used && agent->member[each].node == node) {
            begin_end(agent, each);
            end_of_all(agent, each, NULL);
        }
    members_free_slots(agent);
}

/* What it knew of deaths; where it says nothing, there was none. */
void members_farewell(struct agent *agent, uint32_t slot, struct reader *fields)
{
    if (slot == agent->self)
        return;
    effect_say_member(agent, LINE_FAREWELL, agent->member[slot].node, slot);
    begin_end(agent, slot);
    struct message words = {.view = read_u64(fields)};
    const uint32_t count = read_u32(fields);
    for (uint32_t at = 0; at < count && !fields->bad; at++) {
        struct resource *resource = resources_at(agent, read_u64(fields));
        words.died = read_u64(fields);
        words.told = read_u64(fields);
        if (resource && !fields->bad)
            resources_died(agent, resource, slot, false, &words);
    }
    words.died = words.told = 0;
    for (uint32_t at = agent->group_count; at-- > 0;)
        resources_died(agent, agent->group[at], slot, false, &words);
    members_free_slots(agent);
}

/* What a predecessor of `slot` had of one resource has ended. */
void members_ghost(struct agent *agent, uint32_t slot, struct reader *fields)
{
    const uint64_t serial = read_u64(fields);
    const uint8_t ghost = read_u8(fields), death = read_u8(fields);
    const uint64_t told = read_u64(fields);
    struct resource *resource = fields->bad ? NULL : resources_at(agent, serial);
    if (!resource || ghost >= SLOTS || !agent->member[ghost].ghost ||
        agent->member[ghost].node != agent->member[slot].node ||
        !(resource->members & slot_bit(ghost)))
        return;
    members_next_view(agent);
    effect_say_resource(agent, LINE_GHOST_ENDED, resource)->say.slot = ghost;
    if (death && !resource->death && !agent_is_apart(agent))
        effect_tell_death(agent, resource, true);
    const struct message words = {
        .view = agent->view - 1, .died = death ? agent->view << FENCE_VIEW_SHIFT : 0, .told = told};
    resource->busy_elsewhere &= ~slot_bit(slot);
    resources_died(agent, resource, ghost, false, &words);
    resource->was_lost = resource->was_lost && deaths_are_to_come(agent, resource);
    names_forget(agent, resource);
    members_free_slots(agent);
}
