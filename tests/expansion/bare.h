/* SPDX-License-Identifier: MIT */
/* Two locks over a plain array of atomic words, once expanded from the protocols and once written
 * by hand. */
#ifndef AFTERYOU_TESTS_EXPANSION_BARE_H
#define AFTERYOU_TESTS_EXPANSION_BARE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

/* Built to run with more threads than cores, a waiter gives way. */
static inline void bare_pause(void)
{
#ifdef BARE_PAUSE_YIELDS
    sched_yield();
#elif defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

void pair_enter_bare(_Atomic uint64_t *words, unsigned self);
void pair_leave_bare(_Atomic uint64_t *words, unsigned self);
void bakery_enter_bare(_Atomic uint64_t *words, unsigned self, unsigned places);
void bakery_leave_bare(_Atomic uint64_t *words, unsigned self);

void pair_enter_by_hand(_Atomic uint64_t *words, unsigned self);
void pair_leave_by_hand(_Atomic uint64_t *words, unsigned self);
void bakery_enter_by_hand(_Atomic uint64_t *words, unsigned self, unsigned places);
void bakery_leave_by_hand(_Atomic uint64_t *words, unsigned self);

#endif
