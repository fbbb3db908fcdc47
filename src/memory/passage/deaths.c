/* SPDX-License-Identifier: MIT */
/* Deaths inside: who is told of them, exactly once.
 *
 * A death inside is named by (place, generation): the place is dead, and `inside` is still set. Of
 * those who enter a resource that the dead one had, one is told: who swaps `told`, in the dead
 * one's place, to that generation. Whoever claims the place first keeps an untold death among
 * `inherited`, and swaps `told` likewise; only then it rewrites the place. What is kept is told by
 * a swap of its `state`. No lock is taken: who is stopped or killed in the middle keeps nobody
 * waiting.
 *
 * N1  A death is told once. `told` reaches its generation by one swap: TOLD_SOMEBODY by who is
 *     told, or TOLD_KEPT by the claimer. It cannot come to it again, for it changes with every
 *     death inside, and who swaps has fetched it before all else. A kept death is written first, as
 *     INHERITED_PERHAPS, which counts if `told` says TOLD_KEPT. So a claimer that is killed between
 *     the two leaves either the death itself, or what it kept; the next makes it INHERITED_UNTOLD,
 *     or drops it, before there is another generation.
 * N2  A passage that is told is itself `inside` already: should it die before its caller hears of
 *     it, the next one is told of that death instead.
 * N3  One passage is told of one death: what happens twice is told twice.
 *
 * Nothing here is reached unless a life or a thread has ended with `inside` set (rivals.c sets
 * `news`).
 */
#include <string.h>
#include <sys/mman.h>

#include "common/assert.h"
#include "memory/passage/region.h"

struct inquest {
    ay_region *region;
    bool told; /* of one: N3 */
    bool more; /* there are others; or one could not be told now */
};

/* One word of another's cold page, at `offset`, from what it was seen as. True: I am told. Somebody
 * waits: so it is mapped without the hot lines. Under the mutex, so no child is made meanwhile. */
static bool swap(struct inquest *search, unsigned place, size_t offset, uint64_t seen,
                 uint64_t wanted)
{
    const ay_space *space = search->region->at.fixed.space;
    const size_t page = ay__process.page, at = cold_offset(space->granule, space->places, place);
    assert_required(ay__mutex_is_held());
    char *cold =
        mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, space->fd, (off_t)begin_of(page, at));
    if (cold == MAP_FAILED) {
        search->more = true;
        return false;
    }
    _Atomic uint64_t *target = (_Atomic uint64_t *)(cold + at % page + offset);
    access_point();
    const bool swapped = atomic_compare_exchange_strong(target, &seen, wanted);
    munmap(cold, page);
    return swapped;
}

static void tell(struct inquest *search, unsigned place, uint32_t generation, uint64_t pid)
{
    assert_invariant(N3, !search->told);
    search->told = true;
    if (ay__trace_file >= 0)
        ay__trace_death(search->region->at.fixed.space, (unsigned)pid, place, generation);
}

/* Once more if its life, or its thread, changes meanwhile: so what is read here belongs together,
 * but for a claimer's rewriting, and by then the death is among those inherited. */
static void consider_dead(struct inquest *search, unsigned place)
{
    const ay_space *space = search->region->at.fixed.space;
    const struct cold *cold = ay__cold(space, place);
    struct vital vital, after;
    uint64_t told;
    uint32_t pid;
    bool concerns_me;
    const struct hot *hot = ay__hot(space, place);
    if (!atomic_load(&hot->inside) || ay__vital(space, place).alive)
        return; /* most are so: their cold pages need not be touched */
    do {
        access_point();
        told = atomic_load(&cold->told); /* before all else: N1 */
        vital = ay__vital(space, place);
        if (vital.alive || !atomic_load(&hot->inside) ||
            life_generation(told) == life_generation(vital.life))
            return;
        access_point();
        concerns_me = ay__spec_meets(&search->region->spec, &cold->spec);
        pid = cold->owner.pid;
        ay__order_loads();
        after = ay__vital(space, place);
    } while (!ay__same_vital(&vital, &after));
    const uint32_t generation = life_generation(vital.life);
    assert_invariant(N1, life_generation(told) != generation);
    if (concerns_me && search->told)
        search->more = true;
    else if (concerns_me && swap(search, place, offsetof(struct cold, told), told,
                                 of_generation(generation, TOLD_SOMEBODY)))
        tell(search, place, generation, pid);
}

static void consider_inherited(struct inquest *search, unsigned place, unsigned which)
{
    const ay_space *space = search->region->at.fixed.space;
    const struct cold *cold = ay__cold(space, place);
    const struct inherited_death *death = &cold->inherited[which];
    const uint64_t state = atomic_load(&death->state);
    if (!ay__inherited_is_untold(cold, state) || !ay__inherited_meets(death, &search->region->spec))
        return;
    const uint64_t pid = death->pid;
    const uint32_t generation = life_generation(state);
    const size_t offset = offsetof(struct cold, inherited) + which * sizeof *death;
    if (search->told)
        search->more = true;
    else if (swap(search, place, offset, state, of_generation(generation, INHERITED_TOLD)))
        tell(search, place, generation, pid);
}

/* True: this passage is told of one. */
static bool tell_of_one(ay_region *region)
{
    ay_space *space = region->at.fixed.space;
    struct inquest search = {.region = region};
    pthread_mutex_lock(&ay__process.mutex);
    if (ay__file_again(space) == 0) {
        const unsigned used = ay__used(space);
        for (unsigned place = 0; place < used; place++) {
            consider_dead(&search, place);
            for (unsigned at = 0;
                 at < INHERITED_MOST && atomic_load(&ay__hot(space, place)->inherited); at++)
                consider_inherited(&search, place, at);
        }
        region->at.rivals.news = search.more;
    }
    pthread_mutex_unlock(&ay__process.mutex);
    return search.told;
}

__attribute__((noinline)) int ay__deaths_attend(ay_region *region)
{
    AY__UNCANCELLED;
    assert_invariant(N2, region->at.passage.inside || lane_is_on(&region->at.lane));
    ay__look_at_company(&region->at);
    return region->at.rivals.news && tell_of_one(region) ? AY_AFTER_DEATH : 0;
}
