/* SPDX-License-Identifier: MIT */
/* A space of many machines, from the side of a local process: the permission that the agent
 * publishes (common/permissions.h).
 *
 * A passage calls in at three points: when the region of the space has been entered, by the express
 * lane (ay__cluster_at_hand) or the long way (ay__cluster_go_on), and for the fence. Where a space
 * is of one machine, nothing here is reached.
 */
#ifndef AFTERYOU_MEMORY_REMOTE_CLUSTER_H
#define AFTERYOU_MEMORY_REMOTE_CLUSTER_H

#include "common/clock.h"
#include "common/clusters.h"
#include "memory/passage/region.h"

struct mouth;

/* In ay_space; NULL if it is of one machine. */
struct cluster {
    const struct permissions *pages;
    /* of the pages, and of the space that goes with them, when they were opened */
    uint64_t identity;
    uint64_t device, inode;
    pthread_t watcher; /* tells of losses */
    bool watching;
    _Atomic uint32_t stop;
    /* through which it speaks to the agent (demand.c); NULL: it has not yet. Set by who has the
     * mutex */
    struct mouth *_Atomic mouth;
    pthread_mutex_t opening;
    char name[CLUSTER_NAME_MOST + 1];
};

/* cluster.c */
int ay__cluster_open(const char *name, struct cluster **out);       /* "cluster:NAME" */
int ay__cluster_check_space(const struct cluster *cluster, int fd); /* whether it is the agent's */
/* under the mutex if it is of a space; then nobody watches any more */
void ay__cluster_close(struct cluster *cluster);
/* refuses what a cluster hasn't got */
int ay__cluster_region_open(ay_region *region, const struct cluster *cluster);
int ay__cluster_offers_conditions(const ay_region *region); /* 0, or why not */
void ay__cluster_region_named(ay_region *region); /* outside, under the mutex: it has another */

/* demand.c */
enum demand_answer {
    DEMAND_SENT,
    DEMAND_NO_AGENT,
    DEMAND_NO_ROOM, /* its queue was full all the time */
    DEMAND_NOT_SENT /* the process has no descriptor left, or no memory: not at once again */
};
/* The agent's queue is short. A thread that finds it full waits for room, for so long at most; an
 * ask does not. */
enum demand_answer ay__cluster_demand(const ay_region *region, enum demand_kind kind,
                                      int64_t patience);
void ay__cluster_hush(struct cluster *cluster);               /* nobody speaks any more */
void ay__cluster_mouth_forget(const struct cluster *cluster); /* in a child: it is the parent's */

/* cluster_wait.c: waiting for the permission, inside the region of the space. */
enum cluster_answer {
    CLUSTER_PERMITS,
    CLUSTER_GIVES_UP, /* for at.passage.reason */
    /* nothing has changed: on remote.wait.words, until remote.wait.wake at the latest */
    CLUSTER_RESTS,
    /* The permission is for too weak a mode, and others may be inside by it: the caller leaves the
     * region of the space, and goes on. */
    CLUSTER_MAKES_WAY,
    CLUSTER_COMES_BACK, /* enters it again, and goes on */
    CLUSTER_BEGINS_ANEW /* what it went by is so no longer: it goes on */
};
/* Once the region of the space is entered: what to do next. Never waits, but for room in the
 * agent's queue, and that not if it is asked for. */
enum cluster_answer ay__cluster_go_on(ay_region *region);
/* The permission that it took is gone: it waits anew, under its own deadline. */
enum cluster_answer ay__cluster_begin_anew(ay_region *region);
/* Those who sleep on their conditions hear that it is inside. False: for at.passage.reason */
bool ay__cluster_announce(ay_region *region);
bool ay__cluster_rest(ay_region *region);       /* as it says. False: called off */
bool ay__cluster_called_off(ay_region *region); /* after a rest: somebody has cancelled the wait */
/* Inside, and about to leave or to become weaker: nobody else is told of the death that this
 * passage was told of. */
void ay__cluster_leaves(ay_region *region);
/* The permission covers all that the region may become. */
bool ay__cluster_suffices(const ay_region *region);
uint64_t ay__cluster_number(const ay_region *region); /* of its passage in the space */
uint64_t ay__cluster_fence(const ay_region *region);
/* Makes it one of its kind, if it takes units or slots (cluster_units.c), or has several names
 * (cluster_several.c). */
int ay__cluster_units_open(ay_region *region, const struct cluster *cluster);
int ay__cluster_several_open(ay_space *space, const ay_spec *spec, ay_region *region);
/* cluster_lost.c */
bool ay__cluster_stands(const ay_region *region); /* the permission by which it last entered */
void ay__cluster_enters(ay_region *region);
void ay__cluster_region_close(ay_region *region);
void ay__cluster_stop_watching(struct cluster *cluster);
unsigned ay__cluster_watchers(void); /* threads of ours; under the mutex */

static inline bool ay__cluster_in_time(const ay_region *region)
{
    return ay__coarse_now() < atomic_load_explicit(region->remote.deadline, memory_order_relaxed);
}

/* The permission by which it last entered still stands. */
static inline bool ay__cluster_at_hand(const ay_region *region)
{
    const uint64_t granted = atomic_load_explicit(&region->remote.granted, memory_order_relaxed);
    return granted != 0 &&
           atomic_load_explicit(&region->remote.permission->granted, memory_order_acquire) ==
               granted &&
           ay__cluster_in_time(region) &&
           !atomic_load_explicit(&region->remote.told_lost, memory_order_relaxed);
}

/* Once: this passage is told of a death on another machine. */
static inline bool ay__cluster_tells_death(ay_region *region)
{
    const bool death = region->remote.death;
    region->remote.death = false;
    return death;
}

#endif
