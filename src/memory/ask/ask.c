/* SPDX-License-Identifier: MIT */
/* ay_ask() and its kin: an ask from its beginning to its end. Between the two its region belongs to
 * the space: any thread may go on with it, in ay_decided(), and none may enter it. Who asked is who
 * will be inside, and whose end ends it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory/ask/ask.h"
#include "memory/passage/long_way.h"
#include "memory/passage/passer.h"
#include "memory/remote/kind.h"

enum { MESSAGES_AT_ONCE = 64 };

/* ---- what a space and a region have once they have asked ---- */

/* Under ay__asks_mutex. NULL: no memory is left. */
static struct asks *make_asks(ay_space *space)
{
    struct asks *asks = calloc(1, sizeof *asks + space->places * sizeof *asks->own);
    if (!asks)
        return NULL;
    asks->space = space;
    asks->bell = &((const struct header *)(const void *)space->base)->bell[space->mark % BELLS];
    asks->heard = atomic_load(asks->bell);
    pthread_mutex_init(&asks->stepping, NULL);
    asks->last_stirred = &asks->first_stirred;
    ay__descriptor_begin(asks);
    asks->earliest = INT64_MAX;
    return asks;
}

int ay__asks_find(ay_space *space, struct asks **out)
{
    if (space->mark != ay__process_mark())
        return ay__fail(-EPERM, "the space was opened by another process: a child opens its own");
    if (!space->protocol->resumable)
        return ay__fail(-ENOTSUP,
                        "the protocol '%s' of this space cannot be asked: only waited for",
                        space->protocol->name);
    pthread_mutex_lock(&ay__asks_mutex);
    if (!atomic_load(&space->asks))
        atomic_store(&space->asks, make_asks(space));
    *out = atomic_load(&space->asks);
    pthread_mutex_unlock(&ay__asks_mutex);
    return *out ? 0 : ay__fail(-ENOMEM, "out of memory");
}

static int find_ask(ay_region *region, struct asks *asks)
{
    if (region->ask)
        return 0;
    struct ask *ask = calloc(1, sizeof *ask + asks->space->protocol->resumable->room);
    if (!ask)
        return ay__fail(-ENOMEM, "out of memory");
    ask->region = ask->member = region;
    ask->asks = asks;
    ay_region *member;
    for (unsigned which = 0; (member = ay__ask_member(ask, which)); which++) {
        member->ask = ask;
        atomic_store(&asks->own[member->at.fixed.self], true);
        atomic_store(&member->at.fixed.own_cold->bell, 1 + (uint32_t)(asks->space->mark % BELLS));
    }
    return 0;
}

static void free_ask(struct ask *ask)
{
    ay_region *member;
    for (unsigned which = 0; (member = ay__ask_member(ask, which)); which++)
        member->ask = NULL;
    free(ask->links);
    free(ask->vitals);
    free(ask);
}

/* ---- who goes on with passages: one thread of the process at a time ---- */

static bool is_stepping(const struct asks *asks)
{
    return atomic_load(&asks->stepper) == (uintptr_t)pthread_self();
}

/* A `when` that calls what would wait for itself. */
static int begin_stepping(struct asks *asks)
{
    if (is_stepping(asks))
        return ay__fail(-EDEADLK, "a `when` cannot ask, withdraw, or see what is decided");
    pthread_mutex_lock(&asks->stepping);
    atomic_store(&asks->stepper, (uintptr_t)pthread_self());
    return 0;
}

static void end_stepping(struct asks *asks)
{
    atomic_store(&asks->stepper, 0);
    pthread_mutex_unlock(&asks->stepping);
}

/* ---- the lists ---- */

static void join(struct ask *ask)
{
    struct asks *asks = ask->asks;
    pthread_mutex_lock(&ay__asks_mutex);
    ask->next = asks->all;
    ask->back = &asks->all;
    if (ask->next)
        ask->next->back = &ask->next;
    asks->all = ask;
    pthread_mutex_unlock(&ay__asks_mutex);
}

