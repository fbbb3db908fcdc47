/* SPDX-License-Identifier: MIT */
/* The thread that enters: it says who it is, and by which pulse it lives. */
#ifndef AFTERYOU_MEMORY_PASSAGE_PASSER_H
#define AFTERYOU_MEMORY_PASSAGE_PASSER_H

#include "memory/passage/state.h"

/* Another thread than last time. `moved`: by what the last one's end would have been told; who
 * sleeps on it must look again, once this passage is decided. */
int ay__passer_change(ay_region *region, const void **moved);
/* By the thread that is inside, of a death that it was told of and cannot pass on: it leaves as one
 * who died there, and whoever is next is told. Where that cannot be done, it only leaves. */
void ay__leave_to_tell(ay_region *region);

#endif
