/* SPDX-License-Identifier: MIT */
/* A cluster in one process: see world.h. */
#include "world.h"

#include <stdlib.h>

enum { MS = 1000 * 1000 };

uint64_t world_draw(struct world *world, uint64_t below)
{
    world->chance ^= world->chance << 13;
    world->chance ^= world->chance >> 7;
    world->chance ^= world->chance << 17;
    return world->chance % below;
}

void world_violate(struct world *world, const char *what, unsigned machine, unsigned other)
{
    if (world->violation)
        return;
    snprintf(world->words, sizeof world->words, "%s: machine %u, machine %u, at %lld ms", what,
             machine, other, (long long)world->now / MS);
    world->violation = world->words;
}

/* With AGENT_TEST_LOG in the environment: what happens, for people. */
void world_tell(const struct machine *machine, const char *what, uint64_t value)
{
    if (getenv("AGENT_TEST_LOG"))
        fprintf(stderr, "%8lld ms machine %u: -- %s %llx\n", (long long)machine->world->now / MS,
                machine->number, what, (unsigned long long)value);
}

/* ---- the agent's surroundings ---- */

static struct machine *of(void *arg)
{
    return arg;
}

static void log_parcel(struct world *world, struct address who, const void *bytes, size_t length)
{
    if (world->logged == LOG_MOST)
        abort();
    struct log_entry *entry = &world->log[world->logged++];
    *entry = (struct log_entry){
        .kind = LOGGED_PARCEL, .who = who, .length = length, .bytes = malloc(length)};
    memcpy(entry->bytes, bytes, length);
}

static void do_send(void *arg, const void *bytes, size_t length)
{
    struct machine *machine = of(arg);
    if (!machine->cut)
        log_parcel(machine->world, (struct address){machine->number, machine->pid}, bytes, length);
}

static void do_named(void *arg, unsigned resource)
{
    struct machine *machine = of(arg);
    struct page *page = &machine->page[resource];
    if (page->mode != PERMISSION_NONE)
        world_violate(machine->world, "another name for what is granted", machine->number,
                      machine->number);
    *page = (struct page){.serial = page->serial + 1};
    snprintf(page->name, sizeof page->name, "%.*s", (int)machine->agent.resource[resource].length,
             machine->agent.resource[resource].name);
    machine->pages = resource >= machine->pages ? resource + 1 : machine->pages;
}

static void do_grant(void *arg, unsigned resource)
{
    struct machine *machine = of(arg);
    const struct resource *granted = &machine->agent.resource[resource];
    if (machine->page[resource].mode != PERMISSION_NONE)
        world_violate(machine->world, "granted twice", machine->number, machine->number);
    machine->page[resource].serial++;
    machine->page[resource].mode = granted->mode;
    machine->page[resource].slot = machine->agent.self;
    machine->page[resource].base = granted->base;
    machine->page[resource].first = granted->first;
}

static bool withdraw(struct machine *machine, unsigned resource)
{
    if (machine->page[resource].mode == PERMISSION_NONE)
        return false;
    machine->page[resource].serial++;
    machine->page[resource].mode = PERMISSION_NONE;
    return true;
}

/* Those inside are told now, or have been when the lease ran out. */
static void lose(struct machine *machine, unsigned resource, int64_t owed)
{
    const int64_t now = machine->world->now;
    if (machine->inside && machine->page[resource].mode != PERMISSION_NONE &&
        machine->page[resource].serial == machine->serial)
        machine->lost = machine->deadline < now ? machine->deadline : now;
    machine->page[resource].owed = owed;
    withdraw(machine, resource);
}

static void do_withdraw(void *arg, unsigned resource)
{
    lose(of(arg), resource, of(arg)->agent.resource[resource].owed);
}

static void do_take_back(void *arg, unsigned resource)
{
    of(arg)->taking_back[resource] = true;
}

static void do_busy(void *arg, unsigned resource)
{
    of(arg)->page[resource].busy++;
}

static void do_death(void *arg, unsigned resource)
{
    of(arg)->page[resource].death = of(arg)->agent.resource[resource].death;
}

static void do_full(void *arg, bool full)
{
    of(arg)->full = full;
}

static void do_lease(void *arg, int64_t deadline)
{
    of(arg)->deadline = deadline;
}

static void do_changed(void *arg, enum agent_state state)
{
    (void)arg;
    (void)state;
}

static void do_keep_view(void *arg, uint64_t view)
{
    struct machine *machine = of(arg);
    machine->known_view = view > machine->known_view ? view : machine->known_view;
    machine->seen_view = machine->known_view;
}

static uint64_t do_nonce(void *arg)
{
    struct world *world = of(arg)->world;
    world_draw(world, 2);
    return world->chance;
}

static uint64_t do_number(void *arg, unsigned resource)
{
    (void)resource;
    return of(arg)->passage;
}

static size_t do_describe(void *arg, char *text, size_t room)
{
    return (size_t)snprintf(text, room, "machine %u", of(arg)->number);
}

static void do_answered(void *arg, uint64_t query, uint32_t node, const char *text, size_t length)
{
    (void)arg, (void)query, (void)node, (void)text, (void)length;
}

