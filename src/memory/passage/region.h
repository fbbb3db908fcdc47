/* SPDX-License-Identifier: MIT */
/* An open region and its rivals, as the files of the engine see them: the ground on which words.h,
 * rivals.c, wait.c and the others stand. */
#ifndef AFTERYOU_MEMORY_PASSAGE_REGION_H
#define AFTERYOU_MEMORY_PASSAGE_REGION_H

#include <limits.h>

#include "common/assert.h"
#include "memory/memory.h"
#include "memory/passage/access.h"
#include "memory/passage/acquaintance.h"
#include "memory/passage/protocol.h"
#include "memory/passage/state.h"
#include "protocols/language/registers.h"
#include "protocols/modes.h"

/* A child after fork: the region is its parent's. */
static inline bool region_is_strange(const ay_region *region)
{
    return region->at.near.mark != ay__mark.value;
}

static inline bool region_is_inside(const ay_region *region)
{
    return atomic_load_explicit(&region->at.near.own->inside, memory_order_relaxed) != 0;
}

/* By who has it. One that is asked for is seen inside before that is decided, if it is told of a
 * death (remote/cluster_wait.c). */
static inline bool region_is_entered(const ay_region *region)
{
    return region_is_inside(region) && !region->at.passage.asked;
}

/* region.c */
void ay__region_named(ay_region *region); /* outside; who its rivals are is to be gathered */
/* acquaintances.c */
int ay__acquaintances_begin(struct rivals *rivals, unsigned places);
void ay__acquaintances_end(struct rivals *rivals, unsigned places);
struct acquaintance *ay__acquaintance_make(struct registers *at, unsigned place); /* a stranger */
void ay__rivals_make_room(struct registers *at);  /* for one more, in runs and in company */
char *ay__acquaintances_reserve(unsigned places); /* NULL, and errno */
void ay__acquaintances_unreserve(char *reserve, unsigned places);
/* whether so many are known that it may be handed on */
bool ay__acquaintances_are_many(const struct rivals *rivals);
/* Nobody is known any more, as when it was opened; they are to be gathered */
void ay__acquaintances_forget(struct rivals *rivals, unsigned places);
void ay__acquaintances_give(struct rivals *rivals, struct knowledge *to); /* likewise */
void ay__acquaintances_take(struct rivals *rivals, struct knowledge *from);
void ay__knowledge_forget(struct knowledge *knowledge, unsigned places);
/* rivals.c */
/* its life has changed: see who it is now; false: nobody is there yet. `feel`: its pulse too */
bool ay__meet(struct registers *at, unsigned place, bool feel);
/* true: it has ended, and that was not known */
bool ay__notice(struct registers *at, unsigned place);
word ay__read_anew(struct registers *at, unsigned place, unsigned index);
void ay__gather(struct registers *at);          /* finds out who the rivals are now */
void ay__gather_anew(struct registers *at);     /* it has another name */
void ay__look_at_company(struct registers *at); /* see who has died of those in company */
/* wait.c */
void ay__begin_waiting(struct registers *at); /* says that it waits, if it did not before */
bool ay__pause(struct registers *at, unsigned place, unsigned index, word seen);
bool ay__sleep(struct registers *at, struct watch *watch, bool *woken);
bool ay__interrupted(struct registers *at); /* after a sleep: true to give up */
bool ay__heed(struct registers *at);        /* the deadline: false if it has passed */
bool ay__nap(struct registers *at);         /* a while, or until the deadline: false */
int64_t ay__next_nap(struct registers *at); /* how long: longer each time */
/* prepare.c */
void ay__prepare(struct registers *at,
                 const struct watch *watch); /* it is about to sleep on them */
/* cancel.c */
uint64_t ay__cancels(const ay_space *space); /* the header's `cancels` */
/* after a sleep: true to give up, for somebody has cancelled this wait */
bool ay__cancelled(struct registers *at);
/* ask/wanted.c */
void ay__wanted_announce(struct registers *at); /* it is about to sleep: to whom it may concern */
void ay__bell_ring(ay_space *space, unsigned which); /* of a process, for its helper */
/* wake.c */
/* those who sleep on register 0 of mine, which has changed */
void ay__wake(struct registers *at);
/* I have left: whether each rival is idle; or `waits`, under that mask, and ay__wake() would not
 * wake it. The one that was woken ahead of time is woken first */
