/* SPDX-License-Identifier: MIT */
/* The clock of all measurements. */
#ifndef BENCH_PEERS_CLOCK_H
#define BENCH_PEERS_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void rest_us(int64_t us)
{
    const struct timespec time = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

#endif
