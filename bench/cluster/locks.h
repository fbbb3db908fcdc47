/* SPDX-License-Identifier: MIT */
/* The locks that the bench of the cluster sets side by side, behind one face. */
#ifndef AFTERYOU_BENCH_LOCKS_H
#define AFTERYOU_BENCH_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#define LOCK_NAME "bench"

struct lock_kind {
    const char *name;
    bool (*open)(const char *where); /* a space, the path of a socket, or a port */
    bool (*enter)(void);
    bool (*leave)(void);
    const char *(*message)(void); /* what was wrong */
};

/* "space", "redis" or "etcd"; NULL if it is none of them. A process has one lock of a kind. */
const struct lock_kind *lock_kind(const char *name);

/* CLOCK_MONOTONIC. */
int64_t now_ns(void);

#endif
