/* SPDX-License-Identifier: MIT */
/* What a cluster's agent publishes to the processes of its machine, and what they tell it.
 *
 *   DIRECTORY/NAME/space    an ordinary space, in which local processes and the agent meet
 *   DIRECTORY/NAME/agent    these pages: written by the agent alone, mapped read-only by everybody
 *                           else
 *   DIRECTORY/NAME/socket   datagrams (struct demand) to the agent
 *   DIRECTORY/NAME/control  a stream: who is inside and who waits, on all machines
 *
 * DIRECTORY is root's, or of the one user whose agent it is, and nobody else can write in it. A
 * local process believes an agent that is root's or its own user's, and no other: who else could
 * write the pages could let everybody in (common/trusted.h).
 *
 * A permission says in which mode this machine may enter a resource now. Whoever has entered the
 * region of the space, finds the permission sufficient and the deadline still to come, is inside
 * the cluster's region. A permission is withdrawn while the agent itself is inside the region of
 * the space, so nobody is in it who would not know; or at once, if the machine has lost it: then
 * the passages begun under it are lost. Likewise for a part: while the agent is inside in the mode
 * of somebody else's request, it is lowered to what may be inside beside that; and it is raised
 * while processes are inside by the weaker mode.
 *
 * Invariants:
 *   P1  `granted` changes with every grant, change of mode and withdrawal, and its era with every
 *       grant and withdrawal. A passage holds for as long as the era of `granted` is that in which
 *       it began, and the deadline has not passed.
 *   P2  `base` and `number` are changed only while nothing is granted, or `granted` is marked as
 *       changing. Who reads the same `granted`, without the mark, before and after them has read
 *       what belongs together.
 *   P3  A name is changed or removed only while nothing is granted, and the serial rises first. So
 *       who reads the same `granted`, with a mode, before and after the name has read the name that
 *       it was granted for. `count` never falls. Who looks for a name while the lists change may
 *       miss it: `changes` rises afterwards.
 *   P4  An agent answers for what was granted in pages of this identity, and for nothing else.
 *       Pages that were removed, or whose space was, are made anew, with another.
 *   P5  Where `watch` has one of its bits, whoever enters only asks its condition. A bit is set
 *       while nothing is granted, or while one that asked is inside the region of the space. A
 *       running agent changes the bits only while nothing is granted, or `granted` is marked as
 *       changing. So who compares only `granted` sees each bit that another has seen. The count
 *       rises when those who sleep may have missed something.
 */
#ifndef AFTERYOU_COMMON_PERMISSIONS_H
#define AFTERYOU_COMMON_PERMISSIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PERMISSIONS_MAGIC "ay-agent"

enum {
    PERMISSIONS_VERSION = 5,
    BOOT_ID_ROOM = 40,
    PERMISSIONS_MOST = 1 << 18, /* names of resources that one machine can know */
    PERMISSION_BUCKETS = 1 << 15,
    PERMISSION_NAME_MOST = 255,
    CLUSTER_NAME_MOST = 64,
    /* the low bits of `granted`: the modes of afteryou.h, turned round, so that 0 is none */
    PERMISSION_NONE = 0,
    PERMISSION_CONCURRENT_READ,
    PERMISSION_CONCURRENT_WRITE,
    PERMISSION_PROTECTED_WRITE,
    PERMISSION_SHARED,
    PERMISSION_EXCLUSIVE,
    PERMISSION_MODES,
    PERMISSION_MODE = 7,
    PERMISSION_CHANGING = 8, /* `base` and `number`, or the bits of `watch`, are being changed */
    PERMISSION_ERA_SHIFT = 4,
    PERMISSION_ERA_BITS = 36,
    PERMISSION_STEP_SHIFT = PERMISSION_ERA_SHIFT + PERMISSION_ERA_BITS, /* within the era */
    /* the low bits of `watch`: somebody sleeps on its condition, here or on other machines. Both
     * are to hear of it before another is inside; then it counts one more */
    PERMISSION_ARMED = 1,
    PERMISSION_WATCHED = 2,
    PERMISSION_HEARD = 4
};

struct permission {
    _Atomic uint64_t granted; /* mode, mark, era, step; its lower half is slept on */
    _Atomic uint64_t base;    /* the fence of a passage whose number is `number` */
    _Atomic uint64_t number;  /* of a local passage before all that are made by the permission */
    /* rises when it is known that somebody is inside on another machine; slept on */
    _Atomic uint32_t busy;
    /* somebody died inside on another machine, and nobody has been told yet */
    _Atomic uint32_t death;
    _Atomic uint32_t next;   /* of the same hash: its index and 1; 0: there is none */
    _Atomic uint16_t slot;   /* in whose name it was granted: for an agent that takes over */
    _Atomic uint16_t length; /* 0: no name. Stored after the name, and 0 before it is changed */
    char name[PERMISSION_NAME_MOST + 1];
    /* CLOCK_BOOTTIME: it was lost, and until then those begun under it may be stopping */
    _Atomic int64_t owed;
    /* for who looks on: when `granted` was last changed (CLOCK_MONOTONIC), and how long before that
     * the agent woke up for its last withdrawal */
    _Atomic int64_t changed_ns;
    _Atomic uint32_t woken_before_ns;
    _Atomic uint32_t watch; /* bits, and a count; slept on: P5 */
};
_Static_assert(sizeof(struct permission) % 64 == 0, "whole lines");

enum agent_state { AGENT_STARTING, AGENT_NO_QUORUM, AGENT_JOINING, AGENT_READY, AGENT_ENDED };

