/* SPDX-License-Identifier: MIT */
/* Regions of the space that are the agent's own, and have a name of a resource only while its
 * permission is taken back: to rename one is a hundred times cheaper than to open one, waits for
 * nobody, and works on a machine on which all places are taken or whose file system is full. */
#ifndef AFTERYOU_AGENT_HOST_SPARES_H
#define AFTERYOU_AGENT_HOST_SPARES_H

#include <stdbool.h>
#include <stdint.h>

#include "afteryou.h"
#include "common/permissions.h"

enum {
    SPARES_AHEAD = 4, /* so many are opened before they are needed */
    /* and no more are kept, for places are few; but to open one takes as long as ten hand-overs */
    SPARES_KEPT = 256,
    SPARES_WHY = 256
};

struct spares {
    ay_space *space;
    int file; /* of the space: to see whether it is locked */
    unsigned count;
    ay_region *region[SPARES_KEPT]; /* `count` of them: outside, of no resource's name */
    /* Those of weaker modes, PERMISSION_…: one each, or NULL. Opened when first needed. */
    ay_region *weaker[PERMISSION_EXCLUSIVE];
    int64_t not_before; /* CLOCK_MONOTONIC: none could be opened lately */
    int error;          /* why: a negative errno, and in words */
    char why[SPARES_WHY];
};

/* `file` stays the caller's. */
void spares_begin(struct spares *spares, ay_space *space, int file);
/* As many as can be had. */
void spares_fill(struct spares *spares);
/* One of this mode; if there is none to be had, an exclusive one: *mode is what it has. 0, or a
 * negative errno, and in `why` what is wrong, in words. */
int spares_take(struct spares *spares, const char *name, uint8_t *mode, ay_region **region,
                char why[SPARES_WHY]);
/* Outside, and not asked for; of this mode. */
void spares_give_back(struct spares *spares, unsigned mode, ay_region *region);

#endif
