/* SPDX-License-Identifier: MIT */
/* Names: which resources this machine knows, and what becomes of those that it needs no longer.
 *
 * The table is twice as large as a group can be. A name that is of no group, and of which this
 * machine neither has nor owes nor takes back anything, is kept only until its entry is needed: a
 * process that wants it will ask for it again.
 */
#include "agent/core/parts.h"

struct resource *names_find(const struct agent *agent, const char *name, size_t length)
{
    for (unsigned at = 0; at < agent->resources; at++)
        if (agent->resource[at].length == length &&
            memcmp(agent->resource[at].name, name, length) == 0)
            return &agent->resource[at];
    return NULL;
}

static bool is_needed(const struct agent *agent, const struct resource *resource)
{
    return resource->in_group || resource->granted || resource->taking_back ||
           resource->owed > agent->now;
}

void names_set(struct resource *resource, const char *name, size_t length)
{
    *resource = (struct resource){.length = (uint8_t)length, .ghost = -1};
    memcpy(resource->name, name, length);
}

/* One that is free; else a new one; else one that is not needed, best of all one that nobody wants
 * either. */
static struct resource *find_room(struct agent *agent)
{
    struct resource *found = NULL;
    for (unsigned at = 0; at < agent->resources; at++)
        if (agent->resource[at].length == 0)
            return &agent->resource[at];
    if (agent->resources < PERMISSIONS_MOST)
        return &agent->resource[agent->resources++];
    for (unsigned at = 0; at < agent->resources; at++) {
        struct resource *resource = &agent->resource[at];
        if (!is_needed(agent, resource) && (!found || resource->wanted == PERMISSION_NONE))
            found = resource;
        if (found && found->wanted == PERMISSION_NONE)
            break;
    }
    return found;
}

struct resource *names_add(struct agent *agent, const char *name, size_t length)
{
    struct resource *resource = names_find(agent, name, length);
    if (resource || length < 1 || length > PERMISSION_NAME_MOST)
        return resource;
    resource = find_room(agent);
    if (!resource)
        return NULL;
    names_set(resource, name, length);
    effect_on(agent, DO_NAME, resource);
    return resource;
}

void names_tell_full(struct agent *agent)
{
    agent->is_full = true;
    effect_add(agent, DO_TELL_FULL)->full = true;
}

void names_refuse(struct agent *agent, struct resource *resource)
{
    resource->wanted = PERMISSION_NONE;
    resource->creating = false;
    if (!is_needed(agent, resource)) { /* so that those who ask find that it is not there */
        names_set(resource, "", 0);
        effect_on(agent, DO_NAME, resource);
    }
    names_tell_full(agent);
}
