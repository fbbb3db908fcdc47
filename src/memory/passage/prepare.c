/* SPDX-License-Identifier: MIT */
/* Getting ready: what a passage is to do while it waits, once it is next. */
#include <errno.h>

#include "memory/passage/region.h"

int ay_prepare(ay_region *region, void (*prepare)(void *), void *arg)
{
    if (region->at.near.mark != ay__process_mark())
        return ay__fail(-EPERM, "the region was opened by another process: a child opens its own");
    if (region_is_inside(region))
        return ay__fail(-EPERM, "ay_prepare() comes before entering, and the caller is inside");
    if (region->at.passage.asked)
        return ay__fail(-EPERM, "ay_prepare() comes before entering, and the region is asked for");
    region->at.preparation = (struct preparation){.prepare = prepare, .argument = arg};
    return 0;
}

/* In strict order it is next; with precedence, or a bound, it may be. Who is inside already, and
 * changes its mode, was. */
static bool is_next(const struct registers *at, const struct watch *watch)
{
    const struct running_protocol *protocol = at->fixed.protocol;
    return !at->passage.inside && watch->count == 1 && watch->ahead <= 1 && protocol->inside &&
           protocol->inside(watch->seen[0]);
}

void ay__prepare(struct registers *at, const struct watch *watch)
{
    if (at->passage.prepared || !is_next(at, watch))
        return;
    at->passage.prepared = at->passage.prepares = at->passage.asking = true;
    at->preparation.prepare(at->preparation.argument);
    at->passage.prepares = at->passage.asking = false;
}
