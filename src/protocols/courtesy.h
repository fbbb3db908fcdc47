/* SPDX-License-Identifier: MIT */
/* `courtesy`: our own, and the default: Lamport's region (modes, slots, conditions, precedence) from one word a place.
 *
 * Lamport's general algorithm (region.h) keeps a two-process lock and a flag for every pair of places. Here a process
 * says in its one word that it claims the region, looks once more at everybody, and only then is inside.
 *
 * The word, least significant bits first: state, incarnation, number. States:
 *   IDLE      outside; the number is the last one this place drew, kept across deaths
 *   CHOOSING  in the doorway: its number is not known yet
 *   QUEUED    awake, waiting its turn         ASLEEP  the same, asleep or about to be
 *   ASIDE     its `when` was false when it was alone inside; others pass it
 *   CLAIMS    says it will enter, and looks   INSIDE  is inside
 *   EXPRESS   claims without having queued
 *   HOLDING   keeps units that it chose while inside; in nobody's way
 * `before(a, b)`: by the space's precedence, then by number, then by place.
 *
 * Why it excludes. Of slots + 1 rivals inside, take the one whose store of CLAIMS came last. Its look began after
 * that store, and found every other in CLAIMS or INSIDE, for none of them has left since: `slots` of them, so it did
 * not enter. (Invariant C1: from the store of CLAIMS to the store that leaves, a place that is or will be inside reads
 * CLAIMS or INSIDE.)
 *
 * Why it moves. A claimant steps back only from `slots` claims that are before it; so the first `slots` claimants keep theirs, and
 * sleep until those that claimed before them and are inside have left. Who claims later is not waited for.
 *
 * Why nobody sleeps for ever. A sleeper stores ASLEEP, and sleeps only if each word it watches is as it saw it. It
 * watches as many of those that block it as must all have moved before it may enter. Whoever ceases to block (leaves,
 * steps back, goes aside, gives up) stores that first, and then looks for sleepers: one of the two sees the other.
 *
 * Order. With bound B = 0, nobody passes a rival that is before it: first come, first served. With B > 0 who is
 * awake may pass who is ASLEEP, if the fence it will get is at most B above the sleeper's number; since fences
 * grow with every entry, a sleeper is passed at most B times (by each slot).
 *
 * Conditions. A process whose `when` is false goes ASIDE with the words it saw in its look. As long as no rival's
 * number has changed since, nobody has been inside, and it need not try again: it sleeps, watching them all. Changes of
 * state alone do not rouse it, or two that wait aside would rouse each other for ever.
 *
 * Fences. Who enters raises its number above its own and above all it saw in its look; this includes everyone who was
 * inside before, since words keep their numbers. So number and place, compared in this order, grow with every passage
 * that conflicts, and every entry changes the number. Invariant C2: a place's number never falls.
 *
 * The express lane, for regions of one slot. If nobody was about last time, a process skips the doorway, stores EXPRESS
 * and looks. If it finds every rival idle, it is inside: whoever begins now will find EXPRESS or INSIDE in its scan.
 * Otherwise it withdraws to the doorway. A scan waits for an EXPRESS to be decided, as it does for a CHOOSING. A
 * claimant's look may ignore it: the claimant's scan did not find it, so it came later, and will find the claimant and
 * withdraw.
 *
 * Who dies again and again cannot stop others: an EXPRESS, a CHOOSING or a claim that was renewed while I was queued or
 * claimed came after mine, will see me, and is ignored.
 */
#ifndef AFTERYOU_PROTOCOLS_COURTESY_H
#define AFTERYOU_PROTOCOLS_COURTESY_H

#include <string.h>

#include "registers.h"

enum courtesy_state {
    COURTESY_IDLE,
    COURTESY_CHOOSING,
    COURTESY_QUEUED,
    COURTESY_ASLEEP,
    COURTESY_ASIDE,
    COURTESY_CLAIMS,
    COURTESY_INSIDE,
    COURTESY_HOLDING,
    COURTESY_EXPRESS
};

enum {
    COURTESY_STATE_BITS = 4,
    COURTESY_NUMBER_SHIFT = COURTESY_STATE_BITS + INCARNATION_BITS,
    COURTESY_NUMBER_BITS = 8 * (int)sizeof(word) - COURTESY_NUMBER_SHIFT
};

static inline enum courtesy_state courtesy_state(word w)
{
    return (enum courtesy_state)(w & ((1u << COURTESY_STATE_BITS) - 1));
}

static inline word courtesy_incarnation(word w)
{
    return (word)(w >> COURTESY_STATE_BITS & ((1u << INCARNATION_BITS) - 1));
}

static inline word courtesy_number(word w)
{
    return (word)(w >> COURTESY_NUMBER_SHIFT);
}

