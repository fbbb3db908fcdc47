/* SPDX-License-Identifier: MIT */
/* Helpers: threads that sleep on the words that asks sleep on, each on as many as the kernel takes
 * at once, and stir those asks whose word has changed. The first also has the time, and hears the
 * bell of the process.
 *
 * Words that are added ring a helper's bell: it wakes up, and sleeps on them too. The kernel
 * compares each word with what was seen before it lets the helper sleep, so it does not matter
 * what happens meanwhile. One that is taken away stays in the sleep that is under way, and is not
 * looked at when that ends.
 *
 * A helper learns of one word by which it was woken, though it may have been several. Those others
 * have changed, and it sees so; but for one whose writer wakes the next one ahead of time
 * (ay__wake_next). That one wakes it again, for who asks says that it sleeps on several words.
 *
 * The kernel wakes one sleeper of a life that ends: a helper passes that on before anything else,
 * for the program may take its time. It sleeps on the lives of those who ask, longer than most: if
 * all of the process is killed, it may be the one that is woken, and the kernel wakes another after
 * it (process/futex.c). For one of those who ask, of several threads.
 *
 * Where the kernel watches one word only, helpers look at the others between naps
 * (process/futex.c). */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "memory/ask/ask.h"
#include "memory/ask/tell.h"

enum { MS = 1000 * 1000, DEAF_NS = 64 * MS, LOOK_MOST_NS = 16 * MS };

struct helper {
    struct helper *next;
    struct asks *asks;
    pthread_t thread;
    _Atomic uint32_t bell; /* rung when it has to begin its sleep anew */
    /* it sleeps on too few words, or for too long: set with what it is to know, cleared when it is
     * rung */
    bool stale;
    unsigned count;
    struct ask_word *word[HELPER_WORDS];
};

static _Atomic unsigned helpers; /* of this process */

unsigned ay__helpers_count(void)
{
    return atomic_load(&helpers);
}

void ay__helpers_forget(void)
{
    atomic_store(&helpers, 0);
}

