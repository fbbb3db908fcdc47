/* SPDX-License-Identifier: MIT */
/* Every order of a few blows: three machines, the first inside, the second waiting, and then all
 * sequences of so many blows, each after a short, a middling or a long pause. Never two inside,
 * fences that grow, and in the end everybody gets in. (The order of deliveries in between is drawn,
 * one for each sequence; the storm draws all, and goes on for longer.)
 *
 * usage: orders [DEPTH [EACH [NUMBER]]]      only each third, say; or only the one that a failure
 *                                            names */
#include <stdlib.h>

#include "world.h"

enum { MS = 1000 * 1000, MACHINES = 3, DEPTH_MOST = 4, KINDS = 13, PAUSES = 3 };
enum { CHOICES = KINDS * MACHINES * PAUSES };

/* Within the lease; longer than a newcomer's patience, and within it; longer than the grace. */
static const int pauses_ms[PAUSES] = {60, 1200, 3500};

/* False: it would change nothing. */
static bool strike(struct world *world, unsigned kind, unsigned number)
{
    struct machine *machine = &world->machine[number];
    switch (kind) {
    case 0:
        if (!machine->running)
            return false;
        world_kill(world, number);
        return true;
    case 1: /* and its pages are gone */
        if (!machine->running)
            return false;
        world_kill(world, number);
        world_lose_pages(world, number);
        return true;
    case 2:
        if (machine->running)
            return false;
        world_start(world, number);
        return true;
    case 3: /* killed, and back at once */
        if (!machine->running)
            return false;
        world_kill(world, number);
        world_start(world, number);
        return true;
    case 4:
        if (!machine->running)
            return false;
        machine->stopped = !machine->stopped;
        return true;
    case 5:
        if (!machine->running)
            return false;
        machine->deaf = !machine->deaf;
        return true;
    case 6:
        if (machine->cut)
            return false;
        world_cut(world, number);
        return true;
    case 7:
        if (!machine->cut || machine->told_cut)
            return false;
        world_notice_cut(world, number);
        return true;
    case 8: /* cut, and all know at once */
        if (machine->cut)
            return false;
        world_cut(world, number);
        world_notice_cut(world, number);
        return true;
    case 9:
        if (!machine->cut)
            return false;
        world_heal(world, number);
        return true;
    case 10:
        if (machine->cut || !machine->running || machine->blinked)
            return false;
        world_blink(world, number);
        return true;
    case 11: /* whoever is inside leaves, and another wants in */
        if (!machine->inside)
            return false;
        world_leave(world, number);
        world_want(world, number, PERMISSION_EXCLUSIVE);
        return true;
    default: /* all agents of the cluster, at once */
        if (number != 0)
            return false;
        for (unsigned each = 0; each < MACHINES; each++) {
            world_kill(world, each);
            world_start(world, each);
        }
        return true;
    }
}

static unsigned entered_since[MACHINES];

static bool everybody_has_entered(struct world *world)
{
    for (unsigned number = 0; number < MACHINES; number++) {
        struct machine *machine = &world->machine[number];
        if (world_holds(world, number)) {
            entered_since[number]++;
            world_leave(world, number);
        } else if (machine->inside) {
            world_leave(world, number); /* it has been told */
        } else if (!machine->wants && entered_since[number] == 0) {
            world_want(world, number, PERMISSION_EXCLUSIVE);
        }
    }
    return entered_since[0] && entered_since[1] && entered_since[2];
}

static bool first_is_inside(struct world *world)
{
    return world_holds(world, 0);
}

/* The sequence of this number. */
static void choose(unsigned *blows, unsigned depth, uint64_t number)
{
    for (unsigned at = 0; at < depth; at++, number /= CHOICES)
        blows[at] = (unsigned)(number % CHOICES);
}

enum outcome { HOLDS, FAILS, CHANGES_NOTHING };

static enum outcome run(uint64_t sequence, unsigned depth)
{
    static const struct message_protocol *const protocols[] = {&carvalho_roucairol_protocol,
                                                               &ricart_agrawala_protocol,
                                                               &lamport_protocol, &token_protocol};
    static struct world world;
    const struct message_protocol *protocol = protocols[sequence % 4];
    unsigned blows[DEPTH_MOST];
    choose(blows, depth, sequence);
    world_begin(&world, MACHINES, protocol, sequence + 1);
    for (unsigned number = 0; number < MACHINES; number++)
        world_start(&world, number);
    world_want(&world, 0, PERMISSION_EXCLUSIVE);
    world_until(&world, first_is_inside, 20000 * (int64_t)MS);
    world_want(&world, 1, PERMISSION_EXCLUSIVE);
    enum outcome outcome = HOLDS;
    for (unsigned at = 0; at < depth && outcome == HOLDS; at++) {
        world_run(&world, pauses_ms[blows[at] % PAUSES] * (int64_t)MS);
        if (!strike(&world, blows[at] / PAUSES / MACHINES, blows[at] / PAUSES % MACHINES))
            outcome = CHANGES_NOTHING;
    }
    if (outcome == HOLDS) {
        memset(entered_since, 0, sizeof entered_since);
        world_run(&world, pauses_ms[1] * (int64_t)MS);
        for (unsigned number = 0; number < MACHINES; number++) {
            world_heal(&world, number);
            world_start(&world, number);
            world.machine[number].stopped = world.machine[number].deaf = false;
        }
        const bool all = world_until(&world, everybody_has_entered, 60000 * (int64_t)MS);
        outcome = all && !world.violation ? HOLDS : FAILS;
    }
    if (outcome == FAILS) {
        fprintf(stderr, "%llu, %s:", (unsigned long long)sequence, protocol->name);
        for (unsigned at = 0; at < depth; at++)
            fprintf(stderr, " [after %d ms blow %u on machine %u]", pauses_ms[blows[at] % PAUSES],
                    blows[at] / PAUSES / MACHINES, blows[at] / PAUSES % MACHINES);
        fprintf(stderr, " %s\n", world.violation ? world.violation : "somebody never gets in");
    }
    world_end(&world);
    return outcome;
}

int main(int count, char **words)
{
    const unsigned depth = count > 1 ? (unsigned)strtoul(words[1], NULL, 10) : 2;
    uint64_t all = 1, sequences = 0;
    unsigned failures = 0;
    for (unsigned at = 0; at < depth; at++)
        all *= CHOICES;
    const uint64_t each = count > 2 ? strtoull(words[2], NULL, 10) : 1,
                   first = count > 3 ? strtoull(words[3], NULL, 10) : 0;
    if (depth < 1 || depth > DEPTH_MOST || each < 1)
        return 2;
    if (count > 3)
        all = first + 1;
    for (uint64_t sequence = first; sequence < all; sequence += each) {
        const enum outcome outcome = run(sequence, depth);
        sequences += outcome != CHANGES_NOTHING;
        failures += outcome == FAILS;
    }
    printf("%llu sequences of %u blows: %u failures\n", (unsigned long long)sequences, depth,
           failures);
    return failures != 0;
}
