/* SPDX-License-Identifier: MIT */
/* Being told that one is wanted (ay_spec.tell_wanted): the descriptor of a space becomes readable
 * when somebody begins to wait for what a region of this process holds.
 *
 * Each process has a bell, a count in the header of the space, and says in its places which it is;
 * with more than 64 processes some share one. Whoever goes to sleep for the first time in its
 * passage looks at those rivals that are to be told: of each that is inside, and conflicts, it
 * rings the bell. The first helper of that process sleeps on it. Who is told, and whose bell was
 * meant for another, asks ay_wanted(). Whoever cancels an ask (passage/cancel.c) rings it too.
 *
 *   W1  Who is inside, and is to be told, looks who waits: after it is publicly inside, and after
 *       it has become stronger. Who waits has said so before it looks who is inside. So one of the
 *       two sees the other.
 * A ring is not missed: it changes the count, and the helper sleeps on the count that it has seen
 * to last. Whom a waiter has not gathered when it goes to sleep came later (L6), and sees it
 * waiting when it enters. So nobody waits, asleep, for a holder that was not told since. Whoever
 * does not sleep yet will, or comes in. */
#include "memory/ask/ask.h"
#include "memory/passage/words.h"

static uint64_t bell_of(const struct hot *hot)
{
    return (atomic_load(&hot->bell) - 1) % BELLS; /* another's page is believed in limits */
}

static bool is_in_my_way(const struct registers *at, const struct hot *hot)
{
    unsigned (*mode)(uint64_t) = at->fixed.protocol->mode;
    access_point();
    if (!atomic_load(&hot->inside))
        return false;
    access_point();
    return registers_excludes(at, mode(atomic_load(&hot->word)), mode(at->mine.word));
}

/* Without memory for a mapping nobody hears of it. */
void ay__bell_ring(ay_space *space, unsigned which)
{
    struct header *header = ay__space_bell(space);
    if (!header)
        return;
    access_point();
    atomic_fetch_add(&header->bell[which], 1);
    ay__futex_wake(&header->bell[which]);
}

/* It has said that it sleeps, with a fence (W1). Rivals are not gathered anew: who came later looks
 * itself; and one that is aside would take that for having looked at newcomers. */
void ay__wanted_announce(struct registers *at)
{
    uint64_t bells = 0;
    for (unsigned which = 0; which < at->rivals.run_count; which++) {
        const struct stretch *run = &at->rivals.runs[which];
        for (unsigned place = run->place; place < run->end; place++)
            if (acquaintance_of(&at->rivals.met, place)->told &&
                is_in_my_way(at, registers_hot(at, place)))
                bells |= UINT64_C(1) << bell_of(registers_hot(at, place));
    }
    for (unsigned which = 0; which < BELLS; which++)
        if (bells >> which & 1)
            ay__bell_ring(at->fixed.space, which);
}

void ay__wanted_tell(ay_region *region)
{
    struct asks *asks = atomic_load(&region->at.fixed.space->asks);
    assert_invariant(W1, atomic_load(&region->at.near.own->inside) == 1);
    access_point();
    ay__store_and_fence(&region->at.near.own->inside, 1); /* as it is: the fence of W1 */
    if (ay_wanted(region) == 0)
        return;
    AY__UNCANCELLED;
    pthread_mutex_lock(&ay__asks_mutex);
    ay__asks_say(asks);
    pthread_mutex_unlock(&ay__asks_mutex);
}

static bool is_of(const struct ask *ask, unsigned place)
{
    const ay_region *member;
    for (unsigned which = 0; (member = ay__ask_member(ask, which)); which++)
        if (member->at.fixed.self == place)
            return true;
    return false;
}

/* An ask behind another of its process sleeps on no word that a canceller could wake it by. One
 * that is not linked just now is found the next time: the canceller rings until it is heard. */
static void stir_cancelled(struct asks *asks)
{
    const ay_space *space = asks->space;
    const uint64_t cancels = ay__cancels(space);
    const unsigned by = (uint32_t)cancels - 1;
    if (cancels == asks->cancels || by >= space->places)
        return;
    asks->cancels = cancels;
    const unsigned meant = (uint32_t)atomic_load(&ay__cold(space, by)->cancels) - 1;
    for (struct ask *ask = asks->all; ask; ask = ask->next)
        if (ask->linked && is_of(ask, meant)) {
            ay__ask_stir(ask, true); /* it looks whether its passage is named */
            return;
        }
}

/* The helper, under ay__asks_mutex. */
void ay__bell_hear(struct asks *asks)
{
    const uint32_t rung = atomic_load(asks->bell);
    if (rung == asks->heard)
        return;
    asks->heard = rung;
    stir_cancelled(asks);
    if (asks->telling > 0)
        ay__asks_say(asks);
}

int ay__wanted_open(ay_space *space)
{
    struct asks *asks;
    int error = ay__asks_find(space, &asks);
    if (error)
        return error;
    pthread_mutex_lock(&ay__asks_mutex);
    error = ay__helper_need(asks);
    if (!error)
        asks->telling++;
    pthread_mutex_unlock(&ay__asks_mutex);
    return error;
}

void ay__wanted_close(ay_space *space)
{
    pthread_mutex_lock(&ay__asks_mutex);
    atomic_load(&space->asks)->telling--;
    pthread_mutex_unlock(&ay__asks_mutex);
}
