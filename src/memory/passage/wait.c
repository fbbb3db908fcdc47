/* SPDX-License-Identifier: MIT */
/* Waiting: how a passage sleeps until another's register changes or its owner dies, and how it is
 * woken.
 *
 * A sleeper sleeps, by futex, on the low half of each register it watches (the half in which every
 * change of state shows) and on what the kernel changes when its owner dies: the pulse of the
 * thread that makes the passage (pulse.c), or the life beside the register. Futexes need no right
 * to write.
 *
 * No wake-up is lost (for AWAIT; a protocol with SLEEP carries its own argument). The
 * sleeper stores `asleep`, and then fetches the register again; the writer stores the register, and
 * then fetches everybody's `asleep`. Behind each store stands a fence. So either the sleeper
 * sees the new value and does not sleep, or the writer sees the sleeper and wakes it; and if it
 * does so before the sleeper is in the kernel, the kernel finds that the register differs from what
 * was seen. The writer need not look at once: it looks before it sleeps itself, when it is inside,
 * and when it has left, and between these it runs on.
 *
 * The kernel wakes one sleeper of a life that ends; that one wakes the others, before anything
 * else. Should it be killed before it has, the kernel wakes another (process/futex.c); should it be
 * stopped, another looks up by itself. This is also when the second witness is asked: a place that
 * says it is alive, whose claim nobody holds, is buried (claim.c). One is enough for this, so who
 * has others before it in the queue, or asleep on the same place, looks up the less often the more
 * they are (patience); and all do so less often with time. A thousand that wait look up a few times
 * a second, all together. Whoever does also asks whether the file still has a name (named.h).
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/assert.h"
#include "memory/file/named.h"
#include "memory/passage/region.h"
#include "memory/passage/sleep.h"

enum {
    MS = 1000 * 1000,
    DOUBT_NS = 250 * MS,
    DEAF_TO_SIGNALS_NS = 500 * MS,
    DOUBTS_MOST = 3, /* the time between two doubts is doubled so often */
    CYCLE_NS = 40 * MS,
    UNCLEAR_MOST_NS = 1000 * MS,
    NAP_LEAST_NS = MS / 20,
    NAP_MOST_NS = 32 * MS,
    DEAF_NS = 64 * MS,
    DEAF_MOST_NS = 1000 * MS,
    SPUN_ON_MOST = 8, /* words */
    WIDE_MOST_NS = 1000 * MS
};

static uint32_t low_half(uint64_t value)
{
    return (uint32_t)value;
}

