/* SPDX-License-Identifier: MIT */
/* The judge of a run: looks at every entry and every leaving, and at what is left when nothing more
 * happens.
 *
 * Exclusion: no two members are inside in modes that conflict. Fence: an entry's fence is greater
 * than that of every earlier entry in a conflicting mode. Progress: when nothing more is due,
 * nobody waits.
 *
 * Somebody given up for dead by a wrong detector may be inside beside a member; that is counted,
 * and its fence decides whether a resource that looks at fences would let it through.
 */
#include <inttypes.h>

#include "simulate/world.h"

static void waiting_remove(struct world *world, uint32_t node)
{
    struct peer *peer = &world->peers[node];
    *(peer->earlier == NO_PEER ? &world->first_waiting : &world->peers[peer->earlier].later) =
        peer->later;
    *(peer->later == NO_PEER ? &world->last_waiting : &world->peers[peer->later].earlier) =
        peer->earlier;
    peer->waiting = false;
}

static uint64_t conflicting(const uint64_t inside[MODES], unsigned mode)
{
    uint64_t count = 0;
    for (unsigned other = 0; other < MODES; other++)
        if (modes_conflict(mode, other))
            count += inside[other];
    return count;
}

void judge_request(struct world *world, uint32_t node, uint8_t mode)
{
    struct peer *peer = &world->peers[node];
    peer->passages++;
    struct tally *tally = world_tally(world, node);
    if (tally->finished)
        measure_passage(world->measure, tally->messages);
    *tally = (struct tally){0};
    peer->mode = mode;
    peer->waiting = true;
    peer->requested_at = world->now;
    peer->entries_then = world->measure->entries;
    peer->earlier = world->last_waiting;
    peer->later = NO_PEER;
    *(peer->earlier == NO_PEER ? &world->first_waiting : &world->peers[peer->earlier].later) = node;
    world->last_waiting = node;
}

static void violated(struct world *world, enum verdict verdict)
{
    world->outcome->verdict = verdict;
    world->ended = true;
}

static void judge_exclusion(struct world *world, uint32_t node)
{
    for (uint32_t other = 0; other < world->how->nodes; other++) {
        const struct peer *there = &world->peers[other];
        if (other == node || !there->inside || !there->member ||
            !modes_conflict(world->peers[node].mode, there->mode))
            continue;
        snprintf(world->outcome->words, sizeof world->outcome->words,
                 "node %u entered (%s, fence %" PRIu64
                 ") while node %u was inside (%s, fence %" PRIu64 ")",
                 node, mode_name(world->peers[node].mode), world->peers[node].fence, other,
                 mode_name(there->mode), there->fence);
        violated(world, VERDICT_EXCLUSION);
        return;
    }
}

static void judge_fence(struct world *world, uint32_t node, uint64_t fence)
{
    for (unsigned mode = 0; mode < MODES; mode++)
        if (modes_conflict(mode, world->peers[node].mode) && fence <= world->highest_fence[mode]) {
            snprintf(world->outcome->words, sizeof world->outcome->words,
                     "node %u entered with fence %" PRIu64 ", not above the fence %" PRIu64
                     " of an earlier entry",
                     node, fence, world->highest_fence[mode]);
            violated(world, VERDICT_FENCE);
            return;
        }
}

/* An entry of one that the group has given up: no violation, whatever the detector did; the fence
 * must tell.
 */
static void judge_stale(struct world *world, uint32_t node, uint64_t fence)
{
    const uint8_t mode = world->peers[node].mode;
    bool refused = false;
    for (unsigned other = 0; other < MODES; other++)
        refused |= modes_conflict(mode, other) && fence <= world->highest_fence[other];
    world->outcome->refused += refused;
    world->outcome->overlaps += conflicting(world->inside, mode) > 0;
    world->stale[mode]++;
}

static void measure_entry(struct world *world, uint32_t node)
{
    struct peer *peer = &world->peers[node];
    struct measure *measure = world->measure;
    const uint64_t overtaken = measure->entries - peer->entries_then;
    measure->most_overtaken =
        overtaken > measure->most_overtaken ? overtaken : measure->most_overtaken;
    measure->out_of_turn += world->first_waiting != node;
    measure->last_wait = world->now - peer->requested_at;
    histogram_add(&measure->waits, measure->last_wait);
    if (!measure->first_entry && world->now >= world->how->mark)
        measure->first_entry = world->now;
    if (world->handing_over && peer->requested_at <= world->left_at)
        histogram_add(&measure->handovers, world->now - world->left_at);
    world->handing_over = false;
    measure->entries++;
    peer->entries++;
}

void judge_entry(struct world *world, uint32_t node, uint64_t fence)
{
    struct peer *peer = &world->peers[node];
    measure_entry(world, node);
    waiting_remove(world, node);
    peer->inside = true;
    peer->fence = fence;
    trace_passage(world, node, "enter");
    if (!peer->member) {
        judge_stale(world, node, fence);
    } else {
        world->outcome->overlaps += conflicting(world->stale, peer->mode) > 0;
        if (conflicting(world->inside, peer->mode))
            judge_exclusion(world, node);
        if (!world->ended)
            judge_fence(world, node, fence);
        world->inside[peer->mode]++;
    }
    if (fence > world->highest_fence[peer->mode])
        world->highest_fence[peer->mode] = fence;
}

/* It leaves, dies or is cut off; or it gives up waiting by one of the latter. */
void judge_exit(struct world *world, uint32_t node)
{
    struct peer *peer = &world->peers[node];
    if (peer->waiting)
        waiting_remove(world, node);
    if (peer->inside) {
        (peer->member ? world->inside : world->stale)[peer->mode]--;
        peer->inside = false;
        world->handing_over =
            world->first_waiting != NO_PEER && !conflicting(world->inside, MODE_EXCLUSIVE);
        world->left_at = world->now;
    }
}

void judge_end(struct world *world)
{
    if (world->ended || world->failed || world->queue.count || world->first_waiting == NO_PEER)
        return;
    snprintf(world->outcome->words, sizeof world->outcome->words,
             "nothing more can happen, and node %u has waited since %" PRIu64 " ns",
             world->first_waiting, world->peers[world->first_waiting].requested_at);
    violated(world, VERDICT_DEADLOCK);
}
