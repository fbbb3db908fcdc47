/* SPDX-License-Identifier: MIT */
/* A sleep in its parts: falling asleep, how long it may last, looking up, getting up. A thread that
 * waits does all of it in ay__sleep(); one that has asked (memory/ask/) goes on with something else
 * between the parts. */
#ifndef AFTERYOU_MEMORY_PASSAGE_SLEEP_H
#define AFTERYOU_MEMORY_PASSAGE_SLEEP_H

#include "memory/passage/region.h"

/* On what it sleeps, as that was when it fell asleep. */
struct sleep {
    bool aside;
    unsigned count;
    struct ay__waitv words[2 * WATCH_MOST + 3];
    struct vital vitals[WATCH_MOST]; /* of the places watched */
};

enum sleeping {
    SLEEP_OVER, /* look again */
    SLEEP_GIVEN_UP,
    SLEEP_LASTS
};

/* Says on whom it sleeps, and looks once more whether there is reason to. A thread waits awake
 * first, if such waits were short lately; one that asks does not. */
enum sleeping ay__sleep_begin(struct registers *at, struct watch *watch, bool asks,
                              struct sleep *sleep, bool *woken);
/* How long at most, if nothing wakes it; by what it watches. */
int64_t ay__longest_sleep(struct registers *at, const struct watch *watch, bool aside);
/* When to look up at the latest. False: never, for it closes a cycle of waiting threads. */
bool ay__sleep_may_last(struct registers *at, int64_t most_ns, int64_t *until);
/* After it was woken, or by itself: passes deaths on, doubts lives. `again`: not to give up, so
 * far. */
enum sleeping ay__sleep_look_up(struct registers *at, const struct watch *watch,
                                const struct vital *vitals, bool aside, bool woken, bool again);
void ay__sleep_end(struct registers *at);

/* `marks`: of ASLEEP_HEARS, ASLEEP_ONE and ASLEEP_SEVERAL, a bit each */
void ay__say_asleep(struct registers *at, unsigned place, unsigned index, uint32_t seen,
                    uint32_t marks);
void ay__say_awake(struct registers *at);
/* One place; true: it is another than before. */
bool ay__sleep_look_after(struct registers *at, unsigned place, const struct vital *before,
                          bool doubts);
bool ay__sleep_doubts(struct registers *at);              /* lives, this time */
bool ay__sleep_is_named(struct registers *at);            /* the file; false: it was removed */
bool ay__sleep_give_up(struct registers *at, int reason); /* false */

static inline void ay__sleep_watch(struct ay__waitv *words, unsigned *count, const void *address,
                                   uint64_t value)
{
    words[(*count)++] = (struct ay__waitv){.value = (uint32_t)value, /* the low half */
                                           .address = (uintptr_t)address,
                                           .flags = WAITV_32_BITS};
}

#endif