static void do_refused(void *arg, const char *why)
{
    (void)why;
    of(arg)->world->refusals++;
}

static void do_log(void *arg, enum log_level level, const char *event, const char *details)
{
    (void)level;
    for (const char *at = details; *at; at++)
        if ((unsigned char)*at < ' ')
            world_violate(of(arg)->world, "a control character in the log", of(arg)->number,
                          of(arg)->number);
    if (getenv("AGENT_TEST_LOG"))
        fprintf(stderr, "%8lld ms machine %u: %s %s\n", (long long)of(arg)->world->now / MS,
                of(arg)->number, event, details);
}

/* ---- what befalls a machine ---- */

void world_begin(struct world *world, unsigned machines, const struct message_protocol *protocol,
                 uint64_t seed)
{
    *world = (struct world){.machines = machines,
                            .protocol = protocol,
                            .now = 1000 * (int64_t)MS,
                            .lease = 2000 * (int64_t)MS,
                            .grace = 3000 * (int64_t)MS,
                            .chance = seed * UINT64_C(0x9e3779b97f4a7c15) + 88172645463325252};
    world->log = calloc(LOG_MOST, sizeof *world->log);
    if (!world->log)
        abort();
    for (unsigned number = 0; number < machines; number++) {
        world->machine[number].number = number;
        world->machine[number].world = world;
        world->machine[number].page = calloc(PERMISSIONS_MOST, sizeof(struct page));
        world->machine[number].taking_back = calloc(PERMISSIONS_MOST, sizeof(bool));
        if (!world->machine[number].page || !world->machine[number].taking_back)
            abort();
    }
}

void world_end(struct world *world)
{
    for (unsigned number = 0; number < world->machines; number++) {
        if (world->machine[number].running)
            agent_end(&world->machine[number].agent);
        free(world->machine[number].page);
        free(world->machine[number].taking_back);
    }
    for (size_t at = 0; at < world->logged; at++)
        free(world->log[at].bytes);
    free(world->log);
}

static void connect_agent(struct world *world, struct machine *machine)
{
    machine->cursor = world->logged;
    machine->told_cut = false;
    machine->known_pid = machine->pid;
    agent_connected(&machine->agent, world->now, (struct address){machine->number, machine->pid},
                    world->machines);
}

static void inherit(struct world *world, struct machine *machine)
{
    for (unsigned at = 0; at < machine->pages; at++) {
        agent_knows_name(&machine->agent, at, machine->page[at].name,
                         strlen(machine->page[at].name));
        const unsigned mode = machine->page[at].mode;
        const int64_t until = machine->deadline + world->grace - world->lease;
        const int64_t owed = mode == PERMISSION_NONE ? machine->page[at].owed : until;
        if (mode != PERMISSION_NONE) {
            machine->agent.inherited_until = machine->deadline;
            machine->agent.obliged =
                until > machine->agent.obliged ? until : machine->agent.obliged;
        }
        if (mode != PERMISSION_NONE && machine->deadline > world->now) {
            agent_inherits(&machine->agent, at, mode, machine->page[at].slot,
                           machine->page[at].base, machine->page[at].first);
            continue;
        }
        if (mode != PERMISSION_NONE)
            lose(machine, at, owed);
        if (mode != PERMISSION_NONE || machine->dead_inside)
            agent_sweeps(&machine->agent, at);
        if (machine->page[at].death)
            agent_knows_death(&machine->agent, at);
        if (owed > world->now)
            agent_owes(&machine->agent, at, machine->page[at].slot, owed);
    }
}

void world_start(struct world *world, unsigned number)
{
    struct machine *machine = &world->machine[number];
    const struct surroundings around = {.arg = machine,
                                        .send = do_send,
                                        .named = do_named,
                                        .grant = do_grant,
                                        .withdraw = do_withdraw,
                                        .take_back = do_take_back,
                                        .busy = do_busy,
                                        .death = do_death,
                                        .full = do_full,
                                        .lease = do_lease,
                                        .changed = do_changed,
                                        .keep_view = do_keep_view,
                                        .nonce = do_nonce,
                                        .number = do_number,
                                        .describe = do_describe,
                                        .answered = do_answered,
                                        .refused = do_refused,
                                        .log = do_log};
    if (machine->running)
        return;
    const bool fresh = machine->identity == 0;
    if (fresh)
        machine->identity = do_nonce(machine);
    const struct agent_options options = {.protocol = world->protocol,
                                          .lease = world->lease,
                                          .grace = world->grace,
                                          .pages = machine->identity};
    if (!agent_begin(&machine->agent, &options, &around))
        abort();
    machine->running = true;
    machine->stopped = false;
    world_tell(machine, "starts", 0);
    machine->pid = ++world->pids;
    machine->agent.known_view = machine->known_view;
    memset(machine->taking_back, 0, machine->pages * sizeof(bool));
    machine->full = false;
    machine->agent.last_view = machine->seen_view;
    if (fresh)
        machine->obliged = world->now + world->grace;
    agent_is_obliged(&machine->agent, machine->obliged);
    inherit(world, machine);
    if (!machine->cut)
        connect_agent(world, machine);
}

