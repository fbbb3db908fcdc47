/* SPDX-License-Identifier: MIT */
/* The time, as one number. */
#ifndef AFTERYOU_COMMON_CLOCK_H
#define AFTERYOU_COMMON_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds. */
static inline int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
