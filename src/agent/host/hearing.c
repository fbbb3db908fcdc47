/* SPDX-License-Identifier: MIT */
/* What the agent hears of its own machine: what processes ask for, and what has been taken back. */
#include "agent/host/hearing.h"

#include <sys/socket.h>

#include "common/clusters.h"

enum { DEMANDS_AT_ONCE = 64 };

static bool is_stale(const struct service *service, const struct demand *demand)
{
    const struct permission *permission =
        permissions_find(service->pages.map, demand->name, demand->length);
    return permission && demand_is_stale(demand, atomic_load(&permission->granted));
}

void hearing_demands(struct service *service)
{
    for (int count = 0; count < DEMANDS_AT_ONCE; count++) {
        struct demand demand;
        const ssize_t length = recv(service->socket, &demand, sizeof demand, MSG_DONTWAIT);
        if (length < 0)
            return;
        if (length != (ssize_t)sizeof demand || demand.magic != DEMAND_MAGIC || demand.length < 1 ||
            demand.length > PERMISSION_NAME_MOST || demand.mode > PERMISSION_EXCLUSIVE ||
            demand.kind > DEMAND_REAL)
            continue;
        unused_demanded(&service->unused, demand.name, demand.length);
        if (is_stale(service, &demand))
            continue;
        service_step(service,
                     (struct agent_event){.kind = ON_DEMAND,
                                          .demand = {.what = &demand, .number = demand.number}});
    }
}

void hearing_taken_back(struct service *service, const struct local_news *news)
{
    service_step(service, (struct agent_event){.kind = ON_TAKEN_BACK,
                                               .resource = news->resource,
                                               .taken_back = {.withdrawn = news->withdrawn,
                                                              .mode = news->mode,
                                                              .death = news->death,
                                                              .number = news->number}});
}

static void say_trouble(struct service *service, const struct local_news *news)
{
    char name[NAME_ROOM], details[NAME_ROOM + sizeof news->why + 32];
    wording_name(&service->agent.resource[news->resource], name);
    snprintf(details, sizeof details, "resource=\"%s\" why=\"%s\"", name, news->why);
    service_say(service, LOG_WARNING, "not-handed-over", details);
}

void hearing_news(struct service *service)
{
    if (service->hearing)
        return; /* it is heard behind what is being handed over */
    service->hearing = true;
    for (struct local_news news; local_next(service->local, &news);)
        if (news.kind == LOCAL_TAKEN_BACK) {
            /* who has left may have said that it was told of the death: before another is */
            if (service->agent.resource[news.resource].death)
                hearing_demands(service);
            hearing_taken_back(service, &news);
        } else {
            service_step(service, (struct agent_event){.kind = ON_BUSY, .resource = news.resource});
            if (news.kind == LOCAL_TROUBLE)
                say_trouble(service, &news);
        }
    service->hearing = false;
}
