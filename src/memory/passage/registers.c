/* SPDX-License-Identifier: MIT */
/* Meeting a place whose owner has changed, or is gone. */
#include "memory/passage/region.h"

#ifdef MEMORY_KILL_AT_ACCESS
#include <signal.h>
long ay__kill_at;
void ay__access_point(void)
{
    if (ay__kill_at > 0 && --ay__kill_at == 0)
        raise(SIGKILL);
}
#endif

uint64_t ay__fence(const ay_space *space, unsigned place)
{
    const struct hot *hot = ay__hot(space, place);
    return space->protocol->number
               ? space->protocol->number(atomic_load(&hot->word)) * AY_PLACES_MOST + place
               : atomic_load(&hot->fence);
}

static int class_of(unsigned precedence, const struct public_spec *spec)
{
    const bool writes = spec->mode == AY_EXCLUSIVE || spec->mode == AY_PROTECTED_WRITE ||
                        spec->mode == AY_CONCURRENT_WRITE;
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

static void acquaint(const struct registers *at, const struct public_spec *spec,
                     struct acquaintance *other)
{
    const int mine = class_of(at->fixed.space->precedence, at->fixed.spec),
              its = class_of(at->fixed.space->precedence, spec);
    other->meets = ay__spec_meets(at->fixed.spec, spec);
    other->rival =
        other->meets && (spec->mode >= MODES || modes_conflict(at->fixed.spec->mode, spec->mode));
    other->precedence = (int8_t)(its > mine ? -1 : its < mine ? 1 : 0);
}

/* What a new owner says of itself is read between two equal fetches of its life (L4). */
bool ay__meet(struct registers *at, unsigned place)
{
    struct acquaintance *other = &at->rivals.acquaintances[place];
    const struct hot *hot = registers_hot(at, place);
    for (;;) {
        const struct vital vital = ay__vital(at->fixed.space, place);
        const uint64_t life = vital.life;
        if (life_generation(life) == 0 && !(at->fixed.protocol->features & FEATURE_EVERY_PLACE))
            return false;
        if (other->known == 0 || life_generation(life) != life_generation(other->known)) {
            /* Whom I knew for a rival but have not read since, or met when it was gone (L4: the
             * spec may be the next one's), or never met, may have been inside. */
            at->rivals.missed += other->rival || !life_alive(life) ||
                                 life_generation(life) - life_generation(other->known) > 1;
            acquaint(at, &ay__cold(at->fixed.space, place)->spec, other);
        }
        if (at->fixed.protocol->number) {
            const uint64_t number = at->fixed.protocol->number(atomic_load(&hot->word));
            if (number > at->rivals.floor)
                at->rivals.floor = number;
        }
        if (ay__deaths_concern(at->fixed.spec, &vital, hot, ay__cold(at->fixed.space, place)))
            at->rivals.news = true;
        ay__order_loads();
        const struct vital after = ay__vital(at->fixed.space, place);
        if (!ay__same_vital(&vital, &after))
            continue;
        /* not before: one that was never used must stay a stranger, at whom a scan ends */
        other->hot = hot;
        other->alive = vital.alive;
        other->open = life_alive(life);
        other->page = vital.page;
        other->pulse = vital.pulse;
        other->known = life;
        if (!other->alive && !other->open)
            at->rivals.gathered = NEVER_GATHERED;
        return true;
    }
}

/* A read of one who is not known, or whose life has changed: until it did not change during the
 * fetch. */
word ay__read_anew(struct registers *at, unsigned place, unsigned index)
{
    const struct acquaintance *other = &at->rivals.acquaintances[place];
    for (;;) {
        if (!ay__meet(at, place))
            return at->fixed.protocol->dead(index, 0);
        const word value = atomic_load(registers_word(at, place, index));
        if (acquaintance_stands(other) &&
            (registers_is_idle(at, index, value) || acquaintance_beats(other)))
            return registers_as(at, index, other->alive, other->open, value);
    }
}

static void add_to_runs(struct registers *at, unsigned place)
{
    struct stretch *last = at->rivals.run_count ? &at->rivals.runs[at->rivals.run_count - 1] : NULL;
    if (last && last->end == place && hot_offset(place) != 0) {
        last->end++;
        return;
    }
    at->rivals.runs[at->rivals.run_count++] = (struct stretch){
        .line = (const char *)registers_hot(at, place), .place = place, .end = place + 1};
}

/* A place whose owner is gone is left out, once it is known; but not in the middle of a passage,
 * which may watch it: then they are gathered anew when that is over. Whoever claims it anew says so
 * in `claims` (L6), which is read first: if it changes, the next look gathers again. */
void ay__gather(struct registers *at)
{
    const uint64_t claims = atomic_load(at->near.claims);
    at->rivals.run_count = 0;
    at->rivals.company_count = 0;
    at->rivals.burdened = false;
    for (unsigned place = registers_next(at, 0); place < at->fixed.places;
         place = registers_next(at, place + 1)) {
        const struct acquaintance *other = &at->rivals.acquaintances[place];
        const bool gone = !other->alive && !other->open;
        if (other->rival && (!gone || at->passage.queues)) {
            add_to_runs(at, place);
            at->rivals.burdened |= gone;
        } else if (other->meets && !other->rival && !gone) {
            at->rivals.company[at->rivals.company_count++] =
                (struct companion){.other = other, .place = place};
        }
    }
    at->rivals.gathered = claims;
}

/* One that has come since they were gathered has changed `claims`. */
void ay__look_at_company(struct registers *at)
{
    if (!registers_gathered(at))
        ay__gather(at);
    for (unsigned which = 0; which < at->rivals.company_count; which++)
        if (!acquaintance_stands(at->rivals.company[which].other) ||
            !acquaintance_beats(at->rivals.company[which].other))
            ay__meet(at, at->rivals.company[which].place);
}
