/* SPDX-License-Identifier: MIT */
/* The judge of the world's entries: see world.h. */
#include "world.h"

static bool orphan_holds(const struct world *world, unsigned number)
{
    const struct machine *machine = &world->machine[number];
    return machine->orphan.inside &&
           world->now < machine->orphan.deadline + world->grace - world->lease;
}

/* It has been told that it lost, and has time to stop. */
static bool is_stopping(const struct world *world, const struct machine *machine,
                        const struct process *process)
{
    if (!process->inside || world_process_holds(world, machine, process))
        return false;
    const int64_t lost = process->lost ? process->lost : machine->deadline;
    return world->now < lost + world->grace - world->lease;
}

static void judge_beside(struct world *world, unsigned number, const struct process *entered,
                         unsigned other)
{
    const struct machine *machine = &world->machine[other];
    for (unsigned at = 0; at < PROCESSES; at++) {
        const struct process *process = &machine->process[at];
        if (!world_conflict(entered->mode, process->mode))
            continue;
        if (is_stopping(world, machine, process))
            world_violate(world, "inside while one that lost it had time to stop", number, other);
        if (world_process_holds(world, machine, process))
            world_violate(world, "two inside", number, other);
    }
}

void world_judge_entry(struct world *world, unsigned number, const struct process *entered)
{
    for (unsigned other = 0; other < world->machines; other++) {
        if (orphan_holds(world, other) &&
            world_conflict(entered->mode, world->machine[other].orphan.mode))
            world_violate(world, "two inside, one by lost pages", number, other);
        if (other != number)
            judge_beside(world, number, entered, other);
    }
    for (unsigned mode = 0; mode < PERMISSION_MODES; mode++)
        if (world_conflict(entered->mode, mode) && entered->fence <= world->greatest_fence[mode])
            world_violate(world, "a fence that does not grow", number, number);
    if (entered->fence > world->greatest_fence[entered->mode])
        world->greatest_fence[entered->mode] = entered->fence;
}
