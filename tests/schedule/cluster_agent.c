/* SPDX-License-Identifier: MIT */
/* The agent of the scenes of a cluster: see cluster_agent.h. */
#include "cluster_agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/host/directory.h"
#include "agent/host/pages.h"
#include "common/clock.h"
#include "protocols/modes.h"

enum { LEASE_S = 3600 };

const char *const cluster_names[NAMES] = {"x", "y", "x, unit 0", "x, unit 1"};
struct shared *shared;

static struct directory directory;
static struct pages pages;
static int agent_socket;
static ay_region *taken[NAMES], *shared_out[NAMES]; /* of the space: to take them back */
static uint64_t first[NAMES];  /* a number, before all that are made by the next grant */
static unsigned wanted[NAMES]; /* PERMISSION_… */

static void announce(void)
{
    struct stat status;
    if (stat(space_path, &status) != 0)
        found("the space is not there");
    pages_bind_space(&pages, status.st_dev, status.st_ino);
    pages_announce(&pages);
}

static void open_agent(void)
{
    char trouble[PATH_MAX + 256];
    const struct pages_options options = {
        .cluster = "c", .protocol = "carvalho-roucairol", .lease = 1000000, .grace = 2000000};
    if (directory_open(&directory, "c", 0600, (gid_t)-1, trouble, sizeof trouble) != 0 ||
        pages_open(&pages, &directory, &options, trouble, sizeof trouble) != 0)
        found("%s", trouble);
    agent_socket = directory_socket(&directory, "socket", SOCK_DGRAM, trouble, sizeof trouble);
    if (agent_socket < 0)
        found("%s", trouble);
}

static void renew_lease(void)
{
    pages_lease(&pages, clock_ns(CLOCK_BOOTTIME) + LEASE_S * INT64_C(1000000000));
}

void prepare_agent(void)
{
    char path[sizeof space_path + 16];
    *shared = (struct shared){0};
    snprintf(path, sizeof path, "%.*s/agent", (int)(strlen(space_path) - strlen("/space")),
             space_path);
    unlink(path);
    open_agent();
    pages.map->identity = 1; /* by which units are chosen: the same in all runs */
    open_space((ay_options){.places = 32});
    for (unsigned name = 0; name < NAMES; name++) {
        pages_name(&pages, name, cluster_names[name], strlen(cluster_names[name]));
        if (ay_region_open(space, &(ay_spec){.name = cluster_names[name]}, &taken[name]) != 0 ||
            ay_region_open(space, &(ay_spec){.name = cluster_names[name], .mode = AY_SHARED},
                           &shared_out[name]) != 0)
            found("ay_region_open: %s", ay_message());
    }
    announce();
    renew_lease();
    pages_state(&pages, AGENT_READY);
}

void come_in(unsigned name, unsigned with)
{
    unsigned others = 0, least = with;
    for (unsigned actor = 0; actor < ACTORS_MOST; actor++) {
        const unsigned its = shared->name[name].room[actor];
        others += its != 0;
        least = its && its < least ? its : least;
    }
    if (others >= least)
        found("%u is inside of %s, and %u others, with room for %u", self, cluster_names[name],
              others, least);
    shared->name[name].room[self] = with;
}

void go_out(unsigned name)
{
    shared->name[name].room[self] = 0;
}

/* Somebody on another machine is inside, alone or as a reader. */
static void let_rival_in(unsigned name, bool alone)
{
    come_in(name, alone ? 1 : ACTORS_MOST);
    point();
    go_out(name);
}

static void note_loss(unsigned name)
{
    memset(shared->name[name].room, 0, sizeof shared->name[name].room);
    shared->name[name].grant = 0;
    shared->name[name].lost = ++shared->events;
    wanted[name] = PERMISSION_NONE;
}

/* Whoever is inside is so no longer. That comes in one step: as those see it who ask, and as it is
 * judged. */
static void lose(unsigned name)
{
    note_loss(name);
    world->preparing = true;
    pages_lose(&pages, name, 0);
    world->preparing = false;
    let_rival_in(name, true);
}

