/* SPDX-License-Identifier: MIT */
/* A region held by more than one process: ay_share and ay_unshare.
 *
 * A life carries one TID, and the kernel marks it at that thread's death. While a region is shared
 * its life carries LIFE_SHARED, which is nobody's: no death marks it. What then says that somebody
 * holds the place is its claim, a lock of the open file description, which lasts until the last
 * copy of the descriptor is closed. So the second witness (wait.c, ay__bury) is the only one, and
 * whoever is last calls ay_repair() to tell at once.
 *
 * A copy may be made before the region is entered (ay_prepare). Until it is shared the life carries
 * its TID: the kernel tells of its death, though the copy is held; only the place stays taken.
 */
#include <errno.h>
#include <string.h>

#include "common/descriptors.h"
#include "memory/passage/region.h"
#include "memory/remote/kind.h"

static int check_owner(const ay_region *region)
{
    if (region->at.near.mark != ay__process_mark())
        return ay__fail(-EPERM, "the region was opened by another process: a child opens its own");
    return 0;
}

/* The place's one writer is this process, and its life alone is written by a kernel too: at a death
 * that is not now. */
static void change_life(ay_region *region, uint32_t from, uint32_t to)
{
    struct hot *hot = region->at.near.own;
    const uint64_t life = atomic_load(&hot->life);
    if ((life & FUTEX_TID_MASK) == from)
        atomic_store(&hot->life, life_make(life_generation(life), to | FUTEX_WAITERS));
}

int ay__share_one(ay_region *region)
{
    pthread_mutex_lock(&ay__process.mutex);
    const int lost = ay__file_again(region->at.fixed.space);
    pthread_mutex_unlock(&ay__process.mutex);
    if (lost)
        return lost;
    const int fd = descriptor_copy(region->at.fixed.space->fd);
    const uint32_t tid = life_word(atomic_load(&region->at.near.own->life)) & FUTEX_TID_MASK;
    if (fd < 0)
        return ay__fail(-errno, "cannot copy the descriptor of the space: %s", strerror(errno));
    if (region->at.passage.prepares) /* not inside yet */
        return fd;
    if (tid != LIFE_SHARED)
        region->alone = tid;
    change_life(region, region->alone, LIFE_SHARED);
    return fd;
}

void ay__unshare_one(ay_region *region)
{
    change_life(region, LIFE_SHARED, region->alone);
}

int ay_share(ay_region *region)
{
    AY__UNCANCELLED;
    const int error = check_owner(region);
    if (error)
        return error;
    const bool prepares = region->at.passage.prepares;
    if (prepares && region->remote.kind)
        return ay__fail(-EPERM,
                        "what several resources, slots or units of a cluster are held by is "
                        "known inside");
    if (!prepares && !region_is_entered(region))
        return ay__fail(-EPERM, "the caller is not inside the region");
    return region->remote.kind ? region->remote.kind->share(region) : ay__share_one(region);
}

int ay_unshare(ay_region *region)
{
    const int error = check_owner(region);
    if (error)
        return error;
    if (region->remote.kind)
        return region->remote.kind->unshare(region);
    ay__unshare_one(region);
    return 0;
}

bool ay__bury_shared(ay_region *region)
{
    AY__UNCANCELLED;
    struct registers *at = &region->at;
    bool buried = false;
    for (unsigned place = registers_next_rival(at, 0); place < at->fixed.places;
         place = registers_next_rival(at, place + 1)) {
        if (!life_shared(atomic_load(&registers_hot(at, place)->life)))
            continue;
        pthread_mutex_lock(&ay__process.mutex);
        buried |= ay__bury(at->fixed.space, place);
        pthread_mutex_unlock(&ay__process.mutex);
    }
    return buried;
}
