/* SPDX-License-Identifier: MIT */
/* The parts of a wait for the cluster (cluster_wait.c): what is asked of the agent, and what is
 * slept on. For those files of remote/ that wait for something else than the permission, too. */
#ifndef AFTERYOU_MEMORY_REMOTE_WAIT_H
#define AFTERYOU_MEMORY_REMOTE_WAIT_H

#include "memory/remote/cluster.h"

void ay__wait_begin(ay_region *region);
bool ay__wait_give_up(ay_region *region, int reason); /* false */
/* Asks, if it is time to; false if nobody will ever answer. */
bool ay__wait_ask(ay_region *region, enum demand_kind kind);
/* What was asked is not known any more, or there is something else to ask for. */
void ay__wait_ask_anew(struct cluster_wait *wait);
uint64_t ay__wait_agent(const struct permissions *pages); /* which there is, and how it is */
bool ay__wait_is_named(const ay_region *region); /* P3: the agent may have taken the name away */
/* Until one of two words is not what it was, or it is time to ask again, or over. */
enum cluster_answer ay__wait_rest_on(ay_region *region, const void *first, uint64_t seen_first,
                                     const void *second, uint32_t seen_second);
/* The permission of its own name, and no more: as ay__cluster_go_on() */
enum cluster_answer ay__wait_permission(ay_region *region);
/* cluster_when.c: with a condition */
enum cluster_answer ay__cluster_go_on_when(ay_region *region);
/* of a member, whose leader asks for all of them (several_steps.c): TEST_FALSE, until all others
 * will be told, or it was heard of; TEST_TRUE, until it has the permission for good, or has lost it
 * since the condition was asked */
enum cluster_answer ay__cluster_go_on_tested(ay_region *region);
void ay__cluster_note_test(ay_region *region); /* by the permission, before it is asked */
bool ay__cluster_heard(const ay_region *region);
bool ay__cluster_lost_since(const ay_region *region);

/* It asks its condition, and is not to be inside unless that is true. */
static inline bool wait_tests(const ay_region *region)
{
    return region->at.passage.test == TEST_ASKS;
}

#endif
