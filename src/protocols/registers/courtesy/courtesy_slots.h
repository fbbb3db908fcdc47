/* SPDX-License-Identifier: MIT */
/* Regions of l > 1 slots under `courtesy`: what l-exclusion is about (Dolev, Gafni and Shavit
 * 1988). Fewer than l processes that stand still, inside or in the queue, stop nobody else; among
 * those that move there is order.
 *
 * The number drawn in the doorway is a ticket; it is not raised at entry, and is the fence. A place
 * *takes a slot from me* if it is
 *   - QUEUED, ASLEEP, CLAIMS or INSIDE with an earlier ticket (number, then place);
 *   - CLAIMS or INSIDE with a later one, in the first count after I stood in the queue, came back
 *     from ASIDE or claimed, and in the same passage since. It may have counted before I had my
 *     ticket, or while one was ASIDE that has come back since with an earlier one.
 * I count those. Fewer than l: I store CLAIMS, count again, and if there are still fewer than l, I
 * am inside.
 *
 * S1, why it excludes: of l + 1 inside, take the one whose store of CLAIMS came last. Its first
 * count began after that store, and found the l others in CLAIMS or INSIDE; they have not left
 * since, so it counts them still.
 * S2, why nobody spins on a still world: who has left never takes a slot again, and who stands
 * still takes one for good. So a count that is not followed by another's step leads to the same
 * answer: claim and enter, or sleep.
 * S3, why fewer than l that stand still stop nobody: each takes one slot.
 * S4, why claims do not stop each other: a claimant without a slot steps back if l with earlier
 * tickets take one, or one of those is not inside yet. So the first of all that wait keeps its
 * claim, and waits for who is inside, or stands still in a claim. Those with later tickets that it
 * counts become only fewer: who claims after it counts it.
 *
 * Sleep. Before it is my turn one of any l takers must have moved: I watch the last l by ticket.
 * Whoever ceases to take a slot stores that first, and then wakes by place the sleepers among the
 * first l by ticket: as many as it has made room for. Of those who move while I go to sleep, the
 * last finds that all others have moved, and finds me ASLEEP; or I find a watched word changed.
 *
 * Precedence and bounds on overtaking are for one slot. */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_COURTESY_COURTESY_SLOTS_H
#define AFTERYOU_PROTOCOLS_REGISTERS_COURTESY_COURTESY_SLOTS_H

#include "protocols/registers/courtesy/courtesy_parts.h"

#define W(process) (process), 0

static inline bool courtesy_ticket_before(unsigned j, word v, unsigned k, word w)
{
    return courtesy_number(v) < courtesy_number(w) ||
           (courtesy_number(v) == courtesy_number(w) && j < k);
}

static inline bool courtesy_ticket_after(unsigned j, word v, unsigned k, word w)
{
    return courtesy_ticket_before(k, w, j, v);
}

static inline bool courtesy_has_ticket(word w)
{
    return courtesy_state(w) == COURTESY_QUEUED || courtesy_state(w) == COURTESY_ASLEEP ||
           courtesy_state(w) == COURTESY_CLAIMS || courtesy_state(w) == COURTESY_INSIDE;
}

/* A claimant sleeps too, while those with later tickets are inside. */
static inline bool courtesy_may_sleep(word w)
{
    return courtesy_state(w) == COURTESY_ASLEEP || courtesy_state(w) == COURTESY_CLAIMS;
}

/* Keeps as many as there are slots of all that are offered; the others give way. */
static inline void courtesy_keep(struct registers *at, struct watch *watch, unsigned j, word w,
                                 watch_order *gives_way)
{
    if (watch_count(watch) == registers_slots(at)) {
        const unsigned k = watch_least(watch, gives_way);
        if (!gives_way(k, watch_seen(watch, k), j, w))
            return;
        watch_drop(watch, k);
    }
    watch_add(at, watch, j, w);
}

/* After a store that lets others pass: wakes those for whom there is room now; those aside only if
 * I was inside. */
struct courtesy_room {
    PART_HEAD
    place_number j;
    struct watch first; /* by ticket */
};

