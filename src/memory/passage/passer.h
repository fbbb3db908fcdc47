/* SPDX-License-Identifier: MIT */
/* The thread that enters: it says who it is, and by which pulse it lives. */
#ifndef AFTERYOU_MEMORY_PASSAGE_PASSER_H
#define AFTERYOU_MEMORY_PASSAGE_PASSER_H

#include "memory/passage/state.h"

/* Another thread than last time. `moved`: by what the last one's end would have been told; who
 * sleeps on it must look again, once this passage is decided. */
int ay__passer_change(ay_region *region, const void **moved);
/* Who makes a passage, and by which pulse it lives. */
struct comer {
    uint64_t pulse, thread; /* as others see it */
    uint32_t tid;
    uint64_t passer; /* as this process does: struct passer */
};
struct comer ay__passer_of(const ay_region *region); /* the present one, or the last */
/* Likewise, and the passage is that one's, whichever thread makes it. */
int ay__passer_follow(ay_region *region, const struct comer *comer, const void **moved);
/* Whoever goes on with a passage: another thread did before, perhaps, whose memory may be gone by
 * now. */
void ay__passer_visit(struct registers *at);
/* By the thread that is inside, of a death that it was told of and cannot pass on: it leaves as one
 * who died there, and whoever is next is told. Where that cannot be done, it only leaves. */
void ay__leave_to_tell(ay_region *region);

#endif