static struct timespec timespec_at(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

void ay__begin_waiting(struct registers *at)
{
    if (at->passage.asleep)
        return;
    at->passage.asleep = true;
    at->waiting =
        (struct waiting){.doubted_ns = ay__now(), .cancels = ay__cancels(at->fixed.space)};
    atomic_store(&at->fixed.own_cold->since_ns, at->waiting.doubted_ns);
    atomic_store(&at->fixed.own_cold->waiting, 1);
}

void ay__say_asleep(struct registers *at, unsigned place, unsigned index, uint32_t seen,
                    uint32_t marks)
{
    ay__begin_waiting(at);
    atomic_store_explicit(&at->near.own->seen, seen, memory_order_relaxed);
    atomic_store_explicit(&at->near.own->sleeps, ++at->mine.sleeps, memory_order_relaxed);
    access_point();
    const uint64_t asleep = (place + 1) | (uint64_t)index << ASLEEP_INDEX_SHIFT | marks |
                            (uint64_t)!ay__futex_several() << ASLEEP_DEAF_SHIFT |
                            (uint64_t)at->mine.passage << ASLEEP_PASSAGE_SHIFT;
    ay__store_and_fence(&at->near.own->asleep, asleep);
}

void ay__say_awake(struct registers *at)
{
    access_point();
    atomic_store_explicit(&at->near.own->asleep, 0, memory_order_release);
}

bool ay__sleep_give_up(struct registers *at, int reason)
{
    at->passage.reason = reason;
    return false;
}

bool ay__interrupted(struct registers *at)
{
    if (!at->request.interrupted)
        return false;
    at->passage.asking = true;
    const bool interrupted = at->request.interrupted(at->request.argument);
    at->passage.asking = false;
    if (!interrupted)
        return false;
    at->passage.reason = ay__fail(-EINTR, "interrupted while it waited");
    return true;
}

bool ay__heed(struct registers *at)
{
    return ay__now() < at->passage.deadline || ay__sleep_give_up(at, at->passage.give_up);
}

/* Asks the second witness. True: it was dead. */
static bool doubt(struct registers *at, unsigned place)
{
    pthread_mutex_lock(&ay__process.mutex);
    const bool buried = ay__bury(at->fixed.space, place);
    pthread_mutex_unlock(&ay__process.mutex);
    return buried;
}

/* After a sleep: false if the file was removed meanwhile. Whoever removes it wakes nobody, and who
 * opens it anew is in another file. */
bool ay__sleep_is_named(struct registers *at)
{
    const int error = named_disturbed(at) ? ay__named_ask(at) : 0;
    return !error || ay__sleep_give_up(at, error);
}

/* After a sleep: pass a death on to the other sleepers, and doubt a life that lasts suspiciously
 * long. True: it is another than before. */
bool ay__sleep_look_after(struct registers *at, unsigned place, const struct vital *before,
                          bool doubts)
{
    const struct vital vital = ay__vital(at->fixed.space, place);
    if (ay__same_vital(&vital, before))
        return vital.alive && doubts && doubt(at, place);
    ay__futex_wake(before->futex);
    ay__futex_wake(&registers_hot(at, place)->word); /* those who can sleep on one word only */
    return true;
}

/* How many look up sooner than I need to. */
static int64_t others_before(const struct registers *at)
{
    return at->habits.ahead > at->waiting.sharing + 1 ? at->habits.ahead - 1 : at->waiting.sharing;
}

/* How long before it doubts again. */
static int64_t patience(const struct registers *at)
{
    const unsigned doublings = at->waiting.unannounced            ? 0
                               : at->waiting.doubts < DOUBTS_MOST ? at->waiting.doubts
                                                                  : DOUBTS_MOST;
    return ((int64_t)DOUBT_NS << doublings) * (1 + others_before(at));
}

static bool sleeps_on(const struct hot *hot, uint64_t on)
{
    return (atomic_load(&hot->asleep) & ASLEEP_PLACE_MASK) == on &&
           life_alive(atomic_load(&hot->life));
}

/* How many at lesser places, with a resource in common, sleep on the same one: they will notice
 * before me. */
static unsigned count_sharing(struct registers *at)
{
    const uint64_t on = atomic_load(&at->near.own->asleep) & ASLEEP_PLACE_MASK;
    unsigned count = 0;
    for (unsigned which = 0; which < at->rivals.run_count; which++) {
        const struct stretch *run = &at->rivals.runs[which];
        for (unsigned place = run->place; place < run->end && place < at->fixed.self; place++)
            count += sleeps_on(registers_hot(at, place), on);
    }
    for (unsigned which = 0; which < at->rivals.company_count; which++)
        count += at->rivals.company[which] < at->fixed.self &&
                 sleeps_on(registers_hot(at, at->rivals.company[which]), on);
    return count;
}

/* Whether to doubt the lives of those slept on, this time. */
bool ay__sleep_doubts(struct registers *at)
{
    const int64_t now = ay__now();
    if (now - at->waiting.doubted_ns < patience(at))
        return false;
    at->waiting.doubted_ns = now;
    at->waiting.doubts++;
    at->waiting.sharing = count_sharing(at);
    return true;
}

/* When to look up at the latest, whatever happens. */
static int64_t look_up_at(struct registers *at, enum deadlock deadlock, int64_t most_ns)
{
    const int64_t now = ay__now(), doubt_at = at->waiting.doubted_ns + patience(at);
    at->waiting.unclear_ns = at->waiting.unclear_ns ? 2 * at->waiting.unclear_ns : CYCLE_NS;
    if (deadlock != DEADLOCK_UNCLEAR)
        at->waiting.unclear_ns = 0;
    else if (at->waiting.unclear_ns > UNCLEAR_MOST_NS)
        at->waiting.unclear_ns = UNCLEAR_MOST_NS;
    const int64_t walk_ns = deadlock == DEADLOCK_SEEN ? CYCLE_NS : at->waiting.unclear_ns;
    if (walk_ns && walk_ns < most_ns)
        most_ns = walk_ns;
    /* one may have come just before the sleep */
    if (at->request.interrupted && most_ns > DEAF_TO_SIGNALS_NS)
        most_ns = DEAF_TO_SIGNALS_NS;
    const int64_t until = doubt_at - now < most_ns ? doubt_at : now + most_ns;
    return until < at->passage.deadline ? until : at->passage.deadline;
}

/* How long to be deaf to deaths, where the kernel watches one word only. Whoever notices one tells
 * those who sleep on the same place, and whoever leaves tells those who sleep on a dead one: so
 * with others before me I may be deaf for longer, if I watch one place. */
static int64_t deafness(struct registers *at, unsigned count)
{
    if (ay__futex_several())
        return 0;
    if (count > 2)
        return DEAF_NS;
    at->waiting.sharing = count_sharing(at);
    const int64_t ns = DEAF_NS * (1 + others_before(at));
    return ns < DEAF_MOST_NS ? ns : DEAF_MOST_NS;
}

bool ay__sleep_may_last(struct registers *at, int64_t most_ns, int64_t *until)
{
    const enum deadlock deadlock = ay__deadlock(at);
    if (deadlock == DEADLOCK_YIELD &&
        !doubt(at, (unsigned)(atomic_load(&at->near.own->asleep) & ASLEEP_PLACE_MASK) - 1))
        return ay__sleep_give_up(
            at, ay__fail(-EDEADLK,
                         "to wait here would never end: it closes a cycle of waiting threads"));
    *until = look_up_at(at, deadlock, most_ns);
    return true;
}

/* One sleep on words that were seen so, and among them the life of whom it is most likely to hear:
 * true to look again, false to give up. */
static bool sleep_once(struct registers *at, struct ay__waitv *words, unsigned count,
                       const void *life, int64_t most_ns, bool *woken)
{
    int64_t until;
    if (!ay__sleep_may_last(at, most_ns, &until))
        return false;
    ay__futex_bequeath(life);
    *woken = ay__futex_sleep(words, count, deafness(at, count), until) >= 0;
    ay__futex_bequeath(NULL);
    return !ay__interrupted(at) && !ay__cancelled(at) && registers_heed(at);
}

/* How long to sleep at most. A protocol that wakes by itself wakes those in SLEEP, not those in
 * AWAIT: these wait for somebody in the middle of a step, and look up again soon. */
int64_t ay__next_nap(struct registers *at)
{
    at->waiting.nap_ns = at->waiting.nap_ns ? 2 * at->waiting.nap_ns : NAP_LEAST_NS;
    if (at->waiting.nap_ns > NAP_MOST_NS)
        at->waiting.nap_ns = NAP_MOST_NS;
    return at->waiting.nap_ns;
}

bool ay__nap(struct registers *at)
{
    AY__UNCANCELLED;
    if (!registers_heed(at))
        return false;
    if (at->passage.spins++ < ROUNDS_AWAKE) {
        sched_yield();
        return true;
    }
    ay__rouse(at);
    ay__say_asleep(at, at->fixed.self, 0, 0, 0); /* on nobody in particular */
    const int64_t now = ay__now(), nap = ay__next_nap(at);
    const struct timespec until =
        timespec_at(at->passage.deadline - now < nap ? at->passage.deadline : now + nap);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    ay__say_awake(at);
    return !ay__interrupted(at) && !ay__cancelled(at);
}

bool ay__pause(struct registers *at, unsigned place, unsigned index, word seen)
{
    AY__UNCANCELLED;
    if (at->passage.deadline == INT64_MIN)
        return ay__sleep_give_up(at, at->passage.give_up);
    struct ay__waitv words[2];
    unsigned count = 0;
    at->fixed.protocol->hooks->before_awaiting(at);
    ay__say_asleep(at, place, index, low_half(seen), 0);
    const struct vital vital = ay__vital(at->fixed.space, place);
    access_point();
    const uint64_t raw = atomic_load(registers_word(at, place, index));
    bool again, woken;
    if (registers_as_read(at, index, &vital, raw) == seen) {
        ay__sleep_watch(words, &count, registers_word(at, place, index), raw);
        ay__sleep_watch(words, &count, vital.futex, vital.value);
        again = sleep_once(at, words, count, vital.futex,
                           at->fixed.protocol->hooks->longest_await(at), &woken);
        const bool doubts = ay__sleep_doubts(at);
        ay__sleep_look_after(at, place, &vital, doubts);
        again = again && (!doubts || ay__sleep_is_named(at));
    } else {
        at->passage.spins = 0;
        at->waiting.nap_ns = 0;
        again = registers_heed(at);
    }
    ay__say_awake(at);
    return again;
}

/* With more rivals than it can watch, it may miss that one of them has died, or be woken in the
 * moment between its look and its sleep: then it looks up by itself. */
static int64_t next_wide_nap(struct registers *at)
{
    at->waiting.wide_ns = at->waiting.wide_ns ? 2 * at->waiting.wide_ns : NAP_MOST_NS;
    if (at->waiting.wide_ns > WIDE_MOST_NS)
        at->waiting.wide_ns = WIDE_MOST_NS;
    return at->waiting.wide_ns;
}

/* Short, if not all that matters is watched; and if it is the one I sleep on that did not hear my
 * recall, which I must repeat. Who is aside only looks for deaths so, and tells the others (the
 * protocol's relay): one is enough, so with others before me I look up the less often. */
int64_t ay__longest_sleep(struct registers *at, const struct watch *watch, bool aside)
{
    if (watch->overflow && aside) {
        at->waiting.sharing = count_sharing(at);
        return (int64_t)WIDE_MOST_NS * (1 + at->waiting.sharing);
    }
    if (watch->overflow)
        return next_wide_nap(at);
    return watch->count == 1 && watch->place[0] == at->passage.unheard ? ay__next_nap(at)
                                                                       : INT64_MAX;
}

/* Whoever is aside is woken by place, by any rival that leaves: also by one that was not there when
 * it looked. True: one has come since, or left. */
static bool watch_newcomers(const struct registers *at, struct ay__waitv *words, unsigned *count)
{
    const uint64_t claims = atomic_load(at->near.claims);
    ay__sleep_watch(words, count, at->near.claims, claims);
    ay__sleep_watch(words, count, at->fixed.rouses, at->passage.heard);
    return claims != at->rivals.gathered || atomic_load(at->fixed.rouses) != at->passage.heard;
}

/* A look takes it for granted that who waits is alive (registers_waits): who sleeps on it does not.
 */
static bool notice_ends(struct registers *at, const struct watch *watch)
{
    bool ends = false;
    for (unsigned which = 0; which < watch->count; which++)
        ends |= ay__notice(at, watch->place[which]);
    return ends;
}

/* One aside that cannot watch all rivals watches those that hold something or are about to: the
 * others' deaths change nothing, and a thousand that watch each other's words cost the kernel much.
 */
static void watch_the_busy(const struct registers *at, struct watch *watch)
{
    for (unsigned which = watch->count; which-- > 0;)
        if (registers_is_idle(at, 0, watch->seen[which]) ||
            at->fixed.protocol->aside(watch->seen[which]))
            watch_drop(watch, watch->place[which]);
}

enum sleeping ay__sleep_begin(struct registers *at, struct watch *watch, bool asks,
                              struct sleep *sleep, bool *woken)
{
    assert_required(at->passage.queues && watch->count <= WATCH_MOST);
    *woken = false;
    if (notice_ends(at, watch)) /* each once: even one that only tries may look again */
        return at->passage.deadline == INT64_MIN || registers_heed(at) ? SLEEP_OVER
                                                                       : SLEEP_GIVEN_UP;
    if (at->passage.deadline == INT64_MIN) {
        ay__sleep_give_up(at, at->passage.give_up);
        return SLEEP_GIVEN_UP;
    }
    at->habits.ahead = watch->ahead;
    at->passage.spun_ns = 0;
    if (!asks && watch->count > 0 && watch->count <= SPUN_ON_MOST && ay__spin(at, watch))
        return registers_heed(at) ? SLEEP_OVER : SLEEP_GIVEN_UP;
    if (__builtin_expect(at->preparation.prepare != NULL, 0) && !asks)
        ay__prepare(at, watch);
    bool changed = false;
    const bool aside = at->fixed.protocol->aside && at->fixed.protocol->aside(registers_own(at, 0));
    atomic_store_explicit(&at->fixed.own_cold->conditional, aside, memory_order_release);
    const bool by_place = aside || at->fixed.spec->slots > 1;
    /* who sleeps for an ask sleeps on others' words too, for other asks */
    const uint32_t several = (watch->count > 1 || asks) && !by_place,
                   one = asks && watch->count == 1 && !watch->overflow && !by_place;
    ay__say_asleep(at, watch->count ? watch->place[0] : at->fixed.self, 0,
                   watch->count ? low_half(watch->seen[0]) : 0,
                   several << ASLEEP_SEVERAL_SHIFT | one << ASLEEP_ONE_SHIFT |
                       (uint32_t)at->passage.hears << ASLEEP_HEARS_SHIFT);
    if (!at->passage.announced) {
        at->passage.announced = true;
        if (__builtin_expect(at->rivals.told, 0))
            ay__wanted_announce(at);
    }
    if (aside && watch->overflow)
        watch_the_busy(at, watch);
    sleep->aside = aside;
    sleep->count = 0;
    if (by_place) /* first: where the kernel watches one word only, it is this one */
        ay__sleep_watch(sleep->words, &sleep->count, &at->near.own->sleeps, at->mine.sleeps);
    at->waiting.unannounced = false;
    for (unsigned which = 0; which < watch->count; which++) {
        const struct hot *hot = registers_hot(at, watch->place[which]);
        struct vital *vital = &sleep->vitals[which];
        *vital = ay__vital(at->fixed.space, watch->place[which]);
        at->waiting.unannounced |= life_shared(vital->life);
        access_point();
        const uint64_t raw = atomic_load(&hot->word);
        changed |= registers_as_read(at, 0, vital, raw) != watch->seen[which];
        ay__sleep_watch(sleep->words, &sleep->count, &hot->word, raw);
        ay__sleep_watch(sleep->words, &sleep->count, vital->futex, vital->value);
    }
    if (aside)
        changed |= watch_newcomers(at, sleep->words, &sleep->count);
    if (!changed)
        return SLEEP_LASTS;
    *woken = true; /* as good as */
    const bool again = registers_heed(at);
    ay__sleep_end(at);
    return again ? SLEEP_OVER : SLEEP_GIVEN_UP;
}

/* If its doubts were unfounded, it sleeps on: should a word have changed, the kernel says so at
 * once. Not if it was woken as well: who has ended this sleep will not do so again. */
enum sleeping ay__sleep_look_up(struct registers *at, const struct watch *watch,
                                const struct vital *vitals, bool aside, bool woken, bool again)
{
    const bool doubts = ay__sleep_doubts(at);
    bool changes = false;
    /* aside each time: who gives up because of it rouses the others */
    if (again && (doubts || aside))
        again = ay__sleep_is_named(at);
    for (unsigned which = 0; which < watch->count; which++)
        changes |= ay__sleep_look_after(at, watch->place[which], &vitals[which], doubts);
    if (!again)
        return SLEEP_GIVEN_UP;
    return doubts && !changes && !woken ? SLEEP_LASTS : SLEEP_OVER;
}

void ay__sleep_end(struct registers *at)
{
    ay__say_awake(at);
    ay__spin_missed(at);
    at->passage.unheard =
        AT_NOBODY; /* the next look calls again, if there is still something to recall */
    at->passage.spins = 0;
}

bool ay__sleep(struct registers *at, struct watch *watch, bool *woken)
{
    AY__UNCANCELLED;
    struct sleep sleep;
    enum sleeping state = ay__sleep_begin(at, watch, false, &sleep, woken);
    if (state != SLEEP_LASTS)
        return state == SLEEP_OVER;
    while (state == SLEEP_LASTS) {
        const bool again =
            sleep_once(at, sleep.words, sleep.count, watch->count ? sleep.vitals[0].futex : NULL,
                       ay__longest_sleep(at, watch, sleep.aside), woken);
        state = ay__sleep_look_up(at, watch, sleep.vitals, sleep.aside, *woken, again);
    }
    ay__sleep_end(at);
    return state == SLEEP_OVER;
}
