/* SPDX-License-Identifier: MIT */
/* A storm: see blows.h. */
#include "blows.h"

enum { MS = 1000 * 1000, BLOWS = 60 };

static bool everybody_has_entered(struct world *world)
{
    for (unsigned number = 0; number < world->machines; number++)
        if (world->machine[number].entries == 0)
            return false;
    return true;
}

/* At most a minority is cut off or without an agent at a time, or nobody could enter; stops come on
 * top. */
static void strike(struct world *world)
{
    const unsigned number = (unsigned)world_draw(world, world->machines);
    struct machine *machine = &world->machine[number];
    const unsigned other = world->links ? (unsigned)world_draw(world, world->machines) : 0;
    switch (world_draw(world, world->links ? 17 : 13)) {
    case 0:
        if (!world->judge_deaths)
            world_kill(world, number);
        if (world_draw(world, 2))
            world_lose_pages(world, number);
        break;
    case 1:
        if (!world->judge_deaths)
            world_kill(world, number);
        break;
    case 2:
    case 3:
    case 4:
        world_start(world, number);
        machine->stopped = false;
        break;
    case 5:
        machine->stopped = machine->running;
        break;
    case 6:
        world_cut(world, number);
        if (world_draw(world, 2))
            world_notice_cut(world, number);
        break;
    case 7:
        world_blink(world, number);
        break;
    case 8:
        world_miss(world, number);
        break;
    case 9: /* stopped just after it has begun, when it has no lease yet */
        world_start(world, number);
        world_run(world, (int64_t)world_draw(world, 150) * MS);
        machine->stopped = machine->running;
        break;
    case 10:
        machine->deaf = !machine->deaf;
        break;
    case 11:
        for (unsigned each = 0; each < world->machines; each++)
            if (world_is_inside(world, each))
                world_die(world, each);
        break;
    case 12:
        for (unsigned each = 0; each < world->machines; each++)
            world_heal(world, each);
        break;
    case 13:
        world_break(world, number, other);
        break;
    case 14: /* in one direction, or both */
        world_block(world, number, other, true);
        if (world_draw(world, 2))
            world_block(world, other, number, true);
        break;
    case 15: /* its links with it, or not */
        world_cut(world, number);
        for (unsigned each = 0; each < world->machines; each++)
            world->blocked[number][each] = world->blocked[each][number] = true;
        break;
    default:
        world_unblock_all(world);
    }
}

/* Nobody is cut off, but links fail all the time, and agents die: there are many passages. */
static void strike_links(struct world *world)
{
    const unsigned number = (unsigned)world_draw(world, world->machines),
                   other = (unsigned)world_draw(world, world->machines);
    switch (world_draw(world, 10)) {
    case 0:
    case 1:
        world_block(world, number, other, true);
        break;
    case 2:
        world_unblock_all(world);
        break;
    case 3: /* and back at once, or soon */
        if (!world->judge_deaths)
            world_kill(world, number);
        world_run(world, (int64_t)world_draw(world, 2) * (int64_t)world_draw(world, 1000) * MS);
        world_start(world, number);
        break;
    case 4:
        world_blink(world, number);
        break;
    case 5:
        for (unsigned each = 0; each < world->machines; each++)
            if (world_is_inside(world, each))
                world_die(world, each);
        break;
    case 6:
        world->machine[number].deaf = !world->machine[number].deaf;
        break;
    default:
        world_break(world, number, other);
    }
}

static void mend(struct world *world)
{
    for (unsigned number = 0; number < world->machines; number++) {
        world_heal(world, number);
        world_start(world, number);
        world->machine[number].stopped = world->machine[number].deaf = false;
        world->machine[number].entries = 0;
    }
}

static bool forgets_in_the_end(struct world *world)
{
    world->local_processes = false;
    for (unsigned number = 0; number < world->machines; number++) {
        world_leave(world, number);
        world_leave_too(world, number);
        for (unsigned at = 0; at < PROCESSES; at++)
            world->machine[number].process[at].wants = false;
    }
    return world_until(world, world_all_forgotten, 60000 * (int64_t)MS);
}

const char *blow(uint64_t seed, const struct message_protocol *protocol, uint64_t without)
{
    static struct world world;
    static char words[sizeof world.words];
    const unsigned sizes[] = {1, 2, 3, 3, 3, 5};
    world_begin(&world, sizes[seed % 6], protocol, seed + 1);
    world.local_processes = true;
    world.shared_percent = protocol->exclusive_only ? 0 : seed / 4 % 2 * 40;
    world.all_modes = !protocol->exclusive_only && seed % 3 == 1;
    world.without |= without;
    world.judge_deaths = seed % 4 == 3;
    world.links = protocol->tells && seed % 5 != 4; /* the ledger alone is enough */
    world.forgets = world.links && seed / 2 % 3 != 2;
    for (unsigned number = 0; number < world.machines; number++)
        world_start(&world, number);
    for (unsigned blow = 0; blow < BLOWS && !world.violation; blow++) {
        world_run(&world, (int64_t)world_draw(&world, 1500) * MS);
        if (world.links && seed % 2)
            strike_links(&world);
        else
            strike(&world);
    }
    mend(&world);
    if (seed % 3) /* else all must go by the ledger where links do not carry */
        world_unblock_all(&world);
    const bool all = world_until(&world, everybody_has_entered, 60000 * (int64_t)MS),
               forgotten = !all || !world.forgets || forgets_in_the_end(&world);
    snprintf(words, sizeof words, "%s",
             world.violation ? world.violation
             : all           ? "a name that nobody forgets"
                             : "somebody never gets in");
    const bool holds = all && forgotten && !world.violation;
    world_end(&world);
    return holds ? NULL : words;
}
