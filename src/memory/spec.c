/* SPDX-License-Identifier: MIT */
/* Specs: what a region asks for, made public in its place; and whether two of them agree. */
#include <errno.h>
#include <string.h>

#include "memory/memory.h"
#include "memory/protocol.h"

static int read_name(const char *text, struct name *name)
{
    const size_t length = text ? strlen(text) : 0;
    if (length < 1 || length > AY_NAME_MOST)
        return ay__fail(-EINVAL, "the name of a resource has 1 to %d bytes, this one has %zu", AY_NAME_MOST, length);
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
    int error = read_name(from->name, &spec->name[0]);
    spec->names = 1;
    for (const char *const *also = from->also; !error && also && *also; also++) {
        if (spec->names == NAMES_MOST)
            return ay__fail(-EINVAL, "a region has at most %d resources", NAMES_MOST);
        error = read_name(*also, &spec->name[spec->names]);
        for (unsigned other = 0; !error && other < spec->names; other++)
            if (same_name(&spec->name[other], &spec->name[spec->names]))
                error = ay__fail(-EINVAL, "'%s' is named twice", *also);
        spec->names++;
    }
    return error;
}

static int check_numbers(const ay_spec *from)
{
    if ((unsigned)from->mode > AY_NULL)
        return ay__fail(-EINVAL, "there is no mode %d", (int)from->mode);
    if (from->slots > AY_SLOTS_MOST)
        return ay__fail(-EINVAL, "a resource has at most %d slots, not %u", AY_SLOTS_MOST, from->slots);
    if (from->of > AY_UNITS_MOST)
        return ay__fail(-EINVAL, "a resource has at most %d units, not %u", AY_UNITS_MOST, from->of);
    if ((from->take == 0) != (from->of == 0))
        return ay__fail(-EINVAL, "take %u of %u: both are given, or neither", from->take, from->of);
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

static int check_features(const struct protocol *protocol, const struct public_spec *spec)
{
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
            return ay__fail(-ENOTSUP, "the protocol '%s' of this space hasn't got %s", protocol->name, wants[at].words);
    return 0;
}

int ay__spec_read(const struct protocol *protocol, const ay_spec *from, struct public_spec *spec)
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
    return check_features(protocol, spec);
}

static unsigned count_names(const struct public_spec *spec)
{
    return spec->names < NAMES_MOST ? spec->names : NAMES_MOST; /* another's page is believed within limits only */
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
    return hash;
}

/* Caller holds the claims lock, so nobody else comes alive meanwhile. */
int ay__spec_agree(const ay_space *space, const struct public_spec *spec)
{
    const unsigned used = ay__used(space);
    for (unsigned place = 0; place < used; place++) {
        const uint64_t life = atomic_load(&ay__hot(space, place)->life);
        const struct cold *cold = ay__cold(space, place);
        if (!life_alive(life))
            continue;
        const bool meets = ay__spec_meets(spec, &cold->spec);
        if (!meets && !(space->protocol->features & FEATURE_NAMES))
            return ay__fail(-ENOTSUP,
                            "the protocol '%s' has one resource a space: pid %u (%.*s) has '%.*s' open, not '%.*s'",
                            space->protocol->name, cold->owner.pid, COMMAND_ROOM - 1, cold->owner.command,
                            (int)cold->spec.name[0].length, cold->spec.name[0].bytes, (int)spec->name[0].length,
                            spec->name[0].bytes);
        if (meets && (cold->spec.slots != spec->slots || cold->spec.of != spec->of))
            return ay__fail(-EINVAL, "'%.*s' has %u slots and %u units for pid %u (%.*s), not %u and %u",
                            (int)spec->name[0].length, spec->name[0].bytes, cold->spec.slots, cold->spec.of,
                            cold->owner.pid, COMMAND_ROOM - 1, cold->owner.command, spec->slots, spec->of);
    }
    return 0;
}
