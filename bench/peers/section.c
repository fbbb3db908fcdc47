/* SPDX-License-Identifier: MIT */
/* How many turns of the section take so long: the quickest of many tries, for whatever disturbs
 * makes it slower. */
#include "section.h"

#include "clock.h"

enum { TRIES = 200, TURNS = 20000 };

static double turn_ns(void)
{
    static double known;
    if (known > 0)
        return known;
    double least = 0;
    for (int times = 0; times < TRIES; times++) {
        const int64_t begin = now_ns();
        section(TURNS);
        const double one = (double)(now_ns() - begin) / TURNS;
        if (times == 0 || one < least)
            least = one;
    }
    return known = least;
}

uint64_t section_turns(unsigned ns)
{
    return ns == 0 ? 0 : (uint64_t)(ns / turn_ns() + 0.5);
}
