/* SPDX-License-Identifier: MIT */
/* Deadlock: a cycle of threads, each asleep on a place of the next. All waits are public, so
 * whoever closes a cycle can see it.
 *
 * From the place slept on, the walk goes to its thread, from there to the place where that thread
 * is asleep, and so on, until a thread is found awake (no deadlock) or it is the one that walks (a
 * cycle). A sleep counts only while the register slept on is as the sleeper saw it: one that was
 * woken but has not run yet still says that it sleeps.
 *
 * Who walks: a thread that is inside somewhere, when it falls asleep elsewhere. Each sleeps on one
 * that goes before it in the queue, or is inside; so a cycle has somebody in it who is inside one
 * region and asleep in another. Of these, the last to fall asleep sees the others asleep. Whoever
 * waits and holds nothing does not walk, however many there are; but it may fall asleep later, or
 * have been passed on to another word without looking again. So a walk that ends at one that waits
 * is not over: the one asleep on an old word is woken, so that it says what it sleeps on now, and
 * the walk is made again in a while. One that ends at a thread that is inside and awake is over:
 * that thread walks itself, should it fall asleep.
 *
 * One walk is no proof, for others run meanwhile. But a sleep carries the number of its passage,
 * and who is inside has a fence: if two walks find the same, then what they found lasted from the
 * first to the second, and was a cycle at the moment between.
 *
 * A thread that has asked (memory/ask/) waits for nothing, and may have asked for much. An ask is a
 * wait of its thread nevertheless, if that is inside elsewhere, not by an ask: it might not leave
 * before. What was entered by an ask carries a number of its own. So an ask walks likewise; its
 * walk ends where it meets a region that its thread is inside, in another's way: not in its own,
 * which the thread may leave, nor where another ask of it waits.
 *
 * A thread that enters several resources of a cluster has some, and sleeps at one: the walk goes
 * from those, which sleep on themselves, to where it does.
 *
 * A thread may wait for another process that enters on its behalf (ay_on_behalf): that one's places
 * carry the former's number, so the walk goes from what it holds to where the other is asleep.
 *
 * One yields: the sleeper with the greatest place; the others only if it has not done so for some
 * time (it may be stopped). A wait with an end yields last: it would come to its end.
 */
#include <errno.h>

#include "common/assert.h"
#include "memory/ask/ask.h"
#include "memory/passage/region.h"
#include "memory/remote/kind.h"

enum { MS = 1000 * 1000 };
/* How long a cycle must have lasted before I yield: if I have the greatest place; if I have not; if
 * my wait has an end anyway. */
enum { LEAST_NS = 30 * MS, MORE_NS = 300 * MS, MOST_NS = 1000 * MS };
#define HASH_PRIME UINT64_C(0x100000001b3)

struct deadlock_walk {
    uint64_t signature;
    unsigned greatest; /* place */
};

/* The place that `place` sleeps on. As many as there are places: none, or its register is not as it
 * was seen; then the sleeper is woken. */
static unsigned slept_on(const struct registers *at, unsigned place)
{
    const struct hot *hot = registers_hot(at, place);
    const uint64_t asleep = atomic_load(&hot->asleep);
    const unsigned on = (unsigned)(asleep & ASLEEP_PLACE_MASK) - 1;
    const unsigned index = (unsigned)(asleep >> ASLEEP_INDEX_SHIFT) & ASLEEP_INDEX_MASK;
    if (on >= at->fixed.places || on == place || index > WORDS_MOST ||
        (index && at->fixed.space->granules <= 2) ||
        atomic_load(&ay__cold(at->fixed.space, place)->conditional) ||
        ay__cold(at->fixed.space, place)->spec.slots != 1)
        return at->fixed.places; /* one of several may make room: no edge */
    if ((uint32_t)atomic_load(registers_word(at, on, index)) == atomic_load(&hot->seen))
        return on;
    if (place != at->fixed.self)
        ay__futex_wake(registers_word(at, on, index));
    return at->fixed.places;
}

/* Whether somebody at `place` sleeps on another: who sleeps on itself waits for none of this space,
 * or elsewhere (remote/cluster_several.c). */
static bool sleeps_on_another(const struct registers *at, unsigned place)
{
    const uint64_t asleep = atomic_load(&registers_hot(at, place)->asleep);
    return asleep != 0 && (asleep & ASLEEP_PLACE_MASK) - 1 != place;
}

/* Where `thread`, which has the place `on`, is asleep; as many as there are places: nowhere. Most
 * are asleep where they were found: in the queue. */
static unsigned find_sleep(const struct registers *at, unsigned on, uint64_t thread)
{
    if (sleeps_on_another(at, on))
        return on;
    const unsigned used = ay__used(at->fixed.space);
    for (unsigned place = 0; place < used; place++)
        if (sleeps_on_another(at, place) && ay__vital(at->fixed.space, place).alive &&
            atomic_load(&ay__cold(at->fixed.space, place)->thread) == thread)
            return place;
    return at->fixed.places;
}

static void note(struct deadlock_walk *found, uint64_t value)
{
    found->signature = (found->signature ^ value) * HASH_PRIME;
}

