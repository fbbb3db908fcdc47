/* SPDX-License-Identifier: MIT */
/* Names that no process of this machine has open.
 *
 * The space says who has what open, also of those that were killed. To look at it takes time in
 * proportion to its places, tenths of a second with ten thousands: so it is done after somebody has
 * asked for a permission, then ever more rarely while all names are in use, and never for more than
 * a hundredth of the time; and by a thread of its own, for the lease is not renewed while the loop
 * is away. What is found is compared and told some at a time, and not while much is under way by
 * the ledger: a renewal would stand behind it, and come too late.
 *
 * It is a hint. A process may open the name at this very moment: then it finds the permission
 * withdrawn, and asks.
 */
#include "agent/host/unused.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "afteryou.h"
#include "agent/host/steps.h"
#include "agent/host/transport.h"
#include "common/clock.h"
#include "common/descriptors.h"

#define MS INT64_C(1000000)
enum {
    PAUSE_LEAST_MS = 1000,
    PAUSE_MOST_MS = 300 * 1000,
    LOOKS_MS = 10,     /* without an eventfd the loop sees so often whether the thread has looked */
    SHARE = 100,       /* of the time, at most one part */
    TOLD_AT_ONCE = 16, /* a tenth of a millisecond each, if it has to be taken back */
    COMPARED_AT_ONCE = 2048
};

/* ---- sets ---- */

static uint64_t hash_of(const char *name, size_t length)
{
    const uint64_t hash = permission_hash(PERMISSION_HASH_BEGIN, name, length);
    return hash ? hash : 1;
}

/* Where it is, or would be; there is room. */
static uint64_t *place_of(const struct name_set *set, uint64_t hash)
{
    size_t at = (hash ^ hash >> 32) % set->room;
    while (set->hash[at] && set->hash[at] != hash)
        at = (at + 1) % set->room;
    return &set->hash[at];
}

static bool name_set_has(const struct name_set *set, uint64_t hash)
{
    return set->count && *place_of(set, hash) == hash;
}

/* Never more than half full. False: out of memory. */
static bool name_set_add(struct name_set *set, uint64_t hash)
{
    if (2 * set->count >= set->room) {
        struct name_set larger = {.count = set->count, .room = 2 * set->room + 64};
        larger.hash = calloc(larger.room, sizeof *larger.hash);
        if (!larger.hash)
            return false;
        for (size_t at = 0; at < set->room; at++)
            if (set->hash[at])
                *place_of(&larger, set->hash[at]) = set->hash[at];
        free(set->hash);
        *set = larger;
    }
    uint64_t *place = place_of(set, hash);
    set->count += *place != hash;
    *place = hash;
    return true;
}

static void name_set_clear(struct name_set *set)
{
    free(set->hash);
    *set = (struct name_set){0};
}

/* ---- when ---- */

static int64_t least_pause(const struct unused *unused)
{
    const int64_t share = SHARE * unused->took;
    return share > PAUSE_LEAST_MS * MS ? share : PAUSE_LEAST_MS * MS;
}

static void look_soon(struct unused *unused)
{
    const int64_t soon = clock_ns(CLOCK_MONOTONIC) + least_pause(unused);
    unused->pause = least_pause(unused);
    if (soon < unused->due)
        unused->due = soon;
}

void unused_begin(struct unused *unused)
{
    *unused = (struct unused){.due = INT64_MAX};
    unused->fd = descriptor_above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    look_soon(unused);
}

int unused_fd(const struct unused *unused)
{
    return unused->fd;
}

/* What is asked for while somebody looks may have been opened behind its back. */
void unused_demanded(struct unused *unused, const char *name, size_t length)
{
    look_soon(unused);
    if (unused->stage >= UNUSED_LOOKS)
        unused->doubted |= !name_set_add(&unused->since, hash_of(name, length));
}

void unused_end(struct unused *unused)
{
    atomic_store(&unused->ended, true);
    if (unused->joinable)
        pthread_join(unused->thread, NULL);
    if (unused->fd >= 0)
        close(unused->fd);
    name_set_clear(&unused->open);
    name_set_clear(&unused->since);
}

/* ---- the thread ---- */

static int note_open(const ay_place *place, void *arg)
{
    struct unused *unused = arg;
    if (atomic_load(&unused->ended))
        return -1;
    for (unsigned at = 0; place->alive && place->names[at]; at++)
        if (!name_set_add(&unused->open, hash_of(place->names[at], strlen(place->names[at]))))
            return -1;
    return 0;
}

/* It takes no lock of the service, and the loop never waits for it: it may be without a processor
 * for long. */
