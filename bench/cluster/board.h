/* SPDX-License-Identifier: MIT */
/* A page that two programs of the bench have mapped, on whatever machines: these share a clock. */
#ifndef AFTERYOU_BENCH_CLUSTER_BOARD_H
#define AFTERYOU_BENCH_CLUSTER_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/permissions.h"

struct board {
    _Atomic int64_t by, done; /* who had it last, and how often it changed hands */
    /* of the last hand-over, by CLOCK_MONOTONIC: the process leaves, or is killed; its agent wakes
     * up, and gives the permission up; the other agent grants it; the other process is inside */
    _Atomic int64_t released_ns, woken_ns, given_ns, granted_ns, inside_ns;
    _Atomic int64_t holding, waiting,
        entered; /* of a kill: which turn it is, for each of the two */
};

/* NULL: errno tells. */
struct board *board_open(const char *path);
/* One line: the whole time, and its parts, in nanoseconds. */
void board_print(const struct board *board);

/* Of this machine's agent. False: errno tells. */
bool board_map_pages(const char *path);
/* What they say of the lock; NULL: they are not mapped, or say nothing. */
const struct permission *board_permission(void);

#endif
