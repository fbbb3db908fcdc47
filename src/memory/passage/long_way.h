/* SPDX-License-Identifier: MIT */
/* The long way: every passage that no short one (courtesy/express.h) was open to. */
#ifndef AFTERYOU_MEMORY_PASSAGE_LONG_WAY_H
#define AFTERYOU_MEMORY_PASSAGE_LONG_WAY_H

#include "memory/passage/state.h"

/* Waits so long at most; for ever if that is negative. Not for strangers. */
int ay__enter_within(ay_region *region, int timeout_ms);

int ay__leave_by_long_way(ay_region *region);

/* For a child after fork: -EPERM. */
int ay__refuse_stranger(void);

/* It is inside, or has given up. */
void ay__stop_waiting(struct registers *at);

/* Inside, by whatever way: it will leave by the long one. */
void ay__go_on_by_long_way(struct registers *at);

/* In parts, for who does not wait (memory/ask/): what comes before the protocol's first step (a
 * negative errno, or PASSAGE_COUNTED: there is none, for it was inside, and enters again), and
 * after its last. */
enum { PASSAGE_COUNTED = 2 };
int ay__passage_begin(ay_region *region, int64_t deadline, int reason);
/* likewise, as this one's, whichever thread does it (passer.h) */
struct comer;
int ay__passage_begin_as(ay_region *region, const struct comer *comer, int64_t deadline,
                         int reason);
int ay__passage_end(ay_region *region, bool passed);
/* between them, for who does */
bool ay__passage_pass(ay_region *region);
bool ay__passage_permitted(ay_region *region); /* inside the region of the space already */

#endif