static inline word courtesy_word(enum courtesy_state state, word incarnation, word number)
{
    return (word)((word)state | (word)(incarnation << COURTESY_STATE_BITS) | (word)(number << COURTESY_NUMBER_SHIFT));
}

/* The same place in another state. */
static inline word courtesy_in(enum courtesy_state state, word w)
{
    return courtesy_word(state, courtesy_incarnation(w), courtesy_number(w));
}

/* What a place's word reads as once its owner has died. */
static inline word courtesy_dead(word w)
{
    const word next = (word)((courtesy_incarnation(w) + 1u) & ((1u << INCARNATION_BITS) - 1));
    return courtesy_word(COURTESY_IDLE, next, courtesy_number(w));
}

/* Whether place j, whose word was seen as w, goes before me. */
static inline bool courtesy_before_me(struct registers *at, unsigned j, word w)
{
    const int precedence = registers_precedence(at, j); /* < 0: the other's class goes first */
    const word mine = courtesy_number(registers_own(at, 0)), other = courtesy_number(w);
    if (precedence)
        return precedence < 0;
    return other < mine || (other == mine && j < registers_self(at));
}

/* Not yet decided: it is in its doorway, or on the express lane. */
static inline bool courtesy_undecided(word w)
{
    return courtesy_state(w) == COURTESY_CHOOSING || courtesy_state(w) == COURTESY_EXPRESS;
}

/* The same passage, whatever its state: every passage draws a number, and every death changes the incarnation. */
static inline bool courtesy_same(word a, word b)
{
    return courtesy_in(COURTESY_IDLE, a) == courtesy_in(COURTESY_IDLE, b);
}

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
    const word own = courtesy_number(registers_own(at, 0));
    const word fence = my->most > own ? my->most : (word)(own + 1u);
    if (my->oldest && !without.bound && fence > courtesy_number(my->oldest) + registers_overtake(at)) {
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
        if (!watch_has(watch, my->j) || !courtesy_same(watch_seen(watch, my->j), w))
            my->changed = 1;
        watch_add(watch, my->j, w);
    }
    my->j = 0;
    PASSAGE_END
}

/* The number I shall have inside: above mine, and above all that I saw. */
static inline word courtesy_fence(struct registers *at, const struct courtesy_look *look)
{
    const word own = courtesy_number(registers_own(at, 0));
    return look->most > own ? look->most : (word)(own + 1u);
}

/* What a claimant does after its look. */
enum courtesy_verdict { COURTESY_ENTER, COURTESY_STEP_BACK, COURTESY_LOOK_AGAIN };

static inline enum courtesy_verdict courtesy_judge(const struct courtesy_look *look, struct registers *at,
                                                   struct courtesy_without without)
{
    if (without.look)
        return COURTESY_ENTER;
    /* Would I pass one that waits before me once too often? */
    if (look->oldest && !without.bound && courtesy_fence(at, look) > look->oldest - 1u + registers_overtake(at))
        return COURTESY_STEP_BACK;
    if (look->rivals < registers_slots(at))
        return COURTESY_ENTER;
    if (look->before >= registers_slots(at) && !without.step_back)
        return COURTESY_STEP_BACK;
    return COURTESY_LOOK_AGAIN;
}

/* The word of one that enters. */
static inline word courtesy_entered(struct registers *at, const struct courtesy_look *look,
                                    struct courtesy_without without)
{
    const word own = registers_own(at, 0);
    if (without.raise)
        return courtesy_in(COURTESY_INSIDE, own);
    return courtesy_word(COURTESY_INSIDE, courtesy_incarnation(own),
                         registers_draw(at, (word)(courtesy_fence(at, look) - 1u), COURTESY_NUMBER_BITS));
}

/* Claims, and looks until it is decided what to do. */
struct courtesy_claim {
    PART_HEAD
    uint8_t again;
    struct courtesy_look look; /* what courtesy_judge decides by */
};

static inline enum passage_result courtesy_claim(struct courtesy_claim *my, struct registers *at,
                                                 struct passage_head *head, struct watch *watch,
                                                 struct courtesy_without without)
{
    bool woken = false;
    PASSAGE_BEGIN
    WRITE(claim, W(registers_self(at)), courtesy_in(COURTESY_CLAIMS, registers_own(at, 0)));
    for (;;) {
        CALL(courtesy_look, &my->look, at, watch, my->again);
        if (courtesy_judge(&my->look, at, without) != COURTESY_LOOK_AGAIN)
            break;
        memset(&my->look, 0, sizeof my->look);
        my->again = 1;
        SLEEP(wait, head, watch, woken);
    }
    my->again = 0;
    PASSAGE_END
}

