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

static int class_of(unsigned precedence, const struct public_spec *spec)
{
    const bool writes = spec->mode == AY_EXCLUSIVE || spec->mode == AY_PROTECTED_WRITE || spec->mode == AY_CONCURRENT_WRITE;
    switch (precedence) {
    case AY_WRITERS_FIRST:
        return writes;
    case AY_READERS_FIRST:
        return !writes;
    case AY_BY_PRIORITY:
        return spec->priority;
    default:
        return 0;
    }
}

static struct acquaintance acquaint(const struct registers *at, const struct public_spec *other)
{
    const int mine = class_of(at->space->precedence, at->spec), its = class_of(at->space->precedence, other);
    const bool meets = ay__spec_meets(at->spec, other);
    return (struct acquaintance){
        .meets = meets,
        .rival = meets && (other->mode >= MODES || modes_conflict(at->spec->mode, other->mode)),
        .precedence = (int8_t)(its > mine ? -1 : its < mine ? 1 : 0),
    };
}

/* What a new owner says of itself is read between two equal fetches of its life (L4). If it changes meanwhile, the next
 * look at the place comes back here. */
void ay__meet(struct registers *at, unsigned place)
{
    const struct hot *hot = registers_hot(at, place);
    const uint64_t life = atomic_load(&hot->life);
    if (life_generation(life) != life_generation(~at->known[place]))
        at->acquaintances[place] = acquaint(at, &ay__cold(at->space, place)->spec);
    if (at->protocol->number) {
        const uint64_t number = at->protocol->number(atomic_load(&hot->word));
        if (number > at->floor)
            at->floor = number;
    }
    if ((!life_alive(life) && atomic_load(&hot->inside)) || atomic_load(&hot->inherited))
        at->news = true;
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load(&hot->life) == life)
        at->known[place] = ~life;
}
