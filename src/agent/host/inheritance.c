/* SPDX-License-Identifier: MIT */
/* What an agent finds of one that ran before it on this machine: names, permissions and what is
 * owed, in the pages; deaths, in the pages and in the space. */
#include "agent/host/inheritance.h"

#include <stdio.h>

#include "afteryou.h"
#include "common/assert.h"
#include "common/clock.h"

static int note_death(const ay_place *place, void *arg)
{
    struct service *service = arg;
    const struct permissions *map = service->pages.map;
    const struct permission *permission =
        place->state == AY_DEAD_INSIDE
            ? permissions_find(map, place->names[0], strlen(place->names[0]))
            : NULL;
    if (permission)
        service_step(service,
                     (struct agent_event){.kind = ON_DEAD_INSIDE,
                                          .resource = (unsigned)(permission - map->permission)});
    return 0;
}

/* Whether it was granted. */
static bool inherit_one(struct service *service, unsigned at)
{
    const struct permission *permission = &service->pages.map->permission[at];
    const unsigned mode = permission_mode(atomic_load(&permission->granted));
    service_step(service, (struct agent_event){
                              .kind = ON_INHERITED,
                              .resource = at,
                              .inherited = {.name = permission->name,
                                            .length = atomic_load(&permission->length),
                                            .mode = (uint8_t)mode,
                                            .slot = atomic_load(&permission->slot),
                                            .base = atomic_load(&permission->base),
                                            .first = atomic_load(&permission->number),
                                            .until = atomic_load(&service->pages.map->deadline),
                                            .owed = atomic_load(&permission->owed),
                                            .death = atomic_load(&permission->death) != 0}});
    return mode != PERMISSION_NONE;
}

int64_t inheritance_obliges(struct service *service, int64_t grace)
{
    if (service->pages.fresh) {
        service->pages.map->obliged = clock_ns(CLOCK_BOOTTIME) + grace;
        service_say(service, LOG_INFORMATION, "fresh-pages", "");
    }
    return service->pages.map->obliged;
}

void inherit(struct service *service)
{
    const struct permissions *map = service->pages.map;
    const bool in_time = atomic_load(&map->deadline) > clock_ns(CLOCK_BOOTTIME);
    const uint32_t count = atomic_load(&map->count);
    assert_invariant(P4, service->agent.options.pages == map->identity);
    unsigned inherited = 0;
    for (uint32_t at = 0; at < count && at < PERMISSIONS_MOST; at++)
        inherited += inherit_one(service, at);
    char text[PATH_MAX + 8];
    snprintf(text, sizeof text, "%s/space", service->directory.path);
    ay_look(text, NULL, note_death, service);
    if (inherited) {
        snprintf(text, sizeof text, "permissions=%u in_time=%d", inherited, in_time);
        service_say(service, LOG_INFORMATION, "inherited", text);
    }
}
