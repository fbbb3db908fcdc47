/* SPDX-License-Identifier: MIT */
/* What a cluster's region is made of, where that is more than one region of the space: units behind
 * a door (cluster_units.c), or several names (cluster_several.c). A passage, and whoever is asked
 * about one, calls these, and does not know which of them it is. */
#ifndef AFTERYOU_MEMORY_REMOTE_KIND_H
#define AFTERYOU_MEMORY_REMOTE_KIND_H

#include "memory/remote/cluster.h"

/* What may be NULL says so. */
struct remote_kind {
    /* its own region is only where it waits for its turn: to be inside it keeps nobody out */
    bool is_door;
    void (*close)(ay_region *region); /* outside; not under the mutex */

    /* What ay_enter() returns; its own passage has begun. NULL: it is entered like any other, */
    int (*enter)(ay_region *region, int64_t deadline, int reason);
    /* and then waits until it has the rest: CLUSTER_PERMITS, _GIVES_UP or _BEGINS_ANEW */
    enum cluster_answer (*take)(ay_region *region);
    void (*give_up)(ay_region *region);            /* its own passage; NULL: no more than that */
    void (*leave)(ay_region *region);              /* what else it has; its own it has left */
    int (*told)(ay_region *region, int of_itself); /* what it is told; NULL: what its own is */

    uint64_t (*fence)(const ay_region *region);
    size_t (*units)(const ay_region *region, unsigned *list, size_t room);
    unsigned (*wanted)(const ay_region *region);
    bool (*holds)(const ay_region *region); /* nothing of what it has was lost */

    int (*convert)(ay_region *region, unsigned mode, int64_t deadline);
    int (*rename)(ay_region *region, size_t length);       /* before it is; 0, or why not */
    void (*on_behalf)(ay_region *region, uint64_t thread); /* NULL: no more than its own */
    int (*share)(ay_region *region);                       /* as ay_share() */
    int (*unshare)(ay_region *region);
    bool (*bury_shared)(ay_region *region); /* as ay__bury_shared() */
};

extern const struct remote_kind ay__kind_units, ay__kind_several;

#endif
