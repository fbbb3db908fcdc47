/* SPDX-License-Identifier: MIT */
/* Several resources of a cluster at once: each is a region of its own, a member.
 *
 * On one machine a region with several names has one place, which stands in the queues of all of
 * them. In a cluster the permissions of names move one by one. So the members are entered one after
 * the other, in the order of their names' bytes, which all machines have in common: whoever has one
 * and waits for another waits for a greater name, and so no cycle of such waits is closed.
 *
 * How that goes, step by step, is in several_steps.c.
 *
 * The caller's region is the last member. The others are regions of the same space, opened before
 * it: so ay_close(), which closes the latest first, never finds them without it.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "memory/passage/convert.h"
#include "memory/remote/several.h"

static int compare(const void *a, const void *b)
{
    const struct name *one = a, *other = b;
    const size_t least = one->length < other->length ? one->length : other->length;
    const int differs = memcmp(one->bytes, other->bytes, least);
    return differs ? differs : (int)one->length - (int)other->length;
}

static int open_member(ay_space *space, const ay_spec *like, const struct name *name,
                       ay_region **out)
{
    char text[AY_NAME_MOST + 1];
    ay_spec spec = *like;
    memcpy(text, name->bytes, name->length);
    text[name->length] = '\0';
    spec.name = text;
    spec.also = NULL;
    spec.reentrant = 0;
    return ay_region_open(space, &spec, out);
}

/* What it reads of the spec is sorted; then the region has the last name, and no other. */
int ay__cluster_several_open(ay_space *space, const ay_spec *spec, ay_region *region)
{
    struct public_spec *own = &region->spec;
    const struct name first = own->name[0];
    struct cluster_several *several = calloc(1, sizeof *several);
    if (!several)
        return ay__fail(-ENOMEM, "out of memory");
    region->remote.kind = &ay__kind_several;
    region->remote.several = several;
    qsort(own->name, own->names, sizeof own->name[0], compare);
    int error = 0;
    for (unsigned at = 0; at < own->names && !error; at++) {
        if (compare(&own->name[at], &first) == 0)
            several->first = at;
        if (at + 1 == own->names)
            several->member[at] = region;
        else
            error = open_member(space, spec, &own->name[at], &several->member[at]);
        if (!error && several->member[at] != region)
            several->member[at]->leader = region;
        several->count += !error;
    }
    own->name[0] = own->name[own->names - 1];
    memset(&own->name[1], 0, (own->names - 1) * sizeof own->name[0]);
    own->names = 1;
    return error;
}

static void close_others(ay_region *region)
{
    struct cluster_several *several = region->remote.several;
    for (unsigned at = 0; at < several->count; at++)
        if (several->member[at] != region)
            ay_region_close(several->member[at]);
    free(several);
}

static ay_region *member(const ay_region *region, unsigned which)
{
    const struct cluster_several *several = region->remote.several;
    return which < several->count ? several->member[which] : NULL;
}

static void leave(ay_region *region)
{
    ay__several_leave_first(region->remote.several, region->remote.several->count - 1);
}

/* First all to a mode that includes both: from there each can go back to what it had. */
static int convert(ay_region *region, unsigned mode, int64_t deadline)
{
    struct cluster_several *several = region->remote.several;
    const unsigned had = region->at.near.mode, both = ay__mode_join(had, mode);
    for (unsigned at = 0; at < several->count; at++) {
        const int result = ay__convert_one(several->member[at], both, deadline);
        several->owed |= (unsigned)(result == AY_AFTER_DEATH) << at;
        if (result >= 0)
            continue;
        while (at-- > 0)
            (void)ay__convert_one(several->member[at], had, deadline);
        return result;
    }
    for (unsigned at = 0; at < several->count; at++)
        (void)ay__convert_one(several->member[at], mode, deadline);
    const int result = several->owed ? AY_AFTER_DEATH : 0;
    several->owed = 0;
    return result;
}

static uint64_t fence(const ay_region *region)
{
    const struct cluster_several *several = region->remote.several;
    return ay__cluster_fence(several->member[several->first]);
}

static unsigned wanted(const ay_region *region)
{
    const struct cluster_several *several = region->remote.several;
    unsigned count = ay__wanted_here(region);
    for (unsigned at = 0; at + 1 < several->count; at++)
        count += ay_wanted(several->member[at]);
    return count;
}

static bool bury_shared(ay_region *region)
{
    const struct cluster_several *several = region->remote.several;
    bool buried = false;
    for (unsigned at = 0; at < several->count; at++)
        buried |= ay__bury_shared(several->member[at]);
    return buried;
}

static int unshare_others(ay_region *region)
{
    const struct cluster_several *several = region->remote.several;
    int error = 0;
    for (unsigned at = 0; at + 1 < several->count && !error; at++)
        error = ay_unshare(several->member[at]);
    return error;
}

static int unshare_all(ay_region *region)
{
    (void)unshare_others(region);
    ay__unshare_one(region);
    return 0;
}

/* They are all of one space: the descriptor of the caller's keeps them. */
static int share_all(ay_region *region)
{
    const struct cluster_several *several = region->remote.several;
    const bool shared = life_shared(atomic_load(&region->at.near.own->life));
    int fd = 0;
    for (unsigned at = 0; at + 1 < several->count && fd >= 0; at++) {
        fd = ay_share(several->member[at]);
        if (fd >= 0)
            close(fd);
    }
    if (fd >= 0)
        fd = ay__share_one(region);
    if (fd < 0 && !shared)
        (void)unshare_others(region);
    return fd;
}

static void on_behalf(ay_region *region, uint64_t thread)
{
    const struct cluster_several *several = region->remote.several;
    for (unsigned at = 0; at + 1 < several->count; at++)
        (void)ay_on_behalf(several->member[at], thread);
}

static int rename_none(ay_region *region, size_t length)
{
    (void)region;
    (void)length;
    return ay__fail(-ENOTSUP, "a region of several resources keeps its names");
}

static size_t no_units(const ay_region *region, unsigned *list, size_t room)
{
    (void)region;
    (void)list;
    (void)room;
    return 0;
}

const struct remote_kind ay__kind_several = {.close = close_others,
                                             .enter = ay__several_enter,
                                             .member = member,
                                             .begin = ay__several_begin,
                                             .present = ay__several_present,
                                             .pass_on = ay__several_pass_on,
                                             .rest = ay__several_rest,
                                             .rested = ay__several_rested,
                                             .called_off = ay__several_called_off,
                                             .end = ay__several_end,
                                             .leave = leave,
                                             .fence = fence,
                                             .units = no_units,
                                             .wanted = wanted,
                                             .holds = ay__several_stand,
                                             .convert = convert,
                                             .rename = rename_none,
                                             .on_behalf = on_behalf,
                                             .share = share_all,
                                             .unshare = unshare_all,
                                             .bury_shared = bury_shared};
