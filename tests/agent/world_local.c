/* SPDX-License-Identifier: MIT */
/* The local processes of a machine of the world: see world.h. */
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

/* What was said first is heard first. */
void world_hear_told(struct machine *machine)
{
    const struct demand told = {.magic = DEMAND_MAGIC,
                                .kind = DEMAND_TOLD,
                                .length = sizeof RESOURCE - 1,
                                .name = RESOURCE};
    if (!machine->told_unheard || !machine->running || machine->stopped)
        return;
    machine->told_unheard = false;
    world_feed(machine,
               (struct agent_event){.kind = ON_DEMAND,
                                    .demand = {.what = &told, .number = machine->passage}});
}

/* As a process finds it. */
static uint64_t granted_of(const struct machine *machine, const char *name)
{
    const int page = page_called(machine, name);
    return page < 0 ? 0
                    : machine->page[page].era << PERMISSION_ERA_SHIFT | machine->page[page].mode;
}

/* As the host's loop does. */
static void demand(struct machine *machine, const struct demand *what)
{
    world_hear_told(machine);
    if (demand_is_stale(what, granted_of(machine, what->name)) &&
        page_called(machine, what->name) >= 0 &&
        !(machine->world->without >> WITHOUT_STALENESS & 1))
        return;
    world_feed(machine, (struct agent_event){.kind = ON_DEMAND,
                                             .demand = {.what = what, .number = machine->passage}});
}

void world_say(struct world *world, unsigned number, const struct demand *what)
{
    demand(&world->machine[number], what);
}

bool world_want_another(struct world *world, unsigned number, const char *name)
{
    struct demand what = {.magic = DEMAND_MAGIC,
                          .kind = DEMAND_PERMISSION,
                          .mode = PERMISSION_EXCLUSIVE,
                          .length = (uint16_t)strlen(name)};
    struct machine *machine = &world->machine[number];
    strcpy(what.name, name);
    what.granted = granted_of(machine, name);
    demand(machine, &what);
    for (unsigned at = 0; at < world->effects.count; at++)
        if (world->effects.effect[at].kind == DO_TELL_FULL)
            return false;
    return true;
}

bool world_process_holds(const struct world *world, const struct machine *machine,
                         const struct process *process)
{
    const int page = page_of(machine);
    return process->inside && page >= 0 && machine->page[page].era == process->era &&
           world->now < machine->deadline;
}

bool world_holds(const struct world *world, unsigned number)
{
    return world_process_holds(world, &world->machine[number], &world->machine[number].process[0]);
}

bool world_holds_too(const struct world *world, unsigned number)
{
    return world_process_holds(world, &world->machine[number], &world->machine[number].process[1]);
}

bool world_is_inside(const struct world *world, unsigned number)
{
    for (unsigned at = 0; at < PROCESSES; at++)
        if (world->machine[number].process[at].inside)
            return true;
    return false;
}

static bool suffices(const struct page *page, unsigned mode)
{
    return modes_include(permission_turned(page->mode), permission_turned(mode));
}

/* Somebody is to be told before another is inside. */
static bool is_watched(const struct page *page)
{
    return page->armed || page->others;
}

bool world_is_in_the_way(const struct machine *machine, const struct process *but, unsigned mode)
{
    for (unsigned at = 0; at < PROCESSES; at++) {
        const struct process *process = &machine->process[at];
        if (process != but && (process->inside || process->passing) &&
            world_conflict(process->mode, mode))
            return true;
    }
    return false;
}

static void demand_of(struct world *world, struct machine *machine, struct process *process,
                      enum demand_kind kind)
{
    struct demand what = {.magic = DEMAND_MAGIC,
                          .kind = (uint8_t)kind,
                          .mode = (uint8_t)process->mode,
                          .length = sizeof RESOURCE - 1};
    strcpy(what.name, RESOURCE);
    what.granted = granted_of(machine, RESOURCE);
    process->next_demand = world->now + 250 * (int64_t)MS;
    if (!machine->running || machine->stopped)
        return;
    world->stirs += kind == DEMAND_REAL;
    machine->said = what;
    demand(machine, &what);
}

static void demand_entry(struct world *world, struct machine *machine, struct process *process)
{
    const int page = page_of(machine);
    const bool has_some = page >= 0 && machine->page[page].mode != PERMISSION_NONE;
    demand_of(world, machine, process,
              has_some && !suffices(&machine->page[page], process->mode) ? DEMAND_MORE
              : has_some && is_watched(&machine->page[page])             ? DEMAND_REAL
                                                                         : DEMAND_PERMISSION);
}

