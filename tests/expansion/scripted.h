/* SPDX-License-Identifier: MIT */
/* An engine in which everything that a passage of `courtesy` can hear is drawn from a seed, and
 * everything that it does is written down. Two bodies of one text that hear the same must do the
 * same. */
#ifndef AFTERYOU_TESTS_EXPANSION_SCRIPTED_H
#define AFTERYOU_TESTS_EXPANSION_SCRIPTED_H

#include <stdbool.h>
#include <stdint.h>

enum { SCRIPT_PLACES = 5, DEEDS_MOST = 20000 };

/* What is left out of a body that stops, to see that it would be noticed. */
enum forgets { FORGETS_NOTHING, FORGETS_HOW_IT_WOKE, FORGETS_WHAT_IT_KNEW };

struct script {
    uint64_t seed;
    unsigned self, mode, slots, overtake;
    bool conditional, calm;
    enum forgets forgets;
    /* what became of it */
    unsigned count, stops;
    uint64_t deed[DEEDS_MOST];
    int result; /* enum passage_result */
};

/* straight.c: the body that waits in its sleeps. resumed.c: the one that stops there. */
void run_straight(struct script *script);
void run_resumed(struct script *script);

#endif
