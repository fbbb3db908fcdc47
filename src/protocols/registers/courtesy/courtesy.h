/* SPDX-License-Identifier: MIT */
/* `courtesy`: our own, and the default: Lamport's region (modes, slots, conditions, precedence)
 * from one word a place.
 *
 * Lamport's general algorithm (region.h) keeps a two-process lock and a flag for every pair of
 * places. Here a process says in its one word that it claims the region, looks once more at
 * everybody, and only then is inside.
 *
 * The word, least significant bits first: state, mode, incarnation, number, and a bit that is set
 * in every state but IDLE. States:
 *   IDLE      outside; the number is the last one this place drew, kept across deaths
 *   CHOOSING  in the doorway: its number is not known yet
 *   QUEUED    awake, waiting its turn         ASLEEP  the same, asleep or about to be
 *   ASIDE     its `when` was false when it was alone inside; others pass it
 *   CLAIMS    says it will enter, and looks   INSIDE  is inside
 *   EXPRESS   claims without having queued
 *   HOLDING   keeps units that it chose while inside; in nobody's way
 *   RETAINED  outside, or inside again: courtesy_retain.h
 *   UPGRADES  inside, and waits for a stronger mode: courtesy_convert.h
 * `before(a, b)`: by the space's precedence, then by number, then by place.
 *
 * What follows is about regions of one slot; courtesy_slots.h has the others.
 *
 * Why it excludes. Of two rivals inside, take the one whose store of CLAIMS came last. Its look
 * began after that store, and found the other in CLAIMS or INSIDE, for it has not left since: so it
 * did not enter.
 *   C1  From the store of CLAIMS to the store that leaves, a place that is or will be inside reads
 *       CLAIMS or INSIDE.
 *
 * Why it moves. A claimant steps back only from a claim that is before it; so the first claimant
 * keeps its own, and sleeps until one that claimed before it and is inside has left. Who claims
 * later is not waited for.
 *
 * Why nobody sleeps for ever. A sleeper stores ASLEEP, and sleeps only if each word it watches is
 * as it saw it. It watches as many of those that block it as must all have moved before it may
 * enter. Whoever ceases to block (leaves, steps back, goes aside, gives up) stores that first, and
 * then looks for sleepers: one of the two sees the other.
 *
 * Order. With bound B = 0, nobody passes a rival that is before it: first come, first served. With
 * B > 0 who is awake may pass who is ASLEEP, if the fence it will get is less than B above the
 * sleeper's number; since fences grow with every entry, a sleeper is passed at most B - 1 times so,
 * and once more by one that looked before the sleeper stood in the queue.
 *
 * Conditions. A process whose `when` is false goes ASIDE, and keeps the sights of its look: which
 * rivals there were, and their numbers. As long as they are the same nobody has been inside since,
 * and it need not try again. Changes of state alone do not rouse it, or two that wait aside would
 * rouse each other for ever. It slumbers, watching as many rivals as it can; whoever was inside and
 * leaves rouses each that is aside by its place. With more rivals than it can watch it might miss a
 * death: then one of those aside looks up by itself now and then, and tells the others.
 *
 * Deadlines. Every way around a loop passes SLEEP, AWAIT, AGAIN or HEED, where a passage may be
 * given up.
 *
 * Fences. Who enters raises its number above its own and above all it saw in its look; this
 * includes everyone who was inside before, since words keep their numbers. So number and place,
 * compared in this order, grow with every passage that conflicts, and every entry changes the
 * number.
 *   C2  A place's number never falls.
 *
 * The express lane, for regions of one slot. If nobody was about last time, a process skips the
 * doorway, stores EXPRESS and looks. If it finds every rival idle, aside, or asleep and to be
 * passed, it is inside: whoever of them goes on now stores that first, and will find EXPRESS or
 * INSIDE in its scan. Otherwise it withdraws to the doorway. A scan waits for an EXPRESS to be
 * decided, as it does for a CHOOSING. A claimant's look may ignore it: the claimant's scan did not
 * find it, so it came later, and will find the claimant and withdraw.
 *
 * Who dies again and again cannot stop others: an EXPRESS, a CHOOSING or a claim that was renewed
 * while I was queued or claimed came after mine, will see me, and is ignored.
 */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_COURTESY_COURTESY_H
