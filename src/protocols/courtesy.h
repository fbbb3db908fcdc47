/* SPDX-License-Identifier: MIT */
/* `courtesy`: our own, and the default: Lamport's region (modes, slots, conditions, precedence) from one word a place.
 *
 * Lamport's general algorithm (region.h) keeps a two-process lock and a flag for every pair of places. Here a process
 * says in its one word that it claims the region, looks once more at everybody, and only then is inside.
 *
 * The word, least significant bits first: state, incarnation, number, and a bit that is set in every state but IDLE. States:
 *   IDLE      outside; the number is the last one this place drew, kept across deaths
 *   CHOOSING  in the doorway: its number is not known yet
 *   QUEUED    awake, waiting its turn         ASLEEP  the same, asleep or about to be
 *   ASIDE     its `when` was false when it was alone inside; others pass it
 *   CLAIMS    says it will enter, and looks   INSIDE  is inside
 *   EXPRESS   claims without having queued
 *   HOLDING   keeps units that it chose while inside; in nobody's way
 *   RETAINED  outside, or inside again: courtesy_retain.h
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
 * awake may pass who is ASLEEP, if the fence it will get is less than B above the sleeper's number; since fences grow with every entry, a sleeper is passed
 * at most B - 1 times so, and once more by one that looked before the sleeper stood in the queue.
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
 * and looks. If it finds every rival idle, aside, or asleep and to be passed, it is inside: whoever of them goes on now stores that first, and will find EXPRESS or
 * INSIDE in its scan. Otherwise it withdraws to the doorway. A scan waits for an EXPRESS to be decided, as it does for a CHOOSING. A
 * claimant's look may ignore it: the claimant's scan did not find it, so it came later, and will find the claimant and
 * withdraw.
 *
 * Who dies again and again cannot stop others: an EXPRESS, a CHOOSING or a claim that was renewed while I was queued or
 * claimed came after mine, will see me, and is ignored.
 */
#ifndef AFTERYOU_PROTOCOLS_COURTESY_H
#define AFTERYOU_PROTOCOLS_COURTESY_H

#include <string.h>

#include "courtesy_retain.h"

#define W(process) (process), 0

/* The word of one that goes aside. If its watch has no room for all rivals, it raises its number above all it saw, and gives up its turn: then whoever
 * enters later has a greater one. */
static inline word courtesy_stepped_aside(struct registers *at, const struct courtesy_look *look,
                                          const struct watch *watch)
{
    const word own = registers_own(at, 0);
    if (!watch_full(watch))
        return courtesy_in(COURTESY_ASIDE, own);
    return courtesy_word(COURTESY_ASIDE, courtesy_incarnation(own),
                         registers_draw(at, (word)(courtesy_fence(at, look->most) - 1u), COURTESY_NUMBER_BITS));
}

/* The express lane: claims without having queued, and is inside if it finds nobody in its way. */
struct courtesy_express {
    PART_HEAD
    struct courtesy_glance glance; /* busy: withdraw to the doorway */
};

static OFTEN enum passage_result courtesy_express(struct courtesy_express *my, struct registers *at,
                                                  struct courtesy_without without)
{
    PASSAGE_BEGIN
    memset(&my->glance, 0, sizeof my->glance);
    WRITE(express, W(registers_self(at)), courtesy_in(COURTESY_EXPRESS, registers_own(at, 0)));
    if (!NONE_ABOVE(courtesy_quiet(registers_own(at, 0))))
        CALL(courtesy_glance, &my->glance, at, without);
    if (!my->glance.busy)
        WRITE_LATE(inside, W(registers_self(at)), courtesy_entered(at, my->glance.most, without));
    my->glance.most = 0;
    PASSAGE_END
}

/* What a claimant does after its look. */
enum courtesy_verdict { COURTESY_ENTER, COURTESY_STEP_BACK, COURTESY_LOOK_AGAIN };

