/* SPDX-License-Identifier: MIT */
/* Modes that change: which of them a region may be in. */
#ifndef AFTERYOU_MEMORY_PASSAGE_CONVERT_H
#define AFTERYOU_MEMORY_PASSAGE_CONVERT_H

#include "memory/passage/state.h"

/* Whether the region may be entered in this mode, or converted to it; or why not. */
int ay__mode_is_allowed(const ay_region *region, ay_mode mode);
/* The least mode that excludes all that either does: one of them, but for two. */
unsigned ay__mode_join(unsigned mode, unsigned other);
/* As ay_convert(), of a region with one place. A mode that it includes is had at once. */
int ay__convert_one(ay_region *region, unsigned mode, int64_t deadline);

#endif
