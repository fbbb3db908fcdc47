/* SPDX-License-Identifier: MIT */
/* Scenes of a cluster's regions: the first process is the agent, as a script has it. It publishes
 * permissions when they are asked for, by the functions of the agent that ships, and takes them
 * back in its turn, or loses them at once, for a rival on another machine. The others are processes
 * of its machine; nothing wakes them but what they sleep on.
 *
 * Judged besides exclusion: who enters does so by the permission that is there, or is told that it
 * has lost it; and of several names none was lost before the last was had. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/host/directory.h"
#include "agent/host/pages.h"
#include "common/clock.h"
#include "common/clusters.h"
#include "protocols/modes.h"
#include "scenes.h"
#include "world.h"

enum { NAMES = 2, FENCES = 1 << 20, LEASE_S = 3600, STEPS_OF_A_PLAN = 8 };

static const char *const names[NAMES] = {"x", "y"};

/* What befalls a name, once it is granted. */
/* RAN_OUT: its lease, and the agent finds so later. SHARED_OUT: as much as is in a reader's way. */
enum fate { NONE, LOST, RAN_OUT, TAKEN_BACK, SHARED_OUT, RESTARTED };

struct plan {
    unsigned name;
    enum fate fate;
};

/* Of all processes of a run. Whoever has the turn may touch it. */
static struct shared {
    unsigned events; /* grants and losses so far */
    struct {
        unsigned grant;             /* which it was, of all; 0: none is there */
        unsigned since;             /* the event with which it came, */
        unsigned lost;              /* or with which it last went, at once */
        uint64_t fence;             /* the greatest of those that were inside and valid */
        unsigned room[ACTORS_MOST]; /* who is inside: for so many; 0: it is not, or has lost it */
    } name[NAMES];
    unsigned done; /* processes that want nothing more */
} * shared;

/* ---- the agent ---- */

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

static void prepare_agent(void)
{
    char path[sizeof space_path + 16];
    *shared = (struct shared){0};
    snprintf(path, sizeof path, "%.*s/agent", (int)(strlen(space_path) - strlen("/space")),
             space_path);
    unlink(path);
    open_agent();
    open_space((ay_options){.places = 8});
    for (unsigned name = 0; name < NAMES; name++) {
        pages_name(&pages, name, names[name], strlen(names[name]));
        if (ay_region_open(space, &(ay_spec){.name = names[name]}, &taken[name]) != 0 ||
            ay_region_open(space, &(ay_spec){.name = names[name], .mode = AY_SHARED},
                           &shared_out[name]) != 0)
            found("ay_region_open: %s", ay_message());
    }
    announce();
    renew_lease();
    pages_state(&pages, AGENT_READY);
}

static void come_in(unsigned name, unsigned with)
{
    unsigned others = 0, least = with;
    for (unsigned actor = 0; actor < ACTORS_MOST; actor++) {
        const unsigned its = shared->name[name].room[actor];
        others += its != 0;
        least = its && its < least ? its : least;
    }
    if (others >= least)
        found("%u is inside of %s, and %u others, with room for %u", self, names[name], others,
              least);
    shared->name[name].room[self] = with;
}

static void go_out(unsigned name)
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
    let_rival_in(0, true);
    let_rival_in(1, true);
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

static void act_agent(const struct plan *plan)
{
    for (bool waits = false; hear(waits);) {
        point();
        waits = plan->fate == NONE || !befalls(plan);
        plan += !waits;
    }
}

/* ---- processes of its machine ---- */

static unsigned count_of_names;

static void open_names(unsigned count)
{
    static const char *const also[] = {"x", NULL};
    count_of_names = count;
    if (ay_open("cluster:c", NULL, &space) != 0)
        found("ay_open: %s", ay_message());
    /* of several, the last in the order of their bytes is the caller's own */
    open_region((ay_spec){.name = names[count - 1], .also = count > 1 ? also : NULL});
}

/* Its grant is there; or was lost, and it is told so: but not before it began, nor before that of
 * another name came. `began`: after which event. */
static void judge(bool valid, uint64_t fence, unsigned began)
{
    bool there = true;
    for (unsigned name = 0; name < count_of_names; name++) {
        there &= shared->name[name].grant != 0;
        if (!shared->name[name].grant && shared->name[name].lost <= began)
            found("inside, though %s was lost before it began", names[name]);
        for (unsigned other = 0; other < count_of_names; other++)
            if (!shared->name[name].grant && shared->name[other].grant &&
                shared->name[name].lost < shared->name[other].since)
                found("inside, though %s was lost before %s was had", names[name], names[other]);
    }
    if (fence < FENCES)
        found("inside without a fence: %llu", (unsigned long long)fence);
    if (valid != (there && fence / FENCES == shared->name[count_of_names - 1].grant))
        found("inside by grant %llu, %s, and grant %u is there", (unsigned long long)fence / FENCES,
              valid ? "valid" : "invalid", shared->name[count_of_names - 1].grant);
}

