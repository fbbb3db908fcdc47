/* SPDX-License-Identifier: MIT */
/* Places of the space that are the agent's own: see reserve.h. */
#include "agent/host/reserve.h"

void reserve_begin(struct reserve *reserve, ay_space *space)
{
    reserve->space = space;
    pthread_mutex_init(&reserve->mutex, NULL);
}

void reserve_fill(struct reserve *reserve)
{
    for (unsigned at = 0; at < RESERVE; at++) {
        ay_region *region = NULL;
        pthread_mutex_lock(&reserve->mutex);
        const bool there = reserve->region[at] != NULL;
        pthread_mutex_unlock(&reserve->mutex);
        if (there)
            continue;
        if (ay_region_open(reserve->space, &(ay_spec){.name = RESERVED_NAME}, &region) < 0)
            return;
        pthread_mutex_lock(&reserve->mutex);
        if (!reserve->region[at]) {
            reserve->region[at] = region;
            region = NULL;
        }
        pthread_mutex_unlock(&reserve->mutex);
        ay_region_close(region);
    }
}

bool reserve_spend(struct reserve *reserve)
{
    ay_region *region = NULL;
    pthread_mutex_lock(&reserve->mutex);
    for (unsigned at = 0; at < RESERVE && !region; at++) {
        region = reserve->region[at];
        reserve->region[at] = NULL;
    }
    pthread_mutex_unlock(&reserve->mutex);
    ay_region_close(region);
    return region != NULL;
}
