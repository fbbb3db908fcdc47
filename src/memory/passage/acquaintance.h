/* SPDX-License-Identifier: MIT */
/* What a region knows of the other places, from when it last looked. */
#ifndef AFTERYOU_MEMORY_PASSAGE_ACQUAINTANCE_H
#define AFTERYOU_MEMORY_PASSAGE_ACQUAINTANCE_H

#include "memory/memory.h"

/* What this region last found at another place. */
struct acquaintance {
    uint64_t known;        /* (life, generation); 0: never met */
    uint64_t pulse;        /* which it then had */
    const struct hot *hot; /* its lines; NULL: never met */
    uint32_t woken;        /* which of its sleeps I ended last */
    /* by these. One that idled or waited when it was met is taken to be as long as its process is:
     * its pulse was not felt */
    bool alive : 1;
    bool open : 1;          /* its process lived: a thread of it may come here without a claim */
    bool beats : 1;         /* it may die by its pulse: that was not felt, or did beat */
    bool meets : 1;         /* a resource in common */
    bool rival : 1;         /* and modes that conflict */
    bool told : 1;          /* and it is to be told that it is wanted: wanted.c */
    signed char precedence; /* < 0: its class goes before mine; > 0: after it */
};

/* Rivals at places one after the other, whose lines lie one stride apart. */
struct stretch {
    const char *line; /* of the first */
    unsigned place, end;
    size_t stride;
};

/* One that has a resource in common with me, and may be inside together with me. */
struct companion {
    const struct acquaintance *other;
    unsigned place;
};

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
