/* SPDX-License-Identifier: MIT */
/* Which move of a run stored what a fetch read: for pictures. */
#ifndef AFTERYOU_CHECK_REGISTERS_ORIGIN_H
#define AFTERYOU_CHECK_REGISTERS_ORIGIN_H

#include "check/registers/register_model.h"

/* What a move did to a register. */
struct touch {
    struct access access;
    uint8_t newer; /* C11: how many messages are newer than the one fetched */
};

/* A run, as it was made: a state more than moves. */
struct register_run {
    const struct register_model *model;
    const unsigned char *states; /* model->system.size bytes each */
    const struct touch *touches;
};

#define ORIGIN_NONE ((size_t)-1)

/* Makes the move in place, and tells what it did. */
struct touch register_touch(const struct register_model *model, unsigned char *state,
                            struct move move);
/* The move by which others came to see what move `at` fetched: a store, the drain of a buffer, a
 * death. ORIGIN_NONE: it fetched nothing, or what was there from the beginning, or what nobody
 * stored (the words of one that malfunctions). */
size_t register_origin(const struct register_run *run, size_t at);

#endif
