/* SPDX-License-Identifier: MIT */
/* Deaths inside that nobody was told of yet, kept by the place's next owners: how they are written,
 * and which of them are untold. How one of those who enter is told, exactly once (N1), is in
 * memory/passage/deaths.c.
 */
#include "memory/memory.h"

bool ay__inherited_is_told(const struct cold *cold, uint32_t generation)
{
    return life_generation(atomic_load(&cold->told)) == generation;
}

bool ay__inherited_meets(const struct inherited_death *death, const struct public_spec *spec)
{
    for (unsigned i = 0; i < death->names && i < NAMES_MOST; i++)
        for (unsigned j = 0; j < spec->names; j++)
            if (death->name[i] == ay__name_hash(&spec->name[j]))
                return true;
    return false;
}

bool ay__inherited_is_untold(const struct cold *cold, uint64_t state)
{
    const uint32_t generation = life_generation(state);
    return state == of_generation(generation, INHERITED_UNTOLD) ||
           (state == of_generation(generation, INHERITED_PERHAPS) &&
            atomic_load(&cold->told) == of_generation(generation, TOLD_KEPT));
}

/* Whether an untold death at a place, whose life was fetched, concerns who has this spec. */
bool ay__inherited_concern(const struct public_spec *spec, const struct vital *vital,
                           const struct hot *hot, const struct cold *cold)
{
    if (!vital->alive && atomic_load(&hot->inside) &&
        !ay__inherited_is_told(cold, life_generation(vital->life)) &&
        ay__spec_meets(spec, &cold->spec))
        return true;
    for (unsigned at = 0; at < INHERITED_MOST && atomic_load(&hot->inherited); at++)
        if (ay__inherited_is_untold(cold, atomic_load(&cold->inherited[at].state)) &&
            ay__inherited_meets(&cold->inherited[at], spec))
            return true;
    return false;
}

bool ay__inherited_full(const struct hot *hot, const struct cold *cold)
{
    if (!atomic_load(&hot->inherited))
        return false;
    for (unsigned at = 0; at < INHERITED_MOST; at++)
        if (!ay__inherited_is_untold(cold, atomic_load(&cold->inherited[at].state)))
            return false;
    return true;
}

/* Where this death is kept, or can be. With INHERITED_MOST untold ones the oldest is dropped. */
static struct inherited_death *room_for(struct cold *cold, uint32_t generation)
{
    struct inherited_death *free = NULL, *oldest = &cold->inherited[0];
    for (struct inherited_death *death = cold->inherited; death < cold->inherited + INHERITED_MOST;
         death++) {
        const uint64_t state = atomic_load(&death->state);
        if (life_generation(state) == generation && (uint32_t)state == INHERITED_PERHAPS)
            return death;
        if (!ay__inherited_is_untold(cold, state))
            free = death;
        if (state < atomic_load(&oldest->state))
            oldest = death;
    }
    return free ? free : oldest;
}

static void keep(struct cold *cold, uint32_t generation)
{
    struct inherited_death *death = room_for(cold, generation);
    atomic_store(&death->state, 0); /* who was about to tell of the one dropped here does not */
    death->pid = cold->owner.pid;
    death->names = cold->spec.names < NAMES_MOST ? cold->spec.names : NAMES_MOST;
    for (unsigned at = 0; at < death->names; at++)
        death->name[at] = ay__name_hash(&cold->spec.name[at]);
    access_point();
    atomic_store(&death->state, of_generation(generation, INHERITED_PERHAPS));
}

/* What was kept perhaps is kept, or told already. True: some are untold. */
static bool settle(struct cold *cold)
{
    bool untold = false;
    for (struct inherited_death *death = cold->inherited; death < cold->inherited + INHERITED_MOST;
         death++) {
        uint64_t state = atomic_load(&death->state);
        untold |= ay__inherited_is_untold(cold, state);
        if ((uint32_t)state != INHERITED_PERHAPS)
            continue;
        const uint64_t settled = ay__inherited_is_untold(cold, state)
                                     ? of_generation(life_generation(state), INHERITED_UNTOLD)
                                     : 0;
        access_point();
        atomic_compare_exchange_strong(&death->state, &state, settled);
    }
    return untold;
}

/* The claimer, whose place is not alive. */
void ay__inherit(struct hot *hot, struct cold *cold)
{
    const uint32_t generation = life_generation(atomic_load(&hot->life));
    uint64_t told = atomic_load(&cold->told);
    if (atomic_load(&hot->inside) && life_generation(told) != generation) {
        keep(cold, generation);
        atomic_store(&hot->inherited, 1);
        access_point();
        atomic_compare_exchange_strong(&cold->told, &told, of_generation(generation, TOLD_KEPT));
    }
    if (atomic_load(&hot->inherited))
        atomic_store(&hot->inherited, settle(cold));
    access_point();
    atomic_store(&hot->inside, 0);
}
