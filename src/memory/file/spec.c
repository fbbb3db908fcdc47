/* SPDX-License-Identifier: MIT */
/* Specs: what a region asks for, made public in its place; and whether two of them agree.
 *
 * Who claims a place is alive there, and asks to be admitted, before it looks at the others. It
 * gives way to whoever is admitted and disagrees; who only asks and disagrees, it refuses. Then it
 * is admitted, unless it was refused. Each of these steps is one compare-and-swap of an
 * `admission`. Of two that disagree, one at least sees the other alive. If the other is admitted by
 * then, it gives way. If not, it refuses it, or finds it admitted, and gives way. So they are never
 * both admitted. Nobody waits: one that is stopped while it asks is refused, and hears of it when
 * it goes on. Two at the same moment may refuse each other.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "memory/memory.h"
#include "memory/passage/protocol.h"

int ay__spec_name(const char *text, struct name *name)
{
    const size_t length = text ? strlen(text) : 0;
    if (length < 1 || length > AY_NAME_MOST)
        return ay__fail(-EINVAL, "the name of a resource has 1 to %d bytes, this one has %zu",
                        AY_NAME_MOST, length);
    name->length = (uint8_t)length;
    memcpy(name->bytes, text, length);
    return 0;
}

static bool same_name(const struct name *a, const struct name *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

static int read_names(const ay_spec *from, struct public_spec *spec)
{
    int error = ay__spec_name(from->name, &spec->name[0]);
    spec->names = 1;
    for (const char *const *also = from->also; !error && also && *also; also++) {
        if (spec->names == NAMES_MOST)
            return ay__fail(-EINVAL, "a region has at most %d resources", NAMES_MOST);
        error = ay__spec_name(*also, &spec->name[spec->names]);
        for (unsigned other = 0; !error && other < spec->names; other++)
            if (same_name(&spec->name[other], &spec->name[spec->names]))
                error = ay__fail(-EINVAL, "'%s' is named twice", *also);
        spec->names++;
    }
    return error;
}

static int check_numbers(const ay_spec *from)
{
    for (size_t at = 0; at < sizeof from->reserved / sizeof *from->reserved; at++)
        if (from->reserved[at])
            return ay__fail(-EINVAL, "ay_spec.reserved must be zero");
    if (from->reentrant > 1)
        return ay__fail(-EINVAL, "ay_spec.reentrant is 0 or 1, not %" PRIu64, from->reentrant);
    if (from->tell_wanted > 1)
        return ay__fail(-EINVAL, "ay_spec.tell_wanted is 0 or 1, not %" PRIu64, from->tell_wanted);
    if ((unsigned)from->mode > AY_NULL)
        return ay__fail(-EINVAL, "there is no mode %d", (int)from->mode);
    if (from->slots > AY_SLOTS_MOST)
        return ay__fail(-EINVAL, "a resource has at most %d slots, not %u", AY_SLOTS_MOST,
                        from->slots);
    if (from->of > AY_UNITS_MOST)
        return ay__fail(-EINVAL, "a resource has at most %d units, not %u", AY_UNITS_MOST,
                        from->of);
    if ((from->take == 0) != (from->of == 0))
        return ay__fail(-EINVAL, "take %u of %u units: give both numbers, or neither", from->take,
                        from->of);
    if (from->take > from->of)
        return ay__fail(-EINVAL, "cannot take %u of %u units", from->take, from->of);
    if (from->slots > 1 && from->of > 0)
        return ay__fail(-EINVAL, "a region has slots or units, not both");
    if ((from->slots > 1 || from->of > 0) && from->mode != AY_EXCLUSIVE)
        return ay__fail(-EINVAL, "slots and units are for the exclusive mode");
    if ((from->slots > 1 || from->of > 0) && from->also && *from->also)
        return ay__fail(-EINVAL, "a region with slots or units has one resource");
    return 0;
}

static int check_features(const struct running_protocol *protocol, const struct public_spec *spec)
{
    if (spec->bell && !protocol->resumable)
        return ay__fail(-ENOTSUP,
                        "under the protocol '%s' of this space nobody is told that it is wanted: "
                        "only \"courtesy\" has that",
                        protocol->name);
    const struct {
        bool wanted;
        unsigned feature;
        const char *words;
    } wants[] = {
        {spec->mode != AY_EXCLUSIVE, FEATURE_MODES, "modes other than exclusive"},
        {spec->names > 1, FEATURE_NAMES, "several resources at once"},
        {spec->slots > 1, FEATURE_SLOTS, "slots"},
        {spec->of > 0, FEATURE_UNITS, "units"},
        {spec->priority != 0, FEATURE_PRECEDENCE, "priorities"},
    };
    for (size_t at = 0; at < sizeof wants / sizeof *wants; at++)
        if (wants[at].wanted && !(protocol->features & wants[at].feature))
            return ay__fail(-ENOTSUP, "the protocol '%s' of this space does not offer %s",
                            protocol->name, wants[at].words);
    return 0;
}

int ay__spec_read(const ay_space *space, const ay_spec *from, struct public_spec *spec)
{
    memset(spec, 0, sizeof *spec);
    int error = check_numbers(from);
    if (!error)
        error = read_names(from, spec);
    if (error)
        return error;
    spec->mode = from->mode;
    spec->slots = from->slots > 1 ? from->slots : 1;
    spec->take = from->take;
    spec->of = from->of;
    spec->priority = from->priority;
    spec->bell = from->tell_wanted ? 1 + (uint32_t)(space->mark % BELLS) : 0;
    if (spec->slots > 1 && space->precedence != AY_IN_ORDER)
        return ay__fail(
            -ENOTSUP,
            "slots are given in order of arrival, and this space has a precedence: use a space "
            "without one");
    return check_features(space->protocol, spec);
}

static unsigned count_names(const struct public_spec *spec)
{
    /* another's page is believed within limits only */
    return spec->names < NAMES_MOST ? spec->names : NAMES_MOST;
}

