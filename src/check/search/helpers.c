/* SPDX-License-Identifier: MIT */
/* Threads that make units of a crew. One lock guards the counts of the crew and `made` of its
 * units; a unit itself belongs to the search until it is given, then to whoever begins it, and from
 * when it is made to the search again. */
#include "check/search/helpers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct helpers {
    struct crew *crew;
    pthread_mutex_t lock;
    pthread_cond_t given, made;
    unsigned idle;     /* helpers that wait for work */
    bool search_waits; /* set and cleared by the search, while it waits for a unit */
    bool over;         /* set once, by helpers_end */
    unsigned count;
    pthread_t thread[CREW_MOST];
};

/* Begins the next unit that nobody has begun, and makes it, without the lock meanwhile. */
static void make_one(struct helpers *helpers)
{
    struct crew *crew = helpers->crew;
    struct unit *unit = &crew->unit[crew->begun++ % CREW_UNITS];
    pthread_mutex_unlock(&helpers->lock);
    crew_make(crew, unit);
    pthread_mutex_lock(&helpers->lock);
    unit->made = true;
    if (helpers->search_waits)
        pthread_cond_signal(&helpers->made);
}

static void *help(void *context)
{
    struct helpers *helpers = context;
    pthread_mutex_lock(&helpers->lock);
    while (!helpers->over) {
        if (helpers->crew->begun < helpers->crew->given) {
            make_one(helpers);
            continue;
        }
        helpers->idle++;
        pthread_cond_wait(&helpers->given, &helpers->lock);
        helpers->idle--;
    }
    pthread_mutex_unlock(&helpers->lock);
    return NULL;
}

struct helpers *helpers_start(struct crew *crew, unsigned count)
{
    struct helpers *helpers = calloc(1, sizeof *helpers);
    if (!helpers)
        return NULL;
    helpers->crew = crew;
    pthread_mutex_init(&helpers->lock, NULL);
    pthread_cond_init(&helpers->given, NULL);
    pthread_cond_init(&helpers->made, NULL);
    /* Signals are the search's. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (helpers->count < count && helpers->count < CREW_MOST &&
           pthread_create(&helpers->thread[helpers->count], NULL, help, helpers) == 0)
        helpers->count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (helpers->count)
        return helpers;
    helpers_end(helpers);
    return NULL;
}

void helpers_end(struct helpers *helpers)
{
    pthread_mutex_lock(&helpers->lock);
    helpers->over = true;
    pthread_cond_broadcast(&helpers->given);
    pthread_mutex_unlock(&helpers->lock);
    for (unsigned at = 0; at < helpers->count; at++)
        pthread_join(helpers->thread[at], NULL);
    pthread_cond_destroy(&helpers->given);
    pthread_cond_destroy(&helpers->made);
    pthread_mutex_destroy(&helpers->lock);
    free(helpers);
}

void helpers_give(struct helpers *helpers, struct unit *unit)
{
    pthread_mutex_lock(&helpers->lock);
    unit->made = false;
    helpers->crew->given++;
    if (helpers->idle)
        pthread_cond_signal(&helpers->given);
    pthread_mutex_unlock(&helpers->lock);
}

void helpers_await(struct helpers *helpers, struct unit *unit)
{
    pthread_mutex_lock(&helpers->lock);
    while (!unit->made)
        if (helpers->crew->begun < helpers->crew->given) {
            make_one(helpers);
        } else {
            helpers->search_waits = true;
            pthread_cond_wait(&helpers->made, &helpers->lock);
            helpers->search_waits = false;
        }
    pthread_mutex_unlock(&helpers->lock);
}
