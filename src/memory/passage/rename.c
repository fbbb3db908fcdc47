/* SPDX-License-Identifier: MIT */
/* ay_region_rename: the same place for another resource.
 *
 * To rename is to give the place up and to claim it at once, without the kernel: it changes its
 * generation, so whoever knew it by the old name meets it anew (L4); its tag and the count of
 * claims of the new name tell the new rivals (L6, L9). Nobody but those of either name looks at it.
 *
 * In a cluster the permission is the new name's from then on, and the agent need not know: to it a
 * machine wants a name, and no process in particular.
 */
#include <errno.h>
#include <string.h>

#include "memory/courtesy/retention.h"
#include "memory/passage/region.h"
#include "memory/remote/kind.h"

static int check_region(const ay_region *region)
{
    const struct registers *at = &region->at;
    if (region_is_strange(region))
        return ay__fail(-EPERM, "the region was opened by another process: a child opens its own");
    if (!at->fixed.protocol->express)
        return ay__fail(-ENOTSUP, "the protocol '%s' of this space does not rename regions",
                        at->fixed.protocol->name);
    if (region->spec.names != 1)
        return ay__fail(-ENOTSUP, "a region of several resources keeps its names");
    /* asleep on a condition of a cluster's it is outside, as its word says */
    if (at->passage.asked || at->passage.queues)
        return ay__fail(-EBUSY,
                        "the region is being entered: its name can be changed outside only");
    return 0;
}

/* Under the mutex. One whose thread has ended in the middle of a passage is renewed when it is
 * entered next, and not before. */
static int check_outside(ay_region *region)
{
    struct registers *at = &region->at;
    if (at->passage.asking || region_is_inside(region))
        return ay__fail(-EBUSY, "the region is entered, or being entered: leave it first");
    ay__retention_give_back(at);
    if (!registers_is_idle(at, 0, atomic_load(&at->near.own->word)))
        return ay__fail(-EBUSY,
                        "the region is being entered: its name can be changed outside only");
    return 0;
}

/* Under the mutex. */
static int rename_outside(ay_region *region, const struct name *name)
{
    ay_space *space = region->at.fixed.space;
    int error = check_outside(region);
    if (!error && !space->pen.header) {
        error = ay__file_again(space);
        if (!error)
            error = ay__pen_take(space);
    }
    if (error)
        return error;
    space->arena.keeps_pen = true;
    region->spec.name[0] = *name;
    error = ay__rename(space, &region->spec, &region->claim);
    region->spec.name[0] = region->claim.cold->spec.name[0];
    if (region->at.near.cluster && !error)
        ay__cluster_region_named(region);
    return error;
}

int ay_region_rename(ay_region *region, const char *name)
{
    AY__UNCANCELLED;
    struct name wanted;
    int error = check_region(region);
    if (!error)
        error = ay__spec_name(name, &wanted);
    if (!error && region->remote.kind)
        error = region->remote.kind->rename(region, wanted.length);
    if (error)
        return error;
    pthread_mutex_lock(&ay__process.mutex);
    error = rename_outside(region, &wanted);
    pthread_mutex_unlock(&ay__process.mutex);
    if (error != -EBUSY) {
        ay__region_named(region);
        region->at.rivals.news |= atomic_load(&region->at.near.own->inherited) != 0;
        ay__gather_anew(&region->at);
    }
    return error;
}
