/* SPDX-License-Identifier: MIT */
/* Deaths inside: who is told of them, exactly once.
 *
 * A death inside is named by (place, generation): the place's life is dead, and `inside` is still set. Of those who enter a
 * resource that the dead one had, the first to take note of it is told. It says so in its own place (`acknowledged`), under the lock on DEATHS_BYTE, so nobody
 * else will be. Whoever claims the dead one's place first copies an untold death into `inherited`, under the same lock, and only then
 * rewrites the place.
 *
 * N1  A death is told iff some place acknowledges it. An acknowledgement is kept for as long as its death is to be found:
 *     dead and `inside`, or among `inherited`; whoever owns the place that keeps it.
 * N2  A passage that takes note of a death is itself `inside` already: should it die before its caller hears of it, the next one is told of
 *     that death instead.
 * N3  One passage is told of one death: what happens twice is told twice.
 *
 * Nothing here is reached unless a life has ended with `inside` set (registers.c sets `news`).
 */
#include <string.h>
#include <sys/mman.h>

#include "memory/region.h"

static bool is_dead_inside(const ay_space *space, unsigned place)
{
    const struct hot *hot = ay__hot(space, place);
    return !life_alive(atomic_load(&hot->life)) && atomic_load(&hot->inside);
}

static unsigned inherited_count(const struct hot *hot)
{
    const unsigned count = atomic_load(&hot->inherited);
    return count < INHERITED_MOST ? count : INHERITED_MOST;
}

bool ay__deaths_is_told(const ay_space *space, unsigned place, uint32_t generation)
{
    const unsigned used = ay__used(space);
    for (unsigned by = 0; by < used; by++) {
        const struct acknowledged_death *acknowledged = ay__cold(space, by)->acknowledged;
        for (unsigned at = 0; at < ACKNOWLEDGED_MOST; at++)
            if (acknowledged[at].generation == generation && acknowledged[at].place == place)
                return true;
    }
    return false;
}

/* N1: whether this acknowledgement may be forgotten. */
static bool is_stale(const ay_space *space, const struct acknowledged_death *death)
{
    if (death->generation == 0 || death->place >= space->places)
        return true;
    const struct hot *hot = ay__hot(space, death->place);
    const struct cold *cold = ay__cold(space, death->place);
    if (is_dead_inside(space, death->place) && life_generation(atomic_load(&hot->life)) == death->generation)
        return false;
    for (unsigned at = 0; at < inherited_count(hot); at++)
        if (cold->inherited[at].generation == death->generation)
            return false;
    return true;
}

/* DEATHS_BYTE is locked. With ACKNOWLEDGED_MOST untold deaths still to be found it overwrites the oldest: that one may be told again. */
static void acknowledge(ay_region *region, unsigned place, uint32_t generation)
{
    struct acknowledged_death *deaths = region->at.own_cold->acknowledged;
    unsigned room = 0;
    while (room < ACKNOWLEDGED_MOST && !is_stale(region->at.space, &deaths[room]))
        room++;
    if (room == ACKNOWLEDGED_MOST) {
        memmove(deaths, deaths + 1, (ACKNOWLEDGED_MOST - 1) * sizeof *deaths);
        room = ACKNOWLEDGED_MOST - 1;
    }
    deaths[room] = (struct acknowledged_death){.place = place, .generation = generation};
}

static bool names_meet(const struct inherited_death *death, const struct public_spec *spec)
{
    for (unsigned i = 0; i < death->names && i < NAMES_MOST; i++)
        for (unsigned j = 0; j < spec->names; j++)
            if (death->name[i] == ay__name_hash(&spec->name[j]))
                return true;
    return false;
}

struct search {
    ay_region *region;
    unsigned untold; /* found so far */
};

static void consider(struct search *search, unsigned place, uint32_t generation, uint32_t pid)
{
    if (ay__deaths_is_told(search->region->at.space, place, generation))
        return;
    if (search->untold++ == 0) {
        acknowledge(search->region, place, generation);
        if (ay__trace_file >= 0)
            ay__trace_death(search->region->at.space, pid, place, generation);
    }
}

static void search_place(struct search *search, unsigned place)
{
    const ay_space *space = search->region->at.space;
    const struct public_spec *spec = &search->region->spec;
    const struct hot *hot = ay__hot(space, place);
    const struct cold *cold = ay__cold(space, place);
    if (is_dead_inside(space, place) && ay__spec_meets(spec, &cold->spec))
        consider(search, place, life_generation(atomic_load(&hot->life)), cold->owner.pid);
    for (unsigned at = 0; at < inherited_count(hot); at++)
        if (names_meet(&cold->inherited[at], spec))
            consider(search, place, cold->inherited[at].generation, cold->inherited[at].pid);
}

bool ay__deaths_tell(ay_region *region)
{
    ay_space *space = region->at.space;
    struct search search = {.region = region};
    pthread_mutex_lock(&ay__process.mutex);
    if (ay__file_lock(space->fd, DEATHS_BYTE, true) == 0) {
        const unsigned used = ay__used(space);
        for (unsigned place = 0; place < used; place++)
            search_place(&search, place);
        region->at.news = search.untold > 1; /* N3 */
        ay__file_unlock(space->fd, DEATHS_BYTE);
    }
    pthread_mutex_unlock(&ay__process.mutex);
    return search.untold > 0;
}

static void copy_names(struct inherited_death *death, const struct public_spec *spec)
{
    death->names = spec->names < NAMES_MOST ? spec->names : NAMES_MOST;
    for (unsigned at = 0; at < death->names; at++)
        death->name[at] = ay__name_hash(&spec->name[at]);
}

/* The claimer of `place`, whose life is dead: keeps what is untold, drops what was told. Of more than INHERITED_MOST the oldest is dropped. */
void ay__deaths_inherit(const ay_space *space, unsigned place, struct hot *hot, struct cold *cold)
{
    if (!atomic_load(&hot->inside) && !atomic_load(&hot->inherited))
        return;
    if (ay__file_lock(space->fd, DEATHS_BYTE, true) != 0)
        return;
    struct inherited_death kept[INHERITED_MOST + 1];
    unsigned count = 0;
    for (unsigned at = 0; at < inherited_count(hot); at++)
        if (!ay__deaths_is_told(space, place, cold->inherited[at].generation))
            kept[count++] = cold->inherited[at];
    const uint32_t generation = life_generation(atomic_load(&hot->life));
    if (atomic_load(&hot->inside) && !ay__deaths_is_told(space, place, generation)) {
        copy_names(&kept[count], &cold->spec);
        kept[count].pid = cold->owner.pid;
        kept[count++].generation = generation;
    }
    const unsigned dropped = count > INHERITED_MOST ? 1 : 0;
    count -= dropped;
    memcpy(cold->inherited, kept + dropped, count * sizeof *kept);
    atomic_store(&hot->inherited, count);
    atomic_store(&hot->inside, 0);
    ay__file_unlock(space->fd, DEATHS_BYTE);
}
