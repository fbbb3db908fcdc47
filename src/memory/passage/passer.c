/* SPDX-License-Identifier: MIT */
/* Another thread comes to a region: it says by which pulse it lives, and renews the place if the
 * last one ended in the middle of a passage. */
#include "memory/passage/passer.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/file/named.h"
#include "memory/passage/region.h"
#include "memory/remote/cluster.h"

/* The thread that was here last ended in the middle of a passage. As for one who claims the place:
 * what it left is read as dead, and a death inside is kept to be told. Under the mutex. */
static int renew(ay_region *region)
{
    struct registers *at = &region->at;
    const int error = ay__renew(at->fixed.space, &region->spec, &region->claim);
    if (error)
        return error;
    at->mine.word = atomic_load(&at->near.own->word);
    at->near.mode = (uint8_t)region->spec.mode;
    atomic_store(&at->retention.grant, 0);
    at->retention.wanted = at->habits.calm = false;
    at->rivals.news |= atomic_load(&at->near.own->inherited) != 0;
    region->remote.death = false; /* it counts as one who died inside: of that the next is told */
    return 0;
}

/* L8. Under the mutex. */
static int come(ay_region *region, const struct comer *comer, const void **moved)
{
    struct registers *at = &region->at;
    const struct vital last = ay__vital(at->fixed.space, at->fixed.self);
    int error = 0;
    if (last.alive && region_is_inside(region))
        return ay__fail(-EDEADLK, "this region is already entered");
    if (!last.alive &&
        (region_is_inside(region) || !registers_is_idle(at, 0, atomic_load(&at->near.own->word))))
        error = renew(region);
    if (error)
        return error;
    access_point();
    atomic_store(&at->near.own->pulse, comer->pulse);
    *moved = last.futex;
    atomic_store(&at->fixed.own_cold->tid, comer->tid);
    atomic_store(&at->fixed.own_cold->thread, comer->thread);
    return 0;
}

int ay__passer_change(ay_region *region, const void **moved)
{
    AY__UNCANCELLED;
    struct registers *at = &region->at;
    pthread_mutex_lock(&ay__process.mutex);
    struct comer comer = {.tid = (uint32_t)syscall(SYS_gettid)};
    int error = ay__pulse_take(at->fixed.space, at->fixed.self, &comer.pulse);
    comer.thread = at->behalf ? at->behalf : ay__thread_name();
    if (!error)
        error = come(region, &comer, moved);
    if (!error)
        at->passer = (struct passer){.thread = ay__thread, .undisturbed = ay__named_pointer()};
    pthread_mutex_unlock(&ay__process.mutex);
    return error;
}

struct comer ay__passer_of(const ay_region *region)
{
    const struct registers *at = &region->at;
    return (struct comer){.pulse = atomic_load(&at->near.own->pulse),
                          .thread = atomic_load(&at->fixed.own_cold->thread),
                          .tid = atomic_load(&at->fixed.own_cold->tid),
                          .passer = at->passer.thread};
}

int ay__passer_follow(ay_region *region, const struct comer *comer, const void **moved)
{
    AY__UNCANCELLED;
    const uint64_t pulse_was = atomic_load(&region->at.near.own->pulse);
    pthread_mutex_lock(&ay__process.mutex);
    const int error = come(region, comer, moved);
    pthread_mutex_unlock(&ay__process.mutex);
    if (pulse_was == comer->pulse)
        *moved = NULL;
    if (!error)
        region->at.passer =
            (struct passer){.thread = comer->passer, .undisturbed = ay__named_pointer()};
    return error;
}

void ay__passer_visit(struct registers *at)
{
    volatile uint64_t *undisturbed = ay__named_pointer();
    if (at->passer.thread == ay__thread && at->passer.undisturbed == undisturbed)
        return;
    at->passer.undisturbed = undisturbed;
    at->passer.breaks = 0;
}

/* Not 0: it is inside still. */
static int leave_as_dead(ay_region *region)
{
    AY__UNCANCELLED;
    struct registers *at = &region->at;
    ay__cluster_leaves(region);
    pthread_mutex_lock(&ay__process.mutex);
    const int error = renew(region);
    if (!error)
        at->passer.thread = 0; /* the next passage says anew by which pulse it lives */
    pthread_mutex_unlock(&ay__process.mutex);
    if (error)
        return error;
    at->passage = (struct this_passage){.unheard = AT_NOBODY};
    ay__wake(at);
    return 0;
}

void ay__leave_to_tell(ay_region *region)
{
    if (leave_as_dead(region) != 0)
        ay_leave(region);
}
