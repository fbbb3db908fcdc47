/* SPDX-License-Identifier: MIT */
/* Units, and conditions: what must be true before one may enter, and which units it then holds.
 *
 * Units are chosen while inside, and alone there: so two choices never overlap. The chosen ones
 * stand in the chooser's own place, and count for as long as its owner lives: a death gives them
 * back by itself. (In a cluster they are chosen by memory/remote/cluster_units.c, and `of` is 0
 * here.)
 */
#include <string.h>

#include "common/assert.h"
#include "memory/file/named.h"
#include "memory/passage/region.h"

enum { UNIT_WORDS = AY_UNITS_MOST / 64 };

/* Fills `taken` with the units that others hold. */
static void collect(struct registers *at, uint64_t *taken)
{
    memset(taken, 0, UNIT_WORDS * sizeof *taken);
    const unsigned words = (at->fixed.spec->of + 63) / 64;
    for (unsigned place = registers_next(at, 0); place < at->fixed.places;
         place = registers_next(at, place + 1)) {
        /* who holds some is inside: it says so before it lets others choose */
        if (!acquaintance_of(&at->rivals.met, place)->rival ||
            !atomic_load(&registers_hot(at, place)->inside) ||
            !ay__vital(at->fixed.space, place).alive)
            continue;
        const struct cold *cold = ay__cold(at->fixed.space, place);
        for (unsigned which = 0; which < words; which++) {
            access_point();
            taken[which] |= atomic_load(&cold->units[which]);
        }
    }
}

static bool ask_uncancelled(struct registers *at)
{
    AY__UNCANCELLED;
    return at->request.when(at->request.argument);
}

/* It may take long: those who look on must see who keeps the others out. They take no part in
 * the protocol: to them a store in release order will do. */
static bool ask(struct registers *at)
{
    struct cold *own = at->fixed.own_cold;
    const int64_t waits_since = atomic_load(&own->since_ns);
    atomic_store_explicit(&own->since_ns, ay__coarse_now(), memory_order_release);
    atomic_store_explicit(&own->asks, 1, memory_order_release);
    at->passage.asking = true;
    const bool holds = ask_uncancelled(at);
    at->passage.asking = false;
    atomic_store_explicit(&own->asks, 0, memory_order_release);
    atomic_store_explicit(&own->since_ns, waits_since, memory_order_release);
    return holds;
}

bool ay__condition(struct registers *at)
{
    /* In a removed file nobody may be left who could make it true. */
    at->passage.refused = named_disturbed(at) ? ay__named_ask(at) : 0;
    if (at->passage.refused)
        return true;
    if (at->fixed.spec->of > 0) {
        uint64_t taken[UNIT_WORDS];
        unsigned held = 0;
        collect(at, taken);
        for (unsigned which = 0; which < UNIT_WORDS; which++)
            held += (unsigned)__builtin_popcountll(taken[which]);
        if (held + at->fixed.spec->take > at->fixed.spec->of)
            return false;
    }
    return !at->request.when || ask(at);
}

void ay__units_choose(struct registers *at)
{
    uint64_t taken[UNIT_WORDS];
    assert_required(at->fixed.spec->take > 0 && at->fixed.spec->of <= AY_UNITS_MOST);
    unsigned left = at->fixed.spec->take;
    collect(at, taken);
    for (unsigned unit = 0; unit < at->fixed.spec->of && left > 0; unit++)
        if (!(taken[unit / 64] >> unit % 64 & 1)) {
            _Atomic uint64_t *own = &at->fixed.own_cold->units[unit / 64];
            access_point();
            atomic_store(own, atomic_load(own) | UINT64_C(1) << unit % 64);
            left--;
        }
}

bool ay__units_has(const struct registers *at, unsigned unit)
{
    return atomic_load_explicit(&at->fixed.own_cold->units[unit / 64], memory_order_relaxed) >>
               unit % 64 &
           1;
}

void ay__units_give_back(struct registers *at)
{
    for (unsigned which = 0; which < (at->fixed.spec->of + 63) / 64; which++) {
        access_point();
        atomic_store_explicit(&at->fixed.own_cold->units[which], 0, memory_order_release);
    }
}