struct permissions {
    char magic[8];
    uint32_t version, size;
    char cluster[CLUSTER_NAME_MOST + 1], protocol[31];
    uint64_t identity; /* drawn when the pages were made: P4 */
    /* of the group, as far as this machine knows: fences grow even if the file with it is lost */
    _Atomic uint64_t view;
    int64_t obliged; /* CLOCK_BOOTTIME: until then what was granted in other pages may hold */
    /* the kernel's boot_id: nothing outlives a restart of the machine */
    char boot[BOOT_ID_ROOM];
    /* the space that goes with them: another file is not the agent's */
    uint64_t space_device, space_inode;
    _Atomic uint32_t pid;
    uint32_t lease_ms, grace_ms;
    _Atomic uint32_t state; /* enum agent_state; slept on, and woken also when it is the same */
    /* rises with every name, loss and change of state; slept on */
    _Atomic uint32_t changes;
    _Atomic uint32_t count; /* names */
    /* the cluster has room for no other name than those here */
    _Atomic uint32_t full;
    _Atomic uint32_t conditions; /* 1: processes can wait for them */
    /* CLOCK_BOOTTIME: until then all that is granted holds */
    _Alignas(64) _Atomic int64_t deadline;
    /* of CLOCK_MONOTONIC, a tick earlier: for those who look at the coarse clock */
    _Atomic int64_t deadline_monotonic;
    _Alignas(4096) _Atomic uint32_t bucket[PERMISSION_BUCKETS]; /* the first: as `next` */
    /* the file has as much of them as have been needed */
    _Alignas(4096) struct permission permission[PERMISSIONS_MOST];
};

#define PERMISSION_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* Fowler, Noll and Vo's. */
static inline uint64_t permission_hash(uint64_t from, const void *bytes, size_t length)
{
    for (size_t at = 0; at < length; at++)
        from = (from ^ ((const uint8_t *)bytes)[at]) * UINT64_C(0x100000001b3);
    return from;
}

static inline size_t permission_bucket(const char *name, size_t length)
{
    const uint64_t hash = permission_hash(PERMISSION_HASH_BEGIN, name, length);
    return (hash ^ hash >> 32) % PERMISSION_BUCKETS;
}

/* What a local process tells the agent, in one datagram. */
enum demand_kind {
    DEMAND_PERMISSION = 1, /* I am inside the region of the space, and have no permission */
    DEMAND_MORE,           /* I was inside, and the permission is for too weak a mode */
    DEMAND_TOLD,           /* I have been told of the death inside */
    DEMAND_WATCH,          /* I am inside the region of the space, and my condition is false */
    DEMAND_REAL            /* I am inside it, and have all but that somebody watches */
};

struct demand {
    uint32_t magic;
    uint8_t kind, mode; /* PERMISSION_… */
    uint16_t length;
    /* of the passage that asks: those of this resource that are still to come have greater ones */
    uint64_t number;
    /* what it found `granted` to be, and not enough; 0: it did not find the name */
    uint64_t granted;
    char name[PERMISSION_NAME_MOST + 1];
};
enum { DEMAND_MAGIC = 0x61796434 };

static inline unsigned permission_mode(uint64_t granted)
{
    return (unsigned)(granted & PERMISSION_MODE);
}

/* The mode of afteryou.h, which is AY_NULL for none; and the other way round. */
static inline unsigned permission_turned(unsigned mode)
{
    return PERMISSION_EXCLUSIVE - mode;
}

static inline uint64_t permission_era(uint64_t granted)
{
    return granted >> PERMISSION_ERA_SHIFT & ((UINT64_C(1) << PERMISSION_ERA_BITS) - 1);
}

/* The next era, with this mode. */
static inline uint64_t permission_next(uint64_t granted, unsigned mode)
{
    const uint64_t era = permission_era(granted) + 1;
    return (era & ((UINT64_C(1) << PERMISSION_ERA_BITS) - 1)) << PERMISSION_ERA_SHIFT | mode;
}

/* Another mode in the same era. */
static inline uint64_t permission_changed(uint64_t granted, unsigned mode)
{
    const uint64_t step = (granted >> PERMISSION_STEP_SHIFT) + 1;
    return step << PERMISSION_STEP_SHIFT | permission_era(granted) << PERMISSION_ERA_SHIFT | mode;
}

/* What is asked for is asked for anew whenever the permission, or its mode, changes: what was asked
 * for before that is wanted no longer, or will be said again. To believe it would be to ask others
 * for what nobody here may be waiting for, while one that has lost it is inside the region of the
 * space: nobody could take it back from there. */
static inline bool demand_is_stale(const struct demand *demand, uint64_t granted)
{
    const bool asks = demand->kind == DEMAND_PERMISSION || demand->kind == DEMAND_MORE;
    return asks && (permission_era(demand->granted) != permission_era(granted) ||
                    permission_mode(demand->granted) != permission_mode(granted));
}

static inline bool permission_is_of(const struct permission *permission, const char *name,
                                    size_t length)
{
    return atomic_load_explicit(&permission->length, memory_order_acquire) == length &&
           memcmp(permission->name, name, length) == 0;
}

static inline const struct permission *permissions_find(const struct permissions *pages,
                                                        const char *name, size_t length)
{
    const uint32_t count = atomic_load_explicit(&pages->count, memory_order_acquire);
    uint32_t at = atomic_load(&pages->bucket[permission_bucket(name, length)]);
    /* the lists may change meanwhile: so it ends after as many as there are, at the latest */
    for (uint32_t steps = 0; at > 0 && at <= count && steps < count; steps++) {
        const struct permission *permission = &pages->permission[at - 1];
        if (permission_is_of(permission, name, length))
            return permission;
        at = atomic_load(&permission->next);
    }
    return NULL;
}

#endif
