/* SPDX-License-Identifier: MIT */
/* What an agent of the world decides, carried out: see world.h. */
#include "world.h"

#include <stdlib.h>

enum { MS = 1000 * 1000 };

static void log_parcel(struct world *world, struct address who, const void *bytes, size_t length)
{
    if (world->logged == LOG_MOST)
        abort();
    struct log_entry *entry = &world->log[world->logged++];
    *entry = (struct log_entry){.kind = LOGGED_PARCEL,
                                .who = who,
                                .length = length,
                                .bytes = world_allocate(world, length)};
    memcpy(entry->bytes, bytes, length);
}

static void set_name(struct machine *machine, unsigned resource)
{
    struct page *page = &machine->page[resource];
    if (page->mode != PERMISSION_NONE)
        world_violate(machine->world, "another name for what is granted", machine->number,
                      machine->number);
    *page = (struct page){.era = page->era + 1, .heard = page->heard + 1};
    snprintf(page->name, sizeof page->name, "%.*s", (int)machine->agent.resource[resource].length,
             machine->agent.resource[resource].name);
    machine->pages = resource >= machine->pages ? resource + 1 : machine->pages;
}

static void grant(struct machine *machine, const struct agent_effect *effect)
{
    struct page *page = &machine->page[effect->resource];
    const unsigned mode = permission_turned(effect->grant.mode);
    if (effect->grant.raised != (page->mode != PERMISSION_NONE))
        world_violate(machine->world, "raised what is not there, or granted what is",
                      machine->number, machine->number);
    if (page->mode != PERMISSION_NONE && (mode == permission_turned(page->mode) ||
                                          !modes_include(mode, permission_turned(page->mode))))
        world_violate(machine->world, "granted twice", machine->number, machine->number);
    page->era += page->mode == PERMISSION_NONE;
    page->mode = effect->grant.mode;
    page->slot = effect->grant.slot;
    page->base = effect->grant.base;
    page->first = effect->grant.first;
    page->owed = 0;
}

bool world_has_half(const struct machine *machine)
{
    for (unsigned at = 0; at < machine->pages; at++)
        if (machine->page[at].half)
            return true;
    return false;
}

void world_do_other_half(struct machine *machine)
{
    for (unsigned at = 0; at < machine->pages; at++) {
        machine->page[at].step += machine->page[at].half;
        machine->page[at].half = false;
    }
}

bool world_lets_in(const struct world *world, const struct page *page,
                   const struct process *process)
{
    if (page->half && world->halves == HALF_MARKED)
        return false;
    return (!page->armed && !page->others) ||
           (page->half && process->era == page->era && process->step == page->step);
}

static void watch(struct machine *machine, const struct agent_effect *effect)
{
    struct page *page = &machine->page[effect->resource];
    page->armed = effect->watch.armed;
    page->others = effect->watch.others;
    page->heard += effect->watch.heard;
    page->half = machine->world->halves != WHOLE && page->mode != PERMISSION_NONE;
}

bool world_lower(struct machine *machine, unsigned resource, unsigned mode)
{
    world_do_other_half(machine);
    struct page *page = &machine->page[resource];
    if (page->mode == PERMISSION_NONE)
        return false;
    page->mode = permission_turned(
        modes_common(permission_turned(page->mode), modes_beside(permission_turned(mode))));
    page->era += page->mode == PERMISSION_NONE;
    return true;
}

/* Those inside are told now, or have been when the lease ran out. */
static void lose(struct machine *machine, unsigned resource, int64_t owed)
{
    const int64_t now = machine->world->now;
    for (unsigned at = 0; at < PROCESSES; at++) {
        struct process *process = &machine->process[at];
        if (process->inside && machine->page[resource].mode != PERMISSION_NONE &&
            machine->page[resource].era == process->era)
            process->lost = machine->deadline < now ? machine->deadline : now;
    }
    machine->page[resource].owed = owed;
    machine->page[resource].armed = false;
    machine->page[resource].heard++;
    world_lower(machine, resource, PERMISSION_EXCLUSIVE);
}

static void keep_view(struct machine *machine, uint64_t view)
{
    machine->known_view = view > machine->known_view ? view : machine->known_view;
    machine->seen_view = machine->known_view;
}

static void say(struct machine *machine, const struct agent_effect *effect)
{
    struct wording wording;
    wording_of(&machine->agent, effect, &wording);
    for (const char *at = wording.details; *at; at++)
        if ((unsigned char)*at < ' ')
            world_violate(machine->world, "a control character in the log", machine->number,
                          machine->number);
    if (getenv("AGENT_TEST_LOG"))
        fprintf(stderr, "%8lld ms machine %u: %s %s\n", (long long)machine->world->now / MS,
                machine->number, wording.event, wording.details);
}

static void carry_out(struct machine *machine, const struct agent_effect *effect)
{
    struct world *world = machine->world;
    switch (effect->kind) {
    case DO_SEND:
        if (!machine->cut)
            log_parcel(world, (struct address){machine->number, machine->pid}, effect->send.bytes,
                       effect->send.length);
        break;
    case DO_PEER:
        links_peer(machine, effect);
        break;
    case DO_NUDGE: /* no packet is lost alone in this world */
        machine->nudges++;
        break;
    case DO_FORGET_PEER:
        links_forget_peer(machine, effect);
        break;
    case DO_SEND_TO:
        links_send(machine, effect);
        break;
    case DO_NAME:
        set_name(machine, effect->resource);
        break;
    case DO_GRANT:
        grant(machine, effect);
        break;
    case DO_WITHDRAW:
        lose(machine, effect->resource, effect->owed);
        break;
    case DO_TAKE_BACK:
        machine->taking_back[effect->resource] = effect->mode;
        break;
    case DO_TELL_BUSY:
        machine->page[effect->resource].busy++;
        break;
    case DO_TELL_DEATH:
        machine->page[effect->resource].death = effect->death;
        break;
    case DO_WATCH:
        watch(machine, effect);
        break;
    case DO_TELL_FULL:
        machine->full = effect->full;
        break;
    case DO_LEASE:
        machine->deadline = effect->deadline;
        break;
    case DO_KEEP_VIEW:
        keep_view(machine, effect->view);
        break;
    case DO_STOP:
        world->refusals++;
        break;
    case DO_SAY:
        say(machine, effect);
        break;
    case DO_TELL_STATE:
    case DO_DESCRIBE:
    case DO_ANSWER:
    case DO_WAKE:
        break;
    }
}

void world_feed(struct machine *machine, struct agent_event event)
{
    struct agent_effects *effects = &machine->world->effects;
    event.now = machine->world->now;
    world_do_other_half(machine);
    agent_step(&machine->agent, &event, effects);
    for (unsigned at = 0; at < effects->count; at++)
        carry_out(machine, &effects->effect[at]);
}
