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

enum { MS = 1000 * 1000, MACHINES = 3, DEPTH_MOST = 4, KINDS = 13 /* below */, PAUSES = 3 };
enum { CHOICES = KINDS * MACHINES * PAUSES };

/* Within the lease; longer than a newcomer's patience, and within it; longer than the grace. */
static const int pauses_ms[PAUSES] = {60, 1200, 3500};

enum kind {
    KILL,
    KILL_AND_LOSE_PAGES,
    START,
    RESTART, /* killed, and back at once */
    STOP_OR_RESUME,
    DEAFEN_OR_NOT,
    CUT,
    NOTICE,
    CUT_AND_NOTICE,
    HEAL,
    BLINK,
    LEAVE,      /* whoever is inside, and another wants in */
    RESTART_ALL /* agents of the cluster, at once */
};

/* Whether it would change something. */
static bool is_possible(const struct machine *machine, enum kind kind)
{
    switch (kind) {
    case START:
        return !machine->running;
    case CUT:
    case CUT_AND_NOTICE:
        return !machine->cut;
    case NOTICE:
        return machine->cut && !machine->told_cut;
    case HEAL:
        return machine->cut;
    case BLINK:
        return machine->running && !machine->cut && !machine->blinked;
    case LEAVE:
        return machine->process[0].inside;
    case RESTART_ALL:
        return machine->number == 0;
    default:
        return machine->running;
    }
}

static void strike(struct world *world, enum kind kind, unsigned number)
{
    struct machine *machine = &world->machine[number];
    const unsigned last = kind == RESTART_ALL ? MACHINES - 1 : number;
    if (kind == KILL || kind == KILL_AND_LOSE_PAGES)
        world_kill(world, number);
    if (kind == KILL_AND_LOSE_PAGES)
        world_lose_pages(world, number);
    for (unsigned each = number; (kind == RESTART || kind == RESTART_ALL) && each <= last; each++) {
        world_kill(world, each);
        world_start(world, each);
    }
    if (kind == START)
        world_start(world, number);
    machine->stopped ^= kind == STOP_OR_RESUME;
    machine->deaf ^= kind == DEAFEN_OR_NOT;
    if (kind == CUT || kind == CUT_AND_NOTICE)
        world_cut(world, number);
    if (kind == NOTICE || kind == CUT_AND_NOTICE)
        world_notice_cut(world, number);
    if (kind == HEAL)
        world_heal(world, number);
    if (kind == BLINK)
        world_blink(world, number);
    if (kind == LEAVE) {
        world_leave(world, number);
        world_want(world, number, PERMISSION_EXCLUSIVE);
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
        } else if (machine->process[0].inside) {
            world_leave(world, number); /* it has been told */
        } else if (!machine->process[0].wants && entered_since[number] == 0) {
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
        const enum kind kind = (enum kind)(blows[at] / PAUSES / MACHINES);
        const unsigned number = blows[at] / PAUSES % MACHINES;
        if (is_possible(&world.machine[number], kind))
            strike(&world, kind, number);
        else
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
