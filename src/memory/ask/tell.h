/* SPDX-License-Identifier: MIT */
/* How those asks are told that sleep on a word of this process: by who has changed it. */
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

#endif
