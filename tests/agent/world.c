/* SPDX-License-Identifier: MIT */
/* A cluster in one process: see world.h. */
#include "world.h"

#include <stdlib.h>
#include <sys/mman.h>

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

/* All zeros, and none of it touched: the agent's tables are large, and mostly empty. */
static void *map_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

static const size_t effects_bytes = EFFECTS_A_NAME * ENTRIES * sizeof(struct agent_effect),
                    log_bytes = LOG_MOST * sizeof(struct log_entry),
                    pages_bytes = ENTRIES * sizeof(struct page);

void *world_allocate(struct world *world, size_t bytes)
{
    void *memory = world->arena ? world->arena + world->arena_used : malloc(bytes);
    world->arena_used += world->arena ? (bytes + 15) / 16 * 16 : 0;
    if (!memory || world->arena_used > world->arena_room)
        abort();
    return memory;
}

void world_free(struct world *world, void *memory)
{
    if (!world->arena)
        free(memory);
}

/* As if it had been mapped anew. */
static void wipe(const struct agent *agent)
{
    memset(agent->resource, 0, NAMES_SEARCHED * sizeof *agent->resource);
    memset(agent->of_name, 0, agent->entries * sizeof *agent->of_name);
    memset(agent->of_serial, 0, agent->entries * sizeof *agent->of_serial);
    memset(agent->group, 0, NAMES_SEARCHED * sizeof *agent->group);
    memset(agent->states, 0,
           NAMES_SEARCHED * agent->options.protocol->words(SLOTS) * sizeof *agent->states);
}

static void free_memory(struct machine *machine)
{
    if (machine->world->arena)
        return;
    if (machine->memory)
        munmap(machine->memory, agent_room(&machine->agent.options));
    machine->memory = NULL;
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
    world->links = protocol->tells && !getenv("AGENT_TEST_RING");
    const char *without = getenv("AGENT_TEST_WITHOUT");
    world->without = without ? strtoull(without, NULL, 0) : 0;
    world->log = map_memory(log_bytes);
    world->effects.effect = map_memory(effects_bytes);
    world->effects.room = EFFECTS_A_NAME * ENTRIES;
    for (unsigned number = 0; number < machines; number++) {
        world->machine[number].number = number;
        world->machine[number].world = world;
        world->machine[number].page = map_memory(pages_bytes);
        world->machine[number].taking_back = map_memory(ENTRIES * sizeof(uint8_t));
    }
}

void world_end(struct world *world)
{
    links_free(world);
    for (unsigned number = 0; number < world->machines; number++) {
        free_memory(&world->machine[number]);
        munmap(world->machine[number].page, pages_bytes);
        munmap(world->machine[number].taking_back, ENTRIES * sizeof(uint8_t));
    }
    for (size_t at = 0; at < world->logged; at++)
        world_free(world, world->log[at].bytes);
    munmap(world->log, log_bytes);
    munmap(world->effects.effect, effects_bytes);
}

static void connect_agent(struct world *world, struct machine *machine)
{
    machine->cursor = world->logged;
    machine->told_cut = machine->blinked = machine->misses = false;
    machine->known_pid = machine->pid;
    world_feed(machine, (struct agent_event){.kind = ON_CONNECTED,
                                             .connected = {.self = {machine->number, machine->pid},
                                                           .nodes = world->machines}});
}

static void inherit(struct machine *machine)
{
    for (unsigned at = 0; at < machine->pages; at++) {
        const struct page *page = &machine->page[at];
        world_feed(machine, (struct agent_event){.kind = ON_INHERITED,
                                                 .resource = at,
                                                 .inherited = {.name = page->name,
                                                               .length = strlen(page->name),
                                                               .mode = (uint8_t)page->mode,
                                                               .slot = page->slot,
                                                               .base = page->base,
                                                               .first = page->first,
                                                               .until = machine->deadline,
                                                               .owed = page->owed,
                                                               .death = page->death}});
        if (machine->dead_inside)
            world_feed(machine, (struct agent_event){.kind = ON_DEAD_INSIDE, .resource = at});
    }
}

static uint64_t draw_nonce(struct world *world)
{
    world_draw(world, 2);
    return world->chance;
}

