/* SPDX-License-Identifier: MIT */
/* The kinds of locks, each with the one lock of this process. */
#include "locks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "afteryou.h"
#include "peers.h"

static ay_region *region;
static struct redis_lock redis;
static struct etcd_lock etcd;

static bool space_open(const char *name)
{
    ay_space *space;
    return ay_open(name, NULL, &space) == 0 &&
           ay_region_open(space, &(ay_spec){.name = LOCK_NAME}, &region) == 0;
}

static bool units_open(const char *name)
{
    ay_space *space;
    const ay_spec spec = {.name = UNITS_NAME, .take = UNITS_TAKEN, .of = UNITS_THERE};
    return ay_open(name, NULL, &space) == 0 && ay_region_open(space, &spec, &region) == 0;
}

static bool space_enter(void)
{
    return ay_enter(region) >= 0;
}

static bool space_leave(void)
{
    return ay_leave(region) == 0;
}

static bool redis_lock_open(const char *path)
{
    return redis_open(&redis, path);
}

static bool redis_lock_enter(void)
{
    return redis_enter(&redis);
}

static bool redis_lock_leave(void)
{
    return redis_leave(&redis);
}

static bool etcd_lock_open(const char *port)
{
    return etcd_open(&etcd, (unsigned)strtoul(port, NULL, 10));
}

static bool etcd_lock_enter(void)
{
    return etcd_enter(&etcd);
}

static bool etcd_lock_leave(void)
{
    return etcd_leave(&etcd);
}

static const char *peer_message(void)
{
    return errno ? strerror(errno) : "it answered something else";
}

static const struct lock_kind kinds[] = {
    {"space", space_open, space_enter, space_leave, ay_message},
    {"units", units_open, space_enter, space_leave, ay_message},
    {"redis", redis_lock_open, redis_lock_enter, redis_lock_leave, peer_message},
    {"etcd", etcd_lock_open, etcd_lock_enter, etcd_lock_leave, peer_message},
};

const struct lock_kind *lock_kind(const char *name)
{
    for (size_t at = 0; at < sizeof kinds / sizeof *kinds; at++)
        if (strcmp(name, kinds[at].name) == 0)
            return &kinds[at];
    return NULL;
}

int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}