static void enter(struct world *world, struct machine *machine, struct process *process)
{
    struct page *page = &machine->page[page_of(machine)];
    machine->passage++;
    process->wants = process->passing = process->asleep = process->holds = false;
    process->inside = true;
    process->lost = 0;
    world->stirs++;
    process->era = page->era;
    process->step = page->step;
    process->fence =
        page->base + (machine->passage > page->first ? machine->passage - page->first : 0);
    machine->entries++;
    world->entries++;
    const bool told = machine->dead_inside || page->death;
    machine->deaths_told += told;
    machine->dead_inside = false;
    if (world->judge_deaths && world->untold && !told)
        world_violate(world, "not told that somebody died inside", machine->number,
                      machine->number);
    if (world->judge_once && !world->untold && told)
        world_violate(world, "told of a death that another was told of", machine->number,
                      machine->number);
    world->untold = false;
    machine->told_unheard |= page->death && machine->running;
    world_tell(machine,
               process->mode == PERMISSION_EXCLUSIVE ? "enters" : "enters, not exclusively",
               process->fence);
    world_judge_entry(world, machine->number, process);
}

static bool may_ask(const struct world *world, const struct machine *machine,
                    const struct process *process)
{
    const int page = page_of(machine);
    return page >= 0 && suffices(&machine->page[page], process->mode) &&
           world->now < machine->deadline;
}

static bool may_enter(const struct world *world, const struct machine *machine,
                      const struct process *process)
{
    return may_ask(world, machine, process) &&
           world_lets_in(world, &machine->page[page_of(machine)], process);
}

bool world_would_try(const struct world *world, unsigned number)
{
    const struct machine *machine = &world->machine[number];
    const struct process *process = &machine->process[0];
    return process->wants && !world_is_in_the_way(machine, process, process->mode) &&
           (may_enter(world, machine, process) || world->now >= process->next_demand ||
            process->passing != may_ask(world, machine, process));
}

static void try_to_enter(struct world *world, struct machine *machine, struct process *process)
{
    if (world_is_in_the_way(machine, process, process->mode))
        return;
    if (may_enter(world, machine, process)) {
        enter(world, machine, process);
        return;
    }
    /* has all but that somebody watches: it stays inside the region of the space, and says so */
    const bool passing = may_ask(world, machine, process);
    if (passing && !process->passing)
        process->next_demand = 0;
    process->passing = passing;
    if (world->now >= process->next_demand)
        demand_entry(world, machine, process);
}

void world_try_to_enter(struct world *world, unsigned number)
{
    try_to_enter(world, &world->machine[number], &world->machine[number].process[0]);
}

/* ---- who waits for others to pass ---- */

static bool is_so(const struct world *world, const struct process *process)
{
    return world->ended >= process->needs;
}

bool world_waits_in_vain(const struct world *world, unsigned number)
{
    const struct process *process = &world->machine[number].process[1];
    return process->wants && process->asleep && !is_so(world, process);
}

/* Asleep, or about to be: something may have changed since it asked. */
static bool has_heard(const struct machine *machine, const struct process *process)
{
    const int page = page_of(machine);
    return page < 0 || machine->page[page].heard != process->heard;
}

bool world_would_ask(const struct world *world, unsigned number)
{
    const struct machine *machine = &world->machine[number];
    const struct process *process = &machine->process[1];
    if (!process->wants || process->asleep)
        return process->wants && has_heard(machine, process);
    const bool asks = world->now >= process->next_demand;
    if (!process->passing)
        return !world_is_in_the_way(machine, process, process->mode) &&
               (may_ask(world, machine, process) || asks);
    return asks || has_heard(machine, process) ||
           (process->holds ? may_enter(world, machine, process)
                           : machine->page[page_of(machine)].armed);
}

static void ask(struct world *world, struct machine *machine, struct process *process)
{
    const struct page *page = &machine->page[page_of(machine)];
    if (world->judge_asking && process->asked && process->stirs == world->stirs)
        world_violate(world, "asks again although nothing has changed", machine->number,
                      machine->number);
    process->asked = process->passing = true;
    process->stirs = world->stirs;
    process->heard = page->heard;
    process->era = page->era;
    process->holds = is_so(world, process);
    process->next_demand = 0;
}

/* Inside the region of the space: until its agent has told the others that it is to be inside, or
 * that it sleeps. */
