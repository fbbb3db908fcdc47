/* SPDX-License-Identifier: MIT */
/* A condition of a cluster's region: it is asked by the permission, and not before; the protocol of
 * the space knows nothing of it.
 *
 *   TEST_ASKS    waits for the permission, to ask. While somebody sleeps (P5) it has it for no more
 *   TEST_FALSE   inside the region of the space, until the agent has told all others that somebody
 *                sleeps here
 *   TEST_ASLEEP  outside it, until somebody is about to be inside
 *   TEST_TRUE    it was true: as one without a condition. It is asked again if the permission was
 *                lost before it could go in
 *
 * Nothing here sleeps: whoever waits or asks does what the answer says. */
#include <errno.h>

#include "memory/remote/wait.h"

static enum cluster_answer ask_again(ay_region *region, enum cluster_answer answer)
{
    region->at.passage.test = TEST_ASKS;
    region->at.passage.remote = false;
    return answer;
}

static bool was_heard(const ay_region *region, uint32_t watch)
{
    return watch / PERMISSION_HEARD != region->remote.watch / PERMISSION_HEARD ||
           !ay__wait_is_named(region);
}

bool ay__cluster_heard(const ay_region *region)
{
    return was_heard(region, atomic_load(&region->remote.permission->watch));
}

bool ay__cluster_lost_since(const ay_region *region)
{
    const struct permission *permission = region->remote.permission;
    return !permission ||
           permission_era(atomic_load(&permission->granted)) != region->remote.asked_in;
}

static enum cluster_answer rest(ay_region *region, uint32_t watch, uint32_t state)
{
    struct cluster_wait *wait = &region->remote.wait;
    const struct permissions *pages = region->at.fixed.space->cluster->pages;
    if (ay__now() >= wait->until) {
        ay__wait_give_up(region, region->at.passage.give_up);
        return CLUSTER_GIVES_UP;
    }
    if (ay__wait_agent(pages) != wait->agent)
        ay__wait_ask_anew(wait);
    if (!ay__wait_ask(region, DEMAND_WATCH))
        return CLUSTER_GIVES_UP;
    return ay__wait_rest_on(region, &region->remote.permission->watch, watch, &pages->state, state);
}

/* What it was asked under may be lost before the count was seen, and others pass: asleep by then,
 * it hears of that by the count. */
static enum cluster_answer arm(ay_region *region, bool *heard)
{
    const uint32_t watch = atomic_load(&region->remote.permission->watch),
                   state = atomic_load(&region->at.fixed.space->cluster->pages->state);
    *heard = ay__cluster_lost_since(region) || was_heard(region, watch);
    return *heard || watch & PERMISSION_ARMED ? CLUSTER_PERMITS : rest(region, watch, state);
}

static enum cluster_answer arm_alone(ay_region *region)
{
    bool heard;
    const enum cluster_answer answer = arm(region, &heard);
    if (answer != CLUSTER_PERMITS)
        return answer;
    region->at.passage.test = heard ? TEST_AGAIN : TEST_ASLEEP;
    return CLUSTER_MAKES_WAY;
}

enum cluster_answer ay__cluster_go_on_tested(ay_region *region)
{
    bool heard;
    if (region->at.passage.test == TEST_FALSE)
        return arm(region, &heard);
    return ay__cluster_lost_since(region) ? CLUSTER_PERMITS : ay__wait_permission(region);
}

static enum cluster_answer come_back(ay_region *region)
{
    atomic_store(&region->at.fixed.own_cold->conditional, 0);
    return ask_again(region, CLUSTER_COMES_BACK);
}

static enum cluster_answer sleep_on(ay_region *region)
{
    const uint32_t watch = atomic_load(&region->remote.permission->watch),
                   state = atomic_load(&region->at.fixed.space->cluster->pages->state);
    return was_heard(region, watch) ? come_back(region) : rest(region, watch, state);
}

static enum cluster_answer go_in(ay_region *region)
{
    const enum cluster_answer answer = ay__wait_permission(region);
    if (answer != CLUSTER_PERMITS ||
        permission_era(atomic_load(&region->remote.granted)) == region->remote.asked_in)
        return answer;
    return ask_again(region, CLUSTER_BEGINS_ANEW);
}

void ay__cluster_note_test(ay_region *region)
{
    region->remote.watch = atomic_load(&region->remote.permission->watch);
    region->remote.asked_in = permission_era(atomic_load(&region->remote.granted));
}

static enum cluster_answer ask(ay_region *region)
{
    struct registers *at = &region->at;
    ay__cluster_note_test(region);
    if (ay__condition(at)) {
        if (at->passage.refused)
            return CLUSTER_PERMITS;
        at->passage.test = TEST_TRUE;
        at->passage.remote = false;
        return go_in(region);
    }
    if (at->passage.deadline == INT64_MIN) {
        ay__wait_give_up(region, at->passage.give_up);
        return CLUSTER_GIVES_UP;
    }
    at->passage.test = TEST_FALSE;
    ay__wait_begin(region);
    at->passage.waited = true;
    ay__begin_waiting(at);
    atomic_store(&at->fixed.own_cold->conditional, 1);
    return arm_alone(region);
}

enum cluster_answer ay__cluster_go_on_when(ay_region *region)
{
    enum cluster_answer answer;
    switch ((enum test)region->at.passage.test) {
    case TEST_FALSE:
        return arm_alone(region);
    case TEST_ASLEEP:
        return sleep_on(region);
    case TEST_AGAIN:
        return come_back(region);
    case TEST_TRUE:
        return go_in(region);
    default:
        region->at.passage.test = TEST_ASKS;
        answer = ay__wait_permission(region);
        return answer == CLUSTER_PERMITS ? ask(region) : answer;
    }
}
