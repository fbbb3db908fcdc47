/* SPDX-License-Identifier: MIT */
/* The local process of a machine of the world, and the judge of its entries: see world.h. */
#include "world.h"

enum { MS = 1000 * 1000 };

static int page_called(const struct machine *machine, const char *name)
{
    for (unsigned at = 0; at < machine->pages; at++)
        if (strcmp(machine->page[at].name, name) == 0)
            return (int)at;
    return -1;
}

static int page_of(const struct machine *machine)
{
    return page_called(machine, RESOURCE);
}

bool world_has(const struct world *world, unsigned number, const char *name)
{
    const int page = page_called(&world->machine[number], name);
    return page >= 0 && world->machine[number].page[page].mode == PERMISSION_EXCLUSIVE;
}

static void demand(struct machine *machine, const struct demand *what)
{
    world_feed(machine, (struct agent_event){.kind = ON_DEMAND,
                                             .demand = {.what = what, .number = machine->passage}});
}

bool world_want_another(struct world *world, unsigned number, const char *name)
{
    struct demand what = {.magic = DEMAND_MAGIC,
                          .kind = DEMAND_PERMISSION,
                          .mode = PERMISSION_EXCLUSIVE,
                          .length = (uint16_t)strlen(name)};
    struct machine *machine = &world->machine[number];
    strcpy(what.name, name);
    demand(machine, &what);
    for (unsigned at = 0; at < world->effects.count; at++)
        if (world->effects.effect[at].kind == DO_TELL_FULL)
            return false;
    return true;
}

bool world_holds(const struct world *world, unsigned number)
{
    const struct machine *machine = &world->machine[number];
    const int page = page_of(machine);
    return machine->inside && page >= 0 && machine->page[page].serial == machine->serial &&
           world->now < machine->deadline;
}

static bool orphan_holds(const struct world *world, unsigned number)
{
    const struct machine *machine = &world->machine[number];
    return machine->orphan.inside &&
           world->now < machine->orphan.deadline + world->grace - world->lease;
}

/* Its local process has been told that it lost, and has time to stop. */
static bool is_stopping(const struct world *world, unsigned number)
{
    const struct machine *machine = &world->machine[number];
    if (!machine->inside || world_holds(world, number))
        return false;
    const int64_t lost = machine->lost ? machine->lost : machine->deadline;
    return world->now < lost + world->grace - world->lease;
}

static void judge_entry(struct world *world, unsigned number)
{
    const struct machine *machine = &world->machine[number];
    for (unsigned other = 0; other < world->machines; other++)
        if (orphan_holds(world, other) &&
            (machine->mode == PERMISSION_EXCLUSIVE ||
             world->machine[other].orphan.mode == PERMISSION_EXCLUSIVE))
            world_violate(world, "two inside, one by lost pages", number, other);
    for (unsigned other = 0; other < world->machines; other++)
        if (other != number && is_stopping(world, other) &&
            (machine->mode == PERMISSION_EXCLUSIVE ||
             world->machine[other].mode == PERMISSION_EXCLUSIVE))
            world_violate(world, "inside while one that lost it had time to stop", number, other);
    for (unsigned other = 0; other < world->machines; other++)
        if (other != number && world_holds(world, other) &&
            (machine->mode == PERMISSION_EXCLUSIVE ||
             world->machine[other].mode == PERMISSION_EXCLUSIVE))
            world_violate(world, "two inside", number, other);
    if (machine->mode == PERMISSION_EXCLUSIVE
            ? machine->fence <= world->greatest_fence
            : machine->fence < world->greatest_fence && world->shared_percent == 0)
        world_violate(world, "a fence that does not grow", number, number);
    if (machine->mode == PERMISSION_EXCLUSIVE)
        world->greatest_fence = machine->fence;
}

static void demand_entry(struct world *world, struct machine *machine)
{
    struct demand what = {.magic = DEMAND_MAGIC,
                          .kind = DEMAND_PERMISSION,
                          .mode = (uint8_t)machine->mode,
                          .length = sizeof RESOURCE - 1};
    const int page = page_of(machine);
    strcpy(what.name, RESOURCE);
    if (page >= 0 && machine->page[page].mode != PERMISSION_NONE &&
        machine->page[page].mode < machine->mode)
        what.kind = DEMAND_MORE;
    machine->next_demand = world->now + 250 * (int64_t)MS;
    if (machine->running && !machine->stopped)
        demand(machine, &what);
}