struct courtesy_passage {
    PASSAGE_HEAD
    struct watch watch;
    struct courtesy_doorway doorway;
    struct courtesy_scan scan;
    struct courtesy_claim claim;
    struct courtesy_release release;
    struct courtesy_survey survey;
};

static inline enum passage_result courtesy_run(struct courtesy_passage *my, struct registers *at,
                                               struct courtesy_without without)
{
    bool woken = false, holds = false;
    PASSAGE_BEGIN
    if (registers_calm(at) && registers_slots(at) == 1 && !registers_conditional(at)) {
        WRITE(express, W(registers_self(at)), courtesy_in(COURTESY_EXPRESS, registers_own(at, 0)));
        CALL(courtesy_look, &my->claim.look, at, &my->watch, false);
        if (!my->claim.look.busy)
            goto inside;
        memset(&my->claim.look, 0, sizeof my->claim.look);
        watch_clear(&my->watch);
    }
    CALL(courtesy_doorway, &my->doorway, at);
    QUEUE;
    for (;;) {
        CALL(courtesy_scan, &my->scan, at, &my->watch, without);
        if (my->scan.blockers >= registers_slots(at)) {
            my->scan.blockers = 0;
            WRITE(asleep, W(registers_self(at)), courtesy_in(COURTESY_ASLEEP, registers_own(at, 0)));
            SLEEP(sleep, HEAD_OF(my), &my->watch, woken);
            watch_clear(&my->watch);
            WRITE(awake, W(registers_self(at)), courtesy_in(COURTESY_QUEUED, registers_own(at, 0)));
            continue;
        }
        my->scan.blockers = 0;
        watch_clear(&my->watch);
        CALL(courtesy_claim, &my->claim, at, HEAD_OF(my), &my->watch, without);
        if (courtesy_judge(&my->claim.look, at, without) == COURTESY_STEP_BACK) {
            memset(&my->claim.look, 0, sizeof my->claim.look);
            watch_clear(&my->watch);
            WRITE(back, W(registers_self(at)), courtesy_in(COURTESY_QUEUED, registers_own(at, 0)));
            if (!without.withdrawal)
                CALL(courtesy_release, &my->release, at, false);
            continue;
        }
        if (!registers_conditional(at))
            break;
        CONDITION(when, holds);
        if (holds)
            break;
        memset(&my->claim.look, 0, sizeof my->claim.look);
        WRITE(aside, W(registers_self(at)), courtesy_in(COURTESY_ASIDE, registers_own(at, 0)));
        CALL(courtesy_release, &my->release, at, false);
        for (;;) { /* to be woken is no change: those who sleep in the queue share their wake-ups with those aside */
            CALL(courtesy_survey, &my->survey, at, &my->watch);
            if (my->survey.changed)
                break;
            SLEEP(slumber, HEAD_OF(my), &my->watch, woken);
        }
        my->survey.changed = 0;
        watch_clear(&my->watch);
        WRITE(return, W(registers_self(at)), courtesy_in(COURTESY_QUEUED, registers_own(at, 0)));
    }
inside:
    watch_clear(&my->watch);
    WRITE_LATE(inside, W(registers_self(at)), courtesy_entered(at, &my->claim.look, without));
    memset(&my->claim.look, 0, sizeof my->claim.look);
    PASSAGE_END
}

static inline enum passage_result courtesy_enter(struct courtesy_passage *my, struct registers *at)
{
    return courtesy_run(my, at, (struct courtesy_without){0});
}

static inline enum passage_result courtesy_leave(struct courtesy_passage *my, struct registers *at)
{
    PASSAGE_BEGIN
    WRITE(epilogue, W(registers_self(at)), courtesy_in(COURTESY_IDLE, registers_own(at, 0)));
    CALL(courtesy_release, &my->release, at, true);
    PASSAGE_END
}

/* Units: once they are chosen inside and published, others may choose in their turn. Leave by courtesy_give_back. */
static inline enum passage_result courtesy_hold(struct courtesy_passage *my, struct registers *at)
{
    PASSAGE_BEGIN
    WRITE(hold, W(registers_self(at)), courtesy_in(COURTESY_HOLDING, registers_own(at, 0)));
    CALL(courtesy_release, &my->release, at, true);
    PASSAGE_END
}

/* The number grows, so that those aside see that something has changed. */
static inline enum passage_result courtesy_give_back(struct courtesy_passage *my, struct registers *at)
{
    const word own = registers_own(at, 0);
    PASSAGE_BEGIN
    WRITE(give_back, W(registers_self(at)),
          courtesy_word(COURTESY_IDLE, courtesy_incarnation(own),
                        registers_draw(at, courtesy_number(own), COURTESY_NUMBER_BITS)));
    CALL(courtesy_release, &my->release, at, true);
    PASSAGE_END
}

#undef W
#endif
