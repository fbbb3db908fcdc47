/* SPDX-License-Identifier: MIT */
/* The protocols as an engine that runs expands them: registers are a plain array of atomic words,
 * nothing else. */
#include "protocols/language/registers.h"

#include "bare.h"

/* What an engine knows when a passage begins: who asks, among how many, and what its own word
 * holds. */
struct registers {
    _Atomic word *words;
    unsigned self, places;
    word own;
};

static inline unsigned registers_self(const struct registers *at)
{
    return at->self;
}

static inline unsigned registers_places(const struct registers *at)
{
    return at->places;
}

static inline unsigned registers_next(const struct registers *at, unsigned place)
{
    return place == at->self ? place + 1 : place;
}

static inline unsigned registers_mode(const struct registers *at)
{
    (void)at;
    return 0;
}

static inline bool registers_conflict(const struct registers *at, unsigned place, unsigned mode)
{
    (void)at, (void)place, (void)mode;
    return true;
}

static inline word registers_read(const struct registers *at, unsigned place, unsigned index)
{
    (void)index;
    return atomic_load_explicit(&at->words[place], memory_order_acquire);
}

static inline void registers_write(struct registers *at, unsigned index, word value)
{
    (void)index;
    at->own = value;
    atomic_exchange_explicit(&at->words[at->self], value, memory_order_seq_cst);
}

static inline void registers_write_late(struct registers *at, unsigned index, word value)
{
    (void)index;
    at->own = value;
    atomic_store_explicit(&at->words[at->self], value, memory_order_release);
}

/* I alone write it, so I need not fetch it. */
static inline word registers_own(const struct registers *at, unsigned index)
{
    (void)index;
    return at->own;
}

static inline word registers_draw(const struct registers *at, word largest, unsigned bits)
{
    (void)at, (void)bits;
    return largest + 1;
}

static inline bool registers_pause(const struct registers *at, unsigned place, unsigned index,
                                   word seen)
{
    (void)at, (void)place, (void)index, (void)seen;
    bare_pause();
    return true;
}

/* `pair` remembers what it stored, and does not ask; `bakery` begins with the number that its word
 * kept. */
static inline word own_word(_Atomic word *words, unsigned self)
{
    return atomic_load_explicit(&words[self], memory_order_relaxed);
}

#include "protocols/registers/bakery.h"
#include "protocols/registers/pair.h"

void pair_enter_bare(_Atomic uint64_t *words, unsigned self)
{
    struct registers at = {words, self, 2, 0};
    struct pair_passage my;
    pair_enter(&my, &at);
}

void pair_leave_bare(_Atomic uint64_t *words, unsigned self)
{
    struct registers at = {words, self, 2, 0};
    struct pair_passage my;
    pair_leave(&my, &at);
}

void bakery_enter_bare(_Atomic uint64_t *words, unsigned self, unsigned places)
{
    struct registers at = {words, self, places, own_word(words, self)};
    struct bakery_passage my;
    bakery_enter(&my, &at);
}

void bakery_leave_bare(_Atomic uint64_t *words, unsigned self)
{
    struct registers at = {words, self, 0, own_word(words, self)};
    struct bakery_passage my;
    bakery_leave(&my, &at);
}
