/* SPDX-License-Identifier: MIT */
/* ay_lost and ay_valid: how one inside a cluster's region learns that it is so no longer.
 *
 * A watcher thread, which a space has from the first call of ay_lost() on, sleeps until the agent
 * says that something was lost, or the deadline passes; and tells each passage once, by its
 * eventfd.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/descriptors.h"
#include "memory/remote/kind.h"

enum { MS = 1000 * 1000, LOOK_MS = 500 };

bool ay__cluster_stands(const ay_region *region)
{
    const struct permissions *pages = region->at.fixed.space->cluster->pages;
    const struct permission *permission = region->remote.permission;
    return permission && /* it may begin anew while the watcher looks, and its name be gone */
           permission_era(atomic_load(&permission->granted)) ==
               permission_era(atomic_load(&region->remote.granted)) &&
           clock_ns(CLOCK_BOOTTIME) < atomic_load(&pages->deadline);
}

static bool holds(const ay_region *region)
{
    return region->remote.kind ? region->remote.kind->holds(region) : ay__cluster_stands(region);
}

bool ay_valid(const ay_region *region)
{
    if (region->at.near.mark != ay__process_mark() || !region_is_entered(region))
        return false;
    if (!region->at.near.cluster || region->remote.needed == PERMISSION_NONE)
        return true;
    return !atomic_load(&region->remote.told_lost) && holds(region);
}

/* Grace less lease, and less the tenth of the lease by which clocks may differ. */
int ay_grace(const ay_space *space)
{
    if (!space->cluster || space->mark != ay__process_mark())
        return 0;
    const struct permissions *pages = space->cluster->pages;
    return (int)pages->grace_ms - (int)pages->lease_ms - (int)pages->lease_ms / 10;
}

/* Under the mutex. */
static void tell_losers(ay_space *space)
{
    const uint64_t one = 1;
    for (ay_region *region = space->regions; region; region = region->next) {
        if (!region->remote.lost || !atomic_load(&region->remote.granted) ||
            !atomic_load(&region->at.near.own->inside) || atomic_load(&region->remote.told_lost) ||
            holds(region))
            continue;
        atomic_store(&region->remote.told_lost, true);
        /* the program may have closed it */
        if (descriptor_is(region->remote.lost - 1, &region->remote.lost_file))
            (void)!write(region->remote.lost - 1, &one, sizeof one);
    }
}

static void *watch(void *arg)
{
    ay_space *space = arg;
    struct cluster *cluster = space->cluster;
    while (!atomic_load(&cluster->stop)) {
        const uint32_t changes = atomic_load(&cluster->pages->changes);
        pthread_mutex_lock(&ay__process.mutex);
        tell_losers(space);
        pthread_mutex_unlock(&ay__process.mutex);
        int64_t left = atomic_load(&cluster->pages->deadline) - clock_ns(CLOCK_BOOTTIME);
        if (left <= 0 || left > (int64_t)LOOK_MS * MS)
            left = (int64_t)LOOK_MS * MS;
        const struct timespec time = {.tv_nsec = left + 1};
        if (!atomic_load(&cluster->stop))
            syscall(SYS_futex, &cluster->pages->changes, FUTEX_WAIT, changes, &time, NULL, 0);
    }
    return NULL;
}

/* Under the mutex. */
static int start_watching(ay_space *space)
{
    struct cluster *cluster = space->cluster;
    if (cluster->watching)
        return 0;
    sigset_t all, before;
    sigfillset(&all);
    /* inherited: no handler of the program's runs there */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&cluster->watcher, NULL, watch, space);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return ay__fail(-error, "cannot start the thread that watches for losses: %s",
                        strerror(error));
    cluster->watching = true;
    return 0;
}

void ay__cluster_stop_watching(struct cluster *cluster)
{
    if (!cluster->watching)
        return;
    atomic_store(&cluster->stop, 1);
    syscall(SYS_futex, &cluster->pages->changes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    pthread_join(cluster->watcher, NULL);
    cluster->watching = false;
}

unsigned ay__cluster_watchers(void)
{
    unsigned count = 0;
    for (const ay_space *space = ay__process.spaces; space; space = space->next)
        count += space->cluster && space->cluster->watching;
    return count;
}

int ay_lost(ay_region *region)
{
    AY__UNCANCELLED;
    if (region->at.near.mark != ay__process_mark())
        return ay__fail(-EPERM, "the region was opened by another process: a child opens its own");
    if (region->remote.lost)
        return region->remote.lost - 1;
    const int fd = descriptor_above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (fd < 0)
        return ay__fail(-errno, "cannot make an eventfd: %s", strerror(errno));
    descriptor_identify_event(fd, &region->remote.lost_file);
    pthread_mutex_lock(&ay__process.mutex);
    const int error = region->at.near.cluster ? start_watching(region->at.fixed.space) : 0;
    if (!error)
        region->remote.lost = fd + 1;
    pthread_mutex_unlock(&ay__process.mutex);
    if (error)
        close(fd);
    return error ? error : fd;
}

/* A new passage: what was told of the last is over. */
void ay__cluster_enters(ay_region *region)
{
    uint64_t count;
    if (region->remote.lost && descriptor_is(region->remote.lost - 1, &region->remote.lost_file))
        (void)!read(region->remote.lost - 1, &count, sizeof count);
    atomic_store(&region->remote.told_lost, false);
}

/* Under the mutex, when the watcher no longer finds it. */
void ay__cluster_region_close(ay_region *region)
{
    if (region->remote.lost && descriptor_is(region->remote.lost - 1, &region->remote.lost_file))
        close(region->remote.lost - 1);
    region->remote.lost = 0;
}