static void drop_stirred(struct ask *ask)
{
    struct asks *asks = ask->asks;
    struct ask **link = &asks->first_stirred;
    while (*link != ask)
        link = &(*link)->next_stirred;
    *link = ask->next_stirred;
    if (!*link)
        asks->last_stirred = link;
    ask->stirred = false;
    asks->stirred--;
}

/* It is over. */
static void part(struct ask *ask)
{
    pthread_mutex_lock(&ay__asks_mutex);
    ay__ask_unlink(ask);
    if (ask->stirred)
        drop_stirred(ask);
    *ask->back = ask->next;
    if (ask->next)
        ask->next->back = ask->back;
    if (!ask->asks->all)
        ask->asks->earliest = INT64_MAX;
    pthread_mutex_unlock(&ay__asks_mutex);
    ask->region->at.passage.asked = false;
}

/* The first that was stirred, or whom a hint is about. NULL: there is none, and the descriptor is
 * not readable any more (A3), but by more hints than are taken at once. `more`: it may be. */
static struct ask *take_stirred(struct asks *asks, bool *more)
{
    pthread_mutex_lock(&ay__asks_mutex);
    *more = true;
    for (int left = MESSAGES_AT_ONCE; !asks->first_stirred && *more && left > 0; left--)
        *more = ay__descriptor_take(asks);
    struct ask *ask = asks->first_stirred;
    if (ask)
        drop_stirred(ask);
    if (asks->first_stirred)
        ay__asks_say(asks);
    pthread_mutex_unlock(&ay__asks_mutex);
    return ask;
}

/* A3, for those who only hear of it when something is written: all there is was taken, or something
 * is written. */
static void tell_again(struct asks *asks, bool more)
{
    pthread_mutex_lock(&ay__asks_mutex);
    for (int left = MESSAGES_AT_ONCE; more && left > 0; left--)
        more = ay__descriptor_take(asks);
    if (asks->first_stirred || more)
        asks->told = ay__descriptor_say(asks);
    pthread_mutex_unlock(&ay__asks_mutex);
}

/* ---- an ask goes on ---- */

void ay__ask_holds(const ay_region *region)
{
    const struct registers *at = &region->at;
    if (!at->behalf)
        atomic_store(&at->fixed.own_cold->thread, ay__thread_name() ^ (uint64_t)(at->fixed.self + 1)
                                                                          << 32);
}

void ay__ask_thread_holds(const ay_region *region)
{
    const struct registers *at = &region->at;
    if (!at->behalf)
        atomic_store(&at->fixed.own_cold->thread,
                     ay__mark.value ^ atomic_load(&at->fixed.own_cold->tid));
}

void ay__ask_leaves(ay_region *region)
{
    region->at.passage.by_ask = false;
    ay__ask_thread_holds(region);
    ay__knowledge_take(region);
}

void ay__ask_has_left(ay_region *region)
{
    ay__knowledge_give(region);
}

static int begin(ay_region *region, int64_t deadline, int reason);

static int begin_again(struct ask *ask)
{
    struct registers *at = &ask->region->at;
    const int result = begin(ask->region, INT64_MIN, -ETIMEDOUT);
    if (!at->passage.asked)
        at->request = (struct request){0};
    return result;
}

static bool bury_shared(ay_region *region)
{
    return region->remote.kind ? region->remote.kind->bury_shared(region) : ay__bury_shared(region);
}

/* The next passage says anew who it is, if another thread has seen to this one; or if it was given
 * a number of its own, and has not got what is held by that. */
static int decide(struct ask *ask, bool passed)
{
    ay_region *region = ask->region;
    struct registers *at = &region->at;
    part(ask);
    const int result = ay__ask_end(ask, passed);
    const bool own = at->passer.thread == ay__thread;
    ay__passer_visit(at); /* another thread may have been the last to go on with it */
    if (result == -ETIMEDOUT && own && bury_shared(region))
        return begin_again(ask); /* no kernel told us that they are gone */
    at->request = (struct request){0};
    if (result >= 0) {
        at->passage.by_ask = true;
        ay__ask_holds(region);
    }
    if (!own || (result < 0 && region->remote.kind))
        at->passer.thread = 0;
    return result == -ETIMEDOUT ? ay__fail(-ETIMEDOUT, "not entered in time") : result;
}