bool ay__spec_meets(const struct public_spec *a, const struct public_spec *b)
{
    for (unsigned i = 0; i < count_names(a); i++)
        for (unsigned j = 0; j < count_names(b); j++)
            if (same_name(&a->name[i], &b->name[j]))
                return true;
    return false;
}

uint64_t ay__name_hash(const struct name *name)
{
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
    for (unsigned at = 0; at < name->length; at++)
        hash = (hash ^ (unsigned char)name->bytes[at]) * 0x100000001b3;
    return hash ? hash : 1; /* 0 stands for several */
}

static int tell_disagreement(const ay_space *space, const struct public_spec *spec,
                             const struct cold *other)
{
    const struct identity *owner = &other->owner;
    const struct name *mine = &spec->name[0], *its = &other->spec.name[0];
    /* with names, one that does not meet mine has been renamed since it disagreed */
    if (!(space->protocol->features & FEATURE_NAMES) && !ay__spec_meets(spec, &other->spec))
        return ay__fail(
            -ENOTSUP,
            "the protocol '%s' has one resource a space: pid %u (%.*s) has '%.*s' open, not '%.*s'",
            space->protocol->name, owner->pid, COMMAND_ROOM - 1, owner->command, (int)its->length,
            its->bytes, (int)mine->length, mine->bytes);
    const bool units = other->spec.of != spec->of;
    return ay__fail(-EINVAL,
                    "'%.*s' has %u %s for pid %u (%.*s), not %u: all who use it must agree",
                    (int)mine->length, mine->bytes, units ? other->spec.of : other->spec.slots,
                    units ? "units" : "slots", owner->pid, COMMAND_ROOM - 1, owner->command,
                    units ? spec->of : spec->slots);
}

uint64_t ay__spec_hash(const struct public_spec *spec)
{
    return spec->names == 1 ? ay__name_hash(&spec->name[0]) : 0;
}

void ay__spec_shorten(const struct public_spec *spec, struct hot *hot)
{
    atomic_store(&hot->name, ay__spec_hash(spec));
    atomic_store(&hot->mode, spec->mode);
    atomic_store(&hot->slots, spec->slots);
    atomic_store(&hot->of, spec->of);
    atomic_store(&hot->priority, spec->priority);
    atomic_store(&hot->bell, spec->bell);
}

