/* SPDX-License-Identifier: MIT */
/* ay_region_open and ay_region_close: a region gets its place in the space, and gives it up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory/courtesy/retention.h"
#include "memory/passage/region.h"
#include "memory/remote/kind.h"

/* What follows from its name. */
void ay__region_named(ay_region *region)
{
    struct registers *at = &region->at;
    const struct running_protocol *protocol = at->fixed.protocol;
    const struct header *header = (const struct header *)at->fixed.base;
    const uint64_t name = ay__spec_hash(&region->spec);
    /* it looks at every place, if it has several names, or its protocol asks for that */
    const bool everywhere =
        !name || !(protocol->features & FEATURE_NAMES) || protocol->features & FEATURE_EVERY_PLACE;
    const struct bucket *bucket = everywhere ? NULL : &header->bucket[bucket_of(name)];
    at->near.claims = bucket ? &bucket->claims : &header->claims;
    at->fixed.name = name;
    at->fixed.tags = bucket ? tag_pattern(tag_of(name)) : 0;
    at->fixed.floor = bucket ? &bucket->floor : NULL;
    lane_close(&at->lane);
    at->rivals.gathered = at->rivals.counted = NEVER_GATHERED;
}

static void begin_registers(ay_region *region, ay_space *space, const ay_spec *spec)
{
    assert_invariant(L6, region->claim.step == CLAIM_COUNTED); /* before its first step */
    struct registers *at = &region->at;
    const struct header *header = (const struct header *)space->base;
    const struct running_protocol *protocol = space->protocol;
    at->near = (struct fixed_near){
        .mark = space->mark,
        .own = region->claim.hot,
        .cluster = space->cluster != NULL,
        .plain = protocol->express && region->spec.slots == 1 && region->spec.take == 0 &&
                 !spec->tell_wanted && !region->remote.kind && ay__trace_file < 0,
        .idle_shows = protocol->express,
        .every_place = protocol->features & FEATURE_EVERY_PLACE,
        .mode = (uint8_t)region->spec.mode,
    };
    at->fixed = (struct fixed){
        .self = region->claim.place,
        .places = space->places,
        .granule = space->granule,
        .base = space->base,
        .registers = space->base + registers_offset(space->granule, space->places, 0),
        .own_cold = region->claim.cold,
        .own_page = region->claim.registers,
        .spec = &region->spec,
        .protocol = protocol,
        .space = space,
        .used = &header->used,
        .rouses = &header->rouses,
        .waits = protocol->waits_mask && region->spec.slots == 1 ? protocol->waits : 1,
        .waits_mask = region->spec.slots == 1 ? protocol->waits_mask : 0,
        .reentrant = spec->reentrant,
        .tells = spec->tell_wanted,
    };
    ay__region_named(region);
    at->rivals.news = atomic_load(&at->near.own->inherited) != 0;
    /* The count of sleeps goes on, whoever owns the place: rivals remember which sleep they ended
     * last, and would take the first one of a new owner for that of an old one. */
    at->mine = (struct mine){.word = atomic_load(&at->near.own->word),
                             .sleeps = atomic_load(&at->near.own->sleeps)};
}

static int try_claim(ay_region *region, ay_space *space, const ay_spec *spec)
{
    pthread_mutex_lock(&ay__process.mutex);
    uint64_t pulse;
    ay__thread_begin(); /* before there is a keeper, which would find nobody */
    int error = ay__claim(space, &region->spec, &region->claim);
    if (!error) {
        /* so that entering need not fail for want of one */
        error = ay__pulse_take(space, region->claim.place, &pulse);
        if (error)
            ay__release(space, &region->claim);
    }
    if (!error) {
        begin_registers(region, space, spec);
        region->next = space->regions;
        if (region->next)
            region->next->before = region;
        space->regions = region;
        ay__retention_open(&region->at);
    }
    pthread_mutex_unlock(&ay__process.mutex);
    return error;
}

/* -EAGAIN: the space is being removed, which takes a moment; or else somebody who may write to it
 * keeps it locked, and is not waited for any longer. */
static int claim(ay_region *region, ay_space *space, const ay_spec *spec)
{
    enum { TRIES = 500, PAUSE_NS = 1000 * 1000 };
    int error = try_claim(region, space, spec);
    for (int tries = 0; error == -EAGAIN && tries < TRIES; tries++) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        error = try_claim(region, space, spec);
    }
    return error;
}

/* `mine`: not in a child after fork, where not all of it is there. */
static void free_region(ay_region *region, unsigned places, bool mine)
{
    if (mine)
        ay__acquaintances_end(&region->at.rivals, places);
    free(region);
}

static void close_kind(ay_region *region)
{
    if (region->remote.kind)
        region->remote.kind->close(region);
}

int ay_region_open(ay_space *space, const ay_spec *spec, ay_region **out)
{
    AY__UNCANCELLED;
    if (space->mark != ay__process_mark())
        return ay__fail(-EPERM, "the space was opened by another process: a child opens its own");
    void *room; /* aligned, for the short ways fetch few lines of it (region.h) */
    if (posix_memalign(&room, LINE, sizeof(ay_region)) != 0)
        return ay__fail(-ENOMEM, "out of memory");
    ay_region *region = memset(room, 0, sizeof *region);
    int error = ay__spec_read(space, spec, &region->spec);
    if (!error && space->cluster && region->spec.names > 1)
        error = ay__cluster_several_open(space, spec, region);
    if (!error && space->cluster)
        error = ay__cluster_region_open(region, space->cluster);
    if (!error && region->remote.kind && region->remote.kind->is_door && spec->tell_wanted)
        error = ay__fail(-ENOTSUP, "`tell_wanted` is not for slots and units of a cluster");
    if (!error)
        error = ay__acquaintances_begin(&region->at.rivals, space->places);
    if (!error && spec->tell_wanted)
        error = ay__wanted_open(space);
    if (!error) {
        error = claim(region, space, spec);
        if (error && spec->tell_wanted)
            ay__wanted_close(space);
    }
    if (error) {
        close_kind(region);
        free_region(region, space->places, true);
        return error;
    }
    *out = region;
    return 0;
}

static void forget(ay_space *space, const ay_region *region)
{
    if (region->next)
        region->next->before = region->before;
    if (region->before)
        region->before->next = region->next;
    else
        space->regions = region->next;
}

void ay_region_close(ay_region *region)
{
    AY__UNCANCELLED;
    if (!region)
        return;
    ay_space *space = region->at.fixed.space;
    ay__ask_close(region);
    /* if not: a child, after fork; the place is the parent's */
    const bool mine = region->at.near.mark == ay__process_mark();
    if (mine && region_is_inside(region) && ay__vital(space, region->claim.place).alive) {
        region->at.passage.depth = 0; /* however often it was entered */
        ay_leave(region);             /* else its thread ended inside, and that is told */
    }
    pthread_mutex_lock(&ay__process.mutex);
    if (mine)
        ay__retention_close(&region->at);
    forget(space, region);
    ay__cluster_region_close(region);
    if (mine)
        ay__release(space, &region->claim);
    pthread_mutex_unlock(&ay__process.mutex);
    if (mine && region->at.fixed.tells)
        ay__wanted_close(space);
    close_kind(region);
    free_region(region, space->places, mine);
}