void world_start(struct world *world, unsigned number)
{
    struct machine *machine = &world->machine[number];
    if (machine->running)
        return;
    if (machine->identity == 0) { /* the pages are made anew */
        machine->identity = draw_nonce(world);
        machine->obliged = world->now + world->grace;
    }
    const struct agent_options options = {.protocol = world->protocol,
                                          .links = world->links,
                                          .endpoint.bytes[0] = (uint8_t)number,
                                          .lease = world->lease,
                                          .grace = world->grace,
                                          .pages = machine->identity,
                                          .nonce = draw_nonce(world),
                                          .known_view = machine->known_view,
                                          .last_view = machine->seen_view,
                                          .obliged = machine->obliged,
                                          .names = NAMES,
                                          .without = world->without};
    if (machine->memory)
        wipe(&machine->agent);
    else
        machine->memory = map_memory(agent_room(&options));
    agent_begin(&machine->agent, &options, machine->memory);
    machine->running = true;
    machine->stopped = machine->deaf = false;
    world_tell(machine, "starts", 0);
    machine->pid = ++world->pids;
    memset(machine->taking_back, 0, machine->pages * sizeof(uint8_t));
    for (unsigned at = 0; at < machine->pages; at++) {
        struct page *page = &machine->page[at];
        page->heard += page->armed || page->others;
        page->armed = page->others = page->half = false;
    }
    machine->full = false;
    inherit(machine);
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
    free_memory(machine);
    links_end_process(machine);
    machine->running = machine->stopped = machine->told_unheard = false;
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
    if (machine->process[0].inside) { /* an older one is not followed: one is enough to be found */
        machine->orphan.inside = world_holds(world, number);
        machine->orphan.mode = machine->process[0].mode;
        machine->orphan.deadline = machine->deadline;
    }
    machine->identity = machine->seen_view = 0;
    munmap(machine->page, pages_bytes);
    machine->page = map_memory(pages_bytes);
    machine->pages = 0;
    machine->deadline = 0;
    machine->passage = 0;
    for (unsigned at = 0; at < PROCESSES; at++)
        machine->process[at].inside = machine->process[at].wants = false;
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
        world_feed(machine, (struct agent_event){.kind = ON_CUT, .cut = CUT_NO_QUORUM});
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

void world_blink(struct world *world, unsigned number)
{
    struct machine *machine = &world->machine[number];
    if (machine->cut || !machine->running || machine->blinked)
        return;
    log_left(world, machine, true);
    machine->blinked = true;
    machine->cursor = world->logged;
    world_tell(machine, "is cut off and back, and does not know", 0);
}

void world_miss(struct world *world, unsigned number)
{
    world->machine[number].misses = world->machine[number].running;
}

static bool is_of_a_member(const struct log_entry *entry)
{
    struct parcel_head head;
    if (entry->kind != LOGGED_PARCEL || entry->length < sizeof head)
        return false;
    memcpy(&head, entry->bytes, sizeof head);
    return head.slot != NO_SLOT;
}

/* ---- what happens by itself ---- */

static void take_back_one(struct machine *machine, unsigned at, unsigned mode)
{
    machine->taking_back[at] = PERMISSION_NONE;
    machine->passage++;
    const bool death = machine->dead_inside && strcmp(machine->page[at].name, RESOURCE) == 0;
    machine->dead_inside &= !death;
    machine->page[at].death |= death;
    const bool withdrawn = world_lower(machine, at, mode);
    world_hear_told(machine);
    world_feed(machine, (struct agent_event){.kind = ON_TAKEN_BACK,
                                             .resource = at,
                                             .taken_back = {.withdrawn = withdrawn,
                                                            .mode = (uint8_t)mode,
                                                            .death = death,
                                                            .number = machine->passage}});
}

void world_take_back(struct machine *machine)
{
    for (unsigned at = 0; at < machine->pages; at++) {
        const unsigned mode = machine->taking_back[at];
        if (mode == PERMISSION_NONE)
            continue;
        if (world_is_in_the_way(machine, NULL, mode))
            world_feed(machine, (struct agent_event){.kind = ON_BUSY, .resource = at});
        else
            take_back_one(machine, at, mode);
    }
}

void world_go(struct world *world, unsigned number)
{
    struct machine *machine = &world->machine[number];
    world_feed(machine, (struct agent_event){.kind = ON_ENDING});
    for (unsigned at = 0; at < machine->pages; at++)
        if (machine->agent.resource[at].granted && !world_is_inside(world, number))
            take_back_one(machine, at, PERMISSION_EXCLUSIVE);
    world_feed(machine, (struct agent_event){.kind = ON_FAREWELL});
    world_kill(world, number);
}

void world_deliver(struct machine *machine, struct address from, const void *bytes, size_t length)
{
    world_feed(machine,
               (struct agent_event){.kind = ON_PARCEL,
                                    .parcel = {.from = from, .bytes = bytes, .length = length}});
}

void world_deliver_next(struct world *world, struct machine *machine)
{
    if (machine->deaf)
        return;
    if (machine->blinked) { /* what comes now is of another ring */
        const size_t cursor = machine->cursor;
        machine->blinked = false;
        world_feed(machine, (struct agent_event){.kind = ON_CUT, .cut = CUT_NO_QUORUM});
        connect_agent(world, machine);
        machine->cursor = cursor;
        return;
    }
    if (machine->cut || machine->cursor >= world->logged)
        return;
    const struct log_entry *entry = &world->log[machine->cursor++];
    if (machine->misses && is_of_a_member(entry)) {
        machine->misses = false;
        world_tell(machine, "misses a message", 0);
        return;
    }
    if (entry->kind == LOGGED_LEFT)
        world_feed(machine,
                   (struct agent_event){
                       .kind = ON_LEFT,
                       .left = {.who = entry->who, .with_its_machine = entry->with_its_machine}});
    else
        world_deliver(machine, entry->who, entry->bytes, entry->length);
}

void world_step(struct world *world)
{
    const unsigned number = (unsigned)world_draw(world, world->machines);
    struct machine *machine = &world->machine[number];
    const bool works = machine->running && !machine->stopped;
    world->now += (int64_t)world_draw(world, world->links ? MS / 2 : 2 * MS);
    switch (world_draw(world, world->links ? 14 : 8)) {
    case 0:
        world_move_local(world, number);
        break;
    case 1:
        if (works)
            world_feed(machine, (struct agent_event){.kind = ON_TICK});
        break;
    case 2:
        if (works)
            world_take_back(machine);
        break;
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
        if (works)
            world_deliver_next(world, machine);
        break;
    default:
        if (works)
            links_step(world, machine);
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
