/* SPDX-License-Identifier: MIT */
/* What an agent finds of one that ran before it on this machine: names, permissions and what is
 * owed, in the pages; deaths, in the pages and in the space. */
#include "agent/host/inheritance.h"

#include "afteryou.h"

static int note_death(const ay_place *place, void *arg)
{
    struct agent *agent = arg;
    const struct resource *resource = names_find(agent, place->names[0], strlen(place->names[0]));
    if (place->state == AY_DEAD_INSIDE && resource && !resource->granted)
        agent_sweeps(agent, resource_index(agent, resource));
    return 0;
}

/* Somebody died inside, and nobody has been told: as the pages say, or the space. */
static void find_deaths(struct agent *agent, const struct pages *pages,
                        const struct directory *directory)
{
    char path[PATH_MAX + 8];
    for (unsigned at = 0; at < agent->resources; at++)
        if (atomic_load(&pages->map->permission[at].death))
            agent_knows_death(agent, at);
    snprintf(path, sizeof path, "%s/space", directory->path);
    ay_look(path, NULL, note_death, agent);
}

/* It holds while the lease does; then it is lost, and owed for a while. Whether it was granted. */
static bool inherit_one(struct agent *agent, struct pages *pages, unsigned at, int64_t now)
{
    const struct permission *permission = &pages->map->permission[at];
    const int64_t deadline = atomic_load(&pages->map->deadline);
    const unsigned mode = permission_mode(atomic_load(&permission->granted));
    const uint32_t slot = atomic_load(&permission->slot);
    const int64_t owed = mode ? deadline + agent->options.grace - agent->options.lease
                              : atomic_load(&permission->owed);
    agent_knows_name(agent, at, permission->name, atomic_load(&permission->length));
    if (mode != PERMISSION_NONE && deadline > now) {
        agent_inherits(agent, at, mode, slot, atomic_load(&permission->base),
                       atomic_load(&permission->number));
        return true;
    }
    if (mode != PERMISSION_NONE) {
        pages_lose(pages, at, owed);
        agent_sweeps(agent, at);
    }
    if (owed > now)
        agent_owes(agent, at, slot, owed);
    return mode != PERMISSION_NONE;
}

void inherit(struct agent *agent, struct pages *pages, const struct directory *directory,
             int64_t now)
{
    struct permissions *map = pages->map;
    const int64_t deadline = atomic_load(&map->deadline),
                  owed = deadline + agent->options.grace - agent->options.lease;
    unsigned inherited = 0;
    if (pages->fresh) {
        map->obliged = now + agent->options.grace;
        agent_log(agent, LOG_INFORMATION, "fresh-pages", "%s", "");
    }
    agent_is_obliged(agent, map->obliged);
    for (uint32_t at = 0; at < atomic_load(&map->count); at++)
        inherited += inherit_one(agent, pages, at, now);
    agent->last_view = atomic_load(&map->view);
    find_deaths(agent, pages, directory);
    if (inherited) {
        agent->inherited_until = deadline;
        agent->obliged = owed > agent->obliged ? owed : agent->obliged;
        agent_log(agent, LOG_INFORMATION, "inherited", "permissions=%u in_time=%d", inherited,
                  deadline > now);
    }
}
