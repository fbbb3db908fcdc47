/* SPDX-License-Identifier: MIT */
/* What the one inside may ask: its fence, and its units. */
#include "memory/passage/region.h"
#include "memory/remote/cluster.h"

uint64_t ay_fence(const ay_region *region)
{
    if (region_is_strange(region) || !region->at.habits.entered)
        return 0; /* the number in its word is that of the place's last owner */
    return region->at.near.cluster ? ay__cluster_fence(region)
                                   : ay__fence(region->at.fixed.space, region->at.fixed.self);
}

size_t ay_units(const ay_region *region, unsigned *units, size_t room)
{
    if (region_is_strange(region) || !region_is_inside(region))
        return 0;
    size_t count = 0;
    for (unsigned unit = 0; unit < region->spec.of; unit++)
        if (ay__units_has(&region->at, unit)) {
            if (count < room)
                units[count] = unit;
            count++;
        }
    return count;
}
