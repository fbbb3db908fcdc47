/* SPDX-License-Identifier: MIT */
/* Meeting a place whose owner has changed, or is gone. */
#include "memory/passage/region.h"

uint64_t ay__fence(const ay_space *space, unsigned place)
{
    const struct hot *hot = ay__hot(space, place);
    return space->protocol->number_bits
               ? protocol_number(space->protocol, atomic_load(&hot->word)) * AY_PLACES_MOST + place
               : atomic_load(&hot->fence);
}

static int class_of(unsigned precedence, unsigned mode, int priority)
{
    const bool writes =
        mode == AY_EXCLUSIVE || mode == AY_PROTECTED_WRITE || mode == AY_CONCURRENT_WRITE;
    switch (precedence) {
    case AY_WRITERS_FIRST:
        return writes;
    case AY_READERS_FIRST:
        return !writes;
    case AY_BY_PRIORITY:
        return priority;
    default:
        return 0;
    }
}

static void acquaint(const struct registers *at, unsigned place, const struct hot *hot,
                     struct acquaintance *other)
{
    const struct public_spec *spec = at->fixed.spec;
    const unsigned precedence = at->fixed.space->precedence, mode = atomic_load(&hot->mode);
    const int mine = class_of(precedence, spec->mode, spec->priority),
              its = class_of(precedence, mode, atomic_load(&hot->priority));
    other->meets = ay__spec_meets_place(at->fixed.space, spec, at->fixed.name, place);
    other->rival = other->meets && (mode >= MODES || modes_conflict(spec->mode, mode));
    other->told = other->rival && atomic_load(&hot->bell) != 0;
    other->precedence = its > mine ? -1 : its < mine ? 1 : 0;
}

/* Whether the pulse of a place need not be felt when it is met: it idles or waits, in a process
 * that lives. */
static bool is_quiet(const struct registers *at, const struct vital *vital, const struct hot *hot)
{
    const word value = atomic_load(&hot->word);
    return life_alive(vital->life) && !atomic_load(&hot->inside) &&
           (registers_is_idle(at, 0, value) || registers_waits(at, 0, value));
}

/* What a new owner says of itself is read between two equal fetches of its life (L4). */
bool ay__meet(struct registers *at, unsigned place, bool feel)
{
    const struct hot *hot = registers_hot(at, place);
    for (;;) {
        struct vital vital = ay__vital_unfelt(at->fixed.space, place);
        const uint64_t life = vital.life;
        if (life_generation(life) == 0 && !(at->fixed.protocol->features & FEATURE_EVERY_PLACE))
            return false;
        struct acquaintance *other = registers_acquaintance(at, place);
        feel |= !is_quiet(at, &vital, hot);
        if (feel)
            ay__vital_feel(&vital);
        if (other->known == 0 || life_generation(life) != life_generation(other->known)) {
            /* Whom I knew for a rival but have not read since, or met when it was gone (L4: the
             * spec may be the next one's), or never met, may have been inside. */
            const bool was_rival = other->rival;
            at->rivals.missed += was_rival || !life_alive(life) ||
                                 life_generation(life) - life_generation(other->known) > 1;
            access_point();
            acquaint(at, place, hot, other);
            at->rivals.told |= other->told;
            if (was_rival && !other->rival)
                at->rivals.gathered = NEVER_GATHERED;
        }
        access_point();
        if (at->fixed.protocol->number_bits) {
            const uint64_t number = protocol_number(at->fixed.protocol, atomic_load(&hot->word));
            if (number > at->rivals.floor)
                at->rivals.floor = number;
        }
        /* most have nothing of the kind */
        if (__builtin_expect(
                atomic_load(&hot->inherited) || (!vital.alive && atomic_load(&hot->inside)), 0) &&
            ay__inherited_concern(at->fixed.spec, &vital, hot, ay__cold(at->fixed.space, place)))
            at->rivals.news = at->rivals.heard = true;
        ay__order_loads();
        struct vital after = ay__vital_unfelt(at->fixed.space, place);
        if (feel)
            ay__vital_feel(&after);
        if (!ay__same_vital(&vital, &after))
            continue;
        /* not before: one that was never used must stay a stranger, at whom a scan ends */
        other->alive = vital.alive;
        other->open = life_alive(life);
        other->beats = vital.border != NULL;
        other->pulse = vital.pulse;
        other->hot = hot;
        other->known = life;
        if (!other->alive && !other->open)
            at->rivals.gathered = NEVER_GATHERED;
        return true;
    }
}

bool ay__notice(struct registers *at, unsigned place)
{
    if (ay__vital(at->fixed.space, place).alive || !acquaintance_of(&at->rivals.met, place)->alive)
        return false;
    ay__meet(at, place, true);
    return true;
}

/* A read of one who is not known, or whose life has changed: until it did not change during the
 * fetch. */
word ay__read_anew(struct registers *at, unsigned place, unsigned index)
{
    for (bool feel = false;; feel = true) {
        if (!ay__meet(at, place, feel))
            return at->fixed.protocol->dead(index, 0);
        const struct acquaintance *other = acquaintance_of(&at->rivals.met, place);
        access_point();
        const word value = atomic_load(registers_word(at, place, index));
        if (acquaintance_stands(other) && registers_is_beyond_doubt(at, other, index, value))
            return registers_as(at, index, other->alive, other->open, value);
    }
}