#define AFTERYOU_PROTOCOLS_REGISTERS_COURTESY_COURTESY_H

#include <string.h>

#include "protocols/registers/courtesy/courtesy_aside.h"
#include "protocols/registers/courtesy/courtesy_convert.h"
#include "protocols/registers/courtesy/courtesy_retain.h"
#include "protocols/registers/courtesy/courtesy_slots.h"

#define W(process) (process), 0

static inline word courtesy_stepped_aside(struct registers *at, const struct courtesy_look *look,
                                          struct courtesy_without without)
{
    return courtesy_in(COURTESY_ASIDE, without.sights ? courtesy_entered(at, look->most, without)
                                                      : registers_own(at, 0));
}

/* The express lane: claims without having queued, and is inside if it finds nobody in its way. */
struct courtesy_express {
    /* busy: withdraw to the doorway */
    PART_HEAD
    struct courtesy_glance glance;
};

/* If nobody is about, that is all. Otherwise it is busy, until it has passed them. */
static OFTEN enum passage_result courtesy_dash(struct courtesy_express *my, struct registers *at,
                                               struct courtesy_without without)
{
    bool none = false;
    PASSAGE_BEGIN
    WRITE(express, W(registers_self(at)),
          courtesy_as(COURTESY_EXPRESS, registers_mode(at), registers_own(at, 0)));
    NONE_ABOVE(about, none, without.quiet ? (word)-1 : courtesy_quiet(registers_own(at, 0)));
    my->glance.busy = !none;
    if (!my->glance.busy)
        WRITE_LATE(inside, W(registers_self(at)), courtesy_entered(at, 0, without));
    PASSAGE_END
}

/* Passes those who are about, but in nobody's way. */
static OFTEN enum passage_result courtesy_pass(struct courtesy_express *my, struct registers *at,
                                               struct courtesy_without without)
{
    PASSAGE_BEGIN
    CALL(courtesy_glance, &my->glance, at, without);
    if (!my->glance.busy)
        WRITE_LATE(inside_after_glance, W(registers_self(at)),
                   courtesy_entered(at, my->glance.most, without));
    my->glance.most = 0;
    PASSAGE_END
}

/* What a claimant does after its look. */
enum courtesy_verdict { COURTESY_ENTER, COURTESY_STEP_BACK, COURTESY_LOOK_AGAIN };

