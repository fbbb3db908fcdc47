/* SPDX-License-Identifier: MIT */
/* Which words asks sleep on, and who is told when one has changed.
 *
 * A word is there once, however many sleep on it: a thread that has a thousand asks is one that may
 * end. Helpers sleep on the words. But most asks of a crowd stand behind another ask of the same
 * process: that one's word is changed by this process alone, and who changes it so that others may
 * pass says so (passage/wake.c). Such a word needs no helper.
 *
 * Whoever links an ask compares afterwards: a change before that was told, or woke a helper, when
 * nobody was linked yet. */
#include <errno.h>
#include <stdlib.h>

#include "memory/ask/ask.h"
#include "memory/ask/tell.h"

pthread_mutex_t ay__asks_mutex = PTHREAD_MUTEX_INITIALIZER;

void ay__asks_hold(void)
{
    pthread_mutex_lock(&ay__asks_mutex);
}

void ay__asks_release(void)
{
    pthread_mutex_unlock(&ay__asks_mutex);
}

static struct ask_word **word_bucket(struct asks *asks, const void *address)
{
    const uint64_t mixed = (uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15);
    return &asks->buckets[mixed >> 52];
}
_Static_assert(ASK_BUCKETS == 1 << 12, "as many as the upper bits tell");

struct ask_word *ay__ask_word_find(struct asks *asks, const void *address)
{
    struct ask_word *watched = *word_bucket(asks, address);
    while (watched && watched->address != address)
        watched = watched->next;
    return watched;
}

/* Nobody sleeps on it any more. */
static void drop(struct asks *asks, struct ask_word *watched)
{
    struct ask_word **link = word_bucket(asks, watched->address);
    while (*link != watched)
        link = &(*link)->next;
    *link = watched->next;
    if (watched->helper)
        ay__helper_remove(watched);
    free(watched);
}

static void unlink_one(struct asks *asks, struct ask_link *link)
{
    *link->back = link->next;
    if (link->next)
        link->next->back = link->back;
    else
        link->word->last = link->back;
    if (!link->word->links)
        drop(asks, link->word);
    link->word = NULL;
}

void ay__ask_unlink(struct ask *ask)
{
    ask->linked = false;
    for (unsigned which = 0; which < ask->count; which++)
        if (ask->links[which].word)
            unlink_one(ask->asks, &ask->links[which]);
}

int ay__asks_ring(ay_space *space, _Atomic uint32_t *rung)
{
    struct asks *asks;
    const int error = ay__asks_find(space, &asks);
    if (error)
        return error;
    pthread_mutex_lock(&ay__asks_mutex);
    asks->rung = rung;
    pthread_mutex_unlock(&ay__asks_mutex);
    return 0;
}

void ay__asks_say(struct asks *asks)
{
    if (asks->rung) {
        atomic_fetch_add(asks->rung, 1);
        ay__futex_wake(asks->rung);
        return;
    }
    if (asks->call && asks->helping) {
        asks->calls = true;
        return;
    }
    if (!asks->told)
        asks->told = ay__descriptor_say(asks);
}

void ay__ask_stir(struct ask *ask, bool woken)
{
    ask->woken |= woken;
    if (ask->stirred)
        return;
    ay__ask_unlink(ask);
    ask->stirred = true;
    ask->next_stirred = NULL;
    *ask->asks->last_stirred = ask;
    ask->asks->last_stirred = &ask->next_stirred;
    ask->asks->stirred++;
    ay__asks_say(ask->asks);
}

/* With its last link the word is gone. */
void ay__ask_word_changed(struct asks *asks, const void *address)
{
    for (struct ask_word *watched; (watched = ay__ask_word_find(asks, address));)
        ay__ask_stir(watched->links->ask, true);
}

static void add_link(struct ask_link *link, struct ask_word *watched)
{
    link->word = watched;
    link->next = NULL;
    link->back = watched->last;
    *watched->last = link;
    watched->last = &link->next;
}

/* The word of this link, as it was seen. One that others saw differently has changed, for them or
 * for this one: whoever it is finds out. */
static int link_one(struct asks *asks, struct ask_link *link)
{
    struct ask_word *watched = ay__ask_word_find(asks, link->address);
    if (watched && watched->value != link->value) {
        ay__ask_word_changed(asks, link->address);
        watched = NULL;
    }
    if (!watched) {
        watched = calloc(1, sizeof *watched);
        if (!watched)
            return ay__fail(-ENOMEM, "out of memory");
        struct ask_word **bucket = word_bucket(asks, link->address);
        *watched = (struct ask_word){.next = *bucket,
                                     .address = link->address,
                                     .value = link->value,
                                     .tells_death = link->tells_death,
                                     .last = &watched->links};
        *bucket = watched;
    }
    watched->of_asker |= link->of_asker;
    add_link(link, watched);
    return link->told || watched->helper ? 0 : ay__helper_add(asks, watched);
}

/* It may sleep on one word twice, and have seen it change between. */
int ay__ask_link(struct ask *ask)
{
    struct asks *asks = ask->asks;
    int error = 0;
    bool differs = false;
    pthread_mutex_lock(&ay__asks_mutex);
    for (unsigned which = 0; which < ask->count && !error && !ask->stirred; which++)
        error = link_one(asks, &ask->links[which]);
    for (unsigned which = 0; which < ask->count && !error && !ask->stirred; which++)
        differs |= ask_word_differs(ask->links[which].word);
    ask->linked = !error && !ask->stirred;
    if (!ask->linked)
        ay__ask_unlink(ask);
    else if (differs)
        ay__ask_stir(ask, true);
    else
        ay__helper_hurry(asks, ask->due < ask->look ? ask->due : ask->look);
    ay__helpers_ring(asks); /* once for all of it */
    pthread_mutex_unlock(&ay__asks_mutex);
    return error;
}

/* Not before the word was stored: who links itself later finds that it differs. */
void ay__asks_tell_word(ay_space *space, const void *address)
{
    AY__UNCANCELLED;
    struct asks *asks = atomic_load(&space->asks);
    pthread_mutex_lock(&ay__asks_mutex);
    ay__ask_word_changed(asks, address);
    pthread_mutex_unlock(&ay__asks_mutex);
}