static RARELY enum passage_result courtesy_make_room(struct courtesy_room *my, struct registers *at,
                                                     bool aside)
{
    word w = 0;
    PASSAGE_BEGIN
    watch_clear(&my->first);
    for (EACH_RIVAL(my->j)) {
        READ(concern, w, W(my->j));
        if (!registers_rival(at, my->j))
            continue;
        if (courtesy_has_ticket(w))
            courtesy_keep(at, &my->first, my->j, w, courtesy_ticket_after);
        /* If I cannot tell who the first are, I wake them all. */
        if (watch_lost(&my->first, my->j) && courtesy_may_sleep(w))
            WAKE_ONE(wake_any, my->j);
        else if (aside && courtesy_state(w) == COURTESY_ASIDE)
            ROUSE(rouse, my->j);
    }
    while (watch_any(&my->first)) {
        my->j = (place_number)watch_first(&my->first);
        w = watch_seen(&my->first, my->j);
        watch_drop(&my->first, my->j);
        if (courtesy_may_sleep(w))
            WAKE_ONE(wake, my->j);
    }
    my->j = 0;
    watch_clear(&my->first);
    PASSAGE_END
}

struct courtesy_vacation {
    PART_HEAD
    struct courtesy_room room;
};

/* Leaves, or gives up. */
static inline enum passage_result courtesy_vacate(struct courtesy_vacation *my,
                                                  struct registers *at)
{
    PASSAGE_BEGIN
    WRITE(epilogue, W(registers_self(at)), courtesy_in(COURTESY_IDLE, registers_own(at, 0)));
    CALL(courtesy_make_room, &my->room, at, true);
    PASSAGE_END
}

/* What a passage keeps of its counts. */
struct courtesy_slots {
    PART_HEAD
    place_number j;
    place_number takers;  /* who take a slot from me */
    place_number earlier; /* of them: those with an earlier ticket */
    /* not the first count since it stood in the queue or claimed; cleared with every such store */
    uint8_t again;
    uint8_t yields;    /* one with an earlier ticket is not inside yet */
    struct watch last; /* of the takers, by ticket */
    struct courtesy_room room;
    struct courtesy_vacation vacation;
};

static inline void courtesy_forget(struct courtesy_slots *my)
{
    my->takers = my->earlier = 0;
    my->yields = 0;
    watch_clear(&my->last);
}

/* Whether a claimant has to step back: S4. */
static inline bool courtesy_is_refused(const struct courtesy_slots *my, struct registers *at,
                                       struct courtesy_without without)
{
    if (courtesy_state(registers_own(at, 0)) != COURTESY_CLAIMS)
        return false;
    return my->earlier >= registers_slots(at) ||
           (my->yields && (without.patience || my->takers >= registers_slots(at)));
}

/* Whether one with a later ticket takes a slot: `memory` keeps the words of those that did so in
 * my first count. */
static inline bool courtesy_keeps_slot(const struct courtesy_slots *my, struct registers *at,
                                       struct watch *memory, word w,
                                       struct courtesy_without without)
{
    const enum courtesy_state state = courtesy_state(w);
    if (without.later || (state != COURTESY_CLAIMS && state != COURTESY_INSIDE)) {
        watch_drop(memory, my->j);
        return false;
    }
    if (!my->again)
        watch_add(at, memory, my->j, w);
    if (!my->again || watch_lost(memory, my->j))
        return true;
    if (watch_has(memory, my->j) && courtesy_same(watch_seen(memory, my->j), w))
        return true;
    watch_drop(memory, my->j);
    return false;
}

static inline enum passage_result courtesy_count(struct courtesy_slots *my, struct registers *at,
                                                 struct watch *memory, struct sights *sights,
                                                 struct courtesy_without without)
{
    word w = 0;
    PASSAGE_BEGIN
    courtesy_forget(my);
    sights_clear(sights, registers_missed(at));
    for (EACH_RIVAL(my->j)) {
        READ(count, w, W(my->j));
        if (!registers_rival(at, my->j))
            continue;
        courtesy_note(at, sights, my->j, w, without);
        if (courtesy_has_ticket(w) &&
            courtesy_ticket_before(my->j, w, registers_self(at), registers_own(at, 0))) {
            watch_drop(memory, my->j);
            my->earlier++;
            if (courtesy_state(w) != COURTESY_INSIDE)
                my->yields = 1;
        } else if (!courtesy_keeps_slot(my, at, memory, w, without)) {
            continue;
        }
        my->takers++;
        courtesy_keep(at, &my->last, my->j, w, courtesy_ticket_before);
    }
    my->j = 0;
    my->again = 1;
    watch_ahead(&my->last, my->takers);
    watch_sweep(memory, at, registers_rival);
    PASSAGE_END
}

#undef W
#endif
