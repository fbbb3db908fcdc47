/* SPDX-License-Identifier: MIT */
/* Spinning: how long to wait awake before going to sleep.
 *
 * To sleep and be woken takes longer than many a stay inside. So whoever is next waits awake for as
 * long as such waits have taken lately, twice over; and if they take longer than a sleep costs, not
 * at all. A wait that ended while it spun tells how long the stay inside was. One that ended in
 * sleep tells more, by the time that waking up takes: so now and then it is tried out whether to
 * spin would do, unless waits take much longer.
 */
#include <sched.h>

#include "memory/passage/words.h"

enum {
    GLANCES = 50, /* without a clock: about a microsecond */
    LOOKS_A_CLOCK = 8,
    SPIN_LEAST_NS = 4 * 1000,
    SPIN_MOST_NS = 50 * 1000, /* what a sleep costs */
    LATELY_MOST_NS = 4 * SPIN_MOST_NS,
    TRY_OUT = 8, /* of so many waits in sleep, one is spun */
    LEARN = 4,   /* of what is new, such a part is learnt */
    LEARN_IN_SLEEP = 8,
    LOOKS_EAGER = 200,
    LOOKS_PATIENT = 12,
    PAUSES_PATIENT = 64,
    YIELDS_MOST = 20,
    YIELD_ROOM_NS = 100 * 1000 * 1000
};

/* Whether one that is inside keeps me waiting. Not if its mode has become, or is, one that I may
 * share. */
static bool keeps_waiting(const struct registers *at, uint64_t value)
{
    const struct running_protocol *protocol = at->fixed.protocol;
    return protocol->inside(value) &&
           (!protocol->mode || registers_excludes(at, at->near.mode, protocol->mode(value)));
}

/* Whether a watched word has changed so that it is worth while to look again. Where who is awake
 * may pass me, one that is inside anew is not: it keeps me waiting just as well, and `seen` follows
 * it. */
static bool has_changed(const struct registers *at, struct watch *watch)
{
    for (unsigned which = 0; which < watch->count; which++) {
        const struct hot *hot = registers_hot(at, watch->place[which]);
        const uint64_t raw = atomic_load(&hot->word);
        const struct vital vital = ay__vital(at->fixed.space, watch->place[which]);
        const uint64_t value = registers_as_read(at, 0, &vital, raw);
        if (value == watch->seen[which])
            continue;
        if (at->fixed.space->overtake == 0 || !keeps_waiting(at, value))
            return true;
        watch->seen[which] = value;
    }
    return false;
}

/* As many go before me as there are processors, or more. They run sooner if I give mine away than
 * if I sleep and have to be woken: for a while, so that whoever waits for long sleeps. On a busy
 * machine it may be long until I get it back: so not if my time is short. Nor the first time: who
 * comes once, one of a crowd perhaps, has no reason to believe that they will be quick. */
static bool yield(const struct registers *at, struct watch *watch)
{
    for (unsigned times = 0; times < YIELDS_MOST; times++) {
        if (has_changed(at, watch))
            return true;
        if (at->passage.deadline != INT64_MAX && at->passage.deadline - ay__now() < YIELD_ROOM_NS)
            return false;
        sched_yield();
    }
    return false;
}

static bool look_for_a_while(const struct registers *at, struct watch *watch, unsigned looks,
                             unsigned pauses)
{
    for (unsigned look = 0; look < looks; look++) {
        for (unsigned pause = 0; pause < pauses; pause++)
            spin_once();
        if (has_changed(at, watch))
            return true;
    }
    return false;
}

bool ay__spins(const struct registers *at)
{
    return at->habits.lately_ns <= SPIN_MOST_NS;
}

static void learn(struct registers *at, int64_t lasted_ns)
{
    if (!ay__spins(at)) /* what it believed was wrong */
        at->habits.lately_ns = lasted_ns;
    else
        at->habits.lately_ns += (lasted_ns - at->habits.lately_ns) / LEARN;
    at->habits.in_vain = 0;
}

static int64_t longest_spin(struct registers *at)
{
    if (ay__spins(at))
        return 2 * at->habits.lately_ns + SPIN_LEAST_NS;
    return at->habits.lately_ns < LATELY_MOST_NS && ++at->habits.in_vain % TRY_OUT == 0
               ? SPIN_MOST_NS
               : 0;
}

/* I am next, and wait for one that is inside. */
static bool spin_by_habit(struct registers *at, struct watch *watch)
{
    if (look_for_a_while(at, watch, GLANCES, 1)) {
        learn(at, 0);
        return true;
    }
    const int64_t began = ay__now(), most = longest_spin(at);
    at->passage.spun_ns = began;
    for (int64_t lasted = 0; lasted < most; lasted = ay__now() - began)
        if (look_for_a_while(at, watch, LOOKS_A_CLOCK, 1)) {
            learn(at, lasted);
            return true;
        }
    return false;
}

/* For a slot: whoever is inside is as likely to be without a processor as to have one, so mine is
 * given away; and if that was in vain last time, only now and then. */
static bool yield_by_habit(struct registers *at, struct watch *watch)
{
    if (!at->habits.entered || (at->habits.in_vain > 0 && ++at->habits.in_vain % TRY_OUT != 0))
        return false;
    const bool changed = yield(at, watch);
    at->habits.in_vain = changed ? 0 : 1;
    return changed;
}

bool ay__spin(struct registers *at, struct watch *watch)
{
    at->passage.spun_ns = 0;
    if (at->fixed.spec->slots > 1)
        return yield_by_habit(at, watch);
    if (watch->ahead >= ay__process.processors)
        return at->habits.entered && yield(at, watch);
    /* where others may pass, my haste would only take the line away from them */
    if (at->fixed.space->overtake)
        return look_for_a_while(at, watch, LOOKS_PATIENT, PAUSES_PATIENT);
    if (watch->count == 1 && at->fixed.protocol->inside(watch->seen[0]))
        return spin_by_habit(at, watch);
    return look_for_a_while(at, watch, LOOKS_EAGER, 1);
}

void ay__spin_missed(struct registers *at)
{
    if (at->passage.spun_ns == 0)
        return;
    const int64_t lasted = ay__now() - at->passage.spun_ns;
    at->habits.lately_ns +=
        ((lasted < LATELY_MOST_NS ? lasted : LATELY_MOST_NS) - at->habits.lately_ns) /
        LEARN_IN_SLEEP;
    at->passage.spun_ns = 0;
}

/* In strict order: somebody waited when I left, and is now inside, or about to be. To ask again at
 * once would have us hand over for every passage; a moment later, it may have been through many
 * times. Nobody waits longer for it: I have not asked yet. With more waiting than there are
 * processors, they are handed to anyway. */
void ay__hold_back(struct registers *at)
{
    at->habits.contended = false;
    if (at->fixed.space->overtake == 0 && at->habits.ahead < ay__process.processors &&
        at->passage.deadline != INT64_MIN)
        for (unsigned pause = 0; pause < PAUSES_PATIENT; pause++)
            spin_once();
}
