/* SPDX-License-Identifier: MIT */
/* What an ask does where a thread would sleep, and when it goes on: the parts of a sleep
 * (passage/sleep.h), with nobody asleep between them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory/ask/ask.h"
#include "memory/remote/kind.h"

/* A wait for one in the middle of a step is short. */
enum { LOOK_LEAST_NS = 50 * 1000 };

/* Room for what it sleeps on. False: there is no memory for it. */
static bool make_room(struct ask *ask, unsigned links, unsigned vitals)
{
    assert_required(!ask->resting);
    if (links > ask->room) {
        struct ask_link *more = realloc(ask->links, links * sizeof *more);
        if (!more)
            return false;
        ask->links = more;
        ask->room = links;
    }
    if (vitals > ask->vitals_room) {
        struct vital *more = realloc(ask->vitals, vitals * sizeof *more);
        if (!more)
            return false;
        ask->vitals = more;
        ask->vitals_room = vitals;
    }
    return true;
}

static void sleeps_on(struct ask *ask, const void *address, uint64_t value, bool tells_death,
                      bool told)
{
    ask->links[ask->count++] = (struct ask_link){.ask = ask,
                                                 .address = address,
                                                 .value = (uint32_t)value,
                                                 .tells_death = tells_death,
                                                 .told = told};
}

/* Who leaves a place of this process wakes those who sleep on its word, and tells (words.c). Not if
 * its keeper may store there as well, to take a permission back. */
static bool is_told(const struct ask *ask, unsigned place)
{
    return !ask->asks->space->retain && atomic_load(&ask->asks->own[place]);
}

/* Its own thread: should that end, so does the ask. */
static void sleep_on_own_thread(struct ask *ask, const struct registers *at)
{
    const struct vital own = ay__vital(at->fixed.space, at->fixed.self);
    sleeps_on(ask, own.futex, own.value, true, false);
    ask->links[ask->count - 1].of_asker = true;
}

static enum sleeping refuse(struct registers *at)
{
    ay__say_awake(at);
    ay__sleep_give_up(at, ay__fail(-ENOMEM, "out of memory"));
    return SLEEP_GIVEN_UP;
}

static void begin_rest(struct ask *ask, struct watch *watch, bool aside)
{
    ask->resting = true;
    ask->woken = false;
    ask->watch = watch;
    ask->aside = aside;
    ask->look = INT64_MAX;
}

/* The words of a sleep are: perhaps its own count of sleeps; a word and a life of each place; and
 * aside, what tells of newcomers. */
enum sleeping ay__ask_rest(struct registers *at, struct watch *watch, bool *woken)
{
    struct ask *ask = ((ay_region *)at)->ask;
    struct sleep sleep;
    ay__descriptor_publish(ask);
    const enum sleeping state = ay__sleep_begin(at, watch, true, &sleep, woken);
    if (state != SLEEP_LASTS)
        return state;
    if (!make_room(ask, sleep.count + 1, watch->count))
        return refuse(at);
    memcpy(ask->vitals, sleep.vitals, watch->count * sizeof *sleep.vitals);
    ask->count = 0;
    /* who sleeps by its place is woken by that, and not by the words that it watches */
    const bool by_place = sleep.aside || at->fixed.spec->slots > 1;
    const unsigned first = by_place;
    ask->near = !by_place && watch->count > 0 && !watch->overflow;
    for (unsigned which = 0; which < sleep.count; which++) {
        const struct ay__waitv *slept_on = &sleep.words[which];
        const bool of_place = which >= first && which - first < 2 * watch->count;
        const bool life = of_place && (which - first) % 2 == 1;
        const bool told =
            of_place && !life && !by_place && is_told(ask, watch->place[(which - first) / 2]);
        ask->near &= !of_place || life || told;
        sleeps_on(ask, (const void *)(uintptr_t)slept_on->address, slept_on->value, life, told);
    }
    sleep_on_own_thread(ask, at);
    begin_rest(ask, watch, sleep.aside);
    return SLEEP_LASTS;
}

