/* SPDX-License-Identifier: MIT */
/* What goes wrong in a run: nodes die and come back, a part of them is cut off, and the group takes
 * note.
 *
 * With a right failure detector, a node that is cut off stops when its lease has run out, and the
 * others wait longer than that before they go on without it. With a wrong one they go on at once,
 * and it does not know. A node that stands still does so for less time than a lease: nobody takes
 * it for dead.
 */
#include "simulate/world.h"

/* In multiples of a message's mean delay. */
enum { DETECTION = 3, DOWNTIME = 30, LEASE = 20, HURRY = 2, PARTITION = 60, PAUSE = 15 };

uint64_t faults_time(const struct world *world, unsigned delays)
{
    const struct spread *delay = &world->how->delay;
    const uint64_t mean =
        delay->kind == SPREAD_UNIFORM ? (delay->least + delay->most) / 2 : delay->least;
    return delays * (mean ? mean : 1);
}

/* The node runs no longer: it died, or it knows that it was cut off. */
void faults_stop(struct world *world, uint32_t node)
{
    struct peer *peer = &world->peers[node];
    judge_exit(world, node);
    peer->up = false;
    peer->lives++;
    peer->still_until = 0;
    world_forget_tallies(world, node);
}

static void crash(struct world *world, uint32_t node)
{
    trace_life(world, node, "died");
    faults_stop(world, node);
    world->measure->crashes++;
    world_put(world, world->now + faults_time(world, DETECTION), DUE_DETECTED, node,
              world->peers[node].lives);
}

static void partition(struct world *world)
{
    const uint32_t nodes = world->how->nodes;
    const uint64_t members = set_size(world->members, nodes);
    if (members < 3)
        return;
    uint64_t rest = 1 + chance_below(&world->chance, (uint32_t)(members - 1) / 2);
    for (uint32_t step = 0, node = chance_below(&world->chance, nodes); step < nodes && rest;
         step++) {
        if (world->peers[node].member) {
            world->peers[node].cut = true;
            rest--;
        }
        node = node + 1 < nodes ? node + 1 : 0;
    }
    world->partitioned = true;
    world->measure->partitions++;
    const uint64_t lease = faults_time(world, LEASE);
    const bool wrong = world->how->faults.wrong_detector;
    if (!wrong)
        world_put(world, world->now + lease, DUE_CUT, 0, 0);
    world_put(world, world->now + (wrong ? faults_time(world, HURRY) : lease + 1), DUE_GIVEN_UP, 0,
              0);
    world_put(world, world->now + faults_time(world, PARTITION), DUE_HEALED, 0, 0);
}

void faults_after_event(struct world *world, uint32_t node)
{
    const struct faults *faults = &world->how->faults;
    if (world->peers[node].up && chance_happens(&world->chance, faults->crash))
        crash(world, node);
    if (world->peers[node].up && chance_happens(&world->chance, faults->pause)) {
        world->peers[node].still_until = world->now + faults_time(world, PAUSE);
        world->measure->pauses++;
    }
    if (!world->partitioned && chance_happens(&world->chance, faults->partition))
        partition(world);
}

/* What was due while it stood still follows in the same order when it goes on, and what is due at
 * that very moment follows that. What is for an earlier life is not put off: it would come to this
 * one. */
bool faults_put_off(struct world *world, const struct due *due)
{
    const struct peer *peer = &world->peers[due->node];
    const bool deferred = due->kind & DUE_DEFERRED;
    if (!peer->up || due->order < peer->born || peer->still_until == 0 ||
        world->now > peer->still_until || (deferred && world->now == peer->still_until))
        return false;
    world_put(world, peer->still_until, (enum due_kind)(due->kind | DUE_DEFERRED), due->node,
              due->what);
    return true;
}

/* The group goes on without it. */
static void leave_group(struct world *world, uint32_t node)
{
    struct peer *peer = &world->peers[node];
    if (peer->up && peer->inside) {
        world->inside[peer->mode]--;
        world->stale[peer->mode]++;
    }
    peer->member = false;
    set_remove(world->members, node);
    network_announce(world, EVENT_DIED, node);
}

static void come_back(struct world *world, uint32_t node)
{
    world->view++;
    world->measure->joins++;
    world_begin(world, node);
    trace_life(world, node, "joined");
    network_announce(world, EVENT_JOINED, node);
}

static void cut_off(struct world *world)
{
    for (uint32_t node = 0; node < world->how->nodes; node++)
        if (world->peers[node].cut && world->peers[node].up) {
            world_step(world, node, &(struct event){.kind = EVENT_CUT});
            trace_life(world, node, "lost");
            faults_stop(world, node);
        }
}

/* One change of the group, however many it leaves behind. */
static void give_up(struct world *world)
{
    world->view++;
    for (uint32_t node = 0; node < world->how->nodes; node++)
        if (world->peers[node].cut && world->peers[node].member)
            leave_group(world, node);
}

static void heal(struct world *world)
{
    cut_off(world);
    world->partitioned = false;
    for (uint32_t node = 0; node < world->how->nodes; node++)
        if (world->peers[node].cut) {
            world->peers[node].cut = false;
            world_put(world, world->now + faults_time(world, 1), DUE_RESTART, node,
                      world->peers[node].lives);
        }
}

void faults_due(struct world *world, const struct due *due)
{
    struct peer *peer = &world->peers[due->node];
    switch ((enum due_kind)due->kind) {
    case DUE_DETECTED:
        if (peer->cut || !peer->member || peer->lives != due->what)
            return; /* the partition's affair */
        world->view++;
        leave_group(world, due->node);
        if (chance_happens(&world->chance, world->how->faults.restart))
            world_put(world, world->now + faults_time(world, DOWNTIME), DUE_RESTART, due->node,
                      peer->lives);
        break;
    case DUE_RESTART:
        if (!peer->up && !peer->member && !peer->cut && peer->lives == due->what)
            come_back(world, due->node);
        break;
    case DUE_CUT:
        cut_off(world);
        break;
    case DUE_GIVEN_UP:
        give_up(world);
        break;
    case DUE_HEALED:
        heal(world);
        break;
    default:
        break;
    }
}
