/* SPDX-License-Identifier: MIT */
/* Regions of l > 1 slots under `courtesy`: what l-exclusion is about (Dolev, Gafni and Shavit
 * 1988). Fewer than l processes that stand still, inside or in the queue, stop nobody else; among
 * those that move there is order.
 *
 * The number drawn in the doorway is a ticket; it is not raised at entry, and is the fence. A place
 * *takes a slot from me* if it is
 *   - QUEUED, ASLEEP, CLAIMS or INSIDE with an earlier ticket (number, then place);
 *   - CHOOSING since my first count, with an old number below mine: it may yet draw an earlier
 *     ticket. One that chooses anew has seen my ticket, and takes none;
 *   - CLAIMS or INSIDE since I came back from ASIDE, whatever its ticket: it may not have seen
 *     mine.
 * I count those. Fewer than l: I store CLAIMS, count again, and if there are still fewer than l, I
 * am inside.
 *
 * S1, why it excludes: of l + 1 inside, take the last by ticket. When it counted, each of the l
 * others had a ticket or was drawing it, and took a slot; or was ASIDE, and has counted the last
 * one's claim when it came back. S2, why nobody spins on a still world: who has left never takes a
 * slot again, and who stands still takes one for good. So a count that is not followed by another's
 * step leads to the same answer: claim and enter, or sleep. S3, why fewer than l that stand still
 * stop nobody: each takes one slot.
 *
 * Sleep. Before it is my turn one of any l takers must have moved: I watch the last l by ticket.
 * Whoever ceases to take a slot stores that first, and then wakes by place the sleepers among the
 * first l by ticket: as many as it has made room for. Of those who move while I go to sleep, the
 * last finds that all others have moved, and finds me ASLEEP; or I find a watched word changed. A
 * chooser wakes nobody when it has drawn: who waits for choosers alone does not sleep, but naps.
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
        if (watch_lost(&my->first, my->j) && courtesy_state(w) == COURTESY_ASLEEP)
            WAKE_ONE(wake_any, my->j);
        else if (aside && courtesy_state(w) == COURTESY_ASIDE)
            ROUSE(rouse, my->j);
    }
    while (watch_any(&my->first)) {
        my->j = (place_number)watch_first(&my->first);
        w = watch_seen(&my->first, my->j);
        watch_drop(&my->first, my->j);
        if (courtesy_state(w) == COURTESY_ASLEEP)
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

/* What a passage remembers of its counts. */
struct courtesy_slots {
    PART_HEAD
    place_number j;
    place_number takers;   /* who take a slot from me */
    place_number choosers; /* of them: those in the doorway */
    /* not the first count since it was QUEUED; cleared when it comes back from aside */
    uint8_t again;
    uint8_t returned;  /* it came back from aside; set there, cleared inside */
    uint8_t impatient; /* for the mutant `patience` alone: somebody waits before me */
    struct watch last; /* by ticket, of the takers that are not choosers */
    struct courtesy_room room;
    struct courtesy_vacation vacation;
};

static inline void courtesy_forget(struct courtesy_slots *my)
{
    my->takers = my->choosers = 0;
    my->impatient = 0;
    watch_clear(&my->last);
}

/* Whether a claimant has to step back. */
static inline bool courtesy_is_refused(const struct courtesy_slots *my, struct registers *at)
{
    return courtesy_state(registers_own(at, 0)) == COURTESY_CLAIMS &&
           (my->takers >= registers_slots(at) || my->impatient);
}

/* Whether one that takes no slot by its ticket takes one because I saw it so in my first count:
 * `memory` keeps its word. */
static inline bool courtesy_keeps_slot(const struct courtesy_slots *my, struct registers *at,
                                       struct watch *memory, word w,
                                       struct courtesy_without without)
{
    const enum courtesy_state state = courtesy_state(w);
    const bool chooses = state == COURTESY_CHOOSING && !without.doorway &&
                         courtesy_number(w) < courtesy_number(registers_own(at, 0));
    if (!chooses && !(my->returned && (state == COURTESY_CLAIMS || state == COURTESY_INSIDE))) {
        watch_drop(memory, my->j);
        return false;
    }
    if (!my->again)
        watch_add(at, memory, my->j, w);
    if (!my->again || watch_lost(memory, my->j) || without.renewal)
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
        const bool before =
            courtesy_has_ticket(w) &&
            courtesy_ticket_before(my->j, w, registers_self(at), registers_own(at, 0));
        if (without.patience && before &&
            (courtesy_state(w) == COURTESY_QUEUED || courtesy_state(w) == COURTESY_ASLEEP))
            my->impatient = 1;
        if (before)
            watch_drop(memory, my->j);
        else if (!courtesy_keeps_slot(my, at, memory, w, without))
            continue;
        my->takers++;
        if (courtesy_state(w) == COURTESY_CHOOSING)
            my->choosers++;
        else
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
