/* SPDX-License-Identifier: MIT */
/* What the one inside may ask: its fence, its units, how many wait for them, and that the next of
 * these gets ready. */
#include <errno.h>

#include "memory/passage/long_way.h"
#include "memory/passage/region.h"
#include "memory/passage/words.h"
#include "memory/remote/kind.h"

uint64_t ay_fence(const ay_region *region)
{
    if (region_is_strange(region) || !region->at.habits.entered)
        return 0; /* the number in its word is that of the place's last owner */
    if (region->remote.kind)
        return region->remote.kind->fence(region);
    return region->at.near.cluster ? ay__cluster_fence(region)
                                   : ay__fence(region->at.fixed.space, region->at.fixed.self);
}

size_t ay_units(const ay_region *region, unsigned *units, size_t room)
{
    if (region_is_strange(region) || !region_is_entered(region))
        return 0;
    size_t count = 0;
    if (region->remote.kind)
        return region->remote.kind->units(region, units, room);
    for (unsigned unit = 0; unit < region->spec.of; unit++)
        if (ay__units_has(&region->at, unit)) {
            if (count < room)
                units[count] = unit;
            count++;
        }
    return count;
}

/* Whether somebody at `place`, who is a rival, has begun to enter, and is not inside. A protocol
 * that does not say so in its word says it once it sleeps. */
static bool waits(const struct registers *at, unsigned place)
{
    const struct running_protocol *protocol = at->fixed.protocol;
    const struct hot *hot = registers_hot(at, place);
    access_point();
    const uint64_t value = atomic_load(&hot->word);
    const bool begun =
        protocol->wants
            ? protocol->wants(value) && registers_excludes(at, at->near.mode, protocol->mode(value))
            : !atomic_load(&hot->inside) && atomic_load(&ay__cold(at->fixed.space, place)->waiting);
    return begun && ay__vital(at->fixed.space, place).alive;
}

/* The region is not changed for anybody else: who its rivals are is gathered anew, if need be. */
unsigned ay__wanted_here(const ay_region *region)
{
    struct registers *at = (struct registers *)(uintptr_t)&region->at;
    unsigned count = 0;
    for (unsigned place = registers_next_rival(at, 0); place < at->fixed.places;
         place = registers_next_rival(at, place + 1))
        count += acquaintance_of(&at->rivals.met, place)->rival && waits(at, place);
    return count;
}

unsigned ay_wanted(const ay_region *region)
{
    if (region_is_strange(region) || !region_is_entered(region))
        return 0;
    return region->remote.kind ? region->remote.kind->wanted(region) : ay__wanted_here(region);
}

int ay_wake_next(ay_region *region)
{
    if (region_is_strange(region))
        return ay__refuse_stranger();
    if (!region_is_entered(region))
        return ay__fail(-EPERM, "the caller is not inside the region");
    if (!region->remote.kind || !region->remote.kind->is_door)
        ay__wake_next(&region->at, false);
    return 0;
}