static void add_to_runs(struct registers *at, unsigned place)
{
    struct stretch *last = at->rivals.run_count ? &at->rivals.runs[at->rivals.run_count - 1] : NULL;
    if (last && last->end == place && hot_follows(at->fixed.granule, place)) {
        last->end++;
        return;
    }
    ay__rivals_make_room(at);
    at->rivals.runs[at->rivals.run_count++] =
        (struct stretch){.line = (const char *)registers_hot(at, place),
                         .place = place,
                         .end = place + 1,
                         .stride = hot_stride(at->fixed.granule, place)};
}

static bool is_known_gone(const struct acquaintance *other)
{
    return other->known != 0 && !other->alive && !other->open;
}

/* Whoever was gathered last time and has changed since is met anew, though its tag be another's by
 * now: a passage may watch it. */
static void revisit(struct registers *at, unsigned place)
{
    const bool looked_at = !at->fixed.tags ||
                           tag_is(at->fixed.space->tags, at->fixed.tags, place) ||
                           tag_is(at->fixed.space->tags, tag_pattern(TAG_LOOK), place);
    if (!looked_at && !acquaintance_stands(acquaintance_of(&at->rivals.met, place)))
        ay__meet(at, place, false);
}

static void revisit_all(struct registers *at)
{
    for (unsigned which = 0; which < at->rivals.run_count; which++)
        for (unsigned place = at->rivals.runs[which].place; place < at->rivals.runs[which].end;
             place++)
            revisit(at, place);
    for (unsigned which = 0; which < at->rivals.company_count; which++)
        revisit(at, at->rivals.company[which]);
}

/* False: nobody is there yet. With another name: what is known of a place was judged by the old
 * one. To forget it of those at which it looks by the new one is enough: a place changes its
 * generation with its tag, so the others will be met anew when their turn comes. */
static bool see(struct registers *at, unsigned place, bool anew, bool nobody_came)
{
    if (anew)
        registers_acquaintance(at, place)->known = 0;
    const struct acquaintance *other = acquaintance_of(&at->rivals.met, place);
    /* who is gone stays so until somebody comes there: in a crowd most are, and their lines far */
    return (nobody_came && is_known_gone(other)) ||
           (other->known != 0 && acquaintance_stands(other)) || ay__meet(at, place, false);
}

/* In the middle of a passage: one that died may be watched; and with a condition, or slots, one
 * that is missing counts as a change since it was tried. So they are left out when that is over.
 */
static bool is_kept(const struct registers *at, const struct acquaintance *gone)
{
    return at->passage.queues &&
           (life_word(gone->known) != 0 || at->passage.conditional || at->fixed.spec->slots > 1);
}

/* A place whose owner is gone is left out, once it is known, unless it is kept: then they are
 * gathered anew when the passage is over. */
static void add(struct registers *at, unsigned place)
{
    const struct acquaintance *other = acquaintance_of(&at->rivals.met, place);
    const bool gone = is_known_gone(other);
    if (other->rival && (!gone || is_kept(at, other))) {
        add_to_runs(at, place);
        at->rivals.burdened |= gone;
    } else if (other->meets && !other->rival && !gone) {
        ay__rivals_make_room(at);
        at->rivals.company[at->rivals.company_count++] = place;
    }
}

/* Whoever claims a place anew says so in `claims` (L6), which is read first: if it changes, the
 * next look gathers again. If it has changed, somebody has come, and may have been inside and gone,
 * to a place that is another name's by now: nobody looks at that. */
static void gather(struct registers *at, bool anew)
{
    const uint64_t claims = atomic_load(at->near.claims);
    const bool nobody_came = !anew && claims == at->rivals.counted;
    if (!anew)
        revisit_all(at);
    at->rivals.run_count = 0;
    at->rivals.company_count = 0;
    at->rivals.burdened = false;
    for (unsigned end = registers_end(at), place = registers_next_tagged(at, 0, end); place < end;
         place = registers_next_tagged(at, place + 1, end))
        if (place != at->fixed.self && see(at, place, anew, nobody_came)) {
            if (__builtin_expect(at->rivals.taken, 0)) /* that sleep was ended by another */
                registers_acquaintance(at, place)->woken = 0;
            add(at, place);
        }
    at->rivals.taken = false;
    registers_heed_floor(at);
    at->rivals.missed += claims != at->rivals.counted;
    at->rivals.counted = at->rivals.gathered = claims;
}

void ay__gather(struct registers *at)
{
    gather(at, false);
}

void ay__gather_anew(struct registers *at)
{
    gather(at, true);
}

/* One that has come since they were gathered has changed `claims`. */
void ay__look_at_company(struct registers *at)
{
    if (!registers_gathered(at))
        ay__gather(at);
    for (unsigned which = 0; which < at->rivals.company_count; which++)
        if (!registers_companion_lives(at, at->rivals.company[which]))
            ay__meet(at, at->rivals.company[which], true);
}
