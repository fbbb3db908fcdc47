/* SPDX-License-Identifier: MIT */
/* The locks that the bench of the cluster sets side by side, behind one face. */
#ifndef AFTERYOU_BENCH_LOCKS_H
#define AFTERYOU_BENCH_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#define LOCK_NAME  "bench"
#define UNITS_NAME "bench units"

enum { UNITS_TAKEN = 2, UNITS_THERE = 64 };

struct lock_kind {
    const char *name;
    bool (*open)(const char *where); /* a space, the path of a socket, or a port */
    bool (*enter)(void);
    bool (*leave)(void);
    const char *(*message)(void); /* what was wrong */
};

/* "space", "units" (of a space), "redis" or "etcd"; NULL if it is none of them. A process has one
 * lock of a kind. */
const struct lock_kind *lock_kind(const char *name);

/* CLOCK_MONOTONIC. */
int64_t now_ns(void);

#endif