static void ring(struct helper *helper)
{
    atomic_fetch_add(&helper->bell, 1);
    syscall(SYS_futex, &helper->bell, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

/* Words that tell of a death, to be passed on without the mutex. */
struct deaths {
    unsigned count;
    const void *address[HELPER_WORDS];
};

static void note_changed(struct helper *helper, unsigned slot, struct deaths *deaths)
{
    const struct ask_word *watched = helper->word[slot];
    if (watched->tells_death)
        deaths->address[deaths->count++] = watched->address;
    ay__ask_word_changed(helper->asks, watched->address);
}

/* From the last to the first: what is removed is replaced by the last. */
static void look_at_words(struct helper *helper, struct deaths *deaths)
{
    for (unsigned slot = helper->count; slot-- > 0;)
        if (slot < helper->count && ask_word_differs(helper->word[slot]))
            note_changed(helper, slot, deaths);
}

/* Whom nobody may wake: it is looked at, the less often the longer it lasts. */
static void look_at(struct ask *ask, int64_t now)
{
    for (unsigned which = 0; which < ask->count; which++)
        if (ask_word_differs(ask->links[which].word)) {
            ay__ask_stir(ask, true);
            return;
        }
    ask->nap_ns = 2 * ask->nap_ns < LOOK_MOST_NS ? 2 * ask->nap_ns : LOOK_MOST_NS;
    ask->look = now + ask->nap_ns;
}

static void look_at_time(struct asks *asks)
{
    const int64_t now = ay__now();
    if (now < asks->earliest)
        return;
    asks->earliest = INT64_MAX;
    for (struct ask *ask = asks->all; ask; ask = ask->next) {
        if (!ask->linked)
            continue;
        if (ask->due <= now)
            ay__ask_stir(ask, false);
        else if (ask->look <= now)
            look_at(ask, now);
        if (!ask->linked)
            continue;
        const int64_t next = ask->due < ask->look ? ask->due : ask->look;
        if (next < asks->earliest)
            asks->earliest = next;
    }
}

static unsigned collect(const struct helper *helper, struct ay__waitv *words)
{
    const struct asks *asks = helper->asks;
    words[0] = (struct ay__waitv){.value = atomic_load(&helper->bell),
                                  .address = (uintptr_t)&helper->bell,
                                  .flags = WAITV_32_BITS | WAITV_PRIVATE};
    for (unsigned slot = 0; slot < helper->count; slot++)
        words[1 + slot] = (struct ay__waitv){.value = helper->word[slot]->value,
                                             .address = (uintptr_t)helper->word[slot]->address,
                                             .flags = WAITV_32_BITS};
    unsigned count = 1 + helper->count;
    if (!helper->next)
        words[count++] = (struct ay__waitv){
            .value = asks->heard, .address = (uintptr_t)asks->bell, .flags = WAITV_32_BITS};
    return count;
}

/* Whose end, of those who ask, is not to be heard by it alone. NULL: nobody's */
static const void *find_asker(const struct helper *helper)
{
    for (unsigned slot = 0; slot < helper->count; slot++)
        if (helper->word[slot]->of_asker)
            return helper->word[slot]->address;
    return NULL;
}

/* The word by which it was woken first: somebody waits for it. It may have been woken without a
 * change, to have the ask look again. */
static void look(struct helper *helper, const void *woken_by, struct deaths *deaths)
{
    struct asks *asks = helper->asks;
    deaths->count = 0;
    asks->helping = true;
    const struct ask_word *watched = woken_by ? ay__ask_word_find(asks, woken_by) : NULL;
    if (watched && watched->helper == helper)
        note_changed(helper, watched->slot, deaths);
    look_at_words(helper, deaths);
    if (!helper->next) {
        ay__bell_hear(asks);
        look_at_time(asks);
    }
    asks->helping = false;
}

/* Without the mutex: those who sleep on a life that has ended, and whom the program has named. */
static void tell_others(struct asks *asks, const struct deaths *deaths)
{
    void (*const call)(void *) = asks->calls ? asks->call : NULL;
    void *const argument = asks->call_arg;
    asks->calls = false;
    if (deaths->count == 0 && !call)
        return;
    pthread_mutex_unlock(&ay__asks_mutex);
    for (unsigned which = 0; which < deaths->count; which++)
        ay__futex_wake(deaths->address[which]);
    if (call)
        call(argument);
    pthread_mutex_lock(&ay__asks_mutex);
}

static void *help(void *argument)
{
    struct helper *helper = argument;
    struct asks *asks = helper->asks;
    struct ay__waitv words[2 + HELPER_WORDS];
    struct deaths deaths;
    ay__futex_begin_thread();
    pthread_mutex_lock(&ay__asks_mutex);
    while (!asks->ending) {
        const unsigned count = collect(helper, words);
        ay__futex_bequeath(find_asker(helper));
        const int64_t until = helper->next ? INT64_MAX : asks->earliest;
        pthread_mutex_unlock(&ay__asks_mutex);
        const int woken = ay__futex_sleep(words, count, DEAF_NS, until);
        ay__futex_bequeath(NULL);
        pthread_mutex_lock(&ay__asks_mutex);
        look(helper, woken > 0 ? (const void *)(uintptr_t)words[woken].address : NULL, &deaths);
        tell_others(asks, &deaths);
    }
    pthread_mutex_unlock(&ay__asks_mutex);
    return NULL;
}

/* With a stack of the default size, like the keeper. */
static int start(struct asks *asks)
{
    struct helper *helper = calloc(1, sizeof *helper);
    if (!helper)
        return ay__fail(-ENOMEM, "out of memory");
    sigset_t all, before;
    sigfillset(&all);
    helper->asks = asks;
    helper->next = asks->helpers;
    /* inherited: no handler of the program's runs there */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&helper->thread, NULL, help, helper);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        free(helper);
        return ay__fail(-error, "cannot start a thread that watches for asks: %s", strerror(error));
    }
    asks->helpers = helper;
    atomic_fetch_add(&helpers, 1);
    return 0;
}

int ay__helper_add(struct asks *asks, struct ask_word *watched)
{
    struct helper *helper = asks->helpers;
    while (helper && helper->count == HELPER_WORDS)
        helper = helper->next;
    if (!helper) {
        const int error = start(asks);
        if (error)
            return error;
        helper = asks->helpers;
    }
    watched->helper = helper;
    watched->slot = helper->count;
    helper->word[helper->count++] = watched;
    helper->stale = true;
    return 0;
}

void ay__helpers_ring(struct asks *asks)
{
    for (struct helper *helper = asks->helpers; helper; helper = helper->next)
        if (helper->stale) {
            helper->stale = false;
            ring(helper);
        }
}

void ay__helper_remove(struct ask_word *watched)
{
    struct helper *helper = watched->helper;
    struct ask_word *last = helper->word[--helper->count];
    helper->word[watched->slot] = last;
    last->slot = watched->slot;
    watched->helper = NULL;
}

/* The first of all has the time. */
void ay__helper_hurry(struct asks *asks, int64_t when)
{
    if (when >= asks->earliest)
        return;
    asks->earliest = when;
    struct helper *helper = asks->helpers;
    while (helper->next)
        helper = helper->next;
    helper->stale = true;
}

int ay__helper_need(struct asks *asks)
{
    return asks->helpers ? 0 : start(asks);
}

void ay__helpers_end(struct asks *asks)
{
    pthread_mutex_lock(&ay__asks_mutex);
    asks->ending = true;
    for (struct helper *helper = asks->helpers; helper; helper = helper->next)
        ring(helper);
    pthread_mutex_unlock(&ay__asks_mutex);
    while (asks->helpers) {
        struct helper *helper = asks->helpers;
        pthread_join(helper->thread, NULL);
        asks->helpers = helper->next;
        free(helper);
        atomic_fetch_sub(&helpers, 1);
    }
}
