/* SPDX-License-Identifier: MIT */
/* What a cluster's region is made of, where that is more than one region of the space: units behind
 * a door (cluster_units.c), or several names (cluster_several.c). A passage, and whoever is asked
 * about one, calls these, and does not know which of them it is. */
#ifndef AFTERYOU_MEMORY_REMOTE_KIND_H
#define AFTERYOU_MEMORY_REMOTE_KIND_H

#include "memory/remote/cluster.h"

enum members_next { MEMBERS_MORE, MEMBERS_PASSED, MEMBERS_REST, MEMBERS_GIVE_UP };

/* What may be NULL says so. */
struct remote_kind {
    /* its own region is only where it waits for its turn: to be inside it keeps nobody out */
    bool is_door;
    void (*close)(ay_region *region); /* outside; not under the mutex */

    /* Entered like any other, and then it takes the rest, as ay__cluster_go_on() does. NULL: */
    enum cluster_answer (*take)(ay_region *region);
    /* it is entered member by member. All of these, or none. What ay_enter() returns, once its own
     * passage has begun: */
    int (*enter)(ay_region *region);
    /* and the same in steps, for who does not wait */
    void (*begin)(ay_region *region, bool by_ask);
    /* the next, its passage begun; NULL: to give up. `enters`: and not only what comes after it is
     * inside the region of the space */
    ay_region *(*present)(ay_region *region, bool *enters);
    enum members_next (*pass_on)(ay_region *region); /* that one has passed */
    /* on what it rests, how many words, and until when; and what to do after that */
    unsigned (*rest)(const ay_region *region, const struct ay__waitv **words, int64_t *wake);
    enum members_next (*rested)(ay_region *region);
    bool (*called_off)(ay_region *region); /* somebody cancels it by any of them */
    int (*end)(ay_region *region, bool passed);
    ay_region *(*member)(const ay_region *region, unsigned which); /* NULL behind the last */

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
