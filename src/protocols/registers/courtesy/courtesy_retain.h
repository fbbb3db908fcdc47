/* SPDX-License-Identifier: MIT */
/* Retained permission: whoever was inside last may go in again on a plain store and a look at its
 * own page, until somebody's request has made its keeper take the right back. Carvalho and
 * Roucairol's idea (1983), in shared memory: who was answered last needs no answer to go again.
 *
 * The owner leaves its word as RETAINED, which keeps others out like INSIDE. It goes in with BUSY
 * := 1 and a fetch of RECALLED, both its own: no fence. A rival that finds RETAINED in a mode that
 * it has to wait for calls the owner's keeper, a thread of the owner's process:
 *   recall  sees the word RETAINED, and the grant;  RECALLED := grant;  a barrier in every thread
 *           of the process (membarrier);
 *           fetches BUSY, and if it is 0 makes of that very word IDLE (compare and swap), and wakes
 *           who sleeps on it; if it is no longer that word, because the owner was inside since, all
 *           this again.
 * Why it excludes. The owner stores BUSY and then fetches RECALLED; the keeper stores RECALLED and
 * then fetches BUSY, with a barrier on both sides, the owner's being the keeper's membarrier. So
 * either the owner finds that it was recalled, and goes the long way, or the keeper finds it busy,
 * and leaves the right to it; then the owner finds the recall when it leaves, and gives the right
 * back itself. Every passage raises the number, so the word that the keeper saw never comes again:
 * it takes back no later grant. */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_COURTESY_COURTESY_RETAIN_H
#define AFTERYOU_PROTOCOLS_REGISTERS_COURTESY_COURTESY_RETAIN_H

#include "protocols/registers/courtesy/courtesy_parts.h"

#define W(process)        (process), 0
#define BUSY(process)     (process), REGISTER_IN_LINE(0)
#define RECALLED(process) (process), REGISTER_IN_LINE(1) /* its keeper's */

/* which grant I have; 0: none. Kept, and seen by my keeper */
enum { COURTESY_GRANT = REGISTER_IN_LINE(2) };

/* Goes in again, if it was not recalled; if it was, it has to depart first. */
struct courtesy_again {
    PART_HEAD
    word recalled;
    uint8_t inside;
};

static OFTEN enum passage_result courtesy_again(struct courtesy_again *my, struct registers *at,
                                                struct courtesy_without without)
{
    PASSAGE_BEGIN
    my->inside = 0;
    WRITE_LATE(busy, BUSY(registers_self(at)), 1);
    READ_OWN(recalled, my->recalled, RECALLED(registers_self(at)));
    if (my->recalled != registers_own(at, COURTESY_GRANT) || without.recall) {
        WRITE_LATE(again, W(registers_self(at)), courtesy_successor(registers_own(at, 0)));
        my->inside = 1;
    } else {
        WRITE_LATE(unbusy, BUSY(registers_self(at)), 0);
    }
    my->recalled = 0;
    PASSAGE_END
}

/* Whether somebody is about, who might have gone to sleep before it saw that I retain. */
struct courtesy_stir {
    PART_HEAD
    place_number j;
    uint8_t any;
};

static RARELY enum passage_result courtesy_stir(struct courtesy_stir *my, struct registers *at)
{
    word w = 0;
    PASSAGE_BEGIN
    my->any = 0;
    for (EACH_RIVAL(my->j)) {
        READ(stir, w, W(my->j));
        if (registers_rival(at, my->j) && courtesy_state(w) != COURTESY_IDLE) {
            my->any = 1;
            break;
        }
    }
    my->j = 0;
    PASSAGE_END
}

/* Leaves the long way: with the right, if it was inside and nobody is about. Gives up the right, if
 * it had it and was recalled. */
struct courtesy_retirement {
    PART_HEAD
    word recalled;
    struct courtesy_stir stir;
    struct courtesy_departure departure;
};

static RARELY enum passage_result courtesy_settle(struct courtesy_retirement *my,
                                                  struct registers *at, bool recalled)
{
    bool none = false;
    PASSAGE_BEGIN
    my->stir.any = 1;
    /* and has not given up */
    if (!recalled && courtesy_state(registers_own(at, 0)) == COURTESY_INSIDE) {
        READ_OWN(stale, my->recalled, RECALLED(registers_self(at)));
        registers_keep(at, COURTESY_GRANT, my->recalled == 1 ? 2 : 1);
        my->recalled = 0;
        my->stir.any = 0;
        WRITE(retain, W(registers_self(at)), courtesy_in(COURTESY_RETAINED, registers_own(at, 0)));
        NONE_WITH(stirs, none, (word)((word)1 << COURTESY_STIRS_SHIFT));
        if (!none)
            CALL(courtesy_stir, &my->stir, at);
    }
    if (my->stir.any) {
        my->stir.any = 0;
        registers_keep(at, COURTESY_GRANT, 0);
        CALL(courtesy_depart, &my->departure, at);
    }
    PASSAGE_END
}

/* Leaves: has the right, and keeps it if it was not recalled. */
struct courtesy_pause {
    PART_HEAD
    word recalled;
};

static OFTEN enum passage_result courtesy_pause(struct courtesy_pause *my, struct registers *at)
{
    PASSAGE_BEGIN
    WRITE_LATE(unbusy, BUSY(registers_self(at)), 0);
    READ_OWN(recalled, my->recalled, RECALLED(registers_self(at)));
    PASSAGE_END
}

struct courtesy_retreat {
    PART_HEAD
    struct courtesy_pause pause;
    struct courtesy_retirement retirement;
};

static OFTEN enum passage_result courtesy_retreat(struct courtesy_retreat *my, struct registers *at)
{
    PASSAGE_BEGIN
    my->pause.recalled = 0;
    if (registers_own(at, COURTESY_GRANT) != 0)
        CALL(courtesy_pause, &my->pause, at);
    if (my->pause.recalled == registers_own(at, COURTESY_GRANT)) /* both 0: it has no right yet */
        CALL(courtesy_settle, &my->retirement, at, my->pause.recalled != 0);
    my->pause.recalled = 0;
    PASSAGE_END
}

#undef W
#endif
