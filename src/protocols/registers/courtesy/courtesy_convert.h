/* SPDX-License-Identifier: MIT */
/* Conversion under `courtesy`: who is inside changes its mode. For regions of one slot.
 *
 * The mode of a passage stands in its word. A place is gathered as a rival if the strongest modes
 * of both conflict, and judged by the mode of its word; numbers count before that test.
 *
 * Down, to a mode that excludes less: one store, INSIDE in the new mode, with the same number; then
 * release, for some may enter now.
 *
 * Up:
 *   1  Look. Anybody who upgrades, and would exclude the mode that I want: refused, and nothing has
 *      been stored. It waits until I have left, and so would I for it.
 *   2  Store UPGRADES in the mode that I want, with the same number; release: a claimant that
 *      sleeps until I leave must hear of it.
 *   3  Look. Wait until who is on the EXPRESS lane is decided; sleep on who claims, is inside or
 *      upgrades. If one upgrades whose passage is the earlier: back to INSIDE in the old mode,
 *      release, refused.
 *   4  Nobody is left: INSIDE in the new mode, with a number above all that were seen.
 * To give up is to go back to INSIDE in the old mode, and release.
 *
 * Why it excludes. Whoever enters, or ends an upgrade, has looked at all the others after the store
 * by which it says so. Of two that exclude each other take the one whose store of CLAIMS, EXPRESS
 * or UPGRADES came last. Its look found the other's, or INSIDE. One that claims or glances and
 * finds UPGRADES does not enter; one that upgrades waits until the claim or the glance has ended.
 *
 * Why it moves. UPGRADES blocks scans and glances like INSIDE, so nobody new comes in. A claimant
 * always steps back from it, for it waits for the claim. Of several that upgrade the earliest
 * passage goes on, and the others are refused; who is inside leaves.
 *
 * Why nobody is passed for ever. Who may convert waits for all that wait before it and exclude the
 * strongest mode that it may have. So one that waits behind another may be let in when that one
 * enters, in a mode that both may have: whoever enters so wakes it (courtesy_welcome).
 *
 * Fences. The number stays from entry until departure, or until the end of an upgrade: a downgrade
 * keeps its fence, an upgrade gets a new one.
 *   C3  Inside, the number changes at the end of an upgrade only.
 *
 * Permissions are not retained where passages are converted. */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_COURTESY_COURTESY_CONVERT_H
#define AFTERYOU_PROTOCOLS_REGISTERS_COURTESY_COURTESY_CONVERT_H

#include "protocols/registers/courtesy/courtesy_parts.h"

#define W(process) (process), 0

/* Inside, in a mode that others may share: wakes those who slept behind me, and may enter now. */
struct courtesy_welcome {
    PART_HEAD
    place_number j;
    uint8_t any; /* there is one */
};

static RARELY enum passage_result courtesy_welcome(struct courtesy_welcome *my,
                                                   struct registers *at)
{
    word w = 0;
    PASSAGE_BEGIN
    my->any = 0;
    for (EACH_RIVAL(my->j)) {
        READ(behind, w, W(my->j));
        if (registers_rival(at, my->j) && courtesy_state(w) == COURTESY_ASLEEP &&
            !courtesy_excludes(at, w)) {
            my->any = 1;
            break;
        }
    }
    my->j = 0;
    if (my->any) {
        my->any = 0;
        WAKE(welcome);
    }
    PASSAGE_END
}

/* What one that upgrades sees of its rivals, and keeps of its conversion. */
struct courtesy_conversion {
    PART_HEAD
    word first;
    word most; /* one above the greatest number seen */
    place_number j;
    uint8_t refused; /* another upgrades, and goes first; kept until the caller has seen it */
    uint8_t waits;   /* somebody is still there who has to leave first */
    struct courtesy_release release;
};

/* Whether the passage of j is earlier than mine: its number, then its place. */
static inline bool courtesy_is_earlier(struct registers *at, unsigned j, word w)
{
    const word mine = courtesy_number(registers_own(at, 0)), other = courtesy_number(w);
    return other < mine || (other == mine && j < registers_self(at));
}

/* Step 1. */
static inline enum passage_result courtesy_find_upgrade(struct courtesy_conversion *my,
                                                        struct registers *at, unsigned mode)
{
    word w = 0;
    PASSAGE_BEGIN
    for (EACH_RIVAL(my->j)) {
        READ(others, w, W(my->j));
        if (registers_rival(at, my->j) && courtesy_state(w) == COURTESY_UPGRADES &&
            registers_excludes(at, mode, courtesy_mode(w))) {
            my->refused = 1;
            break;
        }
    }
    my->j = 0;
    PASSAGE_END
}

static inline void courtesy_meet(struct courtesy_conversion *my, struct registers *at,
                                 struct watch *watch, word w, struct courtesy_without without)
{
    switch (courtesy_state(w)) {
    case COURTESY_UPGRADES:
        if (courtesy_is_earlier(at, my->j, w) && !without.refusal) {
            my->refused = 1;
            return;
        }
        break;
    case COURTESY_CLAIMS:
    case COURTESY_INSIDE:
    case COURTESY_RETAINED:
        break;
    default:
        return;
    }
    my->waits = 1;
    watch_add(at, watch, my->j, w);
}

/* Step 3. */
static inline enum passage_result courtesy_look_inside(struct courtesy_conversion *my,
                                                       struct registers *at, struct watch *watch,
                                                       unsigned mode,
                                                       struct courtesy_without without)
{
    word w = 0;
    PASSAGE_BEGIN
    my->waits = 0;
    my->most = 0;
    watch_clear(watch);
    for (EACH_RIVAL(my->j)) {
        READ(company, w, W(my->j));
        if (!registers_rival(at, my->j))
            continue;
        if (courtesy_state(w) == COURTESY_EXPRESS && !without.express) {
            my->first = w;
            AWAIT(passing, w, W(my->j),
                  courtesy_state(w) != COURTESY_EXPRESS || !courtesy_same(w, my->first));
            my->first = 0;
            if (!registers_rival(at, my->j))
                continue;
        }
        if (courtesy_number(w) >= my->most)
            my->most = (word)(courtesy_number(w) + 1u);
        if (registers_excludes(at, mode, courtesy_mode(w)))
            courtesy_meet(my, at, watch, w, without);
    }
    my->j = 0;
    PASSAGE_END
}

/* Back to the mode that it had. */
static inline enum passage_result courtesy_stay(struct courtesy_conversion *my,
                                                struct registers *at)
{
    PASSAGE_BEGIN
    WRITE(stay, W(registers_self(at)),
          courtesy_as(COURTESY_INSIDE, registers_mode(at), registers_own(at, 0)));
    CALL(courtesy_release, &my->release, at, false);
    PASSAGE_END
}

#undef W
#endif