bool ay__none_to_wake(struct registers *at, word mask, word waits);
void ay__wake_one(struct registers *at, unsigned place); /* if it sleeps, on whatever */
/* likewise, and if it does not sleep yet, it hears of it */
void ay__rouse_aside(struct registers *at, unsigned place);
/* Likewise, but it has not changed yet. `soon`: it will, in moments */
void ay__wake_next(struct registers *at, bool soon);
/* wakes those who say that they sleep on a register of mine */
void ay__rouse(struct registers *at);
/* spin.c */
bool ay__spin(struct registers *at, struct watch *watch); /* true: a watched word has changed */
/* whether whoever is next waits awake, by what was seen lately */
bool ay__spins(const struct registers *at);
void ay__spin_missed(struct registers *at); /* it had to sleep, and has woken up */
void ay__hold_back(struct registers *at);   /* before it asks again, after others */
/* recall.c */
/* calls the keeper of that place */
void ay__recall(struct registers *at, unsigned place, word seen);
/* share.c */
/* rivals that were shared, and are no longer held: marked dead. True: one was */
bool ay__bury_shared(ay_region *region);
int ay__share_one(ay_region *region); /* inside: as ay_share(), and no more than this one */
void ay__unshare_one(ay_region *region);
/* holding.c: who waits for this one */
unsigned ay__wanted_here(const ay_region *region);
/* units.c */
bool ay__condition(struct registers *at);    /* my `when`, and enough free units */
void ay__units_choose(struct registers *at); /* inside, and alone there */
void ay__units_give_back(struct registers *at);
bool ay__units_has(const struct registers *at, unsigned unit);
/* deadlock.c */
enum deadlock { DEADLOCK_NONE, DEADLOCK_UNCLEAR, DEADLOCK_SEEN, DEADLOCK_YIELD };
enum deadlock ay__deadlock(struct registers *at); /* I say that I am asleep */

