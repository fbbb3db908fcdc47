/* SPDX-License-Identifier: MIT */
/* Names that no process of this machine has open.
 *
 * The space says who has what open, also of those that were killed. To look at it takes time in
 * proportion to its places: so it is done after somebody has asked for a permission, then ever more
 * rarely while all names are in use, and never for more than a hundredth of the time. What is found
 * is told to the agent some at a time, so that hand-overs do not wait.
 *
 * It is a hint. A process may open the name at this very moment: then it finds the permission
 * withdrawn, and asks.
 */
#include "agent/host/unused.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "afteryou.h"
#include "agent/host/steps.h"
#include "common/clock.h"

#define MS INT64_C(1000000)
enum {
    PAUSE_LEAST_MS = 1000,
    PAUSE_MOST_MS = 300 * 1000,
    SHARE = 100, /* of the time, at most one part */
    AT_ONCE = 64
};

void unused_begin(struct unused *unused)
{
    *unused = (struct unused){.due = INT64_MAX};
    unused_demanded(unused);
}

void unused_end(struct unused *unused)
{
    free(unused->open);
    *unused = (struct unused){.due = INT64_MAX};
}

static int64_t least_pause(const struct unused *unused)
{
    const int64_t share = SHARE * unused->took;
    return share > PAUSE_LEAST_MS * MS ? share : PAUSE_LEAST_MS * MS;
}

void unused_demanded(struct unused *unused)
{
    const int64_t soon = clock_ns(CLOCK_MONOTONIC) + least_pause(unused);
    unused->pause = least_pause(unused);
    if (soon < unused->due)
        unused->due = soon;
}

static uint64_t hash_of(const char *name, size_t length)
{
    return permission_hash(PERMISSION_HASH_BEGIN, name, length);
}

static int note_open(const ay_place *place, void *arg)
{
    struct unused *unused = arg;
    for (unsigned at = 0; place->alive && place->names[at]; at++) {
        if (unused->count == unused->room) {
            const size_t room = 2 * unused->room + 64;
            uint64_t *more = realloc(unused->open, room * sizeof *more);
            if (!more)
                return -1;
            unused->open = more;
            unused->room = room;
        }
        unused->open[unused->count++] = hash_of(place->names[at], strlen(place->names[at]));
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* False: it could not be seen. */
static bool look(struct service *service)
{
    struct unused *unused = &service->unused;
    char path[PATH_MAX + 8];
    const int64_t begin = clock_ns(CLOCK_MONOTONIC);
    unused->count = 0;
    snprintf(path, sizeof path, "%s/space", service->directory.path);
    const bool seen = ay_look(path, NULL, note_open, unused) == 0;
    if (unused->count)
        qsort(unused->open, unused->count, sizeof *unused->open, compare);
    unused->took = clock_ns(CLOCK_MONOTONIC) - begin;
    return seen;
}

/* This machine uses it; or it is of no group, and in the table only. Where names are never
 * forgotten (forgetting.c), only what is granted can be given up. */
static bool is_candidate(const struct agent *agent, const struct resource *resource)
{
    if (resource->length == 0 || resource->wanted != PERMISSION_NONE || resource->taking_back ||
        !agent_is_member(agent))
        return false;
    return !resource->in_group || resource->granted ||
           (agent_is_apart(agent) && resource->users & slot_bit(agent->self) && !resource->leaving);
}

static bool has_candidates(const struct agent *agent)
{
    for (unsigned at = 0; at < agent->resources; at++)
        if (is_candidate(agent, &agent->resource[at]))
            return true;
    return false;
}

static bool has_names(const struct agent *agent)
{
    for (unsigned at = 0; at < agent->resources; at++)
        if (agent->resource[at].length)
            return true;
    return false;
}

/* Ever more rarely, while nothing is found. */
static void put_off(struct unused *unused)
{
    const int64_t twice = 2 * unused->pause, most = PAUSE_MOST_MS * MS;
    unused->pause = unused->found ? least_pause(unused) : twice < most ? twice : most;
    unused->due = clock_ns(CLOCK_MONOTONIC) + unused->pause;
}

/* Some of them; false: that was all. */
static bool compare_some(struct service *service)
{
    struct unused *unused = &service->unused;
    const struct agent *agent = &service->agent;
    unsigned told = 0;
    while (unused->next <= agent->resources && told < AT_ONCE) {
        const unsigned at = unused->next++ - 1;
        const struct resource *resource = &agent->resource[at];
        if (!is_candidate(agent, resource))
            continue;
        const uint64_t hash = hash_of(resource->name, resource->length);
        if (unused->count &&
            bsearch(&hash, unused->open, unused->count, sizeof *unused->open, compare))
            continue;
        service_step(service, (struct agent_event){.kind = ON_UNUSED, .resource = at});
        unused->found = true;
        told++;
    }
    return unused->next <= agent->resources;
}

static void begin_look(struct service *service)
{
    struct unused *unused = &service->unused;
    unused->found = false;
    if (!agent_is_member(&service->agent)) /* it may have inherited some */
        unused->due = clock_ns(CLOCK_MONOTONIC) + least_pause(unused);
    else if (!has_names(&service->agent))
        unused->due = INT64_MAX;
    else if (!has_candidates(&service->agent)) /* who wants one now may give up, or be killed */
        put_off(unused);
    else if (look(service))
        unused->next = 1;
    else
        unused->due = clock_ns(CLOCK_MONOTONIC) + least_pause(unused);
}

int64_t unused_tick(struct service *service)
{
    struct unused *unused = &service->unused;
    const int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (unused->next == 0 && now >= unused->due)
        begin_look(service);
    if (unused->next > 0 && compare_some(service))
        return MS;
    if (unused->next > 0)
        put_off(unused);
    unused->next = 0;
    return unused->due == INT64_MAX ? INT64_MAX : unused->due > now ? unused->due - now : 0;
}
