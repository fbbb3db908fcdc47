/* SPDX-License-Identifier: MIT */
/* Agents that die, stop, are cut off and come back, for many seeds and all four protocols: never
 * two inside, fences that grow, and in the end everybody gets in.
 *
 * usage: storm [SEEDS [FIRST [PROTOCOL]]] */
#include <stdlib.h>

#include "world.h"

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
    switch (world_draw(world, 8)) {
    case 0:
        world_kill(world, number);
        if (world_draw(world, 2))
            world_lose_pages(world, number);
        break;
    case 1:
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
    default:
        for (unsigned each = 0; each < world->machines; each++)
            world_heal(world, each);
    }
}

static void mend(struct world *world)
{
    for (unsigned number = 0; number < world->machines; number++) {
        world_heal(world, number);
        world_start(world, number);
        world->machine[number].stopped = false;
        world->machine[number].entries = 0;
    }
}

static bool run(uint64_t seed, const struct message_protocol *protocol)
{
    static struct world world;
    const unsigned sizes[] = {1, 2, 3, 3, 3, 5};
    world_begin(&world, sizes[seed % 6], protocol, seed + 1);
    world.local_processes = true;
    world.shared_percent = protocol->exclusive_only ? 0 : seed % 2 * 40;
    for (unsigned number = 0; number < world.machines; number++)
        world_start(&world, number);
    for (unsigned blow = 0; blow < BLOWS && !world.violation; blow++) {
        world_run(&world, (int64_t)world_draw(&world, 1500) * MS);
        strike(&world);
    }
    mend(&world);
    const bool all = world_until(&world, everybody_has_entered, 60000 * (int64_t)MS);
    if (world.violation || !all)
        fprintf(stderr, "%s, seed %llu: %s\n", protocol->name, (unsigned long long)seed,
                world.violation ? world.violation : "somebody never gets in");
    const bool holds = all && !world.violation;
    world_end(&world);
    return holds;
}

int main(int count, char **words)
{
    static const struct message_protocol *const protocols[] = {&carvalho_roucairol_protocol,
                                                               &ricart_agrawala_protocol,
                                                               &lamport_protocol, &token_protocol};
    const uint64_t seeds = count > 1 ? strtoull(words[1], NULL, 10) : 120,
                   first = count > 2 ? strtoull(words[2], NULL, 10) : 0;
    unsigned failures = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++)
        for (unsigned which = 0; which < 4; which++)
            if (count < 4 || strcmp(words[3], protocols[which]->name) == 0)
                failures += !run(seed, protocols[which]);
    printf("%llu seeds, four protocols: %u failures\n", (unsigned long long)seeds, failures);
    return failures != 0;
}
