/* SPDX-License-Identifier: MIT */
/* Meeting a place whose owner has changed, or is gone. */
#include "memory/region.h"

#ifdef MEMORY_KILL_AT_ACCESS
#include <signal.h>
long ay__kill_at;
void ay__access_point(void)
{
    if (ay__kill_at > 0 && --ay__kill_at == 0)
        raise(SIGKILL);
}
#endif

/* What a new owner says of itself is read between two equal fetches of its life (L4). If it changes meanwhile, the next read of the place comes back
 * here. */
void ay__meet(struct registers *at, unsigned place)
{
    const struct hot *hot = registers_hot(at, place);
    const uint64_t life = atomic_load(&hot->life);
    if (life_generation(life) != life_generation(at->known[place]))
        at->meets[place] = ay__spec_meets(at->spec, &ay__cold(at->space, place)->spec);
    if ((!life_alive(life) && atomic_load(&hot->inside)) || atomic_load(&hot->inherited))
        at->news = true;
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load(&hot->life) == life)
        at->known[place] = life;
}
