/* SPDX-License-Identifier: MIT */
/* What a region knows of the other places, from when it last looked. */
#ifndef AFTERYOU_MEMORY_PASSAGE_ACQUAINTANCE_H
#define AFTERYOU_MEMORY_PASSAGE_ACQUAINTANCE_H

#include "memory/memory.h"

/* What this region last found at another place. */
struct acquaintance {
    const struct hot *hot;
    uint64_t known;    /* (life, generation); 0: never met */
    uint64_t pulse;    /* which it then had */
    const char *page;  /* of that, if it beat; else NULL */
    bool alive;        /* by these */
    bool open;         /* its process lived: a thread of it may come here without a claim */
    bool meets;        /* a resource in common */
    bool rival;        /* and modes that conflict */
    int8_t precedence; /* < 0: its class goes before mine; > 0: after it */
    uint32_t woken;    /* which of its sleeps I ended last */
};

/* Rivals at places one after the other, whose lines lie one stride apart. */
struct stretch {
    const char *line; /* of the first */
    unsigned place, end;
};

/* One that has a resource in common with me, and may be inside together with me. */
struct companion {
    const struct acquaintance *other;
    unsigned place;
};

/* Whether a place is as it was when it was met. */
static inline bool acquaintance_stands(const struct acquaintance *other)
{
    return atomic_load(&other->hot->life) == other->known &&
           atomic_load(&other->hot->pulse) == other->pulse;
}

static inline bool acquaintance_beats(const struct acquaintance *other)
{
    return !other->page || pulse_beats(other->page, other->pulse);
}

#endif
