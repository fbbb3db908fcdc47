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

/* What is left out of what a passage sets before it begins, to see that it would be noticed. */
enum unset { ALL_IS_SET, SLOTS_UNSET, SCAN_UNSET, CLAIM_UNSET, AGAIN_UNSET };

struct script {
    uint64_t seed;
    unsigned self, mode, slots, overtake;
    bool conditional, calm, retains, units;
    enum forgets forgets;
    /* of a body that waits: what lay before where it keeps what it knows, and what is not set */
    uint8_t before;
    enum unset unset;
    bool whole; /* it goes on, once it is inside, until it has left */
    /* what became of it */
    unsigned count, stops;
    uint64_t deed[DEEDS_MOST];
    int result; /* enum passage_result */
};

/* What is passed through, and by whom: one of 240 kinds. */
static inline void script_begin(struct script *script, unsigned number)
{
    *script = (struct script){.seed = number * UINT64_C(0x9e3779b97f4a7c15) + 1,
                              .self = number % SCRIPT_PLACES,
                              .mode = number / 5 % 2,
                              .slots = number / 10 % 3 == 2 ? 2 : 1,
                              .overtake = number / 30 % 2 * 3,
                              .conditional = number / 60 % 2,
                              .calm = number / 120 % 2};
    if (script->slots > 1) { /* those are exclusive, and in order */
        script->mode = 0;
        script->overtake = 0;
    }
}

/* straight.c: the body that waits in its sleeps. resumed.c: the one that stops there. */
void run_straight(struct script *script);
void run_resumed(struct script *script);

#endif
