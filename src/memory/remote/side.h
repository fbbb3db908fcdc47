/* SPDX-License-Identifier: MIT */
/* What a region of a space of many machines keeps: by which permission it entered, and who is to be
 * told that it is lost. All 0 in a space of one machine. */
#ifndef AFTERYOU_MEMORY_REMOTE_SIDE_H
#define AFTERYOU_MEMORY_REMOTE_SIDE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/descriptors.h"
#include "memory/process/futex.h"

struct permission;
struct remote_kind;
struct cluster_units;
struct cluster_several;

enum { CLUSTER_WORDS = 2 };
/* One whose lease runs out again and again burns little: before it begins anew with all that it had
 * given back. */
enum { CLUSTER_ANEW_MS = 16 };

/* A wait for the permission. Assigned whole when it begins. */
struct cluster_wait {
    enum {
        CLUSTER_INSIDE,  /* the region of the space */
        CLUSTER_OUTSIDE, /* it, for a while: so that the agent can come in */
        /* permitted, and told of a death: the agent is to know. Until it leaves */
        CLUSTER_TELLS,
        /* permitted, and has not got what else it needs (kind.h) */
        CLUSTER_TAKES,
        CLUSTER_PAUSES /* has lost all that, and begins anew in a moment */
    } stage;
    int64_t until;      /* give up then; INT64_MAX: never */
    int64_t ask;        /* again */
    uint32_t pause_ms;  /* between this time and the next */
    uint64_t agent;     /* that was asked */
    int64_t agent_lost; /* since when there is no agent; 0: there is */
    uint64_t granted;   /* when it last looked */
    uint32_t busy;      /* as it was when the wait began */
    bool tries;         /* it was asked not to wait. Set when the wait begins */
    bool unheard;       /* the agent did not get it. Set or cleared whenever it is asked */
    struct ay__waitv words[CLUSTER_WORDS]; /* of its present rest, as they were seen, */
    int64_t wake;                          /* which lasts so long at most */
};

struct remote_side {
    /* fixed while the region is open */
    const _Atomic int64_t *deadline; /* by the coarse clock */
    uint8_t needed;                  /* PERMISSION_…: by the strongest mode it may have */
    const struct remote_kind *kind;  /* NULL: it is one region, and no more */
    union {                          /* what that one keeps */
        struct cluster_units *units;
        struct cluster_several *several;
    };
    const struct permission *permission; /* NULL: not found yet, or its name was taken away */
    /* the permission by which it last entered; 0: it never did */
    _Atomic uint64_t granted;
    uint64_t base, first; /* of that permission */
    /* its present passage was told that it is lost. The watcher sets it, under the mutex; the next
     * passage clears it. Never set while nobody has asked for the eventfd */
    _Atomic bool told_lost;
    /* when its condition was last asked: what the page's `watch` was before, and the era of the
     * permission under which it was */
    uint32_t watch;
    uint64_t asked_in;
    /* somebody died inside on another machine. permit() sets it before this passage is inside,
     * and has others see it inside; ay__cluster_tells_death() clears it, once it is */
    bool death;
    struct cluster_wait wait; /* of the present passage, if it is `remote` */
    /* the eventfd, and 1; 0: nobody has asked for it. Set by ay_lost(), once; cleared when the
     * region is closed; both under the mutex */
    int lost;
    struct descriptor_identity lost_file; /* what it was opened as */
};

#endif
