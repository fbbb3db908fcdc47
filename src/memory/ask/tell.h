/* SPDX-License-Identifier: MIT */
/* How those asks are told that sleep on a word of this process: by who has changed it; and how
 * those of another process get a hint. */
#ifndef AFTERYOU_MEMORY_ASK_TELL_H
#define AFTERYOU_MEMORY_ASK_TELL_H

#include "memory/passage/region.h"

void ay__asks_tell_word(ay_space *space, const void *address);

/* Register 0 of this place has changed so that others may pass. */
static inline void asks_tell(const struct registers *at)
{
    if (__builtin_expect(atomic_load(&at->fixed.space->asks) != NULL, 0))
        ay__asks_tell_word(at->fixed.space, &registers_hot(at, at->fixed.self)->word);
}

enum { HINTS_MOST = 4 };

/* Of one departure. */
struct hints {
    unsigned count;
    uint64_t last; /* where to the last one went */
};

/* To the process of the place `asleep`, whose ask hears: who sleeps there on the word of the place
 * `about`, or on its count of sleeps if that is its own, is woken. False: it is not.
 * descriptor.c */
bool ay__hint(ay_space *space, unsigned asleep, unsigned about, struct hints *hints);

#endif
