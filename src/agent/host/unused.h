/* SPDX-License-Identifier: MIT */
/* Names that no process of this machine has open: who looks for them, and when. */
#ifndef AFTERYOU_AGENT_HOST_UNUSED_H
#define AFTERYOU_AGENT_HOST_UNUSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct service;

struct unused {
    int64_t due;    /* of the next look, by CLOCK_MONOTONIC; INT64_MAX: not before a demand */
    int64_t pause;  /* before it */
    int64_t took;   /* the last look */
    uint64_t *open; /* hashes of the names that are open, ascending */
    size_t count, room;
    unsigned next; /* the entry to be compared next; 0: no look is under way */
    bool found;    /* by the present look: a name that is not open */
};

void unused_begin(struct unused *unused);
/* A process has asked: it will go, some time. */
void unused_demanded(struct unused *unused);
/* Looks, if it is time to, and tells the agent of some; returns the nanoseconds after which it
 * wants to be called again. */
int64_t unused_tick(struct service *service);
void unused_end(struct unused *unused);

#endif