/* The thread that asked has ended: its place is dead, as all others see it. */
static int forget(struct ask *ask)
{
    ay_region *member;
    part(ask);
    ask->resting = false;
    for (unsigned which = 0; (member = ay__ask_member(ask, which)); which++) {
        member->at.request = (struct request){0};
        member->at.passage = (struct this_passage){.unheard = AT_NOBODY};
        member->at.passer.thread = 0;
    }
    return ay__fail(-EPERM, "the thread that asked has ended, and its ask with it");
}

/* Its passage has stopped: it rests. */
static int rest(struct ask *ask)
{
    if (!ay__ask_may_rest(ask)) {
        ay__ask_get_up(ask);
        return decide(ask, false);
    }
    const int error = ay__ask_link(ask);
    if (!error)
        return -EINPROGRESS;
    ask->member->at.passage.reason = error;
    ay__ask_get_up(ask);
    return decide(ask, false);
}

static int step(struct ask *ask)
{
    struct registers *at = &ask->member->at;
    if (!ay__vital(at->fixed.space, at->fixed.self).alive)
        return forget(ask);
    ay__passer_visit(at);
    if (ask->resting) {
        const enum sleeping state = ay__ask_look_up(ask);
        if (state == SLEEP_LASTS)
            return rest(ask);
        ay__ask_get_up(ask);
        if (state == SLEEP_GIVEN_UP)
            return decide(ask, false);
    }
    switch (ay__ask_pass(ask)) {
    case STOPPED:
        return rest(ask);
    case PASSED:
        return decide(ask, true);
    default:
        return decide(ask, false);
    }
}

/* As far as it can. -EINPROGRESS: it rests; else what ay_enter() would have returned. */
static int go_on(struct ask *ask)
{
    ay__ask_takes_up(ask);
    const int result = step(ask);
    ay__ask_puts_down(ask);
    return result;
}

static int begin(ay_region *region, int64_t deadline, int reason)
{
    struct ask *ask = region->ask;
    struct registers *at = &region->at;
    const int error = ay__passage_begin(region, deadline, reason);
    if (error)
        return error == PASSAGE_COUNTED ? 0 : error;
    ay__ask_begin(ask);
    ask->resting = false;
    at->passage.asked = true;
    join(ask);
    return go_on(ask);
}

/* ---- the calls ---- */

int ay_ask_when(ay_region *region, bool (*when)(void *), void *arg, int timeout_ms)
{
    AY__UNCANCELLED;
    struct registers *at = &region->at;
    struct asks *asks;
    if (region_is_strange(region))
        return ay__fail(-EPERM, "the region was opened by another process: a child opens its own");
    int error = at->near.cluster && when ? ay__cluster_offers_conditions(region) : 0;
    if (!error)
        error = ay__asks_find(at->fixed.space, &asks);
    if (!error)
        error = find_ask(region, asks);
    if (!error)
        error = begin_stepping(asks);
    if (error)
        return error;
    int result;
    if (at->passage.asked) {
        result = ay__fail(-EALREADY, "this region is asked for already");
    } else {
        const struct request before = at->request;
        at->request = (struct request){.when = when, .argument = arg};
        result = begin(region,
                       timeout_ms < 0    ? INT64_MAX
                       : timeout_ms == 0 ? INT64_MIN
                                         : ay__now() + (int64_t)timeout_ms * 1000000,
                       timeout_ms < 0 ? 0 : -ETIMEDOUT);
        if (!at->passage.asked)
            at->request = before;
    }
    end_stepping(asks);
    return result;
}

int ay_ask(ay_region *region)
{
    return ay_ask_when(region, NULL, NULL, -1);
}

