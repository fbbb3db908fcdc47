/* SPDX-License-Identifier: MIT */
/* Regions of the space that are the agent's own: see spares.h. */
#include "agent/host/spares.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"

#define SPARE_NAME "(spare of the agent)"
enum { PAUSE_NS = 100 * 1000 * 1000 };

void spares_begin(struct spares *spares, ay_space *space, int file)
{
    *spares = (struct spares){.space = space, .file = file};
}

/* Who opens a region waits, for half a second at most, while somebody keeps the file locked who may
 * write to it. The agent does not. */
static bool is_locked(const struct spares *spares)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    return fcntl(spares->file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static int fail(struct spares *spares, int error, const char *why)
{
    spares->error = error;
    spares->not_before = clock_ns(CLOCK_MONOTONIC) + PAUSE_NS;
    snprintf(spares->why, sizeof spares->why, "%s", why);
    return error;
}

/* To look for a place where there is none takes long: not again and again. */
static int obtain(struct spares *spares, unsigned mode, ay_region **region)
{
    if (spares->error && clock_ns(CLOCK_MONOTONIC) < spares->not_before)
        return spares->error;
    if (is_locked(spares))
        return fail(spares, -EAGAIN, "somebody who may write to the space has locked it");
    const int error = ay_region_open(
        spares->space, &(ay_spec){.name = SPARE_NAME, .mode = (ay_mode)permission_turned(mode)},
        region);
    if (error)
        return fail(spares, error, ay_message());
    spares->error = 0;
    return 0;
}

static int add(struct spares *spares)
{
    const int error = obtain(spares, PERMISSION_EXCLUSIVE, &spares->region[spares->count]);
    if (!error)
        spares->count++;
    return error;
}

void spares_fill(struct spares *spares)
{
    while (spares->count < SPARES_AHEAD)
        if (add(spares) != 0)
            return;
}

static bool take_weaker(struct spares *spares, unsigned mode, ay_region **region)
{
    if (mode == PERMISSION_EXCLUSIVE)
        return false;
    *region = spares->weaker[mode];
    spares->weaker[mode] = NULL;
    return *region || obtain(spares, mode, region) == 0;
}

static void put_back(struct spares *spares, unsigned mode, ay_region *region)
{
    if (mode != PERMISSION_EXCLUSIVE && !spares->weaker[mode])
        spares->weaker[mode] = region;
    else if (mode == PERMISSION_EXCLUSIVE && spares->count < SPARES_KEPT)
        spares->region[spares->count++] = region;
    else
        ay_region_close(region);
}

int spares_take(struct spares *spares, const char *name, uint8_t *mode, ay_region **region,
                char why[SPARES_WHY])
{
    if (!take_weaker(spares, *mode, region)) {
        const int error = spares->count > 0 ? 0 : add(spares);
        if (error) {
            memcpy(why, spares->why, SPARES_WHY);
            return error;
        }
        *mode = PERMISSION_EXCLUSIVE;
        *region = spares->region[--spares->count];
    }
    const int error = ay_region_rename(*region, name);
    if (!error)
        return 0;
    snprintf(why, SPARES_WHY, "%s", ay_message());
    if (error == -EINVAL) /* others disagree on what the name is: the region is as good as before */
        put_back(spares, *mode, *region);
    else
        ay_region_close(*region);
    return error;
}

void spares_give_back(struct spares *spares, unsigned mode, ay_region *region)
{
    if (ay_region_rename(region, SPARE_NAME) == 0)
        put_back(spares, mode, region);
    else
        ay_region_close(region);
}
