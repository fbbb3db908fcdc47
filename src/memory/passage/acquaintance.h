/* SPDX-License-Identifier: MIT */
/* What a region knows of the other places, from when it last looked. */
#ifndef AFTERYOU_MEMORY_PASSAGE_ACQUAINTANCE_H
#define AFTERYOU_MEMORY_PASSAGE_ACQUAINTANCE_H

#include "memory/memory.h"

/* What this region last found at another place. Small: each of ten thousand regions may know a
 * hundred others. */
struct acquaintance {
    uint64_t known;        /* (life, generation); 0: never met */
    uint64_t pulse;        /* which it then had */
    const struct hot *hot; /* its lines; NULL: never met */
    uint32_t woken;        /* which of its sleeps I ended last */
    uint32_t whence : 17;  /* its place, and 1; 0: nobody's */
    /* by these. One that idled or waited when it was met is taken to be as long as its process is:
     * its pulse was not felt */
    uint32_t alive : 1;
    uint32_t open : 1;      /* its process lived: a thread of it may come here without a claim */
    uint32_t beats : 1;     /* it may die by its pulse: that was not felt, or did beat */
    uint32_t meets : 1;     /* a resource in common */
    uint32_t rival : 1;     /* and modes that conflict */
    uint32_t told : 1;      /* and it is to be told that it is wanted: wanted.c */
    int32_t precedence : 2; /* < 0: its class goes before mine; > 0: after it */
};
_Static_assert(sizeof(struct acquaintance) <= 32 && AY_PLACES_MOST < 1 << 17, "small");

/* All whom a region has met, in slots found by their places: acquaintances.c. Of places side by
 * side each has a slot of its own, and the first one looked at is it. */
struct acquaintances {
    struct acquaintance *slot;
    unsigned mask; /* of a slot's number: how many there are, less one */
    unsigned count;
};

/* What one region knew of many, for the next with the same spec and name: ask/knowledge.c. */
struct knowledge {
    char *reserve;            /* where it lies, or may; never NULL */
    struct acquaintances met; /* slot NULL: nothing is known */
    uint64_t floor;           /* rivals.floor, and rivals.told, of who knew it */
    bool told;
};

/* Rivals at places one after the other, whose lines lie one stride apart. */
struct stretch {
    const char *line; /* of the first */
    unsigned place, end;
    size_t stride;
};

struct acquaintance *ay__acquaintance_find(const struct acquaintances *met, unsigned place);

/* Its slot; or one that is nobody's, and says just that. It holds until the next is met. */
static inline struct acquaintance *acquaintance_slot(const struct acquaintances *met,
                                                     unsigned place)
{
    struct acquaintance *first = &met->slot[place & met->mask];
    return __builtin_expect(first->whence == place + 1, 1) ? first
                                                           : ay__acquaintance_find(met, place);
}

/* What is known of a place: of one that was never met, nothing. */
static inline const struct acquaintance *acquaintance_of(const struct acquaintances *met,
                                                         unsigned place)
{
    return acquaintance_slot(met, place);
}

/* Whether a place is as it was when it was met. */
static inline bool acquaintance_stands(const struct acquaintance *other)
{
    const struct hot *hot = other->hot;
    access_point();
    return atomic_load(&hot->life) == other->known && atomic_load(&hot->pulse) == other->pulse;
}

static inline bool acquaintance_beats(const struct acquaintance *other, const ay_space *space)
{
    access_point();
    return !other->beats || pulse_beats(ay__pulse(space, other->pulse), other->pulse);
}

#endif
