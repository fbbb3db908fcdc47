/* SPDX-License-Identifier: MIT */
/* A section of known length that waits for nothing and touches no memory. */
#ifndef BENCH_PEERS_SECTION_H
#define BENCH_PEERS_SECTION_H

#include <stdint.h>

/* So many multiplications, each of which needs the one before. */
static inline void section(uint64_t turns)
{
    uint64_t value = turns;
    for (uint64_t at = 0; at < turns; at++) {
        value *= 0x9e3779b97f4a7c15;
        __asm__ volatile("" : "+r"(value));
    }
}

uint64_t section_turns(unsigned ns); /* how many take so long on this machine, undisturbed */

#endif
