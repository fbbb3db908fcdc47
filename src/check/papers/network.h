/* SPDX-License-Identifier: MIT */
/* `network`: the bakery between computers that read each other's memory by request, and sleep
 * instead of looking again.
 *
 * L. Lamport, The Synchronization of Independent Processes, Acta Informatica 7 (1976), "A Sample
 * Implementation". There is no choosing flag. "The basic idea is for process i to defer action on
 * any read requests it receives while it is in the doorway. Then choosing[i] always appears false
 * to any other process." A read is then a fetch that is answered when its owner is out of its
 * doorway. "This can cause a deadlock because a process must read from other processes' memories in
 * order to leave the doorway": those reads are *urgent*, and answered at once.
 *
 * An urgent read from a process in its doorway returns its last number, not zero as in print: "any
 * integer > maximum" allows it, and numbers grow for ever, as in `bakery`. The word is bakery's,
 * without the state CHOOSING and the incarnation.
 *
 * "In the epilogue, process i need only read the values of number[j] and mode[j] once for each j",
 * and awakens only those that nobody precedes any more. A failed computer awakens all.
 */
#ifndef AFTERYOU_CHECK_PAPERS_NETWORK_H
#define AFTERYOU_CHECK_PAPERS_NETWORK_H

#include "check/registers/accesses.h"
#include "protocols/registers/bakery.h"

struct network_rules {
    bool parallel; /* "parallel wait": for all rivals at once, not for one after the other */
    /* For the checker to refute. */
    bool undeferred; /* a read is answered from the doorway too */
    bool no_urgent;  /* reads from the doorway are deferred like others */
    bool silent;     /* the epilogue awakens nobody */
    bool late_reset; /* the alarm is reset after the look that follows it, not before */
    bool hasty;      /* the epilogue looks around before it sets number to 0 */
};

#define W(process) (process), 0

struct network_passage {
    PASSAGE_HEAD
    word w;
    word number; /* in the doorway: the greatest seen so far */
    struct asked asked;
    place_number j;
    uint8_t behind; /* "#(j) < #(i) and conflict(i,j)" */
    place_set left; /* in a parallel wait: those whose condition was not found true yet */
    uint8_t slept;  /* the alarm is to be reset: `late_reset` only */
    /* in the epilogue: the words of those in the bakery; 0 for the others */
    word seen[8 * sizeof(place_set)];
};

static inline word network_word(enum bakery_state state, unsigned mode, word number)
{
    return bakery_word(state, mode, 0, number);
}

/* "#(j) < #(i) and conflict(i,j)" */
static inline bool network_behind(struct registers *at, word mine, unsigned i, word its, unsigned j)
{
    return bakery_state(its) == BAKERY_QUEUED && registers_conflict(at, j, bakery_mode(its)) &&
           bakery_before(bakery_number(its), j, bakery_number(mine), i);
}

/* "{k : #(k) < #(j) and conflict(k,j)} = ∅" */
static inline bool network_first(const struct network_passage *my, struct registers *at, unsigned j)
{
    for (unsigned k = registers_next(at, 0); k < registers_places(at);
         k = registers_next(at, k + 1))
        if (k != j && my->seen[k] &&
            registers_conflict_between(at, j, bakery_mode(my->seen[j]), k,
                                       bakery_mode(my->seen[k])) &&
            bakery_before(bakery_number(my->seen[k]), k, bakery_number(my->seen[j]), j))
            return false;
    return true;
}

static inline place_set network_others(const struct registers *at)
{
    place_set others = 0;
    for (unsigned j = registers_next(at, 0); j < registers_places(at);
         j = registers_next(at, j + 1))
        others = (place_set)(others | 1u << j);
    return others;
}

static inline enum passage_result network_run(struct network_passage *my, struct registers *at,
                                              struct network_rules rules)
{
    const unsigned i = registers_self(at), mode = registers_mode(at);
    PASSAGE_BEGIN
    /* doorway: "mode[i] := mode·value; number[i] := 1 + maximum{number[j]}" */
    if (!rules.undeferred)
        DEFER;
    my->number = bakery_number(OWN(W(i)));
    WRITE(mode, W(i), network_word(BAKERY_IDLE, mode, my->number));
    for (EACH_OTHER(my->j)) {
        if (rules.no_urgent)
            ASK(maximum, my->w, my->j);
        else
            READ(maximum, my->w, W(my->j));
        if (bakery_number(my->w) > my->number)
            my->number = bakery_number(my->w);
        my->w = 0;
    }
    my->j = 0;
    my->number = registers_draw(at, my->number, BAKERY_NUMBER_BITS);
    WRITE(number, W(i), network_word(BAKERY_QUEUED, mode, my->number));
    my->number = 0;
    ANSWER;
    QUEUE;
    /* "parallel wait (condition_1, label_1; …)": label_j drops j, and goes back to wait for the
     * rest */
    my->left = rules.parallel ? network_others(at) : 0;
    while (my->left) {
        for (EACH_OTHER(my->j))
            if (my->left >> my->j & 1) {
                ASK(look, my->w, my->j);
                if (!network_behind(at, OWN(W(i)), i, my->w, my->j))
                    my->left = (place_set)(my->left & ~(1u << my->j));
                my->w = 0;
            }
        my->j = 0;
        if (my->slept)
            RESET_ALARM(reset);
        my->slept = 0;
        if (!my->left)
            break;
        AWAIT_ALARM(sleep);
        if (!rules.late_reset)
            RESET_ALARM(reset);
        my->slept = rules.late_reset;
    }
    /* "for all j do while #(j) < #(i) and conflict(i,j) do sleep(alarm[i]) od" */
    for (EACH_OTHER(my->j))
        while (!rules.parallel) {
            ASK(look, my->w, my->j);
            my->behind = network_behind(at, OWN(W(i)), i, my->w, my->j);
            my->w = 0;
            if (my->slept)
                RESET_ALARM(reset);
            my->slept = 0;
            if (!my->behind)
                break;
            my->behind = 0;
            AWAIT_ALARM(sleep);
            if (!rules.late_reset)
                RESET_ALARM(reset);
            my->slept = rules.late_reset;
        }
    my->j = 0;
    PASSAGE_END
}

static inline enum passage_result network_enter(struct network_passage *my, struct registers *at)
{
    return network_run(my, at, (struct network_rules){0});
}

static inline enum passage_result network_exit(struct network_passage *my, struct registers *at,
                                               struct network_rules rules)
{
    const word outside = network_word(BAKERY_IDLE, 0, bakery_number(registers_own(at, 0)));
    PASSAGE_BEGIN
    if (!rules.hasty)
        WRITE(epilogue, W(registers_self(at)), outside);
    if (!rules.silent) {
        for (EACH_OTHER(my->j)) {
            ASK(look_round, my->w, my->j);
            if (bakery_state(my->w) == BAKERY_QUEUED)
                my->seen[my->j] = my->w;
            my->w = 0;
        }
        for (EACH_OTHER(my->j))
            if (my->seen[my->j] && registers_conflict(at, my->j, bakery_mode(my->seen[my->j])) &&
                network_first(my, at, my->j))
                AWAKE(awake, my->j);
        for (EACH_OTHER(my->j))
            my->seen[my->j] = 0;
        my->j = 0;
    }
    if (rules.hasty)
        WRITE(epilogue, W(registers_self(at)), outside);
    PASSAGE_END
}

static inline enum passage_result network_leave(struct network_passage *my, struct registers *at)
{
    return network_exit(my, at, (struct network_rules){0});
}

#undef W
#endif