static bool agree(const ay_space *space, const struct public_spec *spec, uint64_t hash,
                  unsigned place)
{
    const struct hot *hot = ay__hot(space, place);
    if (space->protocol->features & FEATURE_NAMES && spec->slots == atomic_load(&hot->slots) &&
        spec->of == atomic_load(&hot->of))
        return true; /* whatever its name */
    if (!ay__spec_meets_place(space, spec, hash, place))
        return space->protocol->features & FEATURE_NAMES;
    return spec->slots == atomic_load(&hot->slots) && spec->of == atomic_load(&hot->of);
}

/* The admission of `place` if it is alive and disagrees with `spec`; else 0. One that comes alive
 * there while it is looked at looks at me itself: I am alive already. */
static uint64_t find_disagreement(const ay_space *space, unsigned place,
                                  const struct public_spec *spec, uint64_t hash)
{
    const struct hot *hot = ay__hot(space, place);
    const struct cold *cold = ay__cold(space, place);
    const uint64_t life = atomic_load(&hot->life);
    if (!life_alive(life) || agree(space, spec, hash, place))
        return 0;
    access_point();
    const uint64_t admission = atomic_load(&cold->admission);
    ay__order_loads();
    return atomic_load(&hot->life) == life ? admission : 0;
}

/* One who asks, and disagrees with me, is refused: false if it has been admitted meanwhile. */
static bool refuse(const ay_space *space, unsigned place, uint64_t asked)
{
    struct claim other;
    if (ay__map_place(space, place, &other) != 0)
        return false;
    const uint64_t refused = of_generation(life_generation(asked), ADMISSION_REFUSED);
    const bool swapped = atomic_compare_exchange_strong(&other.cold->admission, &asked, refused);
    ay__unmap_place(&other);
    return swapped || asked == refused;
}

/* The first place from `place` on that may disagree; as many as are used: there is none. */
static unsigned next_to_ask(const ay_space *space, uint64_t hash, unsigned place, unsigned used)
{
    if (!hash || !(space->protocol->features & FEATURE_NAMES))
        return place;
    return tags_next(space->tags, tag_pattern(tag_of(hash)), tag_pattern(TAG_LOOK), place, used);
}

/* Two passes: only who has found nobody admitted that disagrees refuses others who ask. */
static int look_at_others(const ay_space *space, unsigned self, const struct public_spec *spec,
                          bool refuses)
{
    const unsigned used = ay__used(space);
    const uint64_t hash = ay__spec_hash(spec);
    bool others_ask = false;
    for (unsigned pass = 0; pass < 1 + (unsigned)(others_ask && refuses); pass++)
        for (unsigned place = next_to_ask(space, hash, 0, used); place < used;
             place = next_to_ask(space, hash, place + 1, used)) {
            const uint64_t admission =
                place == self ? 0 : find_disagreement(space, place, spec, hash);
            const bool asks = (uint32_t)admission == ADMISSION_ASKED;
            others_ask |= asks;
            if ((uint32_t)admission == ADMISSION_GIVEN ||
                (asks && pass == 1 && !refuse(space, place, admission)))
                return tell_disagreement(space, spec, ay__cold(space, place));
        }
    return 0;
}

int ay__spec_agrees(const ay_space *space, unsigned self, const struct public_spec *spec)
{
    return look_at_others(space, self, spec, false);
}

int ay__spec_admit(const ay_space *space, const struct claim *claim)
{
    struct cold *cold = claim->cold;
    const int error = look_at_others(space, claim->place, &cold->spec, true);
    if (error)
        return error;
    uint64_t admission = atomic_load(&cold->admission);
    access_point();
    if ((uint32_t)admission == ADMISSION_ASKED &&
        atomic_compare_exchange_strong(&cold->admission, &admission,
                                       of_generation(life_generation(admission), ADMISSION_GIVEN)))
        return 0;
    return ay__fail(
        -EINVAL,
        "somebody else opened '%.*s' at the same moment, with other slots or units than %u and %u",
        (int)cold->spec.name[0].length, cold->spec.name[0].bytes, cold->spec.slots, cold->spec.of);
}