/* Of all names; the agent finds so when somebody else has been inside. */
static void run_out(void)
{
    for (unsigned name = 0; name < NAMES; name++)
        if (shared->name[name].grant)
            note_loss(name);
    world->preparing = true;
    pages_lease(&pages, 1);
    world->preparing = false;
    for (unsigned name = 0; name < NAMES; name++)
        let_rival_in(name, true);
    for (unsigned name = 0; name < NAMES; name++)
        pages_lose(&pages, name, 0);
    renew_lease();
}

/* False: somebody is inside, or before it. */
static bool take_back(unsigned name, bool all)
{
    ay_region *inside = all ? taken[name] : shared_out[name];
    const int result = ay_try(inside);
    if (result == -EBUSY || result == -ETIMEDOUT)
        return false;
    heed(result);
    const uint64_t number = ay_fence(inside) / AY_PLACES_MOST;
    first[name] = number > first[name] ? number : first[name];
    pages_lower_since(&pages, name, all ? PERMISSION_EXCLUSIVE : PERMISSION_SHARED, 0);
    if (all)
        shared->name[name].grant = 0;
    ay_leave(inside);
    return true;
}

/* It is killed, and another comes: what is granted stays so, and what was said is lost. One that
 * was about to sleep while both happened finds all as it was, and asks again by itself. */
static void restart(void)
{
    world->killed = 2;
    const uint32_t pid = atomic_load_explicit(&pages.map->pid, memory_order_relaxed);
    close(agent_socket);
    point();
    pages_close(&pages);
    directory_close(&directory);
    enrolled = false; /* it goes through all buckets of the names */
    open_agent();
    enrolled = true;
    atomic_store_explicit(&pages.map->pid, pid + 1, memory_order_relaxed);
    memset(wanted, 0, sizeof wanted);
    announce();
    pages_state(&pages, AGENT_READY);
}

/* What is wanted is there from now on: if it takes another, that is given back first. */
static void pursue(unsigned name)
{
    const unsigned mode = wanted[name];
    if (mode == PERMISSION_NONE || (shared->name[name].grant && !take_back(name, true)))
        return;
    wanted[name] = PERMISSION_NONE;
    shared->name[name].since = ++shared->events;
    shared->name[name].grant = shared->events;
    pages_grant(&pages, name, mode, 0, (uint64_t)FENCES * shared->events, first[name]);
}

static void hear_of(const struct demand *demand)
{
    const struct permission *permission = permissions_find(pages.map, demand->name, demand->length);
    const unsigned name = permission ? (unsigned)(permission - pages.map->permission) : NAMES;
    if (name >= NAMES || (demand->kind != DEMAND_PERMISSION && demand->kind != DEMAND_MORE))
        return;
    const uint64_t granted = atomic_load_explicit(&permission->granted, memory_order_relaxed);
    if (demand_is_stale(demand, granted) ||
        modes_include(permission_turned(permission_mode(granted)), permission_turned(demand->mode)))
        return;
    first[name] = first[name] ? first[name] : demand->number;
    wanted[name] = demand->mode;
}

/* False: nobody wants anything more. */
static bool hear(bool waits)
{
    struct demand demand;
    while (waits && shared->done + 1 < world->scene->actors &&
           recv(agent_socket, &demand, sizeof demand, MSG_DONTWAIT | MSG_PEEK) < 0)
        await_readable(agent_socket);
    const ssize_t length = recv(agent_socket, &demand, sizeof demand, MSG_DONTWAIT);
    if (length == (ssize_t)sizeof demand && demand.magic == DEMAND_MAGIC)
        hear_of(&demand);
    for (unsigned name = 0; name < NAMES; name++)
        pursue(name);
    return length >= 0 || shared->done + 1 < world->scene->actors;
}

static bool befalls(const struct plan *plan)
{
    const bool all = plan->fate != SHARED_OUT;
    if (plan->fate == RESTARTED) {
        restart();
        return true;
    }
    if (!shared->name[plan->name].grant)
        return false;
    if (plan->fate == LOST)
        lose(plan->name);
    else if (plan->fate == RAN_OUT)
        run_out();
    else if (take_back(plan->name, all))
        let_rival_in(plan->name, all);
    else
        return false;
    return true;
}

void act_agent(const struct plan *plan)
{
    for (bool waits = false; hear(waits);) {
        point();
        waits = plan->fate == NONE || !befalls(plan);
        plan += !waits;
    }
}

/* Before there are processes: what they share. */
__attribute__((constructor)) static void share(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        abort();
}