static bool may_enter(const struct world *world, const struct machine *machine)
{
    const int page = page_of(machine);
    return page >= 0 && machine->page[page].mode >= machine->mode && world->now < machine->deadline;
}

bool world_would_try(const struct world *world, unsigned number)
{
    const struct machine *machine = &world->machine[number];
    return machine->wants && (may_enter(world, machine) || world->now >= machine->next_demand);
}

void world_try_to_enter(struct world *world, unsigned number)
{
    struct machine *machine = &world->machine[number];
    const int page = page_of(machine);
    if (!may_enter(world, machine)) {
        if (world->now >= machine->next_demand)
            demand_entry(world, machine);
        return;
    }
    machine->passage++;
    machine->wants = false;
    machine->inside = true;
    machine->lost = 0;
    machine->serial = machine->page[page].serial;
    const uint64_t first = machine->page[page].first;
    machine->fence =
        machine->page[page].base + (machine->passage > first ? machine->passage - first : 0);
    machine->entries++;
    world->entries++;
    const bool told = machine->dead_inside || machine->page[page].death;
    machine->deaths_told += told;
    machine->dead_inside = false;
    if (world->judge_deaths && world->untold && !told)
        world_violate(world, "not told that somebody died inside", number, number);
    world->untold = false;
    if (machine->page[page].death) {
        const struct demand noted = {.magic = DEMAND_MAGIC,
                                     .kind = DEMAND_TOLD,
                                     .length = sizeof RESOURCE - 1,
                                     .name = RESOURCE};
        if (machine->running && !machine->stopped)
            demand(machine, &noted);
    }
    world_tell(machine, machine->mode == PERMISSION_SHARED ? "enters, shared" : "enters",
               machine->fence);
    judge_entry(world, number);
}

void world_want(struct world *world, unsigned number, unsigned mode)
{
    world->machine[number].wants = true;
    world->machine[number].mode = mode;
    world->machine[number].next_demand = 0;
}

/* Whether all members of its group know that it has the permission, so that they can tell of a
 * death there. */
static bool all_know(const struct world *world, unsigned number)
{
    const struct agent *agent = &world->machine[number].agent;
    if (!world->machine[number].running || !agent_is_member(agent))
        return false;
    for (unsigned other = 0; other < world->machines; other++) {
        const struct agent *its = &world->machine[other].agent;
        if (other == number || !world->machine[other].running || !agent_is_member(its) ||
            its->founded != agent->founded)
            continue;
        const int page = page_of(&world->machine[other]);
        if (world->links) /* it is not told: it knows that it does not have its permission */
            continue;
        if (page < 0 ||
            !(its->resource[page].holding[PERMISSION_EXCLUSIVE] & slot_bit(agent->self)))
            return false;
    }
    return true;
}

void world_die(struct world *world, unsigned number)
{
    struct machine *machine = &world->machine[number];
    world->untold |= world_holds(world, number) && machine->mode == PERMISSION_EXCLUSIVE &&
                     all_know(world, number);
    world_tell(machine, "dies inside", machine->fence);
    machine->dead_inside |= machine->inside;
    machine->inside = machine->wants = false;
}

void world_leave(struct world *world, unsigned number)
{
    struct machine *machine = &world->machine[number];
    if (machine->inside && !world_holds(world, number))
        machine->losses++;
    if (machine->inside)
        world_tell(machine, "leaves", machine->fence);
    machine->inside = false;
}

void world_close_all(struct world *world, unsigned number)
{
    struct machine *machine = &world->machine[number];
    if (!machine->running || machine->stopped)
        return;
    for (unsigned at = 0; at < machine->agent.resources; at++)
        if (!(machine->inside || machine->wants) ||
            strcmp(machine->agent.resource[at].name, RESOURCE) != 0)
            world_feed(machine, (struct agent_event){.kind = ON_UNUSED, .resource = at});
}

bool world_all_forgotten(struct world *world)
{
    for (unsigned number = 0; number < world->machines; number++) {
        const struct agent *agent = &world->machine[number].agent;
        if (!world->machine[number].running || !agent_is_member(agent))
            return false;
        for (uint32_t at = 0; at < agent->group_count; at++)
            if (agent->group[at]->users ||
                agent->group[at]->ledger_died <= agent->group[at]->ledger_told)
                return false;
    }
    return true;
}
