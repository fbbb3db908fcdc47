/* SPDX-License-Identifier: MIT */
/* Names: which resources this machine knows, and what becomes of those that it needs no longer.
 *
 * The table is twice as large as a group can be. A name that is of no group, and of which this
 * machine neither has nor owes nor takes back anything, is kept only until its entry is needed, or
 * nobody here has it open: a process that wants it will ask for it again.
 */
#include "agent/core/parts.h"

static uint32_t *bucket(const struct agent *agent, const char *name, size_t length)
{
    const uint64_t hash = permission_hash(PERMISSION_HASH_BEGIN, name, length);
    return &agent->of_name[(hash ^ hash >> 32) % agent->entries];
}

struct resource *names_find(const struct agent *agent, const char *name, size_t length)
{
    if (length == 0)
        return NULL;
    for (uint32_t at = *bucket(agent, name, length); at; at = agent->resource[at - 1].next) {
        struct resource *resource = &agent->resource[at - 1];
        if (resource->length == length && memcmp(resource->name, name, length) == 0)
            return resource;
    }
    return NULL;
}

static bool is_needed(const struct agent *agent, const struct resource *resource)
{
    return resource->in_group || resource->granted || resource->taking_back ||
           resource->owed > agent->now;
}

/* A name's entry is in the list of its hash, a free one in that of free entries. */
static void put_in_list(struct agent *agent, struct resource *resource)
{
    uint32_t *first =
        resource->length ? bucket(agent, resource->name, resource->length) : &agent->free_entry;
    resource->next = *first;
    *first = resource_index(agent, resource) + 1;
}

static void take_out_of_list(struct agent *agent, const struct resource *resource)
{
    uint32_t *link =
        resource->length ? bucket(agent, resource->name, resource->length) : &agent->free_entry;
    while (*link != resource_index(agent, resource) + 1)
        link = &agent->resource[*link - 1].next;
    *link = resource->next;
}

void names_set(struct agent *agent, struct resource *resource, const char *name, size_t length)
{
    assert_required(length <= PERMISSION_NAME_MOST);
    char *text =
        length <= NAME_BRIEF ? resource->brief : agent->long_name[resource_index(agent, resource)];
    *resource = (struct resource){.length = (uint8_t)length, .ghost = -1, .name = text};
    memcpy(text, name, length);
    text[length] = '\0';
    put_in_list(agent, resource);
}

static void clear(struct agent *agent, struct resource *resource)
{
    const bool published = resource->published;
    take_out_of_list(agent, resource);
    names_set(agent, resource, "", 0);
    if (published) /* so that those who ask find that it is not there */
        effect_on(agent, DO_NAME, resource);
}

/* A death of which no group knows is kept for the next HELLO. */
void names_forget(struct agent *agent, struct resource *resource)
{
    if (!is_needed(agent, resource) && resource->length && resource->wanted == PERMISSION_NONE &&
        !resource->creating && !resource->death && !resource->died_here && !resource->was_lost &&
        !resource->held_by)
        clear(agent, resource);
}

/* One that is not needed, best of all one that nobody wants either. */
static struct resource *find_needless(struct agent *agent)
{
    struct resource *found = NULL;
    for (unsigned count = 0; count < agent->resources; count++) {
        struct resource *resource = &agent->resource[agent->looked_at++ % agent->resources];
        if (!is_needed(agent, resource) && (!found || resource->wanted == PERMISSION_NONE))
            found = resource;
        if (found && found->wanted == PERMISSION_NONE)
            break;
    }
    return found;
}

static struct resource *find_room(struct agent *agent)
{
    if (!agent->free_entry && agent->resources < agent->allowed) {
        struct resource *resource = &agent->resource[agent->resources++];
        names_set(agent, resource, "", 0);
    }
    if (!agent->free_entry) {
        struct resource *needless = find_needless(agent);
        if (needless)
            clear(agent, needless);
    }
    return agent->free_entry ? &agent->resource[agent->free_entry - 1] : NULL;
}

struct resource *names_add(struct agent *agent, const char *name, size_t length)
{
    struct resource *resource = names_find(agent, name, length);
    if (resource || length < 1 || length > PERMISSION_NAME_MOST)
        return resource;
    resource = find_room(agent);
    if (!resource)
        return NULL;
    take_out_of_list(agent, resource);
    names_set(agent, resource, name, length);
    return resource;
}

void names_publish(struct agent *agent, struct resource *resource)
{
    if (resource->published)
        return;
    resource->published = true;
    effect_on(agent, DO_NAME, resource);
}

void names_tell_full(struct agent *agent)
{
    agent->is_full = true;
    effect_add(agent, DO_TELL_FULL)->full = true;
}

void names_tell_room(struct agent *agent)
{
    if (agent->is_full)
        effect_add(agent, DO_TELL_FULL)->full = false;
    agent->is_full = false;
}

void names_refuse(struct agent *agent, struct resource *resource)
{
    resource->wanted = PERMISSION_NONE;
    resource->creating = false;
    if (!is_needed(agent, resource))
        clear(agent, resource);
    names_tell_full(agent);
}
