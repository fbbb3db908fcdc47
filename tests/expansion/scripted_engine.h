/* SPDX-License-Identifier: MIT */
/* The functions that a body of `courtesy` asks for, by a script. Included before it; it may define
 * more. */
#ifndef AFTERYOU_TESTS_EXPANSION_SCRIPTED_ENGINE_H
#define AFTERYOU_TESTS_EXPANSION_SCRIPTED_ENGINE_H

#include "protocols/language/registers.h"
#include "protocols/modes.h"

#include "scripted.h"

struct registers {
    struct script *script;
    uint64_t drawn; /* the state of what is drawn */
    word own[4];
    word shown[SCRIPT_PLACES]; /* by the others, when last fetched */
    bool woken;                /* how the sleep ended in which it stopped */
};

static inline uint64_t draw(struct registers *at)
{
    at->drawn += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = (at->drawn ^ at->drawn >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

static inline void note(struct registers *at, char kind, uint64_t what, uint64_t more)
{
    struct script *script = at->script;
    if (script->count < DEEDS_MOST)
        script->deed[script->count++] =
            (uint64_t)kind << 56 ^ what * UINT64_C(0x100000001b3) ^ more << 1;
}

/* One in so many; and always, once it has gone on for long. */
static inline bool gives_up(struct registers *at, unsigned of)
{
    return at->script->count > DEEDS_MOST / 2 || draw(at) % of == 0;
}

static word draw_word(struct registers *at);

static inline unsigned registers_self(const struct registers *at)
{
    return at->script->self;
}

static inline unsigned registers_places(const struct registers *at)
{
    (void)at;
    return SCRIPT_PLACES;
}

static inline unsigned registers_next(const struct registers *at, unsigned place)
{
    return place == at->script->self ? place + 1 : place;
}

static inline unsigned registers_next_rival(const struct registers *at, unsigned place)
{
    return registers_next(at, place);
}

static inline word registers_read(struct registers *at, unsigned place, unsigned index)
{
    note(at, 'r', place, index);
    if (index != 0)
        return draw(at) % 4;
    if (draw(at) % 8 == 0) /* most of them stay as they are */
        at->shown[place] = draw_word(at);
    return at->shown[place];
}

static inline word *own_register(struct registers *at, unsigned index)
{
    return &at->own[index == 0 ? 0 : 1 + index % 3];
}

static inline void registers_write(struct registers *at, unsigned index, word value)
{
    note(at, 'w', index, value);
    *own_register(at, index) = value;
}

static inline void registers_write_late(struct registers *at, unsigned index, word value)
{
    note(at, 'l', index, value);
    *own_register(at, index) = value;
}

static inline word registers_own(const struct registers *at, unsigned index)
{
    return at->own[index == 0 ? 0 : 1 + index % 3];
}

static inline void registers_keep(struct registers *at, unsigned index, word value)
{
    note(at, 'k', index, value);
    *own_register(at, index) = value;
}

static inline word registers_read_own(struct registers *at, unsigned index)
{
    note(at, 'o', index, 0);
    return draw(at) % 2;
}

static inline bool registers_retains(const struct registers *at)
{
    return at->script->retains;
}

static inline void registers_recall(struct registers *at, unsigned place, word seen)
{
    note(at, 'R', place, seen);
}

/* What it watches is part of what it does. */
static inline void note_sleep(struct registers *at, const struct watch *watch)
{
    note(at, 's', watch->count, (uint64_t)watch->ahead << 1 | watch->overflow);
    for (unsigned which = 0; which < watch->count; which++)
        note(at, 'p', watch->place[which], watch->seen[which]);
}

static inline bool registers_heed(struct registers *at)
{
    note(at, 'h', 0, 0);
    return !gives_up(at, 64);
}

static inline void registers_listen(struct registers *at)
{
    note(at, 'L', 0, 0);
}

static inline void registers_wake(struct registers *at)
{
    note(at, 'W', 0, 0);
}

static inline void registers_wake_one(struct registers *at, unsigned place)
{
    note(at, '1', place, 0);
}

static inline void registers_rouse(struct registers *at, unsigned place)
{
    note(at, 'e', place, 0);
}

static inline bool registers_condition(struct registers *at)
{
    note(at, 'c', 0, 0);
    return draw(at) % 2;
}

static inline bool registers_conditional(const struct registers *at)
{
    return at->script->conditional;
}

static inline unsigned registers_mode(const struct registers *at)
{
    return at->script->mode;
}

static inline unsigned registers_strongest(const struct registers *at)
{
    return at->script->mode;
}

static inline bool registers_excludes(const struct registers *at, unsigned mode, unsigned other)
{
    (void)at;
    return modes_conflict(mode, other);
}

static inline bool registers_admits(const struct registers *at)
{
    return at->script->mode != MODE_EXCLUSIVE;
}

static inline bool registers_conflict(const struct registers *at, unsigned place, unsigned mode)
{
    (void)place;
    return modes_conflict(at->script->mode, mode);
}

static inline bool registers_rival(const struct registers *at, unsigned place)
{
    return place != at->script->self;
}

static inline bool registers_stays(const struct registers *at, unsigned place)
{
    return registers_rival(at, place);
}

static inline int registers_precedence(const struct registers *at, unsigned place)
{
    (void)at, (void)place;
    return 0;
}

static inline unsigned registers_slots(const struct registers *at)
{
    return at->script->slots;
}

static inline unsigned registers_overtake(const struct registers *at)
{
    return at->script->overtake;
}

static inline bool registers_calm(const struct registers *at)
{
    return at->script->calm;
}

static inline uint64_t registers_missed(struct registers *at)
{
    (void)at;
    return 0;
}

static inline word registers_draw(const struct registers *at, word largest, int bits)
{
    (void)at, (void)bits;
    return largest + 1;
}

static inline bool registers_none_above(struct registers *at, word limit)
{
    note(at, 'a', limit, 0);
    return draw(at) % 2;
}

static inline bool registers_none_with(struct registers *at, word mask)
{
    note(at, 'm', mask, 0);
    return draw(at) % 2;
}

static inline bool registers_none_to_wake(struct registers *at, word mask, word asleep)
{
    note(at, 'n', mask, asleep);
    return draw(at) % 2;
}

/* What is mine may look wrong, since rivals are drawn: that too is noted. */
static inline void registers_broken(struct registers *at, const char *invariant,
                                    const char *condition, const char *file, int line)
{
    (void)invariant, (void)condition, (void)file;
    note(at, 'B', (uint64_t)line, 0);
}

#include "protocols/registers/courtesy/courtesy_word.h"

/* A word that a rival may show: near my own number, in any state. */
static word draw_word(struct registers *at)
{
    const uint64_t drawn = draw(at);
    const word near = courtesy_number(at->own[0]);
    const enum courtesy_state state =
        drawn % 3 == 0 ? COURTESY_IDLE : (enum courtesy_state)(drawn / 3 % COURTESY_RETAINED);
    return courtesy_word(state, (unsigned)(drawn >> 20) % 2, (word)(drawn >> 24 & 1),
                         near + (drawn >> 28 & 3) - (near > 1 ? 1 : 0));
}

static struct registers begin_script(struct script *script)
{
    struct registers at = {.script = script, .drawn = script->seed};
    at.own[0] = courtesy_word(COURTESY_IDLE, 0, 0, script->seed % 8);
    for (unsigned place = 0; place < SCRIPT_PLACES; place++)
        at.shown[place] = draw_word(&at);
    return at;
}

#endif