/* Others do not run while it looks: so it is judged by one moment. */
static void look(unsigned began)
{
    enrolled = false;
    const bool valid = ay_valid(region);
    judge(valid, ay_fence(region), began);
    if (valid) {
        uint64_t *greatest = &shared->name[count_of_names - 1].fence;
        for (unsigned name = 0; name < count_of_names; name++)
            come_in(name, room);
        if (room == 1 && ay_fence(region) <= *greatest)
            found("fence %llu after %llu", (unsigned long long)ay_fence(region),
                  (unsigned long long)*greatest);
        *greatest = ay_fence(region);
    }
    enrolled = true;
}

/* The agent may try again. */
static void poke(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    cluster_path("c", "socket", address.sun_path, sizeof address.sun_path);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    (void)!sendto(fd, "", 1, MSG_DONTWAIT, (struct sockaddr *)&address, sizeof address);
    close(fd);
}

static void pass_in_cluster(unsigned times)
{
    while (times-- > 0) {
        const unsigned began = shared->events;
        heed(ay_enter(region));
        look(began);
        point();
        for (unsigned name = 0; name < count_of_names; name++)
            go_out(name);
        if (ay_leave(region) != 0)
            found("ay_leave: %s", ay_message());
        shared->done += times == 0;
        poke();
    }
}

/* ---- scenes ---- */

static void prepare_one(unsigned actor)
{
    if (actor == 0)
        prepare_agent();
    else
        open_names(1);
}

static void prepare_both(unsigned actor)
{
    if (actor == 0)
        prepare_agent();
    else
        open_names(2);
}

/* The first alone, the second beside other readers. */
static void prepare_reader(unsigned actor)
{
    if (actor < 2) {
        prepare_one(actor);
        return;
    }
    room = ACTORS_MOST;
    count_of_names = 1;
    if (ay_open("cluster:c", NULL, &space) != 0)
        found("ay_open: %s", ay_message());
    open_region((ay_spec){.name = names[0], .mode = AY_SHARED});
}

/* The first wants both, the second the first of them. */
static void prepare_both_and_one(unsigned actor)
{
    if (actor == 0)
        prepare_agent();
    else
        open_names(actor == 1 ? 2 : 1);
}

#define PLANNED(name, times, ...)                                                                  \
    static void act_##name(unsigned actor)                                                         \
    {                                                                                              \
        static const struct plan plan[STEPS_OF_A_PLAN] = {__VA_ARGS__};                            \
        if (actor == 0)                                                                            \
            act_agent(plan);                                                                       \
        else                                                                                       \
            pass_in_cluster(times);                                                                \
    }

PLANNED(taken_back, 2, {0, TAKEN_BACK}, {0, TAKEN_BACK})
PLANNED(lost, 2, {0, LOST}, {0, LOST})
PLANNED(lost_and_taken_back, 2, {0, LOST}, {0, TAKEN_BACK})
PLANNED(ran_out, 2, {0, RAN_OUT}, {0, LOST})
PLANNED(shared_out, 2, {0, SHARED_OUT}, {0, SHARED_OUT}, {0, LOST})
PLANNED(both_ran_out, 2, {0, RAN_OUT}, {1, TAKEN_BACK}, {1, RAN_OUT})
PLANNED(restarted, 2, {0, LOST}, {0, RESTARTED}, {0, TAKEN_BACK})
PLANNED(first_lost, 1, {0, LOST})
PLANNED(second_lost, 1, {1, LOST})
PLANNED(both_lost, 1, {0, LOST}, {1, LOST})
PLANNED(waited_for_and_lost, 1, {0, LOST}, {0, LOST})
PLANNED(first_taken_back, 2, {0, TAKEN_BACK}, {1, LOST}, {0, LOST})

static void audit_nothing(unsigned deaths, unsigned kills)
{
    (void)deaths, (void)kills;
}

#define SCENE(text, count, prepares, acts)                                                         \
    {                                                                                              \
        .name = text, .actors = count, .prepare = prepares, .act = acts, .audit = audit_nothing,   \
        .immortal = true                                                                           \
    }

const struct scene scenes_cluster[] = {
    SCENE("a permission is taken back", 2, prepare_one, act_taken_back),
    SCENE("a permission is lost", 2, prepare_one, act_lost),
    SCENE("two processes, and a permission is lost and taken back", 3, prepare_one,
          act_lost_and_taken_back),
    SCENE("a lease runs out", 2, prepare_one, act_ran_out),
    SCENE("a reader and a writer, beside a reader elsewhere", 3, prepare_reader, act_shared_out),
    SCENE("an agent is killed, and another comes", 2, prepare_one, act_restarted),
    SCENE("two names, and the first is lost", 2, prepare_both, act_first_lost),
    SCENE("two names, and the second is lost", 2, prepare_both, act_second_lost),
    SCENE("two names, and both are lost", 2, prepare_both, act_both_lost),
    SCENE("two names, and a lease runs out", 2, prepare_both, act_both_ran_out),
    SCENE("one of two names beside both", 3, prepare_both_and_one, act_first_taken_back),
    SCENE("the first of two names is lost, and another waits for it", 3, prepare_both_and_one,
          act_waited_for_and_lost),
    {.name = NULL},
};

/* Before there are processes: what they share. */
__attribute__((constructor)) static void share(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        abort();
}
