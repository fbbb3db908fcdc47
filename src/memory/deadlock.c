/* SPDX-License-Identifier: MIT */
/* Deadlock: a cycle of threads, each asleep on a place of the next. All waits are public, so whoever falls asleep can see it.
 *
 * From the place slept on, the walk goes to its thread, from there to the place where that thread is asleep, and so on, until a thread is found
 * awake (no deadlock) or it is the one that walks (a cycle). A sleep counts only while the register slept on is as the sleeper saw it: one that
 * was woken but has not run yet still says that it sleeps.
 *
 * One walk is no proof, for others run meanwhile. But a sleep carries the number of its passage, and who is inside has a fence: if two walks find
 * the same, then what they found lasted from the first to the second, and was a cycle at the moment between.
 *
 * One yields: the sleeper with the greatest place; the others only if it has not done so for some time (it may be stopped). A wait with an end
 * yields last: it would come to its end.
 */
#include "memory/region.h"

enum { MS = 1000 * 1000 };
/* How long a cycle must have lasted before I yield: if I have the greatest place; if I have not; if my wait has an end anyway. */
enum { LEAST_NS = 30 * MS, MORE_NS = 300 * MS, MOST_NS = 1000 * MS };
#define HASH_PRIME UINT64_C(0x100000001b3)

struct walk {
    uint64_t signature;
    unsigned greatest; /* place */
};

/* The place that `place` sleeps on, or at->places: its register is as it was seen. */
static unsigned slept_on(const struct registers *at, unsigned place)
{
    const struct hot *hot = registers_hot(at, place);
    const uint64_t asleep = atomic_load(&hot->asleep);
    const unsigned on = (unsigned)(asleep & UINT16_MAX) - 1;
    const unsigned index = (unsigned)(asleep >> ASLEEP_INDEX_SHIFT) & ASLEEP_INDEX_MASK;
    if (on >= at->places || on == place || index > WORDS_MOST || (index && at->place_size <= 2 * PAGE) ||
        atomic_load(&ay__cold(at->space, place)->conditional) || ay__cold(at->space, place)->spec.slots != 1)
        return at->places; /* one of several may make room: no edge */
    if ((uint32_t)atomic_load(registers_word(at, on, index)) != atomic_load(&hot->seen))
        return at->places;
    return on;
}

/* Where `thread` is asleep; at->places: nowhere. */
static unsigned find_sleep(const struct registers *at, uint64_t thread)
{
    for (unsigned place = 0; place < at->places; place++) {
        const struct hot *hot = registers_hot(at, place);
        const uint64_t life = atomic_load(&hot->life);
        if (life_generation(life) == 0)
            break;
        if (atomic_load(&hot->asleep) != 0 && life_alive(life) &&
            atomic_load(&ay__cold(at->space, place)->thread) == thread)
            return place;
    }
    return at->places;
}

static void note(struct walk *found, uint64_t value)
{
    found->signature = (found->signature ^ value) * HASH_PRIME;
}

static bool walk(const struct registers *at, struct walk *found)
{
    const uint64_t me = atomic_load(&at->own_cold->thread);
    unsigned sleeper = at->self;
    *found = (struct walk){0};
    for (unsigned steps = 0; steps <= at->places; steps++) {
        const unsigned on = slept_on(at, sleeper);
        if (on >= at->places || !life_alive(atomic_load(&registers_hot(at, on)->life)))
            return false;
        note(found, atomic_load(&registers_hot(at, sleeper)->asleep));
        note(found, ay__fence(at->space, on) << 16 | on);
        if (sleeper > found->greatest)
            found->greatest = sleeper;
        const uint64_t thread = atomic_load(&ay__cold(at->space, on)->thread);
        if (thread == me)
            return true;
        sleeper = find_sleep(at, thread);
        if (sleeper >= at->places)
            return false;
    }
    return false; /* a cycle that I am not part of: its own members will find it */
}

enum deadlock ay__deadlock(struct registers *at)
{
    struct walk found;
    if (!walk(at, &found)) {
        at->cycle = 0;
        return DEADLOCK_NONE;
    }
    const int64_t now = ay__now();
    if (at->cycle != (found.signature | 1)) {
        at->cycle = found.signature | 1;
        at->cycle_ns = now;
    }
    const int64_t patience = at->deadline != INT64_MAX ? MOST_NS : found.greatest == at->self ? LEAST_NS : MORE_NS;
    return now - at->cycle_ns >= patience ? DEADLOCK_YIELD : DEADLOCK_SEEN;
}