static inline void spin_once(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* hot.asleep: place + 1, the index, whether it is an ask that hears hints (ask/descriptor.c), and
 * whether one that watches this place alone; whether it can sleep on one word only (futex.c),
 * whether others are watched as well, and the number of the passage. 0: awake. */
enum {
    ASLEEP_PLACE_MASK = 0x1ffff, /* AY_PLACES_MOST + 1 values */
    ASLEEP_INDEX_SHIFT = 17,
    ASLEEP_INDEX_MASK = 0x1ff,
    ASLEEP_HEARS_SHIFT = 26,
    ASLEEP_ONE_SHIFT = 27,
    ASLEEP_DEAF_SHIFT = 30,
    ASLEEP_SEVERAL_SHIFT = 31,
    ASLEEP_PASSAGE_SHIFT = 32
};

_Static_assert((int)WORDS_MOST <= (int)ASLEEP_INDEX_MASK, "every register has an index");

static inline const struct hot *registers_hot(const struct registers *at, unsigned place)
{
    return (const struct hot *)(at->fixed.base + hot_offset(at->fixed.granule, place));
}

static inline const struct registers_page *registers_page(const struct registers *at,
                                                          unsigned place)
{
    return (const struct registers_page *)(at->fixed.registers + (size_t)place * at->fixed.granule);
}

static inline const _Atomic uint64_t *registers_word(const struct registers *at, unsigned place,
                                                     unsigned index)
{
    if (index == 0)
        return &registers_hot(at, place)->word;
    return &registers_page(at, place)->word[index - 1];
}

static inline _Atomic uint64_t *registers_own_word(struct registers *at, unsigned index)
{
    return index == 0 ? &at->near.own->word : &at->fixed.own_page->word[index - 1];
}

/* What is known of a place, to be changed; if it was never met, it is now. It holds until the next
 * is met. */
static inline struct acquaintance *registers_acquaintance(struct registers *at, unsigned place)
{
    struct acquaintance *slot = acquaintance_slot(&at->rivals.met, place);
    return __builtin_expect(slot->whence != 0, 1) ? slot : ay__acquaintance_make(at, place);
}

/* L2: a scan ends there. */
static inline unsigned registers_end(const struct registers *at)
{
    const unsigned used = at->near.every_place ? at->fixed.places : atomic_load(at->fixed.used);
    return used < at->fixed.places ? used : at->fixed.places;
}

/* L9: the first place from `place` on whose tag does not say that it has nothing in common with
 * mine. */
static inline unsigned registers_next_tagged(const struct registers *at, unsigned place,
                                             unsigned end)
{
    return at->fixed.tags
               ? tags_next(at->fixed.space->tags, at->fixed.tags, tag_pattern(TAG_LOOK), place, end)
               : place;
}

/* After the tags: L9. */
static inline void registers_heed_floor(struct registers *at)
{
    if (!at->fixed.floor)
        return;
    access_point();
    const uint64_t floor = atomic_load(at->fixed.floor);
    if (floor > at->rivals.floor)
        at->rivals.floor = floor;
}

/* Passes over places that are being claimed for the first time, and over those whose tags say that
 * they have nothing in common with mine. Whoever is found there is known: registers_rival may be
 * asked without a read. Whoever comes alive later, there or beyond, comes after this look, and will
 * see what I stored before it. */
static inline unsigned registers_next(struct registers *at, unsigned place)
{
    const unsigned end = registers_end(at);
    for (; place < end; place++) {
        place = registers_next_tagged(at, place, end);
        if (place == end)
            break;
        if (place == at->fixed.self)
            continue;
        const struct acquaintance *other = acquaintance_of(&at->rivals.met, place);
        if (__builtin_expect(other->known != 0 && atomic_load(&other->hot->life) == other->known,
                             1) ||
            ay__meet(at, place, false))
            return place;
    }
    registers_heed_floor(at);
    return at->fixed.places;
}

/* Whoever comes to a place has said so in `claims` before its first step there (L6): if that has
 * not changed since the rivals were gathered, they are all that have begun. */
static inline bool registers_gathered(const struct registers *at)
{
    access_point();
    return __builtin_expect(atomic_load(at->near.claims) == at->rivals.gathered, 1);
}

static inline unsigned registers_next_rival(struct registers *at, unsigned place)
{
    if (place == 0) {
        if (!registers_gathered(at))
            ay__gather(at);
        at->rivals.run = 0;
    }
    for (; at->rivals.run < at->rivals.run_count; at->rivals.run++) {
        const struct stretch *run = &at->rivals.runs[at->rivals.run];
        if (place < run->end)
            return place > run->place ? place : run->place;
    }
    return at->fixed.places;
}

/* Idle: whoever was here has left. */
static inline bool registers_is_idle(const struct registers *at, unsigned index, word value)
{
    return index == 0 && at->near.idle_shows && !(value >> 63);
}

/* Only waits: in nobody's way but theirs who stand behind it. Whether its thread still lives need
 * not be asked at every look; its process does. The one directly behind it sleeps on it, and asks
 * (ay__sleep); and goes before all others that it keeps waiting. So a scan of a thousand that wait
 * feels no pulse. */
static inline bool registers_waits(const struct registers *at, unsigned index, word value)
{
    return index == 0 && (value & at->fixed.waits_mask) == at->fixed.waits;
}

/* What a fetched value counts as. If its thread has ended, it does so as its protocol's dead value;
 * but one that had left before is idle just so, and the process may go on from there by another
 * thread. */
static inline word registers_as(const struct registers *at, unsigned index, bool alive, bool open,
                                word value)
{
    if (__builtin_expect(alive, 1) || (open && registers_is_idle(at, index, value)))
        return value;
    return at->fixed.protocol->dead(index, value);
}

static inline bool registers_companion_lives(const struct registers *at, unsigned place)
{
    const struct acquaintance *other = acquaintance_of(&at->rivals.met, place);
    return acquaintance_stands(other) && acquaintance_beats(other, at->fixed.space);
}

/* Whether all who may be inside together with me live. They are in nobody's way, so no scan
 * looks at them; but whoever dies inside is told of, in whatever mode. */
static inline bool registers_company_lives(const struct registers *at)
{
    for (unsigned which = 0; which < at->rivals.company_count; which++)
        if (__builtin_expect(!registers_companion_lives(at, at->rivals.company[which]), 0))
            return false;
    return true;
}

/* Inside: whether there may be a death to tell of. */
static inline bool registers_has_news(const struct registers *at)
{
    return __builtin_expect(at->rivals.news || !registers_company_lives(at), 0);
}

/* Whether a value, fetched from a place that stands, is that of a living thread, or may be taken
 * for it; or that of one that is known to be dead. */
static inline bool registers_is_beyond_doubt(const struct registers *at,
                                             const struct acquaintance *other, unsigned index,
                                             word value)
{
    return registers_is_idle(at, index, value) || registers_waits(at, index, value) ||
           acquaintance_beats(other, at->fixed.space);
}

/* What registers_read makes of a word that was fetched in that life. */
static inline word registers_as_read(const struct registers *at, unsigned index,
                                     const struct vital *vital, word raw)
{
    return registers_as(at, index, vital->alive, life_alive(vital->life), raw);
}

static inline word registers_own(const struct registers *at, unsigned index)
{
    if (index == REGISTER_IN_LINE(2))
        return atomic_load_explicit(&at->retention.grant, memory_order_relaxed);
    return index == 0
               ? at->mine.word
               : atomic_load_explicit(&at->fixed.own_page->word[index - 1], memory_order_relaxed);
}

/* Whether to go on: false if the deadline has passed. */
static inline bool registers_heed(struct registers *at)
{
    return at->passage.deadline == INT64_MAX || ay__heed(at);
}

#endif
