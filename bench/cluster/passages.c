/* SPDX-License-Identifier: MIT */
/* What a passage costs whose way is free, in nanoseconds: one figure a line, the mean of a batch.
 *
 *   bench-passages space SPACE COUNT BATCHES     a region of ours: a local space, or cluster:NAME
 *   bench-passages redis SOCKET COUNT BATCHES
 *   bench-passages etcd PORT COUNT BATCHES
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "afteryou.h"
#include "peers.h"

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

static ay_region *region;
static struct redis_lock redis;
static struct etcd_lock etcd;

static bool open_space(const char *name)
{
    ay_space *space;
    return ay_open(name, NULL, &space) == 0 && ay_region_open(space, &(ay_spec){.name = "bench"}, &region) == 0;
}

static bool pass_space(void)
{
    return ay_enter(region) >= 0 && ay_leave(region) == 0;
}

static bool open_redis(const char *path)
{
    return redis_open(&redis, path);
}

static bool pass_redis(void)
{
    return redis_enter(&redis) && redis_leave(&redis);
}

static bool open_etcd(const char *port)
{
    return etcd_open(&etcd, (unsigned)strtoul(port, NULL, 10));
}

static bool pass_etcd(void)
{
    return etcd_enter(&etcd) && etcd_leave(&etcd);
}

static const struct {
    const char *name;
    bool (*open)(const char *where);
    bool (*pass)(void);
} kinds[] = {{"space", open_space, pass_space}, {"redis", open_redis, pass_redis}, {"etcd", open_etcd, pass_etcd}};

static int measure(bool (*pass)(void), long passages, long batches)
{
    for (long batch = -1; batch < batches; batch++) { /* the first warms up, and gets the permission */
        const int64_t start = now_ns();
        for (long at = 0; at < passages; at++)
            if (!pass())
                return 1;
        if (batch >= 0)
            printf("%.2f\n", (double)(now_ns() - start) / (double)passages);
    }
    return 0;
}

int main(int count, char **words)
{
    for (size_t at = 0; count == 5 && at < sizeof kinds / sizeof *kinds; at++) {
        if (strcmp(words[1], kinds[at].name) != 0)
            continue;
        const long passages = strtol(words[3], NULL, 10), batches = strtol(words[4], NULL, 10);
        if (passages < 1 || batches < 1)
            break;
        if (!kinds[at].open(words[2]) || measure(kinds[at].pass, passages, batches) != 0) {
            fprintf(stderr, "bench-passages: %s: failed: %s\n", words[1], at == 0 ? ay_message() : "no such answer");
            return 1;
        }
        return 0;
    }
    fprintf(stderr, "usage: bench-passages space|redis|etcd WHERE COUNT BATCHES\n");
    return 125;
}
