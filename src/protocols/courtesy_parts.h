/* SPDX-License-Identifier: MIT */
/* The parts of a passage under `courtesy`: doorway, scan, look, release, survey. See courtesy.h for what they are for. */
#ifndef AFTERYOU_PROTOCOLS_COURTESY_PARTS_H
#define AFTERYOU_PROTOCOLS_COURTESY_PARTS_H

#include <string.h>

#include "courtesy_word.h"

/* Parts that look redundant, for the checker to refute their absence. */
struct courtesy_without {
    bool look;        /* enters as soon as it has claimed */
    bool choosing;    /* passes who is choosing */
    bool incarnation; /* waits on for a place that died and chooses again */
    bool step_back;   /* a claimant that is not among the first keeps its claim */
    bool withdrawal;  /* steps back without waking who slept on the claim */
    bool bound;       /* passes sleepers without limit */
    bool raise;       /* keeps its number when it enters */
};

#define W(process) (process), 0

/* Doorway: draws a number greater than all there are. */
struct courtesy_doorway {
    PART_HEAD
    word most;
    place_number j;
};

static inline enum passage_result courtesy_doorway(struct courtesy_doorway *my, struct registers *at)
{
    const word own = registers_own(at, 0);
    word w = 0;
    PASSAGE_BEGIN
    my->most = courtesy_number(own);
    WRITE(choosing, W(registers_self(at)), courtesy_in(COURTESY_CHOOSING, own));
    for (EACH_OTHER(my->j)) {
        READ(number, w, W(my->j));
        if (courtesy_number(w) > my->most)
            my->most = courtesy_number(w);
    }
    my->j = 0;
    my->most = registers_draw(at, my->most, COURTESY_NUMBER_BITS);
    WRITE(queued, W(registers_self(at)), courtesy_word(COURTESY_QUEUED, courtesy_incarnation(own), my->most));
    my->most = 0;
    PASSAGE_END
}

/* Nothing follows from a rival that is idle with a number not above mine: it is in nobody's way, asleep on nobody, and its number raises
 * no fence. One that has a `when` notes it all the same, to watch it: for it, only a place that was never used is quiet. */
static inline word courtesy_quiet_mask(const struct registers *at)
{
    const word all = (word) ~(word)0, state = (1u << COURTESY_STATE_BITS) - 1;
    return registers_conditional(at) ? all : state;
}

static inline word courtesy_quiet_limit(struct registers *at)
{
    return (word)(registers_own(at, 0) | ((1u << COURTESY_NUMBER_SHIFT) - 1));
}

/* Scan: counts the rivals that block me, and watches them. */
struct courtesy_scan {
    PART_HEAD
    word first;
    word most;   /* one above the greatest number seen */
    word oldest; /* the sleeper before me with the least number, as seen; 0: none */
    place_number j;
    place_number sleeper; /* its place */
    place_number blockers;
    place_number sleepers; /* those before me, which I might pass */
};

/* With one slot all that block me must go, so it is enough to watch one, the last before me: a departure then wakes one.
 * With more, any of them may make room. */
static inline void courtesy_watch(struct registers *at, struct watch *watch, unsigned j, word w)
{
    if (registers_slots(at) == 1) {
        if (watch_any(watch) && !courtesy_before_me(at, j, w))
            return;
        watch_clear(watch);
    }
    watch_add(watch, j, w);
}

/* With one slot, whoever claims or is inside must go first, and I wait asleep, where others may pass me. With more, only those before
 * me keep me from claiming: those inside are counted by my look, which counts each passage once, however they come and go. */
static inline bool courtesy_blocks(enum courtesy_state state, bool before, bool one_slot)
{
    switch (state) {
    case COURTESY_INSIDE:
        return one_slot;
    case COURTESY_CLAIMS:
        return one_slot || before;
    case COURTESY_QUEUED:
    case COURTESY_ASLEEP:
        return before;
    default:
        return false;
    }
}

static inline void courtesy_weigh(struct courtesy_scan *my, struct registers *at, struct watch *watch, word w)
{
    const enum courtesy_state state = courtesy_state(w);
    const bool before = courtesy_before_me(at, my->j, w);
    if (state == COURTESY_ASLEEP && before && registers_overtake(at) > 0) {
        my->sleepers++;
        if (!my->oldest || courtesy_number(w) < courtesy_number(my->oldest)) {
            my->oldest = w;
            my->sleeper = my->j;
        }
        if (registers_slots(at) > 1)
            watch_add(watch, my->j, w);
    } else if (courtesy_blocks(state, before, registers_slots(at) == 1)) {
        my->blockers++;
        courtesy_watch(at, watch, my->j, w);
    }
}

/* If my fence would exceed the bound of a sleeper before me, I may pass none of them. */
static inline void courtesy_weigh_sleepers(struct courtesy_scan *my, struct registers *at, struct watch *watch,
                                           struct courtesy_without without)
{
    if (my->oldest && !without.bound &&
        courtesy_fence(at, my->most) > courtesy_number(my->oldest) + registers_overtake(at)) {
        my->blockers = (place_number)(my->blockers + my->sleepers);
        courtesy_watch(at, watch, my->sleeper, my->oldest);
    }
    my->most = my->oldest = 0;
    my->sleeper = my->sleepers = 0;
}