/* Whether a walk that meets its own thread there has come round. */
static bool comes_round(const struct registers *at, unsigned sleeper, unsigned on)
{
    if (!at->passage.asked)
        return true;
    return atomic_load(&registers_hot(at, on)->inside) && (at->behalf || sleeper != at->fixed.self);
}

/* What one walk finds. DEADLOCK_UNCLEAR: it ended at one that waits. */
static enum deadlock walk(const struct registers *at, struct deadlock_walk *found)
{
    const uint64_t me = atomic_load(&at->fixed.own_cold->thread);
    unsigned sleeper = at->fixed.self;
    enum deadlock end = DEADLOCK_NONE; /* should the next sleep be none */
    *found = (struct deadlock_walk){0};
    for (unsigned steps = 0; steps <= at->fixed.places; steps++) {
        const unsigned on = slept_on(at, sleeper);
        if (on >= at->fixed.places || !ay__vital(at->fixed.space, on).alive)
            return end;
        note(found, atomic_load(&registers_hot(at, sleeper)->asleep));
        note(found, ay__fence(at->fixed.space, on) << 16 | on);
        if (sleeper > found->greatest)
            found->greatest = sleeper;
        if (!atomic_load(&registers_hot(at, on)->inside) &&
            atomic_load(&registers_hot(at, on)->asleep) == 0)
            /* on its way; or it retains a permission, which its keeper will give back */
            return DEADLOCK_UNCLEAR;
        const uint64_t thread = atomic_load(&ay__cold(at->fixed.space, on)->thread);
        if (thread == me && comes_round(at, sleeper, on))
            return DEADLOCK_SEEN;
        end = atomic_load(&registers_hot(at, on)->inside) ? DEADLOCK_NONE : DEADLOCK_UNCLEAR;
        if (thread == me && end == DEADLOCK_NONE)
            return end; /* the thread that asked may leave it */
        sleeper = find_sleep(at, on, thread);
        if (sleeper >= at->fixed.places)
            return end;
    }
    return DEADLOCK_UNCLEAR; /* a cycle that I am not part of, or one that changes as I walk */
}

/* Whether this thread is inside another region of the space, or has asked for one and cannot see to
 * it while it waits. If somebody else has the mutex, or on behalf of another thread: perhaps. */
static bool holds(const struct registers *at)
{
    const uint64_t me = atomic_load(&at->fixed.own_cold->thread);
    bool found = false;
    if (at->behalf || at->passage.inside) /* or it is inside this one, and upgrades */
        return true;
    if (pthread_mutex_trylock(&ay__process.mutex) != 0)
        return true;
    for (const ay_region *region = at->fixed.space->regions; region && !found;
         region = region->next)
        /* what another thread enters is that one's to read */
        found = &region->at != at && atomic_load(&region->at.fixed.own_cold->thread) == me &&
                (region_is_inside(region) || (region->at.passage.asked && !at->passage.asked));
    pthread_mutex_unlock(&ay__process.mutex);
    return found;
}

/* Of one with thousands of regions, of which each asks, it is not asked each time: what has changed
 * since is found when the ask looks up by itself. */
static bool held_lately(const struct registers *at)
{
    enum { LATELY_NS = 20 * MS };
    struct asks *asks = atomic_load(&at->fixed.space->asks);
    const uint64_t me = atomic_load(&at->fixed.own_cold->thread);
    const int64_t now = ay__coarse_now();
    if (at->behalf || asks->holder != me || now - asks->held_ns > LATELY_NS) {
        asks->held = holds(at);
        asks->holder = at->behalf ? 0 : me;
        asks->held_ns = now;
    }
    return asks->held;
}

enum deadlock ay__deadlock(struct registers *at)
{
    assert_required(at->passage.asleep);
    struct deadlock_walk found;
    const enum deadlock end =
        (at->passage.asked ? held_lately(at) : holds(at)) ? walk(at, &found) : DEADLOCK_NONE;
    if (end != DEADLOCK_SEEN) {
        at->waiting.cycle = 0;
        return end;
    }
    const int64_t now = ay__now();
    if (at->waiting.cycle != (found.signature | 1)) {
        at->waiting.cycle = found.signature | 1;
        at->waiting.cycle_ns = now;
    }
    const int64_t patience = at->passage.deadline != INT64_MAX  ? MOST_NS
                             : found.greatest == at->fixed.self ? LEAST_NS
                                                                : MORE_NS;
    return now - at->waiting.cycle_ns >= patience ? DEADLOCK_YIELD : DEADLOCK_SEEN;
}

int ay_on_behalf(ay_region *region, uint64_t thread)
{
    if (region->at.near.mark != ay__process_mark())
        return ay__fail(-EPERM, "the region was opened by another process: a child opens its own");
    if (region_is_inside(region))
        return ay__fail(-EPERM, "ay_on_behalf() comes before entering, and the caller is inside");
    if (region->at.passage.asked)
        return ay__fail(-EPERM,
                        "ay_on_behalf() comes before entering, and the region is asked for");
    if (region->remote.kind && region->remote.kind->on_behalf)
        region->remote.kind->on_behalf(region, thread);
    region->at.behalf = thread;
    region->at.passer.thread = 0; /* so that the next passage says who it is */
    lane_close(&region->at.lane);
    return 0;
}