static inline enum courtesy_verdict courtesy_judge(const struct courtesy_look *look,
                                                   struct registers *at,
                                                   struct courtesy_without without)
{
    if (without.look)
        return COURTESY_ENTER;
    /* Would I pass one that waits before me once too often? */
    if (!without.bound && courtesy_passes_too_often(at, look->most, look->oldest))
        return COURTESY_STEP_BACK;
    if (look->yields && !without.way)
        return COURTESY_STEP_BACK;
    if (look->rivals == 0)
        return COURTESY_ENTER;
    if (look->before > 0 && !without.step_back)
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
                                                 struct sights *sights,
                                                 struct courtesy_without without)
{
    bool woken = false;
    PASSAGE_BEGIN
    WRITE(claim, W(registers_self(at)), courtesy_in(COURTESY_CLAIMS, registers_own(at, 0)));
    for (;;) {
        CALL(courtesy_look, &my->look, at, watch, sights, my->again, without);
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
    struct sights sights; /* with a condition: what was seen when it was tried */
    struct courtesy_express express;
    struct courtesy_doorway doorway;
    struct courtesy_scan scan;
    struct courtesy_claim claim;
    struct courtesy_release release;
    struct courtesy_departure departure;
    struct courtesy_slumber slumber;
    struct courtesy_slots slots;
    struct courtesy_again again;
    struct courtesy_retreat retreat;
    struct courtesy_welcome welcome;
    struct courtesy_conversion conversion;
};

/* For an engine whose memory for a passage holds whatever lay there before: the struct is large, so
 * only what is read before it is written is set. One that searches has it all zero. */
static inline void courtesy_begin(struct courtesy_passage *my)
{
    watch_clear(&my->watch);
    my->slots.again = 0;
    my->scan = (struct courtesy_scan){0};
    my->claim.again = 0;
    my->again.inside = 0;
}

/* Likewise, for an upgrade. */
static inline void courtesy_begin_upgrade(struct courtesy_passage *my)
{
    watch_clear(&my->watch);
    my->conversion = (struct courtesy_conversion){0};
}

/* A passage through a region of one slot. */
static inline enum passage_result courtesy_run_alone(struct courtesy_passage *my,
                                                     struct registers *at,
                                                     struct courtesy_without without)
{
    bool woken = false, holds = false;
    PASSAGE_BEGIN
    if (registers_retains(at) && registers_own(at, COURTESY_GRANT) != 0) {
        if (!registers_conditional(at) && registers_mode(at) == courtesy_mode(registers_own(at, 0)))
            CALL(courtesy_again, &my->again, at, without);
        if (my->again.inside) {
            my->again.inside = 0;
            goto inside;
        }
        registers_keep(at, COURTESY_GRANT, 0);
        /* somebody may sleep until the right is given back */
        CALL(courtesy_depart, &my->departure, at);
    }
    if (registers_calm(at) && !registers_conditional(at)) {
        CALL(courtesy_dash, &my->express, at, without);
        if (my->express.glance.busy)
            CALL(courtesy_pass, &my->express, at, without);
        if (!my->express.glance.busy)
            goto inside;
        my->express.glance.busy = 0;
    }
    CALL(courtesy_doorway, &my->doorway, at);
    QUEUE;
    for (;;) {
        CALL(courtesy_scan, &my->scan, at, &my->watch, without);
        if (my->scan.blockers > 0) {
            my->scan.blockers = 0;
            if (courtesy_state(registers_own(at, 0)) != COURTESY_ASLEEP)
                WRITE(asleep, W(registers_self(at)),
                      courtesy_in(COURTESY_ASLEEP, registers_own(at, 0)));
            SLEEP(sleep, HEAD_OF(my), &my->watch, woken);
            watch_clear(&my->watch);
            continue;
        }
        my->scan.blockers = 0;
        watch_clear(&my->watch);
        /* Who may be passed while it sleeps says first that it does no longer, and scans again: it
         * may just have been passed. */
        if (courtesy_state(registers_own(at, 0)) == COURTESY_ASLEEP && registers_overtake(at) > 0) {
            WRITE(awake, W(registers_self(at)), courtesy_in(COURTESY_QUEUED, registers_own(at, 0)));
            continue;
        }
        CALL(courtesy_claim, &my->claim, at, HEAD_OF(my), &my->watch, &my->sights, without);
        if (courtesy_judge(&my->claim.look, at, without) == COURTESY_STEP_BACK) {
            memset(&my->claim.look, 0, sizeof my->claim.look);
            watch_clear(&my->watch);
            WRITE(back, W(registers_self(at)), courtesy_in(COURTESY_QUEUED, registers_own(at, 0)));
            if (!without.withdrawal)
                CALL(courtesy_release, &my->release, at, false);
            if (!without.heed)
                HEED(HEAD_OF(my));
            continue;
        }
        if (!registers_conditional(at))
            break;
        CONDITION(when, holds);
        if (holds)
            break;
        if (!without.sights)
            memset(&my->claim.look, 0, sizeof my->claim.look);
        watch_clear(&my->watch);
        WRITE(aside, W(registers_self(at)), courtesy_stepped_aside(at, &my->claim.look, without));
        memset(&my->claim.look, 0, sizeof my->claim.look);
        CALL(courtesy_release, &my->release, at, false);
        if (!without.heed)
            HEED(HEAD_OF(my));
        CALL(courtesy_slumber, &my->slumber, at, HEAD_OF(my), &my->watch, &my->sights, without);
        WRITE(return, W(registers_self(at)), courtesy_in(COURTESY_QUEUED, registers_own(at, 0)));
    }
    watch_clear(&my->watch);
    sights_clear(&my->sights, 0);
    ASSERT(C1, courtesy_state(registers_own(at, 0)) == COURTESY_CLAIMS);
    if (registers_admits(at)) {
        WRITE(inside_with, W(registers_self(at)),
              courtesy_entered(at, my->claim.look.most, without));
        memset(&my->claim.look, 0, sizeof my->claim.look);
        CALL(courtesy_welcome, &my->welcome, at);
        goto inside;
    }
    WRITE_LATE(inside, W(registers_self(at)), courtesy_entered(at, my->claim.look.most, without));
    memset(&my->claim.look, 0, sizeof my->claim.look);
inside:;
    PASSAGE_END
}

/* A passage through a region of several slots: see courtesy_slots.h. */
static inline enum passage_result courtesy_run_slots(struct courtesy_passage *my,
                                                     struct registers *at,
                                                     struct courtesy_without without)
{
    bool holds = false, woken = false;
    PASSAGE_BEGIN
    CALL(courtesy_doorway, &my->doorway, at);
    QUEUE;
    for (;;) {
        CALL(courtesy_count, &my->slots, at, &my->watch, &my->sights, without);
        if (courtesy_is_refused(&my->slots, at, without)) {
            courtesy_forget(&my->slots);
            watch_clear(&my->watch);
            WRITE(back, W(registers_self(at)), courtesy_in(COURTESY_QUEUED, registers_own(at, 0)));
            my->slots.again = 0;
            CALL(courtesy_make_room, &my->slots.room, at, false);
            if (!without.heed)
                HEED(HEAD_OF(my));
            continue;
        }
        if (my->slots.takers < registers_slots(at)) {
            courtesy_forget(&my->slots);
            watch_clear(&my->watch);
            if (courtesy_state(registers_own(at, 0)) != COURTESY_CLAIMS && !without.recount) {
                WRITE(claim, W(registers_self(at)),
                      courtesy_in(COURTESY_CLAIMS, registers_own(at, 0)));
                my->slots.again = 0;
                continue;
            }
            if (!registers_conditional(at))
                break;
            CONDITION(when, holds);
            if (holds)
                break;
            WRITE(aside, W(registers_self(at)), courtesy_in(COURTESY_ASIDE, registers_own(at, 0)));
            CALL(courtesy_make_room, &my->slots.room, at, false);
            if (!without.heed)
                HEED(HEAD_OF(my));
            CALL(courtesy_slumber, &my->slumber, at, HEAD_OF(my), &my->watch, &my->sights, without);
            watch_clear(&my->watch);
            WRITE(return, W(registers_self(at)),
                        courtesy_in(COURTESY_QUEUED, registers_own(at, 0)));
            my->slots.again = 0;
            continue;
        }
        my->slots.takers = my->slots.earlier = 0;
        my->slots.yields = 0;
        if (courtesy_state(registers_own(at, 0)) == COURTESY_QUEUED)
            WRITE(asleep, W(registers_self(at)),
                  courtesy_in(COURTESY_ASLEEP, registers_own(at, 0)));
        SLEEP(sleep, HEAD_OF(my), &my->slots.last, woken);
    }
    my->slots.again = 0;
    watch_clear(&my->watch);
    sights_clear(&my->sights, 0);
    WRITE_LATE(inside, W(registers_self(at)), courtesy_in(COURTESY_INSIDE, registers_own(at, 0)));
    PASSAGE_END
}

static inline enum passage_result courtesy_run(struct courtesy_passage *my, struct registers *at,
                                               struct courtesy_without without)
{
    return registers_slots(at) > 1 ? courtesy_run_slots(my, at, without)
                                   : courtesy_run_alone(my, at, without);
}

static inline enum passage_result courtesy_enter(struct courtesy_passage *my, struct registers *at)
{
    return courtesy_run(my, at, (struct courtesy_without){0});
}

static inline enum passage_result courtesy_leave(struct courtesy_passage *my, struct registers *at)
{
    PASSAGE_BEGIN
    if (registers_slots(at) > 1)
        CALL(courtesy_vacate, &my->slots.vacation, at);
    else if (registers_retains(at))
        CALL(courtesy_retreat, &my->retreat, at);
    else
        CALL(courtesy_depart, &my->departure, at);
    PASSAGE_END
}

/* Inside: to a mode that excludes no more than mine (courtesy_convert.h). */
static inline enum passage_result courtesy_downgrade(struct courtesy_passage *my,
                                                     struct registers *at, unsigned mode)
{
    PASSAGE_BEGIN
    WRITE(downgrade, W(registers_self(at)),
          courtesy_as(COURTESY_INSIDE, mode, registers_own(at, 0)));
    CALL(courtesy_release, &my->release, at, true);
    PASSAGE_END
}

/* Inside: to a mode that excludes more. `conversion.refused`: another upgrades; it stays as it was.
 */
static inline enum passage_result courtesy_upgrade(struct courtesy_passage *my,
                                                   struct registers *at, unsigned mode,
                                                   struct courtesy_without without)
{
    bool woken = false;
    PASSAGE_BEGIN
    my->conversion.refused = 0;
    if (!without.refusal)
        CALL(courtesy_find_upgrade, &my->conversion, at, mode);
    if (without.ahead)
        CALL(courtesy_look_inside, &my->conversion, at, &my->watch, mode, without);
    if (!my->conversion.refused) {
        WRITE(upgrade, W(registers_self(at)),
              courtesy_as(COURTESY_UPGRADES, without.stronger ? registers_mode(at) : mode,
                          registers_own(at, 0)));
        QUEUE;
        if (!without.call)
            CALL(courtesy_release, &my->release, at, false);
        for (;;) {
            if (!without.ahead)
                CALL(courtesy_look_inside, &my->conversion, at, &my->watch, mode, without);
            if (my->conversion.refused || !my->conversion.waits)
                break;
            my->conversion.most = 0;
            SLEEP(wait, HEAD_OF(my), &my->watch, woken);
            if (without.ahead)
                CALL(courtesy_look_inside, &my->conversion, at, &my->watch, mode, without);
        }
        watch_clear(&my->watch);
        my->conversion.waits = 0;
        if (my->conversion.refused) {
            my->conversion.most = 0;
            CALL(courtesy_stay, &my->conversion, at);
        } else {
            ASSERT(C3, courtesy_state(registers_own(at, 0)) == COURTESY_UPGRADES);
            WRITE_LATE(upgraded, W(registers_self(at)),
                       courtesy_as(COURTESY_INSIDE, mode,
                                   courtesy_entered(at, my->conversion.most, without)));
            my->conversion.most = 0;
        }
    }
    PASSAGE_END
}

/* Gives an upgrade up. */
static inline enum passage_result courtesy_keep_mode(struct courtesy_passage *my,
                                                     struct registers *at)
{
    PASSAGE_BEGIN
    CALL(courtesy_stay, &my->conversion, at);
    PASSAGE_END
}

/* Units: once they are chosen inside and published, others may choose in their turn. Leave by
 * courtesy_give_back. */
static inline enum passage_result courtesy_hold(struct courtesy_passage *my, struct registers *at)
{
    PASSAGE_BEGIN
    WRITE(hold, W(registers_self(at)), courtesy_in(COURTESY_HOLDING, registers_own(at, 0)));
    CALL(courtesy_release, &my->release, at, true);
    PASSAGE_END
}

/* The number grows, so that those aside see that something has changed. */
static inline enum passage_result courtesy_give_back(struct courtesy_passage *my,
                                                     struct registers *at)
{
    const word own = registers_own(at, 0);
    PASSAGE_BEGIN
    WRITE(give_back, W(registers_self(at)),
          courtesy_word(COURTESY_IDLE, 0, courtesy_incarnation(own),
                        registers_draw(at, courtesy_number(own), COURTESY_NUMBER_BITS)));
    CALL(courtesy_release, &my->release, at, true);
    PASSAGE_END
}

#undef W
#endif