/* Each that was stirred when it was called, once: whoever is stirred again and again keeps nobody
 * here. */
ay_region *ay_decided(ay_space *space, int *result)
{
    AY__UNCANCELLED;
    struct asks *asks;
    ay_region *region = NULL;
    bool more;
    *result = ay__asks_find(space, &asks);
    if (!*result)
        *result = begin_stepping(asks);
    if (*result)
        return NULL;
    pthread_mutex_lock(&ay__asks_mutex);
    unsigned left = asks->stirred;
    pthread_mutex_unlock(&ay__asks_mutex);
    do {
        struct ask *ask = take_stirred(asks, &more);
        if (!ask)
            break;
        *result = go_on(ask);
        region = *result == -EINPROGRESS ? NULL : ask->region;
    } while (!region && left-- > 1);
    if (!region) {
        *result = 0;
        tell_again(asks, more);
    }
    end_stepping(asks);
    return region;
}

static int withdraw(struct ask *ask)
{
    struct registers *at = &ask->member->at;
    if (!ay__vital(at->fixed.space, at->fixed.self).alive) {
        forget(ask);
        return 0;
    }
    ay__ask_get_up(ask);
    at->passage.reason = -ECANCELED;
    ay__knowledge_take(ask->region);
    decide(ask, false);
    ay__knowledge_give(ask->region);
    return 0;
}

int ay_withdraw(ay_region *region)
{
    AY__UNCANCELLED;
    if (region_is_strange(region))
        return ay__fail(-EPERM, "the region was opened by another process: a child opens its own");
    struct asks *asks = atomic_load(&region->at.fixed.space->asks);
    const int error = asks ? begin_stepping(asks) : 0;
    if (error)
        return error;
    const bool asked = region->at.passage.asked;
    if (asked)
        withdraw(region->ask);
    if (asks)
        end_stepping(asks);
    if (asked)
        return 0;
    return region_is_inside(region)
               ? ay__fail(-EALREADY, "the ask was decided before: the region is entered")
               : ay__fail(-EPERM, "the region is not asked for");
}

int ay_fd(ay_space *space)
{
    AY__UNCANCELLED;
    struct asks *asks;
    const int error = ay__asks_find(space, &asks);
    if (error)
        return error;
    pthread_mutex_lock(&ay__asks_mutex);
    const int fd = ay__descriptor_find(asks);
    pthread_mutex_unlock(&ay__asks_mutex);
    return fd;
}

int ay_on_decided(ay_space *space, void (*call)(void *), void *arg)
{
    AY__UNCANCELLED;
    struct asks *asks;
    const int error = ay__asks_find(space, &asks);
    if (error)
        return error;
    pthread_mutex_lock(&ay__asks_mutex);
    asks->call = call;
    asks->call_arg = arg;
    pthread_mutex_unlock(&ay__asks_mutex);
    return 0;
}

/* ---- the end ---- */

void ay__ask_close(ay_region *region)
{
    if (!region->ask)
        return;
    if (region->at.near.mark == ay__process_mark()) {
        struct asks *asks = region->ask->asks;
        if (region->at.passage.asked)
            ay_withdraw(region);
        ay_region *member;
        for (unsigned which = 0; (member = ay__ask_member(region->ask, which)); which++)
            atomic_store(&asks->own[member->at.fixed.self], false);
    }
    free_ask(region->ask);
}

void ay__asks_close(ay_space *space)
{
    struct asks *asks = atomic_load(&space->asks);
    if (space->mark == ay__process_mark())
        ay__hints_close(space);
    if (!asks)
        return;
    if (space->mark == ay__process_mark()) {
        ay__helpers_end(asks);
        ay__descriptor_close(asks);
        ay__knowledge_end(asks);
    }
    free(asks);
    atomic_store(&space->asks, NULL);
}

void ay__asks_forget(ay_space *space)
{
    struct asks *asks = atomic_load(&space->asks);
    if (asks)
        ay__descriptor_close(asks);
    ay__hints_close(space);
}
