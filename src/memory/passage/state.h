/* SPDX-License-Identifier: MIT */
/* What an open region keeps: for as long as it is open, of its rivals, from passage to passage, of
 * the present one. */
#ifndef AFTERYOU_MEMORY_PASSAGE_STATE_H
#define AFTERYOU_MEMORY_PASSAGE_STATE_H

#include "memory/memory.h"
#include "memory/passage/acquaintance.h"
#include "memory/passage/protocol.h"
#include "protocols/language/registers.h"

struct registers {
    /* What the short ways fetch, side by side in two cache lines with the head of ay_region. */
    struct hot *own;                /* fixed while the region is open; writable */
    word word;                      /* what own->word holds, where only I look */
    const _Atomic uint64_t *claims; /* fixed: the space's (L6) */
    uint64_t gathered;              /* what `claims` was when the rivals were gathered */
    struct stretch *runs;           /* all rivals, as gathered then */
    size_t stride;                  /* fixed */
    unsigned run_count;
    uint32_t passage; /* its number */
    /* the greatest number found at a place when its owner changed or died */
    uint64_t floor;
    unsigned company_count; /* gathered likewise */
    /* somebody died inside, or left such a death behind: see after entering */
    bool news;
    bool cluster; /* fixed: space->cluster */
    /* its keeper sleeps on its `recalled`: one of RETAINED_MOST of this process */
    bool may_retain;
    bool retains;           /* this time, leaves with its permission if nobody is about */
    _Atomic uint32_t grant; /* which permission it has now; 0: none. The keeper looks at it too */
    /* fixed while the region is open */
    const char *first; /* place 0, read-only */
    size_t place_size;
    unsigned self, places;
    struct cold *own_cold;
    struct registers_page *own_page;
    const struct public_spec *spec;
    const struct running_protocol *protocol;
    ay_space *space;
    bool idle_shows;                    /* by the top bit of register 0 (`courtesy`) */
    bool every_place;                   /* the protocol has FEATURE_EVERY_PLACE */
    struct acquaintance *acquaintances; /* of every place */
    const _Atomic uint32_t *used;       /* the space's (L2) */
    struct companion *company;          /* who may be inside together with me */
    unsigned run;                       /* that of the rival returned last */
    /* rivals whose place has another owner now, or came and went unseen */
    uint64_t missed;
    bool burdened; /* among the rivals are some whose owners are gone */
    bool recalled; /* ever */
    /* what the protocol keeps from entering to leaving, and beyond */
    uint64_t kept[4];
    /* habits, which outlive a passage: spin.c */
    int64_t lately_ns; /* how long waits for the one inside have taken lately */
    unsigned in_vain;  /* waits since it last spun, while they took too long for that */
    int64_t spun_ns;   /* when it began to spin, in a wait that teaches; 0: in none */
    /* of the present passage */
    /* another thread has come: who still sleeps on this futex must look again; NULL: nobody */
    const void *moved;
    bool queues;    /* on the long way, where it may watch others */
    bool waited;    /* this passage, or if it is over the last */
    bool contended; /* somebody waited when it last left */
    unsigned ahead; /* how many went before it when it last waited */
    bool calm;      /* it did not have to wait last time */
    bool asleep;    /* `waiting` and so on are public */
    int64_t nap_ns;
    /* how long it slept last, with more rivals than it can watch; 0: it did not */
    int64_t wide_ns;
    int64_t unclear_ns; /* how long until it walks again (deadlock.c); 0: no need */
    /* when it last doubted the lives of those slept on; or when it fell asleep */
    int64_t doubted_ns;
    unsigned doubts; /* how often it has, this passage */
    /* no kernel will tell of the death of one slept on (share.c): it is doubted often */
    bool unannounced;
    unsigned sharing; /* how many then slept on the same place, and will look up before me */
    int reason;       /* why it was given up: a negative errno */
    int give_up;      /* -EBUSY, -ETIMEDOUT: what to say when time is over */
    unsigned spins;
    unsigned unheard; /* the place whose keeper did not hear a recall; AT_NOBODY: none. recall.c */
    /* the thread that waits for our passages, and may be inside elsewhere; 0: none */
    uint64_t behalf;
    uint64_t cycle;   /* the cycle of waiting threads that it last found; 0: none */
    int64_t cycle_ns; /* since when */
    uint32_t sleeps;  /* ever, of all owners of the place */
    int64_t deadline; /* CLOCK_MONOTONIC; INT64_MIN: do not wait at all; INT64_MAX: for ever */
    bool conditional; /* has a `when`, or takes units */
    bool (*when)(void *);
    void *when_arg;
    bool (*interrupted)(void *); /* asked after every sleep whether to give up; NULL: nobody is */
};

#define NEVER_GATHERED UINT64_MAX
#define AT_NOBODY      UINT_MAX

/* The short ways (express.h): region->lane is the thread that may take the express lane; or that
 * thread and LANE_RETAINED, by exclusive or: it may go in again; or one of these. */
#define LANE_CLOSED    UINT64_MAX
#define LANE_TAKEN     (UINT64_MAX - 1) /* inside by the express lane */
#define LANE_AGAIN     (UINT64_MAX - 2) /* inside by a retained permission */
/* inside by the express lane, and it is time to retain the permission */
#define LANE_RETAIN    (UINT64_MAX - 3)
#define LANE_RETAINED  UINT64_C(0x5a5a5a5a5a5a5a5a)

struct ay_region {
    uint64_t mark;
    uint64_t lane;
    uint64_t thread;
    volatile uint64_t *undisturbed; /* of that thread: see named.h */
    /* of that thread, when it last asked whether the file has a name */
    uint64_t breaks;
    struct registers at;
    ay_region *next; /* in space->regions; under the mutex */
    /* the lane may ever be open: nothing about the region is out of the ordinary */
    bool plain;
    bool entered;   /* ever: set by the first passage, which goes the long way; never cleared */
    uint32_t alone; /* the TID that its life carries while it is not shared; kept by ay_share */
    struct claim claim;
    struct public_spec spec;
    /* in a space of many machines: see cluster.h */
    const struct permission *permission; /* NULL: not found yet */
    const _Atomic int64_t *deadline;     /* by the coarse clock */
    /* the permission by which it last entered; 0: it never did */
    _Atomic uint64_t granted;
    uint64_t base, first; /* of that permission */
    uint8_t needed;       /* PERMISSION_… */
    _Atomic bool told_lost;
    bool death; /* somebody died inside on another machine */
    int lost;   /* the eventfd, and 1; 0: nobody has asked for it */
    struct descriptor_identity lost_file;
};

/* Numbers never wrap. With the last NUMBERS_SPARED left, a place that has drawn one of them enters
 * no more; whoever has not yet may draw a few. The express lane asks now and then. A retained
 * permission is given up once half of the numbers are used: one bit tells. */
#define NUMBERS_SPARED (UINT64_C(1) << 30)

static inline bool numbers_half_used(const struct registers *at)
{
    return at->protocol->number &&
           at->protocol->number(at->word) >> (at->protocol->number_bits - 1) != 0;
}

static inline bool numbers_used_up(const struct registers *at)
{
    return numbers_half_used(at) && at->protocol->number(at->word) >=
                                        (UINT64_C(1) << at->protocol->number_bits) - NUMBERS_SPARED;
}

#endif