enum sleeping ay__ask_linger(struct registers *at, unsigned place, unsigned index, word seen)
{
    struct ask *ask = ((ay_region *)at)->ask;
    if (at->passage.deadline == INT64_MIN) {
        ay__sleep_give_up(at, at->passage.give_up);
        return SLEEP_GIVEN_UP;
    }
    ay__say_asleep(at, place, index, (uint32_t)seen, 0);
    if (!make_room(ask, 3, 1))
        return refuse(at);
    const struct vital vital = ask->vitals[0] = ay__vital(at->fixed.space, place);
    access_point();
    const uint64_t raw = atomic_load(registers_word(at, place, index));
    if (registers_as_read(at, index, &vital, raw) != seen) {
        at->passage.spins = 0;
        ay__say_awake(at);
        return registers_heed(at) ? SLEEP_OVER : SLEEP_GIVEN_UP;
    }
    ask->count = 0;
    ask->near = false;
    sleeps_on(ask, registers_word(at, place, index), raw, false, false);
    sleeps_on(ask, vital.futex, vital.value, true, false);
    sleep_on_own_thread(ask, at);
    begin_rest(ask, NULL, false);
    ask->awaited = place;
    /* nobody wakes those who wait for one in the middle of a step: a helper looks */
    ask->nap_ns = LOOK_LEAST_NS;
    ask->look = ay__now() + ask->nap_ns;
    return SLEEP_LASTS;
}

/* On words of others than rivals: what else may happen is looked after when it is time. */
static enum sleeping rest_on(struct ask *ask, const struct ay__waitv *words, unsigned count)
{
    struct registers *at = &ask->member->at;
    if (!make_room(ask, count + 1, 0))
        return refuse(at);
    at->passage.waited = true;
    ay__say_asleep(at, at->fixed.self, 0, 0, 0);
    ask->count = 0;
    ask->near = false;
    for (unsigned which = 0; which < count; which++)
        sleeps_on(ask, (const void *)(uintptr_t)words[which].address, words[which].value, false,
                  false);
    sleep_on_own_thread(ask, at);
    begin_rest(ask, NULL, false);
    return SLEEP_LASTS;
}

/* The agent wakes those who sleep on its pages (remote/cluster_wait.c). */
enum sleeping ay__ask_rest_remote(struct ask *ask)
{
    return rest_on(ask, ask->member->remote.wait.words, CLUSTER_WORDS);
}

enum sleeping ay__ask_pause(struct ask *ask)
{
    const struct ay__waitv *words;
    const unsigned count = ask->region->remote.kind->rest(ask->region, &words, &ask->due);
    return rest_on(ask, words, count);
}

/* One before it in this process is as alive as it is itself, and closes no cycle that the first of
 * them does not close. */
bool ay__ask_may_rest(struct ask *ask)
{
    struct registers *at = &ask->member->at;
    if (ask->pauses)
        return true;
    ask->due = ask->remote ? ask->member->remote.wait.wake : at->passage.deadline;
    if (ask->near || ask->remote)
        return true;
    const int64_t most = ask->watch ? ay__longest_sleep(at, ask->watch, ask->aside) : INT64_MAX;
    return ay__sleep_may_last(at, most, &ask->due);
}

/* By any of its members. */
static bool is_called_off(const struct ask *ask)
{
    const struct remote_kind *kind = ask->region->remote.kind;
    return kind && kind->called_off && kind->called_off(ask->region);
}

enum sleeping ay__ask_look_up(struct ask *ask)
{
    struct registers *at = &ask->member->at;
    if (ask->pauses)
        return is_called_off(ask) ? SLEEP_GIVEN_UP : SLEEP_OVER;
    if (ask->remote)
        return ay__cluster_called_off(ask->member) ||
                       (ask->member->remote.wait.stage != CLUSTER_TELLS && is_called_off(ask))
                   ? SLEEP_GIVEN_UP
                   : SLEEP_OVER;
    const bool again = !ay__cancelled(at) && !is_called_off(ask) && registers_heed(at);
    if (ask->watch)
        return ay__sleep_look_up(at, ask->watch, ask->vitals, ask->aside, ask->woken, again);
    const bool doubts = ay__sleep_doubts(at);
    ay__sleep_look_after(at, ask->awaited, &ask->vitals[0], doubts);
    return again && (!doubts || ay__sleep_is_named(at)) ? SLEEP_OVER : SLEEP_GIVEN_UP;
}

void ay__ask_get_up(struct ask *ask)
{
    assert_required(ask->resting);
    ask->resting = false;
    ay__sleep_end(&ask->member->at);
}