static void pass_on(struct world *world, struct machine *machine, struct process *process)
{
    const int page = page_of(machine);
    if (page < 0 || machine->page[page].era != process->era ||
        (!process->holds && has_heard(machine, process))) {
        process->passing = process->holds = false; /* anew */
        process->next_demand = 0;
    } else if (process->holds && may_enter(world, machine, process)) {
        enter(world, machine, process);
    } else if (!process->holds && machine->page[page].armed) {
        process->passing = false;
        process->asleep = true;
    } else if (world->now >= process->next_demand) {
        demand_of(world, machine, process, process->holds ? DEMAND_REAL : DEMAND_WATCH);
    }
}

void world_ask(struct world *world, unsigned number)
{
    struct machine *machine = &world->machine[number];
    struct process *process = &machine->process[1];
    if (process->asleep && !has_heard(machine, process))
        return;
    if (process->asleep)
        process->next_demand = 0;
    process->asleep = false;
    if (process->passing)
        pass_on(world, machine, process);
    else if (world_is_in_the_way(machine, process, process->mode))
        return;
    else if (may_ask(world, machine, process))
        ask(world, machine, process);
    else if (world->now >= process->next_demand)
        demand_entry(world, machine, process);
}

static void want(struct process *process, unsigned mode)
{
    process->wants = true;
    process->mode = mode;
    process->next_demand = 0;
}

void world_want(struct world *world, unsigned number, unsigned mode)
{
    want(&world->machine[number].process[0], mode);
}

void world_want_too(struct world *world, unsigned number, unsigned mode)
{
    want(&world->machine[number].process[1], mode);
}

void world_want_when(struct world *world, unsigned number, unsigned needs)
{
    struct process *process = &world->machine[number].process[1];
    want(process, PERMISSION_EXCLUSIVE);
    process->needs = needs;
}

/* Who was told of a death waits until its agent has heard so, if that is there. */
static void leave(struct world *world, struct machine *machine, struct process *process)
{
    if (process->inside && !world->hasty)
        world_hear_told(machine);
    if (process->inside && !world_process_holds(world, machine, process))
        machine->losses++;
    if (process->inside) {
        world_tell(machine, "leaves", process->fence);
        world->ended++;
        world->stirs++;
    }
    process->inside = false;
}

void world_leave(struct world *world, unsigned number)
{
    leave(world, &world->machine[number], &world->machine[number].process[0]);
}

void world_leave_too(struct world *world, unsigned number)
{
    leave(world, &world->machine[number], &world->machine[number].process[1]);
}

static unsigned draw_mode(struct world *world)
{
    if (world->all_modes)
        return 1 + (unsigned)world_draw(world, PERMISSION_EXCLUSIVE);
    return world_draw(world, 100) < world->shared_percent ? PERMISSION_SHARED
                                                          : PERMISSION_EXCLUSIVE;
}

static bool wants(const struct machine *machine)
{
    for (unsigned at = 0; at < PROCESSES; at++)
        if (machine->process[at].wants)
            return true;
    return false;
}

void world_move_local(struct world *world, unsigned number)
{
    struct machine *machine = &world->machine[number];
    world_hear_told(machine);
    for (unsigned at = 0; at < (world->all_modes ? PROCESSES : 1); at++) {
        struct process *process = &machine->process[at];
        if (world->local_processes && process->inside && world_draw(world, 4) == 0)
            leave(world, machine, process);
        else if (world->local_processes && !process->inside && !process->wants &&
                 world_draw(world, 3) == 0)
            want(process, draw_mode(world));
    }
    for (unsigned at = 0; at < PROCESSES; at++)
        if (machine->process[at].wants && machine->process[at].needs)
            world_ask(world, number);
        else if (machine->process[at].wants)
            try_to_enter(world, machine, &machine->process[at]);
    if (world->forgets && !wants(machine) && world_draw(world, 8) == 0)
        world_close_all(world, number);
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
    for (unsigned at = 0; at < PROCESSES; at++) {
        struct process *process = &machine->process[at];
        world->untold |= world_process_holds(world, machine, process) &&
                         process->mode == PERMISSION_EXCLUSIVE && all_know(world, number);
        if (process->inside)
            world_tell(machine, "dies inside", process->fence);
        machine->dead_inside |= process->inside;
        world->ended += process->inside;
        world->stirs += process->inside;
        process->inside = process->wants = process->passing = process->asleep = false;
    }
}

void world_close_all(struct world *world, unsigned number)
{
    struct machine *machine = &world->machine[number];
    if (!machine->running || machine->stopped)
        return;
    for (unsigned at = 0; at < machine->agent.resources; at++)
        if (!(world_is_inside(world, number) || wants(machine)) ||
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
