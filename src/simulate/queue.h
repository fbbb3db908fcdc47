/* SPDX-License-Identifier: MIT */
/* What is to happen, soonest first; what was put in first comes first among equals. */
#ifndef AFTERYOU_SIMULATE_QUEUE_H
#define AFTERYOU_SIMULATE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum due_kind {
    DUE_REQUEST,
    DUE_RELEASE,
    DUE_PARCEL,
    DUE_NOTICE,
    DUE_HELD, /* a parcel that came too early (links.c) */
    DUE_DETECTED,
    DUE_RESTART,
    DUE_CUT,
    DUE_GIVEN_UP,
    DUE_HEALED,
    DUE_DEFERRED = 0x80 /* a bit: it was due before, when the node stood still */
};

struct due {
    uint64_t at;
    uint64_t order : 56; /* how many were put in before: the agreed order, where there is one */
    uint64_t kind : 8;   /* enum due_kind, perhaps with DUE_DEFERRED */
    uint32_t node;
    uint32_t what; /* the parcel, or the life of the node that it concerns */
};

/* A heap in which each has four children: half as deep as with two, and siblings share a cache line
 * or two.
 */
struct queue {
    struct due *heap;
    size_t count, room;
    uint64_t put; /* ever */
};

bool queue_put(struct queue *queue, struct due due); /* false: no memory; `order` is filled in */
struct due queue_take(struct queue *queue);          /* not from an empty one */
void queue_close(struct queue *queue);

#endif
