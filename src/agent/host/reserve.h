/* SPDX-License-Identifier: MIT */
/* Places of the space that are the agent's own, for a machine on which all are taken or whose file
 * system is full: one that is given up makes room for the region that must be taken back. */
#ifndef AFTERYOU_AGENT_HOST_RESERVE_H
#define AFTERYOU_AGENT_HOST_RESERVE_H

#include <pthread.h>
#include <stdbool.h>

#include "afteryou.h"

#define RESERVED_NAME "(reserve of the agent)"
enum { RESERVE = 4 };

struct reserve {
    ay_space *space;
    pthread_mutex_t mutex;
    ay_region *region[RESERVE]; /* under the mutex; NULL: spent */
};

void reserve_begin(struct reserve *reserve, ay_space *space);
/* As many as can be had: it is tried again after every taking back. */
void reserve_fill(struct reserve *reserve);
/* Gives one up; false if there is none. */
bool reserve_spend(struct reserve *reserve);

#endif
