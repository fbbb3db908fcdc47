/* SPDX-License-Identifier: MIT */
/* A section of known length that waits for nothing and touches no memory; or one that sleeps, and
 * leaves the processor to others. */
#ifndef BENCH_PEERS_SECTION_H
#define BENCH_PEERS_SECTION_H

#include <stdint.h>
#include <time.h>

#define SECTION_RESTS (UINT64_C(1) << 63) /* with nanoseconds instead of turns */

/* So many multiplications, each of which needs the one before. */
static inline void section(uint64_t turns)
{
    if (__builtin_expect((turns & SECTION_RESTS) != 0, 0)) {
        const uint64_t ns = turns & ~SECTION_RESTS;
        nanosleep(&(struct timespec){.tv_sec = (time_t)(ns / 1000000000),
                                     .tv_nsec = (long)(ns % 1000000000)},
                  NULL);
        return;
    }
    uint64_t value = turns;
    for (uint64_t at = 0; at < turns; at++) {
        value *= 0x9e3779b97f4a7c15;
        __asm__ volatile("" : "+r"(value));
    }
}

uint64_t section_turns(unsigned ns); /* how many take so long on this machine, undisturbed */

#endif
