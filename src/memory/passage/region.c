/* SPDX-License-Identifier: MIT */
/* ay_region_open and ay_region_close: a region gets its place in the space, and gives it up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/courtesy/retention.h"
#include "memory/passage/region.h"
#include "memory/remote/cluster.h"

static void begin_registers(ay_region *region, ay_space *space, bool reentrant)
{
    assert_invariant(L6, region->claim.step == CLAIM_COUNTED); /* before its first step */
    struct registers *at = &region->at;
    const struct header *header = (const struct header *)space->base;
    const struct running_protocol *protocol = space->protocol;
    at->near = (struct fixed_near){
        .mark = space->mark,
        .own = ay__claim_hot(&region->claim),
        .claims = &header->claims,
        .cluster = space->cluster != NULL,
        .plain = protocol->express && region->spec.slots == 1 && region->spec.take == 0 &&
                 ay__trace_file < 0,
        .idle_shows = protocol->express,
        .every_place = protocol->features & FEATURE_EVERY_PLACE,
    };
    at->fixed = (struct fixed){
        .self = region->claim.place,
        .places = space->places,
        .granule = space->granule,
        .base = space->base,
        .registers = space->base + registers_offset(space->granule, space->places, 0),
        .own_cold = ay__claim_cold(&region->claim),
        .own_page = ay__claim_registers(&region->claim),
        .spec = &region->spec,
        .protocol = protocol,
        .space = space,
        .used = &header->used,
        .rouses = &header->rouses,
        .name = ay__spec_hash(&region->spec),
        .waits = protocol->waits_mask && region->spec.slots == 1 ? protocol->waits : 1,
        .waits_mask = region->spec.slots == 1 ? protocol->waits_mask : 0,
        .reentrant = reentrant,
    };
    lane_close(&at->lane);
    at->rivals.gathered = NEVER_GATHERED;
    at->rivals.news = atomic_load(&at->near.own->inherited) != 0;
    /* The count of sleeps goes on, whoever owns the place: rivals remember which sleep they ended
     * last, and would take the first one of a new owner for that of an old one. */
    at->mine = (struct mine){.word = atomic_load(&at->near.own->word),
                             .sleeps = atomic_load(&at->near.own->sleeps)};
}

static int try_claim(ay_region *region, ay_space *space, bool reentrant)
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
        begin_registers(region, space, reentrant);
        region->next = space->regions;
        space->regions = region;
        ay__retention_open(&region->at);
    }
    pthread_mutex_unlock(&ay__process.mutex);
    return error;
}

/* -EAGAIN: the space is being removed, which takes a moment; or else somebody who may write to it
 * keeps it locked, and is not waited for any longer. */
static int claim(ay_region *region, ay_space *space, bool reentrant)
{
    enum { TRIES = 500, PAUSE_NS = 1000 * 1000 };
    int error = try_claim(region, space, reentrant);
    for (int tries = 0; error == -EAGAIN && tries < TRIES; tries++) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        error = try_claim(region, space, reentrant);
    }
    return error;
}

/* Zeros, in pages of which few are ever touched: calloc() may have to write them all. */
static struct acquaintance *make_acquaintances(unsigned places)
{
    void *made = mmap(NULL, places * sizeof(struct acquaintance), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return made == MAP_FAILED ? NULL : made;
}

static void free_region(ay_region *region, unsigned places)
{
    if (region->at.rivals.acquaintances)
        munmap(region->at.rivals.acquaintances, places * sizeof(struct acquaintance));
    free(region->at.rivals.runs);
    free(region->at.rivals.company);
    free(region);
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
    if (!error && space->cluster)
        error = ay__cluster_region_open(region, space->cluster);
    if (!error) {
        region->at.rivals.acquaintances = make_acquaintances(space->places);
        /* not zeroed: few of them are ever touched */
        region->at.rivals.runs = malloc(space->places * sizeof *region->at.rivals.runs);
        region->at.rivals.company = malloc(space->places * sizeof *region->at.rivals.company);
        if (!region->at.rivals.acquaintances || !region->at.rivals.runs ||
            !region->at.rivals.company)
            error = ay__fail(-ENOMEM, "out of memory");
    }
    if (!error)
        error = claim(region, space, spec->reentrant);
    if (error) {
        free_region(region, space->places);
        return error;
    }
    *out = region;
    return 0;
}

static void forget(ay_space *space, const ay_region *region)
{
    for (ay_region **link = &space->regions; *link; link = &(*link)->next)
        if (*link == region) {
            *link = region->next;
            return;
        }
}

void ay_region_close(ay_region *region)
{
    AY__UNCANCELLED;
    if (!region)
        return;
    ay_space *space = region->at.fixed.space;
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
    free_region(region, space->places);
}
