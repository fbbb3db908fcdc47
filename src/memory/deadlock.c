/* SPDX-License-Identifier: MIT */
/* Deadlock: a cycle of threads, each asleep on a place of the next. All waits are public, so whoever falls asleep can see it.
 *
 * From the place slept on, the walk goes to its thread, from there to the place where that thread is asleep, and so on, until a thread is found
 * awake (no deadlock) or it is the one that walks (a cycle). One walk is no proof, for others run meanwhile. But a sleep carries the
 * number of its passage: if two walks, some time apart, find the same passages asleep on the same places, and the same passages inside, then they
 * were a cycle from the first walk to the second. Somebody who was woken but has not run yet still says that it sleeps: hence the time between
 * the walks.
 *
 * One yields: the sleeper with the greatest place; the others only if it has not done so for some time (it may be stopped).
 */
#include "memory/region.h"

enum { WALKS_LEAST = 2, WALKS_MOST = 6 }; /* the same cycle seen so often, before one yields */
#define HASH_PRIME UINT64_C(0x100000001b3)

struct walk {
    uint64_t signature;
    unsigned greatest; /* place */
};

/* Where `thread` is asleep on another place: that sleep, or 0. */
static uint64_t find_sleep(const struct registers *at, uint64_t thread, unsigned *where)
{
    for (unsigned place = 0; place < at->places; place++) {
        const struct hot *hot = registers_hot(at, place);
        const uint64_t life = atomic_load(&hot->life);
        if (life_generation(life) == 0)
            break;
        const uint64_t asleep = atomic_load(&hot->asleep);
        const struct cold *cold = ay__cold(at->space, place);
        if (asleep == 0 || !life_alive(life) || atomic_load(&cold->thread) != thread || atomic_load(&cold->conditional))
            continue;
        *where = place;
        return asleep;
    }
    return 0;
}

static bool walk(const struct registers *at, unsigned waits_for, struct walk *found)
{
    const uint64_t me = atomic_load(&at->own_cold->thread);
    unsigned place = waits_for;
    *found = (struct walk){.signature = atomic_load(&at->own->asleep), .greatest = at->self};
    for (unsigned steps = 0; steps <= at->places; steps++) {
        const struct hot *hot = registers_hot(at, place);
        const struct cold *cold = ay__cold(at->space, place);
        const uint64_t thread = atomic_load(&cold->thread);
        if (!life_alive(atomic_load(&hot->life)) || (!atomic_load(&hot->inside) && !atomic_load(&cold->waiting)))
            return false;
        found->signature = (found->signature ^ atomic_load(&hot->fence)) * HASH_PRIME + place;
        if (thread == me)
            return true;
        unsigned where = 0;
        const uint64_t asleep = find_sleep(at, thread, &where);
        const unsigned next = (unsigned)(asleep & UINT16_MAX);
        if (next == 0 || next > at->places)
            return false;
        found->signature = (found->signature ^ asleep) * HASH_PRIME + where;
        if (where > found->greatest)
            found->greatest = where;
        place = next - 1;
    }
    return false; /* a cycle that I am not part of: its own members will find it */
}

enum deadlock ay__deadlock(struct registers *at, unsigned waits_for)
{
    struct walk found;
    if (!walk(at, waits_for, &found)) {
        at->cycles = 0;
        return DEADLOCK_NONE;
    }
    at->cycles = at->cycle == found.signature && at->cycles > 0 ? at->cycles + 1 : 1;
    at->cycle = found.signature;
    const unsigned patience = found.greatest == at->self ? WALKS_LEAST : WALKS_MOST;
    return at->cycles >= patience ? DEADLOCK_YIELD : DEADLOCK_SEEN;
}
