/* SPDX-License-Identifier: MIT */
/* Scenes of a cluster's regions: the first process is the agent, as a script has it. It publishes
 * permissions when they are asked for, by the functions of the agent that ships, and takes them
 * back in its turn, or loses them at once, for a rival on another machine. The others are processes
 * of its machine; nothing wakes them but what they sleep on.
 *
 * Judged besides exclusion: who enters does so by the permission that is there, or is told that it
 * has lost it; and of several names none was lost before the last was had. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clusters.h"

#include "cluster_agent.h"

/* What it asks for: so many names, or units at the door of the first. */
static unsigned count_of_names, units;
static bool asks; /* and does not wait */

static void open_in_cluster(ay_spec spec)
{
    if (ay_open("cluster:c", NULL, &space) != 0)
        found("ay_open: %s", ay_message());
    open_region(spec);
}

static void open_names(unsigned count)
{
    static const char *const also[] = {"x", NULL};
    count_of_names = count;
    /* of several, the last in the order of their bytes is the caller's own */
    open_in_cluster((ay_spec){.name = cluster_names[count - 1], .also = count > 1 ? also : NULL});
}

/* What it is inside of. */
static unsigned list_names(unsigned mine[NAMES])
{
    unsigned count = count_of_names;
    for (unsigned name = 0; name < count_of_names; name++)
        mine[name] = name;
    if (units) {
        count = (unsigned)ay_units(region, mine, NAMES);
        if (count != units)
            found("inside with %u units, not %u", count, units);
    }
    for (unsigned at = 0; at < count && units; at++)
        mine[at] += FIRST_UNIT;
    return count;
}

/* All that is needed is there; or was lost, and it is told so: but not before it began, nor before
 * something else came. `began`: after which event. */
static void judge_losses(const unsigned *needed, unsigned count, unsigned began)
{
    for (unsigned at = 0; at < count; at++) {
        const unsigned name = needed[at];
        if (shared->name[name].grant)
            continue;
        if (shared->name[name].lost <= began)
            found("inside, though %s was lost before it began", cluster_names[name]);
        for (unsigned other = 0; other < count; other++)
            if (shared->name[needed[other]].grant &&
                shared->name[name].lost < shared->name[needed[other]].since)
                found("inside, though %s was lost before %s was had", cluster_names[name],
                      cluster_names[needed[other]]);
    }
}

static void judge_fence(unsigned name, bool valid)
{
    const uint64_t fence = ay_fence(region);
    uint64_t *greatest = &shared->name[name].fence;
    if (fence < FENCES)
        found("inside without a fence: %llu", (unsigned long long)fence);
    if (!valid || units)
        return;
    if (fence / FENCES != shared->name[name].grant || (room == 1 && fence <= *greatest))
        found("fence %llu after %llu, and grant %u is there", (unsigned long long)fence,
              (unsigned long long)*greatest, shared->name[name].grant);
    *greatest = fence;
}

/* Others do not run while it looks: so it is judged by one moment. */
static void look(unsigned began)
{
    enrolled = false;
    unsigned mine[NAMES];
    const unsigned count = list_names(mine);
    const bool valid = ay_valid(region);
    bool there = true;
    for (unsigned at = 0; at < count; at++)
        there &= shared->name[mine[at]].grant != 0;
    judge_losses(mine, count, began);
    if (valid != there)
        found("%s, and what it has is %s", valid ? "valid" : "invalid", there ? "there" : "lost");
    judge_fence(units ? 0 : count_of_names - 1, valid);
    for (unsigned at = 0; at < count && valid; at++)
        come_in(mine[at], room);
    enrolled = true;
}

static void go_out_of_all(void)
{
    for (unsigned name = 0; name < NAMES; name++)
        go_out(name);
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

static int ask(void)
{
    int result = ay_ask(region);
    if (result != -EINPROGRESS)
        return result;
    while (!ay_decided(space, &result))
        await_readable(ay_fd(space));
    return result;
}

static void pass_in_cluster(unsigned times)
{
    while (times-- > 0) {
        const unsigned began = shared->events;
        heed(asks ? ask() : ay_enter(region));
        look(began);
        point();
        go_out_of_all();
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
    open_in_cluster((ay_spec){.name = cluster_names[0], .mode = AY_SHARED});
}

/* The first wants both of the units, the second one. */
static void prepare_units(unsigned actor)
{
    if (actor == 0) {
        prepare_agent();
        return;
    }
    units = actor == 1 ? UNITS : 1;
    open_in_cluster((ay_spec){.name = cluster_names[0], .take = units, .of = UNITS});
}

/* Asked for, and not waited for. */
static void prepare_both_asked_for(unsigned actor)
{
    asks = actor != 0;
    prepare_both(actor);
    if (asks && ay_fd(space) < 0)
        found("ay_fd: %s", ay_message());
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
PLANNED(unit_lost, 1, {FIRST_UNIT, LOST}, {FIRST_UNIT + 1, LOST})
PLANNED(door_lost, 1, {0, LOST}, {FIRST_UNIT, LOST}, {0, LOST})
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

/* Units are asked for, and helpers of the library watch. */
#define WITH_THREADS(text, count, prepares, acts)                                                  \
    {                                                                                              \
        .name = text, .actors = count, .prepare = prepares, .act = acts, .audit = audit_nothing,   \
        .immortal = true, .threads = true                                                          \
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
    WITH_THREADS("two names are asked for, and both are lost", 2, prepare_both_asked_for,
                 act_both_lost),
    WITH_THREADS("two names are asked for, and a lease runs out", 2, prepare_both_asked_for,
                 act_both_ran_out),
    WITH_THREADS("units, and one is lost and another", 2, prepare_units, act_unit_lost),
    WITH_THREADS("units, and the door is lost", 3, prepare_units, act_door_lost),
    {.name = NULL},
};
