/* SPDX-License-Identifier: MIT */
/* Cancelling: somebody else makes a call that waits return -ECANCELED.
 *
 * No word has two writers, so whoever cancels says so in a place of its own: which place is meant,
 * in which life of it, and which of its passages. Then it puts its own place into the header of the
 * space, with a count of such words, and ends the sleep. Who wakes up and finds that changed looks
 * whether the place there names its passage; if so, it says in its own place by whom it was
 * cancelled, and gives up like one whose time is over.
 *
 * The waiter notes what the header has before it says that it sleeps, and the canceller names a
 * passage that it has seen asleep. Another canceller may come in between, or the sleep begin just
 * after it was ended: so the canceller says it again, and ends the sleep again, until it has been
 * heard, or the passage is not to be seen any more. Should it be killed meanwhile, nothing is
 * cancelled any more, unless it has been heard.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "memory/passage/region.h"

enum { PAUSE_NS = 1000 * 1000, PATIENCE_NS = 2000 * 1000 * 1000 };

uint64_t ay__cancels(const ay_space *space)
{
    return atomic_load(&((const struct header *)(const void *)space->base)->cancels);
}

/* Whether that place names my passage; and its owner may: it is root's, or mine. */
static bool is_named(const struct registers *at, unsigned place)
{
    const ay_space *space = at->fixed.space;
    if (place >= at->fixed.places)
        return false;
    const struct cold *cold = ay__cold(space, place);
    const uint32_t uid = cold->owner.uid,
                   generation = life_generation(atomic_load(&at->near.own->life));
    access_point();
    return life_alive(atomic_load(&ay__hot(space, place)->life)) &&
           atomic_load(&cold->cancels) == of_generation(generation, at->fixed.self + 1) &&
           atomic_load(&cold->cancels_passage) == at->mine.passage &&
           (uid == 0 || uid == at->fixed.own_cold->owner.uid);
}

bool ay__cancelled(struct registers *at)
{
    const uint64_t cancels = ay__cancels(at->fixed.space);
    if (__builtin_expect(cancels == at->waiting.cancels, 1))
        return false;
    at->waiting.cancels = cancels;
    const unsigned place = (uint32_t)cancels - 1;
    if (!is_named(at, place))
        return false;
    const struct identity *by = &ay__cold(at->fixed.space, place)->owner;
    struct cold *own = at->fixed.own_cold;
    atomic_store(&own->cancelled_ns, ay__now());
    atomic_store(&own->cancelled_by, by->pid);
    atomic_store(&own->cancelled, (uint64_t)at->mine.passage + 1); /* last: the canceller looks */
    at->passage.reason = ay__fail(-ECANCELED, "the wait was cancelled by pid %u (%.*s)", by->pid,
                                  COMMAND_ROOM - 1, by->command);
    return true;
}

static bool has_name(const struct public_spec *spec, const char *name)
{
    const size_t length = strlen(name);
    for (unsigned at = 0; at < spec->names && at < NAMES_MOST; at++)
        if (spec->name[at].length == length && memcmp(spec->name[at].bytes, name, length) == 0)
            return true;
    return false;
}

/* What is asked to be cancelled: the waits of one process for one resource. */
struct waits_meant {
    const char *name;
    uint32_t pid;
    uint64_t pid_namespace;
};

static bool is_meant(const ay_space *space, unsigned place, const struct waits_meant *meant)
{
    const struct cold *cold = ay__cold(space, place);
    return cold->owner.pid == meant->pid && cold->owner.pid_namespace == meant->pid_namespace &&
           has_name(&cold->spec, meant->name) && ay__vital(space, place).alive;
}

static bool is_waiting(const ay_space *space, unsigned place)
{
    return atomic_load(&ay__cold(space, place)->waiting) != 0;
}

/* Ends the sleep of `place`, whatever it sleeps on; an ask may sleep on nothing that others see. */
static void wake(const struct registers *at, unsigned place, uint64_t asleep)
{
    const uint32_t bell = atomic_load(&ay__cold(at->fixed.space, place)->bell);
    const unsigned on = (unsigned)(asleep & ASLEEP_PLACE_MASK) - 1,
                   index = (unsigned)(asleep >> ASLEEP_INDEX_SHIFT) & ASLEEP_INDEX_MASK;
    ay__futex_wake(&registers_hot(at, place)->sleeps);
    if (on < at->fixed.places && index <= WORDS_MOST &&
        (index == 0 || at->fixed.space->granules > 2))
        ay__futex_wake(registers_word(at, on, index));
    if (bell)
        ay__bell_ring(at->fixed.space, (bell - 1) % BELLS);
}