static void log_left(struct world *world, const struct machine *machine, bool with_its_machine)
{
    if (world->logged == LOG_MOST)
        abort();
    world->log[world->logged++] = (struct log_entry){.kind = LOGGED_LEFT,
                                                     .who = {machine->number, machine->known_pid},
                                                     .with_its_machine = with_its_machine};
}

void world_kill(struct world *world, unsigned number)
{
    struct machine *machine = &world->machine[number];
    if (!machine->running)
        return;
    agent_end(&machine->agent);
    machine->running = machine->stopped = false;
    world_tell(machine, "is killed", 0);
    if (!machine->cut)
        log_left(world, machine, false);
}

void world_lose_pages(struct world *world, unsigned number)
{
    struct machine *machine = &world->machine[number];
    if (machine->running)
        return;
    world_tell(machine, "loses its pages", 0);
    if (machine->inside) { /* an older one is not followed: one is enough to be found */
        machine->orphan.inside = world_holds(world, number);
        machine->orphan.mode = machine->mode;
        machine->orphan.deadline = machine->deadline;
    }
    machine->identity = machine->seen_view = 0;
    free(machine->page);
    machine->page = calloc(PERMISSIONS_MOST, sizeof(struct page));
    if (!machine->page)
        abort();
    machine->pages = 0;
    machine->deadline = 0;
    machine->passage = 0;
    machine->inside = machine->wants = false;
}

void world_cut(struct world *world, unsigned number)
{
    world->machine[number].cut = true;
    world_tell(&world->machine[number], "is cut off", 0);
}

void world_notice_cut(struct world *world, unsigned number)
{
    struct machine *machine = &world->machine[number];
    if (!machine->cut || machine->told_cut)
        return;
    machine->told_cut = true;
    log_left(world, machine, true);
    if (machine->running)
        agent_cut(&machine->agent, world->now, "no quorum");
}

void world_heal(struct world *world, unsigned number)
{
    struct machine *machine = &world->machine[number];
    if (!machine->cut)
        return;
    world_notice_cut(world, number);
    machine->cut = false;
    world_tell(machine, "is back", 0);
    if (machine->running)
        connect_agent(world, machine);
}

/* ---- what happens by itself ---- */

static void move_local(struct world *world, unsigned number)
{
    struct machine *machine = &world->machine[number];
    if (world->local_processes && machine->inside && world_draw(world, 4) == 0)
        world_leave(world, number);
    else if (world->local_processes && !machine->inside && !machine->wants &&
             world_draw(world, 3) == 0)
        world_want(world, number,
                   world_draw(world, 100) < world->shared_percent ? PERMISSION_SHARED
                                                                  : PERMISSION_EXCLUSIVE);
    if (machine->wants)
        world_try_to_enter(world, number);
}

static void take_back(struct world *world, struct machine *machine)
{
    for (unsigned at = 0; at < machine->pages; at++) {
        if (!machine->taking_back[at])
            continue;
        if (machine->inside) {
            agent_is_busy(&machine->agent, world->now, at);
            continue;
        }
        machine->taking_back[at] = false;
        machine->passage++;
        const bool death = machine->dead_inside && strcmp(machine->page[at].name, RESOURCE) == 0;
        machine->dead_inside &= !death;
        agent_took_back(&machine->agent, world->now, at, withdraw(machine, at), machine->passage,
                        death);
    }
}

static void deliver(struct world *world, struct machine *machine)
{
    if (machine->cut || machine->cursor >= world->logged)
        return;
    const struct log_entry *entry = &world->log[machine->cursor++];
    if (entry->kind == LOGGED_LEFT)
        agent_left(&machine->agent, world->now, entry->who, entry->with_its_machine);
    else
        agent_delivered(&machine->agent, world->now, entry->who, entry->bytes, entry->length);
}

void world_step(struct world *world)
{
    const unsigned number = (unsigned)world_draw(world, world->machines);
    struct machine *machine = &world->machine[number];
    const bool works = machine->running && !machine->stopped;
    world->now += (int64_t)world_draw(world, 2 * MS);
    switch (world_draw(world, 8)) {
    case 0:
        move_local(world, number);
        break;
    case 1:
        if (works)
            agent_tick(&machine->agent, world->now);
        break;
    case 2:
        if (works)
            take_back(world, machine);
        break;
    default:
        if (works)
            deliver(world, machine);
    }
}

void world_run(struct world *world, int64_t ns)
{
    const int64_t end = world->now + ns;
    while (world->now < end && !world->violation)
        world_step(world);
}

bool world_until(struct world *world, bool (*so)(struct world *), int64_t ns)
{
    const int64_t end = world->now + ns;
    while (world->now < end && !world->violation && !so(world))
        world_step(world);
    return so(world);
}

bool world_all_ready(struct world *world)
{
    for (unsigned number = 0; number < world->machines; number++)
        if (!world->machine[number].running || !agent_is_ready(&world->machine[number].agent))
            return false;
    return true;
}