static void *look(void *arg)
{
    struct service *service = arg;
    struct unused *unused = &service->unused;
    char path[PATH_MAX + 8];
    /* not before those who hold something: the loop has its priority for the sake of the lease */
    setpriority(PRIO_PROCESS, (id_t)gettid(), 0);
    snprintf(path, sizeof path, "%s/space", service->directory.path);
    unused->seen = ay_look(path, NULL, note_open, unused) == 0;
    unused->spent = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const int fd = unused->fd;
    atomic_store(&unused->looked, true);
    eventfd_write(fd, 1);
    return NULL;
}

/* ---- the loop ---- */

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

static void end_look(struct unused *unused)
{
    name_set_clear(&unused->open);
    name_set_clear(&unused->since);
    unused->stage = UNUSED_RESTS;
}

/* Ever more rarely, while nothing is found. */
static void put_off(struct unused *unused)
{
    const int64_t twice = 2 * unused->pause, most = PAUSE_MOST_MS * MS;
    unused->pause = unused->found ? least_pause(unused) : twice < most ? twice : most;
    unused->due = clock_ns(CLOCK_MONOTONIC) + unused->pause;
    end_look(unused);
}

static void try_again(struct unused *unused)
{
    unused->due = clock_ns(CLOCK_MONOTONIC) + least_pause(unused);
    end_look(unused);
}

static void begin(struct service *service)
{
    struct unused *unused = &service->unused;
    unused->found = unused->named = unused->doubted = false;
    unused->next = 0;
    if (!agent_is_member(&service->agent)) /* it may have inherited some */
        try_again(unused);
    else
        unused->stage = UNUSED_SEEKS;
}

/* The last thread has said that it has looked, a second ago or more: it is not waited for. */
static bool start_looking(struct service *service)
{
    struct unused *unused = &service->unused;
    if (unused->joinable && pthread_tryjoin_np(unused->thread, NULL) != 0)
        return false;
    atomic_store(&unused->looked, false);
    unused->joinable = pthread_create(&unused->thread, NULL, look, service) == 0;
    return unused->joinable;
}

/* Among some. Without any there is nothing to look for; but who wants one now may give up, or be
 * killed. */
static void seek(struct service *service)
{
    struct unused *unused = &service->unused;
    const struct agent *agent = &service->agent;
    const unsigned end = unused->next + COMPARED_AT_ONCE;
    while (unused->next < agent->resources && unused->next < end) {
        const struct resource *resource = &agent->resource[unused->next++];
        unused->named |= resource->length > 0;
        if (!is_candidate(agent, resource))
            continue;
        unused->stage = UNUSED_LOOKS;
        if (!start_looking(service))
            try_again(unused);
        return;
    }
    if (unused->next < agent->resources)
        return;
    put_off(unused);
    if (!unused->named)
        unused->due = INT64_MAX;
}

/* Some of them. */
static void compare_some(struct service *service)
{
    struct unused *unused = &service->unused;
    const struct agent *agent = &service->agent;
    const unsigned end = unused->next + COMPARED_AT_ONCE;
    unsigned told = 0;
    while (unused->next < agent->resources && unused->next < end && told < TOLD_AT_ONCE &&
           !unused->doubted && !transport_is_full(service->transport)) {
        const unsigned at = unused->next++;
        const struct resource *resource = &agent->resource[at];
        if (!is_candidate(agent, resource))
            continue;
        const uint64_t hash = hash_of(resource->name, resource->length);
        if (name_set_has(&unused->open, hash) || name_set_has(&unused->since, hash))
            continue;
        service_step(service, (struct agent_event){.kind = ON_UNUSED, .resource = at});
        unused->found = true;
        told++;
    }
    if (unused->doubted)
        try_again(unused);
    else if (unused->next >= agent->resources)
        put_off(unused);
}

/* If there has been one. */
static void take_look(struct unused *unused)
{
    eventfd_t said;
    if (!atomic_load(&unused->looked))
        return;
    if (unused->fd >= 0)
        eventfd_read(unused->fd, &said);
    unused->took = unused->spent;
    unused->next = 0;
    if (unused->seen)
        unused->stage = UNUSED_COMPARES;
    else
        try_again(unused);
}

int64_t unused_tick(struct service *service)
{
    struct unused *unused = &service->unused;
    const int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (unused->stage == UNUSED_RESTS && now >= unused->due)
        begin(service);
    if (unused->stage == UNUSED_LOOKS)
        take_look(unused);
    if (unused->stage == UNUSED_COMPARES)
        compare_some(service);
    else if (unused->stage == UNUSED_SEEKS)
        seek(service);
    if (unused->stage == UNUSED_LOOKS)
        return unused->fd >= 0 ? INT64_MAX : LOOKS_MS * MS;
    if (unused->stage != UNUSED_RESTS)
        return MS;
    return unused->due == INT64_MAX ? INT64_MAX : unused->due > now ? unused->due - now : 0;
}
