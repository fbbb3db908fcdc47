/* SPDX-License-Identifier: MIT */
/* The settings of an open region and its space, and what is known of its rivals, as a protocol asks
 * for them. Included by words.h alone. */
#ifndef AFTERYOU_MEMORY_PASSAGE_SETTINGS_H
#define AFTERYOU_MEMORY_PASSAGE_SETTINGS_H

static inline void registers_broken(const struct registers *at, const char *invariant,
                                    const char *condition, const char *file, int line)
{
    (void)at;
    assert_failed(file, line, invariant, condition);
}

static inline unsigned registers_mode(const struct registers *at)
{
    return at->near.mode;
}

static inline unsigned registers_strongest(const struct registers *at)
{
    return at->fixed.spec->mode;
}

/* What a word shows is believed within limits only. */
static inline bool registers_excludes(const struct registers *at, unsigned mode, unsigned other)
{
    (void)at;
    return mode >= MODES || other >= MODES || modes_conflict(mode, other);
}

/* Beside an exclusive passage there are null ones at most: they wait until it has left. */
static inline bool registers_admits(const struct registers *at)
{
    return at->near.mode != MODE_EXCLUSIVE;
}

static inline unsigned registers_slots(const struct registers *at)
{
    return at->fixed.spec->slots;
}

static inline unsigned registers_overtake(const struct registers *at)
{
    return at->fixed.space->overtake;
}

/* Whether to try the express lane. */
static inline bool registers_calm(const struct registers *at)
{
    return at->habits.calm;
}

static inline bool registers_conditional(const struct registers *at)
{
    return at->passage.conditional;
}

static inline bool registers_condition(struct registers *at)
{
    return ay__condition(at);
}

static inline bool registers_rival(const struct registers *at, unsigned place)
{
    return acquaintance_of(&at->rivals.met, place)->rival;
}

/* Who is gone may have been left out of the last look (rivals.c). */
static inline bool registers_stays(const struct registers *at, unsigned place)
{
    const struct acquaintance *other = acquaintance_of(&at->rivals.met, place);
    return other->rival && (other->alive || other->open);
}

static inline int registers_precedence(const struct registers *at, unsigned place)
{
    return acquaintance_of(&at->rivals.met, place)->precedence;
}

/* Whether somebody at `place`, in `mode`, stands in my way. */
static inline bool registers_conflict(const struct registers *at, unsigned place, unsigned mode)
{
    return acquaintance_of(&at->rivals.met, place)->meets &&
           (mode >= MODES || modes_conflict(at->fixed.spec->mode, mode));
}

/* The number after `largest`. A place may have passed from a rival to somebody who is none, and is
 * not looked at: the floor has its number. */
static inline word registers_draw(const struct registers *at, word largest, int bits)
{
    (void)bits; /* long before the field is full no passage begins: numbers_used_up */
    return (largest > at->rivals.floor ? largest : at->rivals.floor) + 1;
}

#endif