static inline enum passage_result courtesy_scan(struct courtesy_scan *my, struct registers *at, struct watch *watch,
                                                struct courtesy_without without)
{
    word w = 0;
    PASSAGE_BEGIN
    my->blockers = 0;
    for (EACH_STIRRING(my->j, courtesy_quiet_mask(at), courtesy_quiet_limit(at))) {
        READ(scan, w, W(my->j));
        if (!registers_rival(at, my->j))
            continue;
        if (courtesy_number(w) >= my->most)
            my->most = (word)(courtesy_number(w) + 1u);
        if (courtesy_undecided(w) && !without.choosing) {
            my->first = w;
            AWAIT(decided, w, W(my->j),
                  !courtesy_undecided(w) || (!without.incarnation && !courtesy_same(w, my->first)));
            my->first = 0;
            if (courtesy_undecided(w) || !registers_rival(at, my->j))
                continue; /* it began anew, after I was queued */
        }
        courtesy_weigh(my, at, watch, w);
    }
    my->j = 0;
    courtesy_weigh_sleepers(my, at, watch, without);
    PASSAGE_END
}

/* Look: what a claimant sees of its rivals. */
struct courtesy_look {
    PART_HEAD
    word most;   /* one above the greatest number seen */
    word oldest; /* one above the least number of those who wait and are before me; 0: nobody */
    place_number j;
    place_number rivals; /* those inside, or claiming, that count against me */
    place_number before; /* of them, those that claim and are before me */
    uint8_t busy;        /* some rival is not idle */
};

/* Who claims or is inside counts against me if it was so in my first look after I claimed; whoever claimed later saw my claim,
 * and has counted me. `watch` keeps the words of those that count (with a `when`, in the first look, those of all
 * rivals). One that was seen to claim and is now inside still counts: it may be the same passage. */
static inline bool courtesy_counts(struct watch *watch, unsigned j, word w, bool again)
{
    const bool claims = courtesy_state(w) == COURTESY_CLAIMS || courtesy_state(w) == COURTESY_INSIDE;
    if (!again || watch_lost(watch, j))
        return claims;
    if (!watch_has(watch, j))
        return false;
    const word seen = watch_seen(watch, j);
    if (claims && (seen == w || (courtesy_state(seen) == COURTESY_CLAIMS && courtesy_state(w) == COURTESY_INSIDE))) {
        watch_add(watch, j, w);
        return true;
    }
    if (seen != w)
        watch_drop(watch, j);
    return false;
}

static inline void courtesy_regard(struct courtesy_look *my, struct registers *at, word w, struct watch *watch,
                                   bool again)
{
    if (courtesy_number(w) >= my->most)
        my->most = (word)(courtesy_number(w) + 1u);
    if (courtesy_state(w) == COURTESY_IDLE && !again && !registers_conditional(at))
        return;
    if (courtesy_state(w) != COURTESY_IDLE && courtesy_state(w) != COURTESY_HOLDING)
        my->busy = 1;
    const bool counts = courtesy_counts(watch, my->j, w, again), before = courtesy_before_me(at, my->j, w);
    if (!again && (counts || registers_conditional(at)))
        watch_add(watch, my->j, w);
    if (counts) {
        my->rivals++;
        my->before = (place_number)(my->before + (before && courtesy_state(w) == COURTESY_CLAIMS));
    }
    if ((courtesy_state(w) == COURTESY_QUEUED || courtesy_state(w) == COURTESY_ASLEEP) && before &&
        (my->oldest == 0 || courtesy_number(w) + 1u < my->oldest))
        my->oldest = (word)(courtesy_number(w) + 1u);
}

static inline enum passage_result courtesy_look(struct courtesy_look *my, struct registers *at, struct watch *watch,
                                                bool again)
{
    word w = 0;
    PASSAGE_BEGIN
    memset(my, 0, sizeof *my);
    /* A look that is made again must also see who has become quiet, to watch it no longer. */
    for (EACH_STIRRING(my->j, again ? (word) ~(word)0 : courtesy_quiet_mask(at), courtesy_quiet_limit(at))) {
        READ(look, w, W(my->j));
        if (!registers_rival(at, my->j))
            continue;
        courtesy_regard(my, at, w, watch, again);
    }
    my->j = 0;
    PASSAGE_END
}

/* After a store that lets others pass: wakes whoever may have gone to sleep on me; those aside only if I was inside. */
struct courtesy_release {
    PART_HEAD
    place_number j;
};

static inline enum passage_result courtesy_release(struct courtesy_release *my, struct registers *at, bool aside)
{
    word w = 0;
    PASSAGE_BEGIN
    for (EACH_STIRRING(my->j, courtesy_quiet_mask(at), courtesy_quiet_limit(at))) {
        READ(concern, w, W(my->j));
        if (!registers_rival(at, my->j))
            continue;
        /* A claimant sleeps too, while one that claimed before it is inside. */
        if (courtesy_state(w) == COURTESY_ASLEEP || courtesy_state(w) == COURTESY_CLAIMS ||
            (aside && courtesy_state(w) == COURTESY_ASIDE)) {
            WAKE(wake);
            break;
        }
    }
    my->j = 0;
    PASSAGE_END
}

/* Before sleeping aside: brings the watched words up to date, and tells whether a rival's number has changed. */
struct courtesy_survey {
    PART_HEAD
    place_number j;
    uint8_t changed;
};

static inline enum passage_result courtesy_survey(struct courtesy_survey *my, struct registers *at, struct watch *watch)
{
    word w = 0;
    PASSAGE_BEGIN
    my->changed = 0;
    for (EACH_RIVAL(my->j)) {
        READ(survey, w, W(my->j));
        if (!registers_rival(at, my->j))
            continue;
        if (watch_lost(watch, my->j) ? courtesy_number(w) > courtesy_number(registers_own(at, 0))
                                     : !watch_has(watch, my->j) || !courtesy_same(watch_seen(watch, my->j), w))
            my->changed = 1;
        watch_add(watch, my->j, w);
    }
    my->j = 0;
    PASSAGE_END
}

#undef W
#endif
