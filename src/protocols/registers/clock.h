/* SPDX-License-Identifier: MIT */
/* `clock`: mutual exclusion for n processes with linear waiting.
 *
 * Rivest and Pratt 1977, figure 6, corrected: sysclock needs ≠ twice, step 4 needs ≠, step 2 calls
 * twoprocess(j). Every process in the system (R = Q) keeps a copy c of a clock whose single hand
 * points at who may enter. At any moment the copies differ by at most one (the paper's Window
 * Hypothesis).
 *
 * The clock has M = padding·n positions, and process i stands at padding·i. Unpadded, as in figure
 * 6, linear waiting is false: when the system empties its clock restarts at 0, and process 1 passes
 * a stalled process 0 without bound. Padded by 4 or more, a process is overtaken at most twice by
 * each other from R ≠ D, once from R = Q. M < 5 breaks exclusion or the window; the paper asks for
 * n ≥ 7 unpadded.
 *
 * Public variable: (R, S, c) in one word (races.h), fetched and stored as one.
 */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_CLOCK_H
#define AFTERYOU_PROTOCOLS_REGISTERS_CLOCK_H

#include "protocols/registers/races.h"

enum { CLOCK_PADDING = 4, CLOCK_PADDING_PRINTED = 1 };

/* Steps that look redundant and are not: left out one by one for the checker to refute. */
struct clock_without {
    bool step_1, step_2, step_3, step_5, ok, keep_rule, maximum_rule;
    bool regard; /* step 5 looks only at clocks in the system, not at those of who joins */
};

typedef uint16_t clock_position;

struct clock_rules {
    unsigned padding;
    struct clock_without without;
};

struct clock_scan {
    /* the clock seen, plus one; 0 is the paper's D */
    PART_HEAD
    clock_position m;
    place_number j;
};

struct clock_passage {
    PASSAGE_HEAD
    clock_position c;
    place_number j;
    place_number R; /* the race last won, and the S with which */
    uint8_t s;
    uint8_t ok;
    union {
        struct clock_scan scan;
        struct races_race race;
    };
};

static inline unsigned clock_c(word w)
{
    return (unsigned)(w >> RACES_C_SHIFT);
}

static inline unsigned clock_next(unsigned c, unsigned M)
{
    return c + 1 == M ? 0 : c + 1;
}

#define P(process) (process), 0

/* sysclock: "look at all system clocks in turn, ignoring those one less than the last distinct one
 * we saw". */
static inline enum passage_result clock_scan(struct clock_scan *my, struct registers *at,
                                             struct clock_rules rules)
{
    const unsigned M = rules.padding * registers_places(at);
    word w = 0;
    PASSAGE_BEGIN
    my->m = 0;
    for (EACH_OTHER(my->j)) {
        READ(scan, w, P(my->j));
        if (races_R(w) == RACES_Q &&
            (my->m == 0 || rules.without.maximum_rule || clock_next(clock_c(w), M) != my->m - 1u))
            my->m = (clock_position)(clock_c(w) + 1);
    }
    my->j = 0;
    PASSAGE_END
}

/* The value of a finished scan; it forgets it. */
static inline clock_position clock_seen(struct clock_scan *scan)
{
    const clock_position c = (clock_position)(scan->m == 0 ? 0 : scan->m - 1);
    scan->m = 0;
    return c;
}

/* Step 5's test: P_j does not hold the clock back. */
static inline bool clock_may_tick(word w, unsigned c, unsigned M, struct clock_without without)
{
    if (without.step_5 || (without.regard && races_R(w) != RACES_Q))
        return true;
    return races_R(w) == RACES_D || clock_c(w) == c || clock_c(w) == clock_next(c, M);
}

static inline enum passage_result clock_run(struct clock_passage *my, struct registers *at,
                                            struct clock_rules rules)
{
    const unsigned i = registers_self(at), M = rules.padding * registers_places(at);
    clock_position seen = 0;
    word w = 0;
    PASSAGE_BEGIN
    /* 1. R is still D, so nobody sees this c until it is stored with the first race. */
    if (!rules.without.step_1) {
        CALL(clock_scan, &my->scan, at, rules);
        my->c = clock_seen(&my->scan);
    }
    /* 2 */
    for (EACH_OTHER(my->j)) {
        if (rules.without.step_2)
            break;
        CALL(races_race, &my->race, at, my->j, my->c, false);
        my->R = my->j;
    }
    my->j = 0;
    my->s = my->race.s;
    my->race.s = 0;
    STEP(3);
    /* 3. R and S stay as the last race left them. */
    if (!rules.without.step_3) {
        CALL(clock_scan, &my->scan, at, rules);
        my->c = clock_seen(&my->scan);
        WRITE(step_3, P(i), races_word(RACES_FIRST + my->R, my->s, my->c));
    }
    my->s = 0;
    my->R = 0;
    STEP(4);
    /* 4 */
    CALL(clock_scan, &my->scan, at, rules);
    seen = clock_seen(&my->scan);
    if (rules.without.keep_rule || clock_next(seen, M) != my->c)
        my->c = seen;
    WRITE(step_4, P(i), races_word(RACES_Q, 0, my->c));
    QUEUE;
    STEP(5);
    my->ok = rules.without.ok;
    for (;;) {
        /* 5 */
        for (EACH_OTHER(my->j)) {
            AWAIT(step_5, w, P(my->j), clock_may_tick(w, my->c, M, rules.without));
        }
        my->j = 0;
        /* 6 */
        if (my->c == rules.padding * i && my->ok)
            break;
        my->c = (clock_position)clock_next(my->c, M);
        WRITE(step_6, P(i), races_word(RACES_Q, 0, my->c));
        my->ok = true;
    }
    my->c = 0;
    my->ok = 0;
    STEP(0);
    PASSAGE_END
}

static inline enum passage_result clock_enter(struct clock_passage *my, struct registers *at)
{
    return clock_run(my, at, (struct clock_rules){.padding = CLOCK_PADDING});
}

static inline enum passage_result clock_leave(struct clock_passage *my, struct registers *at)
{
    PASSAGE_BEGIN
    /* With a fence: the next passage begins with a fetch, which must not overtake this store. */
    WRITE(leave, P(registers_self(at)), races_word(RACES_D, 0, 0));
    PASSAGE_END
}

#undef P
#endif