static inline enum courtesy_verdict courtesy_judge(const struct courtesy_look *look, struct registers *at,
                                                   struct courtesy_without without)
{
    if (without.look)
        return COURTESY_ENTER;
    /* Would I pass one that waits before me once too often? */
    if (!without.bound && courtesy_passes_too_often(at, look->most, look->oldest))
        return COURTESY_STEP_BACK;
    if (look->rivals < registers_slots(at))
        return COURTESY_ENTER;
    if (look->before >= registers_slots(at) && !without.step_back)
        return COURTESY_STEP_BACK;
    return COURTESY_LOOK_AGAIN;
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
        CALL(courtesy_look, &my->look, at, watch, my->again, without);
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
    struct courtesy_express express;
    struct courtesy_doorway doorway;
    struct courtesy_scan scan;
    struct courtesy_claim claim;
    struct courtesy_release release;
    struct courtesy_departure departure;
    struct courtesy_survey survey;
    struct courtesy_again again;
    struct courtesy_retreat retreat;
};

static inline enum passage_result courtesy_run(struct courtesy_passage *my, struct registers *at,
                                               struct courtesy_without without)
{
    bool woken = false, holds = false;
    PASSAGE_BEGIN
    if (registers_retains(at) && registers_own(at, COURTESY_GRANT) != 0) {
        if (!registers_conditional(at))
            CALL(courtesy_again, &my->again, at, without);
        if (my->again.inside) {
            my->again.inside = 0;
            goto inside;
        }
        registers_keep(at, COURTESY_GRANT, 0);
        CALL(courtesy_depart, &my->departure, at); /* somebody may sleep until the right is given back */
    }
    if (registers_calm(at) && registers_slots(at) == 1 && !registers_conditional(at)) {
        CALL(courtesy_express, &my->express, at, without);
        if (!my->express.glance.busy)
            goto inside;
        my->express.glance.busy = 0;
    }
    CALL(courtesy_doorway, &my->doorway, at);
    QUEUE;
    for (;;) {
        CALL(courtesy_scan, &my->scan, at, &my->watch, without);
        if (my->scan.blockers >= registers_slots(at)) {
            my->scan.blockers = 0;
            if (courtesy_state(registers_own(at, 0)) != COURTESY_ASLEEP)
                WRITE(asleep, W(registers_self(at)), courtesy_in(COURTESY_ASLEEP, registers_own(at, 0)));
            SLEEP(sleep, HEAD_OF(my), &my->watch, woken);
            watch_clear(&my->watch);
            continue;
        }
        my->scan.blockers = 0;
        watch_clear(&my->watch);
        /* Who may be passed while it sleeps says first that it does no longer, and scans again: it may just have been passed. */
        if (courtesy_state(registers_own(at, 0)) == COURTESY_ASLEEP && registers_overtake(at) > 0) {
            WRITE(awake, W(registers_self(at)), courtesy_in(COURTESY_QUEUED, registers_own(at, 0)));
            continue;
        }
        CALL(courtesy_claim, &my->claim, at, HEAD_OF(my), &my->watch, without);
        if (courtesy_judge(&my->claim.look, at, without) == COURTESY_STEP_BACK) {
            memset(&my->claim.look, 0, sizeof my->claim.look);
            watch_clear(&my->watch);
            WRITE(back, W(registers_self(at)), courtesy_in(COURTESY_QUEUED, registers_own(at, 0)));
            if (!without.withdrawal)
                CALL(courtesy_release, &my->release, at, false);
            HEED(HEAD_OF(my));
            continue;
        }
        if (!registers_conditional(at))
            break;
        CONDITION(when, holds);
        if (holds)
            break;
        if (!watch_full(&my->watch))
            memset(&my->claim.look, 0, sizeof my->claim.look);
        WRITE(aside, W(registers_self(at)), courtesy_stepped_aside(at, &my->claim.look, &my->watch));
        memset(&my->claim.look, 0, sizeof my->claim.look);
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
    watch_clear(&my->watch);
    WRITE_LATE(inside, W(registers_self(at)), courtesy_entered(at, my->claim.look.most, without));
    memset(&my->claim.look, 0, sizeof my->claim.look);
inside:;
    PASSAGE_END
}

static inline enum passage_result courtesy_enter(struct courtesy_passage *my, struct registers *at)
{
    return courtesy_run(my, at, (struct courtesy_without){0});
}

static inline enum passage_result courtesy_leave(struct courtesy_passage *my, struct registers *at)
{
    PASSAGE_BEGIN
    if (registers_retains(at))
        CALL(courtesy_retreat, &my->retreat, at);
    else
        CALL(courtesy_depart, &my->departure, at);
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