static void say(ay_region *region, unsigned place, uint32_t generation, uint32_t passage)
{
    struct cold *own = region->at.fixed.own_cold;
    struct header *bell = ay__space_bell(region->at.fixed.space);
    atomic_store(&own->cancels, 0);
    atomic_store(&own->cancels_passage, passage);
    atomic_store(&own->cancels, of_generation(generation, place + 1));
    uint64_t before = ay__cancels(region->at.fixed.space);
    while (bell && !atomic_compare_exchange_weak(
                       &bell->cancels, &before,
                       of_generation(life_generation(before) + 1, region->at.fixed.self + 1)))
        ;
}

/* 1: it was cancelled. 0: it does not wait any more, and was not. */
static int cancel_one(ay_region *region, unsigned place)
{
    const ay_space *space = region->at.fixed.space;
    const struct hot *hot = ay__hot(space, place);
    const struct cold *cold = ay__cold(space, place);
    const uint32_t generation = life_generation(atomic_load(&hot->life));
    const int64_t until = ay__now() + PATIENCE_NS;
    uint64_t said = 0; /* the passage that is named, plus one */
    while (ay__now() < until) {
        if (said && atomic_load(&cold->cancelled) == said)
            return 1;
        if (life_generation(atomic_load(&hot->life)) != generation || !is_waiting(space, place) ||
            !ay__vital(space, place).alive)
            return 0;
        const uint64_t asleep = atomic_load(&hot->asleep);
        if (asleep) {
            said = (asleep >> ASLEEP_PASSAGE_SHIFT) + 1;
            say(region, place, generation, (uint32_t)(said - 1));
            wake(&region->at, place, asleep);
        }
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    return ay__fail(-ETIMEDOUT, "pid %u waits, but does not answer: is it stopped?",
                    cold->owner.pid);
}

/* A place of its own, with the spec of the one that waits, so that it agrees with everybody. It
 * never enters. */
static int open_like(ay_space *space, const struct public_spec *like, ay_region **out)
{
    char text[NAMES_MOST][AY_NAME_MOST + 1];
    const char *also[NAMES_MOST] = {0};
    for (unsigned at = 0; at < like->names && at < NAMES_MOST; at++) {
        memcpy(text[at], like->name[at].bytes, like->name[at].length);
        text[at][like->name[at].length] = '\0';
        if (at > 0)
            also[at - 1] = text[at];
    }
    return ay_region_open(space,
                          &(ay_spec){.name = text[0],
                                     .also = also,
                                     .mode = (ay_mode)like->mode,
                                     .slots = like->slots,
                                     /* a cluster's are of nothing that is compared */
                                     .take = like->of > 0 ? like->take : 0,
                                     .of = like->of,
                                     .priority = like->priority},
                          out);
}

static int cancel_place(ay_space *space, unsigned place)
{
    ay_region *region;
    const struct cold *cold = ay__cold(space, place);
    if (geteuid() != 0 && cold->owner.uid != geteuid())
        return ay__fail(-EPERM, "pid %u is another user's: root may cancel it", cold->owner.pid);
    const int error = open_like(space, &cold->spec, &region);
    if (error)
        return error;
    const int result = cancel_one(region, place);
    atomic_store(&region->at.fixed.own_cold->cancels, 0);
    ay_region_close(region);
    return result;
}

int ay_cancel(ay_space *space, const char *name, int pid)
{
    AY__UNCANCELLED;
    if (space->mark != ay__process_mark())
        return ay__fail(-EPERM, "the space was opened by another process: a child opens its own");
    struct identity self;
    ay__identify(&self);
    const struct waits_meant meant = {name, (uint32_t)pid, self.pid_namespace};
    const unsigned used = ay__used(space);
    int cancelled = 0;
    bool inside = false;
    for (unsigned place = 0; place < used; place++) {
        if (!is_meant(space, place, &meant))
            continue;
        inside |= atomic_load(&ay__hot(space, place)->inside) != 0;
        const int result = is_waiting(space, place) ? cancel_place(space, place) : 0;
        if (result < 0)
            return result;
        cancelled += result;
    }
    if (cancelled > 0)
        return cancelled;
    return inside ? ay__fail(-EBUSY,
                             "pid %d is inside '%s', and no holder is put out: 'kill %d' ends it, "
                             "and the next one is told of a death",
                             pid, name, pid)
                  : ay__fail(-ESRCH, "pid %d does not wait for '%s'", pid, name);
}
