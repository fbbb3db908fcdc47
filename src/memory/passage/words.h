/* SPDX-License-Identifier: MIT */
/* The registers as a protocol sees them: the functions that protocols/language/registers.h asks
 * for. Whoever includes a protocol includes this first. */
#ifndef AFTERYOU_MEMORY_PASSAGE_WORDS_H
#define AFTERYOU_MEMORY_PASSAGE_WORDS_H

#include "memory/passage/region.h"

static inline unsigned registers_self(const struct registers *at)
{
    return at->fixed.self;
}

static inline unsigned registers_places(const struct registers *at)
{
    return at->fixed.places;
}

static inline word registers_at_line(const char *line)
{
    access_point();
    return atomic_load((const _Atomic uint64_t *)line);
}

/* The path alone: one comparison a rival. Whose life has ended may be taken at its word here, if
 * that is quiet: what it reads as once dead is just as quiet. */
__attribute__((always_inline)) static inline bool registers_none_above(struct registers *at,
                                                                       word limit)
{
#define ABOVE(steps) __builtin_expect(registers_at_line(line + (steps)*stride) > limit, 0)
    if (!registers_gathered(at))
        return false;
    const struct stretch *const end = at->rivals.runs + at->rivals.run_count;
    for (const struct stretch *run = at->rivals.runs; run < end; run++) {
        const char *line = run->line;
        const size_t stride = run->stride;
        unsigned count = run->end - run->place;
        for (; count >= 4; count -= 4, line += 4 * stride)
            if (ABOVE(0) || ABOVE(1) || ABOVE(2) || ABOVE(3))
                return false;
        for (; count > 0; count--, line += stride)
            if (ABOVE(0))
                return false;
    }
#undef ABOVE
    return true;
}

/* Backwards, for the other look went forwards: of many pages, those looked at last are still at
 * hand. */
__attribute__((always_inline)) static inline bool registers_none_with(struct registers *at,
                                                                      word mask)
{
#define WORD(steps) registers_at_line(line + (steps)*stride)
    if (!registers_gathered(at))
        return false;
    for (const struct stretch *run = at->rivals.runs + at->rivals.run_count;
         run-- > at->rivals.runs;) {
        unsigned count = run->end - run->place;
        const size_t stride = run->stride;
        const char *line = run->line + count * stride;
        for (; count >= 4; count -= 4) {
            line -= 4 * stride;
            if (__builtin_expect(((WORD(3) | WORD(2) | WORD(1) | WORD(0)) & mask) != 0, 0))
                return false;
        }
        for (; count > 0; count--) {
            line -= stride;
            if (__builtin_expect((WORD(0) & mask) != 0, 0))
                return false;
        }
    }
#undef WORD
    return true;
}

/* L4. What is known of a place was its life at some time before; a (life, generation) that has
 * passed never comes again; so if it still is its life after the fetch, it was so all the time
 * between. Its thread is the one whose pulse it names: another comes only while the place is idle
 * (L8), so what was fetched is that thread's, or of one that had left since. Of an idle place the
 * thread need not be asked for. A place that is not alive reads as its protocol's dead value,
 * whenever in its death it was fetched: the rewriting of a claimer does not change that value. */
static inline word registers_read(struct registers *at, unsigned place, unsigned index)
{
    const struct acquaintance *other = acquaintance_of(&at->rivals.met, place);
    access_point();
    if (__builtin_expect(other->known != 0, 1)) {
        const word value =
            atomic_load(index == 0 ? &other->hot->word : registers_word(at, place, index));
        if (__builtin_expect(acquaintance_stands(other), 1) &&
            __builtin_expect(registers_is_beyond_doubt(at, other, index, value), 1))
            return registers_as(at, index, other->alive, other->open, value);
    }
    return ay__read_anew(at, place, index);
}

static inline void registers_keep(struct registers *at, unsigned index, word value)
{
    (void)index; /* the grant is all that is kept */
    atomic_store_explicit(&at->retention.grant, (uint32_t)value, memory_order_relaxed);
}

/* Not before what was stored, as far as the compiler goes; the processor is held to it by the
 * keeper's membarrier. */
static inline word registers_read_own(const struct registers *at, unsigned index)
{
    (void)index; /* only RECALLED has another writer in this process */
    atomic_signal_fence(memory_order_seq_cst);
    access_point();
    return atomic_load_explicit(&at->near.own->recalled, memory_order_acquire);
}

static inline bool registers_retains(const struct registers *at)
{
    return at->retention.wanted;
}

static inline void registers_recall(struct registers *at, unsigned place, word seen)
{
    ay__recall(at, place, seen);
}

static inline void registers_write(struct registers *at, unsigned index, word value)
{
    if (index == 0)
        at->mine.word = value;
    access_point();
    ay__store_and_fence(registers_own_word(at, index), value);
}

static inline void registers_write_late(struct registers *at, unsigned index, word value)
{
    if (index == 0)
        at->mine.word = value;
    access_point();
    if (index == REGISTER_IN_LINE(0)) { /* BUSY: it is inside */
        atomic_store_explicit(&at->near.own->inside, (uint32_t)value, memory_order_release);
        return;
    }
    atomic_store_explicit(registers_own_word(at, index), value, memory_order_release);
}

static inline bool registers_pause(struct registers *at, unsigned place, unsigned index, word seen)
{
    at->passage.waited = true;
    if (at->passage.spins++ < SPINS_MOST && at->passage.deadline != INT64_MIN) {
        spin_once();
        return true;
    }
    return ay__pause(at, place, index, seen);
}

/* A round of busy waiting was in vain. */
static inline bool registers_again(struct registers *at)
{
    at->passage.waited = true;
    return ay__nap(at);
}

static inline const _Atomic uint8_t *registers_bit(const struct registers *at, unsigned place,
                                                   unsigned index)
{
    return &registers_page(at, place)->bit[index];
}

static inline bool registers_read_bit(struct registers *at, unsigned place, unsigned index)
{
    access_point();
    const bool value = atomic_load(registers_bit(at, place, index));
    const struct vital vital = ay__vital(at->fixed.space, place);
    if (vital.alive)
        return value;
    if (acquaintance_of(&at->rivals.met, place)->alive)
        ay__meet(at, place, true); /* it may have died inside */
    return at->fixed.protocol->dead_bit(index, value);
}

static inline void registers_write_bit(struct registers *at, unsigned index, bool value)
{
    access_point();
    ay__store_and_fence(&at->fixed.own_page->bit[index], value);
}

static inline bool registers_own_bit(const struct registers *at, unsigned index)
{
    return atomic_load_explicit(&at->fixed.own_page->bit[index], memory_order_relaxed);
}

static inline bool registers_sleep(struct registers *at, struct watch *watch, bool *woken)
{
    at->passage.waited = true;
    return ay__sleep(at, watch, woken);
}

static inline bool registers_none_to_wake(struct registers *at, word mask, word asleep)
{
    return ay__none_to_wake(at, mask, asleep);
}

static inline void registers_wake(struct registers *at)
{
    ay__wake(at);
}

static inline void registers_wake_one(struct registers *at, unsigned place)
{
    ay__wake_one(at, place);
}

static inline void registers_rouse(struct registers *at, unsigned place)
{
    ay__rouse_aside(at, place);
}

static inline void registers_listen(struct registers *at)
{
    at->passage.heard = atomic_load(at->fixed.rouses);
}

static inline uint64_t registers_missed(const struct registers *at)
{
    return at->rivals.missed;
}

#include "memory/passage/settings.h"

#endif
