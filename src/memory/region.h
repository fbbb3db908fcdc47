/* SPDX-License-Identifier: MIT */
/* An open region, and the registers as its protocol sees them: the hooks that protocols/registers.h asks for. */
#ifndef AFTERYOU_MEMORY_REGION_H
#define AFTERYOU_MEMORY_REGION_H

#include "memory/access.h"
#include "memory/memory.h"
#include "memory/protocol.h"
#include "protocols/modes.h"
#include "protocols/registers.h"

struct registers {
    /* fixed while the region is open */
    const char *first;    /* place 0, read-only */
    size_t place_size;
    unsigned self, places;
    struct hot *own;      /* writable */
    struct cold *own_cold;
    struct registers_page *own_page;
    const struct public_spec *spec;
    const struct protocol *protocol;
    ay_space *space;
    /* what this region last found at each place */
    uint64_t *known;      /* (life, generation) */
    uint8_t *meets;       /* a resource in common, in that generation */
    bool news;            /* somebody died inside, or left such a death behind: see after entering */
    /* of the present passage */
    bool waited;
    int reason;           /* why it was given up: a negative errno */
    int give_up;          /* -EBUSY, -ETIMEDOUT: what to say when time is over */
    unsigned spins;
    uint64_t cycle;       /* the cycle of waiting threads that it last found; 0: none */
    int64_t cycle_ns;     /* since when */
    uint32_t passage;     /* its number */
    int64_t deadline;     /* CLOCK_MONOTONIC; INT64_MIN: do not wait at all; INT64_MAX: for ever */
    bool (*when)(void *);
    void *when_arg;
};

struct ay_region {
    ay_region *next; /* in space->regions; under the mutex */
    uint64_t mark;
    bool inside;
    uint64_t thread;
    struct claim claim;
    struct registers at;
    struct public_spec spec;
};

/* registers.c */
void ay__meet(struct registers *at, unsigned place); /* its life has changed: see who it is now */
/* wait.c */
bool ay__pause(struct registers *at, unsigned place, unsigned index, word seen);
bool ay__sleep(struct registers *at, const struct watch *watch);
void ay__wake_own(struct registers *at, unsigned index);
void ay__rouse(struct registers *at); /* wakes those who say that they sleep on a register of mine */
/* deadlock.c */
enum deadlock { DEADLOCK_NONE, DEADLOCK_SEEN, DEADLOCK_YIELD };
enum deadlock ay__deadlock(struct registers *at); /* I say that I am asleep */

enum { SPINS_MOST = 200 };

/* hot.asleep: place + 1, the index, and the number of the passage. 0: awake. */
enum { ASLEEP_INDEX_SHIFT = 16, ASLEEP_PASSAGE_SHIFT = 32 };

static inline const struct hot *registers_hot(const struct registers *at, unsigned place)
{
    return (const struct hot *)(at->first + place * at->place_size + hot_offset(place));
}

static inline const _Atomic uint64_t *registers_word(const struct registers *at, unsigned place, unsigned index)
{
    if (index == 0)
        return &registers_hot(at, place)->word;
    return &((const struct registers_page *)(at->first + place * at->place_size + 2 * PAGE))->word[index - 1];
}

static inline _Atomic uint64_t *registers_own_word(struct registers *at, unsigned index)
{
    return index == 0 ? &at->own->word : &at->own_page->word[index - 1];
}

static inline unsigned registers_self(const struct registers *at)
{
    return at->self;
}

static inline unsigned registers_places(const struct registers *at)
{
    return at->places;
}

/* L2: the first place never used ends the scan. */
static inline unsigned registers_next(const struct registers *at, unsigned place)
{
    if (place == at->self)
        place++;
    if (place >= at->places || life_generation(atomic_load(&registers_hot(at, place)->life)) == 0)
        return at->places;
    return place;
}

/* L4: between two equal fetches of (life, generation) the value is of that life. A place that is not alive reads as its
 * protocol's dead value, whenever in its death it was fetched: the rewriting of a claimer does not change that value. */
static inline word registers_read(struct registers *at, unsigned place, unsigned index)
{
    const struct hot *hot = registers_hot(at, place);
    for (;;) {
        access_point();
        const uint64_t life = atomic_load(&hot->life);
        if (__builtin_expect(life != at->known[place], 0))
            ay__meet(at, place);
        const word value = atomic_load(registers_word(at, place, index));
        if (__builtin_expect(atomic_load(&hot->life) != life, 0))
            continue;
        return __builtin_expect(life_alive(life), 1) ? value : at->protocol->dead(index, value);
    }
}

static inline word registers_own(struct registers *at, unsigned index)
{
    return atomic_load_explicit(registers_own_word(at, index), memory_order_relaxed);
}

static inline void registers_write(struct registers *at, unsigned index, word value)
{
    access_point();
    atomic_store(registers_own_word(at, index), value);
}

static inline void registers_write_late(struct registers *at, unsigned index, word value)
{
    access_point();
    atomic_store_explicit(registers_own_word(at, index), value, memory_order_release);
}

static inline bool registers_pause(struct registers *at, unsigned place, unsigned index, word seen)
{
    if (at->spins++ < SPINS_MOST && at->deadline != INT64_MIN) {
        __builtin_ia32_pause();
        return true;
    }
    return ay__pause(at, place, index, seen);
}

static inline unsigned registers_mode(const struct registers *at)
{
    return at->spec->mode;
}

/* Whether somebody at `place`, in `mode`, stands in my way. `place` was read before, so what is known of it is up to
 * date: whoever comes there later comes after my doorway. */
static inline bool registers_conflict(const struct registers *at, unsigned place, unsigned mode)
{
    return at->meets[place] && (mode >= MODES || modes_conflict(at->spec->mode, mode));
}

static inline word registers_draw(const struct registers *at, word largest, int bits)
{
    (void)at;
    (void)bits; /* 2^50 passages at a million a second are 35 years */
    return largest + 1;
}

#endif
