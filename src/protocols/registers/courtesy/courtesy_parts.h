/* SPDX-License-Identifier: MIT */
/* The parts of a passage under `courtesy`: doorway, scan, look, release. See courtesy.h for what
 * they are for, courtesy_aside.h for what one aside does, and courtesy_slots.h for regions of more
 * than one slot. */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_COURTESY_COURTESY_PARTS_H
#define AFTERYOU_PROTOCOLS_REGISTERS_COURTESY_COURTESY_PARTS_H

#include <string.h>

#include "protocols/registers/courtesy/courtesy_word.h"

/* Parts that look redundant, for the checker to refute their absence. */
struct courtesy_without {
    bool look;        /* enters as soon as it has claimed */
    bool choosing;    /* passes who is choosing */
    bool incarnation; /* waits on for a place that died and chooses again */
    bool step_back;   /* a claimant that is not among the first keeps its claim */
    bool withdrawal;  /* steps back without waking who slept on the claim */
    bool bound;       /* passes sleepers without limit */
    bool raise;       /* keeps its number when it enters */
    bool recall;      /* goes in again though its permission was recalled */
    bool barrier;     /* the keeper recalls without a barrier in the owner's threads */
    bool retained;    /* enters once a rival that it saw inside has retained its permission */
    /* aside, takes only a number above its own for a change, and raises that above all it saw */
    bool sights;
    bool sweep;   /* keeps watching a place that is no rival any more */
    bool heed;    /* steps back, or goes aside, without a look at its deadline */
    bool later;   /* slots: with a later ticket, who claims or is inside takes none */
    bool recount; /* slots: enters without having counted again after it claimed */
    /* slots: claims if there is room, and steps back from whoever waits before it */
    bool patience;
    bool rouse;     /* slots: aside, does not see that somebody has left */
    bool listening; /* aside, listens only after it has looked */
    bool ahead;     /* converts: looks who is inside before it says that it upgrades */
    bool express;   /* converts: does not wait for who is on the express lane */
    bool way;       /* a claimant keeps its claim before one that upgrades */
    bool stronger;  /* converts: says that it upgrades, in the mode that it had */
    bool refusal;   /* converts: nobody is told that another upgrades already */
    bool turn;      /* who may convert passes those who wait, as if it could not */
    bool call;      /* converts: wakes nobody when it says that it upgrades */
    bool quiet;     /* brief looks: takes whoever is about for quiet */
};

#define W(process) (process), 0

/* Doorway: draws a number greater than all there are. */
struct courtesy_doorway {
    PART_HEAD
    word most;
    place_number j;
};

static OFTEN enum passage_result courtesy_doorway(struct courtesy_doorway *my, struct registers *at)
{
    const word own = registers_own(at, 0);
    word w = 0;
    PASSAGE_BEGIN
    my->most = courtesy_number(own);
    WRITE(choosing, W(registers_self(at)), courtesy_as(COURTESY_CHOOSING, registers_mode(at), own));
    for (EACH_OTHER(my->j)) {
        READ(number, w, W(my->j));
        if (courtesy_number(w) > my->most)
            my->most = courtesy_number(w);
    }
    my->j = 0;
    my->most = registers_draw(at, my->most, COURTESY_NUMBER_BITS);
    ASSERT(C2, my->most > courtesy_number(own));
    WRITE(queued, W(registers_self(at)),
          courtesy_word(COURTESY_QUEUED, registers_mode(at), courtesy_incarnation(own), my->most));
    my->most = 0;
    PASSAGE_END
}

/* Whether I would pass a sleeper once too often: fences grow with every entry, so by mine it is
 * known how often it was passed at most. `oldest`: one above its number; 0: nobody sleeps. */
static inline bool courtesy_passes_too_often(struct registers *at, word most, word oldest)
{
    return oldest && courtesy_fence(at, most) >= oldest - 1u + registers_overtake(at);
}

/* The word of one that enters, having seen numbers below `most`. */
static inline word courtesy_entered(struct registers *at, word most,
                                    struct courtesy_without without)
{
    const word own = registers_own(at, 0);
    if (without.raise)
        return courtesy_in(COURTESY_INSIDE, own);
    return courtesy_numbered(
        COURTESY_INSIDE, own,
        registers_draw(at, (word)(courtesy_fence(at, most) - 1u), COURTESY_NUMBER_BITS));
}

/* Scan: counts the rivals that block me, and watches them. */
struct courtesy_scan {
    PART_HEAD
    word first;
    word most;   /* one above the greatest number seen */
    word oldest; /* one above the least number of a sleeper before me; 0: there is none */
    place_number j;
    place_number blockers;
    place_number sleepers; /* those before me, which I might pass */
    struct recall recall;
};

/* Whether j stands between me and k, of two that keep me waiting. */
static inline bool courtesy_nearer(struct registers *at, unsigned j, word w, unsigned k, word seen)
{
    const bool before = courtesy_before_me(at, j, w);
    if (before != courtesy_before_me(at, k, seen))
        return before;
    return courtesy_number(w) > courtesy_number(seen) ||
           (courtesy_number(w) == courtesy_number(seen) && j > k);
}

/* All that are before me will go first, so it is enough to watch one, the last before me: a
 * departure then wakes one. */
static inline void courtesy_watch(struct registers *at, struct watch *watch, unsigned j, word w)
{
    if (watch_any(watch)) {
        const unsigned k = watch_first(watch);
        if (!courtesy_nearer(at, j, w, k, watch_seen(watch, k)))
            return;
        watch_clear(watch);
    }
    watch_add(at, watch, j, w);
}

/* Whoever claims or is inside must go first, if its mode excludes mine, and I wait asleep, where
 * others may pass me. Who is before me, and waits, goes first as well if it would exclude what I
 * may convert to: or one that comes in a weak mode, and upgrades, could pass it again and again. */
static inline bool courtesy_blocks(enum courtesy_state state, bool before, bool excludes)
{
    switch (state) {
    case COURTESY_INSIDE:
    case COURTESY_RETAINED:
    case COURTESY_UPGRADES:
        return excludes;
    case COURTESY_CLAIMS:
        return excludes || before;
    case COURTESY_QUEUED:
    case COURTESY_ASLEEP:
        return before;
    default:
        return false;
    }
}

/* Whether one that waits its turn regards the passage that w shows at all. */
static inline bool courtesy_heeds(struct registers *at, word w, struct courtesy_without without)
{
    return without.turn ? courtesy_excludes(at, w) : courtesy_concerns(at, w);
}

static inline void courtesy_weigh(struct courtesy_scan *my, struct registers *at,
                                  struct watch *watch, word w)
{
    const enum courtesy_state state = courtesy_state(w);
    const bool before = courtesy_before_me(at, my->j, w);
    if (state == COURTESY_ASLEEP && before && registers_overtake(at) > 0) {
        my->sleepers++;
        if (!my->oldest || courtesy_number(w) + 1u < my->oldest)
            my->oldest = (word)(courtesy_number(w) + 1u);
        /* should I be blocked: those who sleep are woken one by the other */
        courtesy_watch(at, watch, my->j, w);
    } else if (courtesy_blocks(state, before, courtesy_excludes(at, w))) {
        my->blockers++;
        courtesy_watch(at, watch, my->j, w);
    }
}

/* If my fence would exceed the bound of a sleeper before me, I may pass none of them. */
static inline void courtesy_weigh_sleepers(struct courtesy_scan *my, struct registers *at,
                                           struct courtesy_without without)
{
    if (!without.bound && courtesy_passes_too_often(at, my->most, my->oldest))
        my->blockers = (place_number)(my->blockers + my->sleepers);
    my->most = my->oldest = 0;
    my->sleepers = 0;
}

static inline enum passage_result courtesy_scan(struct courtesy_scan *my, struct registers *at,
                                                struct watch *watch,
                                                struct courtesy_without without)
{
    word w = 0;
    PASSAGE_BEGIN
    my->blockers = 0;
    for (EACH_RIVAL(my->j)) {
        READ(scan, w, W(my->j));
        if (!registers_rival(at, my->j))
            continue;
        /* the right of one that I need not wait for stays with it, or who dies and retains again
         * and again could keep me here */
        if (courtesy_state(w) == COURTESY_RETAINED && courtesy_heeds(at, w, without)) {
            RECALL(recall, my->j, &my->recall, w, !without.barrier);
            READ(rescan, w, W(my->j));
            if (!registers_rival(at, my->j))
                continue;
        }
        if (courtesy_number(w) >= my->most)
            my->most = (word)(courtesy_number(w) + 1u);
        if (!courtesy_heeds(at, w, without))
            continue;
        if (courtesy_undecided(w) && !without.choosing) {
            my->first = w;
            AWAIT(decided, w, W(my->j),
                  !courtesy_undecided(w) || (!without.incarnation && !courtesy_same(w, my->first)));
            my->first = 0;
            /* it began anew, after I was queued; or it has left, or changed its mode */
            if (courtesy_undecided(w) || !registers_rival(at, my->j) ||
                !courtesy_heeds(at, w, without))
                continue;
        }
        courtesy_weigh(my, at, watch, w);
    }
    my->j = 0;
    watch_ahead(watch, my->blockers + (unsigned)my->sleepers);
    courtesy_weigh_sleepers(my, at, without);
    PASSAGE_END
}

/* Glance: what keeps one on the express lane from going straight in. */
struct courtesy_glance {
    /* one above the greatest number seen */
    PART_HEAD
    word most;
    /* one above the least number of a sleeper that I may not pass without limit; 0: there is none
     */
    word oldest;
    place_number j;
    uint8_t busy; /* withdraw to the doorway */
};

/* Whoever sleeps or is aside will look again before it enters. So they are in nobody's way; but the
 * sleeper has its bound. */
static inline bool courtesy_lets_pass(struct courtesy_glance *my, struct registers *at, word w)
{
    switch (courtesy_state(w)) {
    case COURTESY_IDLE:
    case COURTESY_HOLDING:
    case COURTESY_ASIDE:
        return true;
    case COURTESY_CHOOSING:
    case COURTESY_EXPRESS:
    case COURTESY_INSIDE:
    case COURTESY_UPGRADES:
    case COURTESY_RETAINED:
        return !courtesy_excludes(at, w);
    case COURTESY_ASLEEP:
        if (registers_overtake(at) == 0)
            return false;
        if (registers_precedence(at, my->j) <= 0 &&
            (!my->oldest || courtesy_number(w) + 1u < my->oldest))
            my->oldest = (word)(courtesy_number(w) + 1u);
        return true;
    default:
        return false;
    }
}

static OFTEN enum passage_result courtesy_glance(struct courtesy_glance *my, struct registers *at,
                                                 struct courtesy_without without)
{
    word w = 0;
    PASSAGE_BEGIN
    my->most = my->oldest = 0;
    my->busy = 0;
    for (EACH_RIVAL(my->j)) {
        READ(glance, w, W(my->j));
        if (!registers_rival(at, my->j))
            continue;
        if (courtesy_number(w) >= my->most)
            my->most = (word)(courtesy_number(w) + 1u);
        if (courtesy_heeds(at, w, without) && !courtesy_lets_pass(my, at, w)) {
            my->busy = 1;
            break;
        }
    }
    my->j = 0;
    my->busy = my->busy || (!without.bound && courtesy_passes_too_often(at, my->most, my->oldest));
    my->oldest = 0;
    PASSAGE_END
}

/* Look: what a claimant sees of its rivals. */
struct courtesy_look {
    /* one above the greatest number seen */
    PART_HEAD
    word most;
    word oldest; /* one above the least number of those who wait and are before me; 0: nobody */
    place_number j;
    place_number rivals; /* those inside, or claiming, that count against me */
    place_number before; /* of them, those that claim and are before me */
    uint8_t yields;      /* one of them upgrades, and waits until I have stepped back */
};

/* Who claims or is inside counts against me if it was so in my first look after I claimed; whoever
 * claimed later saw my claim, and has counted me. `watch` keeps the words of those that count. One
 * that was seen to claim and is now inside, that was inside and retains its permission, or that has
 * changed its mode inside, still counts: it may be the same passage. */
static inline bool courtesy_still(word seen, word w, struct courtesy_without without)
{
    const enum courtesy_state was = courtesy_state(seen), is = courtesy_state(w);
    if (without.retained && is == COURTESY_RETAINED)
        return false;
    return (was == COURTESY_CLAIMS && is == COURTESY_INSIDE) ||
           (is == COURTESY_INSIDE && courtesy_same(seen, w)) ||
           ((was == COURTESY_CLAIMS || was == COURTESY_INSIDE) && is == COURTESY_RETAINED);
}

static inline bool courtesy_counts(const struct registers *at, struct watch *watch, unsigned j,
                                   word w, bool again, struct courtesy_without without)
{
    const bool claims =
        courtesy_state(w) == COURTESY_CLAIMS || courtesy_state(w) == COURTESY_INSIDE ||
        courtesy_state(w) == COURTESY_UPGRADES || courtesy_state(w) == COURTESY_RETAINED;
    if (!again || watch_lost(watch, j))
        return claims;
    if (!watch_has(watch, j))
        return false;
    const word seen = watch_seen(watch, j);
    if (claims && (seen == w || courtesy_still(seen, w, without))) {
        watch_add(at, watch, j, w);
        return true;
    }
    watch_drop(watch, j);
    return false;
}

static inline void courtesy_regard(struct courtesy_look *my, struct registers *at, word w,
                                   struct watch *watch, bool again, struct courtesy_without without)
{
    if (courtesy_number(w) >= my->most)
        my->most = (word)(courtesy_number(w) + 1u);
    if (courtesy_state(w) == COURTESY_IDLE && !again)
        return;
    const bool before = courtesy_before_me(at, my->j, w), excludes = courtesy_excludes(at, w);
    if (!excludes && again)
        watch_drop(watch, my->j);
    if (excludes && courtesy_state(w) == COURTESY_UPGRADES)
        my->yields = 1;
    if (excludes && courtesy_counts(at, watch, my->j, w, again, without)) {
        if (!again)
            watch_add(at, watch, my->j, w);
        my->rivals++;
        my->before = (place_number)(my->before + (before && courtesy_state(w) == COURTESY_CLAIMS));
    }
    if ((courtesy_state(w) == COURTESY_QUEUED || courtesy_state(w) == COURTESY_ASLEEP) && before &&
        courtesy_heeds(at, w, without) && (my->oldest == 0 || courtesy_number(w) + 1u < my->oldest))
        my->oldest = (word)(courtesy_number(w) + 1u);
}

/* What one aside keeps of a rival: its passage. With one slot every entry changes the number, and
 * the state does not matter, or two that wait aside would rouse each other for ever. With more, the
 * number stays, and whether it has left shows in the state. */
static inline word courtesy_sight(struct registers *at, word w, struct courtesy_without without)
{
    const bool outside =
        courtesy_state(w) == COURTESY_IDLE || courtesy_state(w) == COURTESY_CHOOSING;
    return courtesy_in(
        registers_slots(at) == 1 || outside || without.rouse ? COURTESY_IDLE : COURTESY_INSIDE, w);
}

/* For one with a condition, `sights` is what was seen of every rival before the condition was
 * tried. */
static inline void courtesy_note(struct registers *at, struct sights *sights, unsigned j, word w,
                                 struct courtesy_without without)
{
    if (registers_conditional(at))
        sights_note(sights, j, courtesy_sight(at, w, without));
}

static inline enum passage_result courtesy_look(struct courtesy_look *my, struct registers *at,
                                                struct watch *watch, struct sights *sights,
                                                bool again, struct courtesy_without without)
{
    word w = 0;
    PASSAGE_BEGIN
    memset(my, 0, sizeof *my);
    sights_clear(sights, registers_missed(at));
    for (EACH_RIVAL(my->j)) {
        READ(look, w, W(my->j));
        if (!registers_rival(at, my->j))
            continue;
        courtesy_note(at, sights, my->j, w, without);
        courtesy_regard(my, at, w, watch, again, without);
    }
    my->j = 0;
    if (again && !without.sweep)
        watch_sweep(watch, at, registers_stays);
    PASSAGE_END
}

/* After a store that lets others pass: wakes whoever may have gone to sleep on me; those aside only
 * if I was inside. */
struct courtesy_release {
    PART_HEAD
    place_number j;
    uint8_t any; /* somebody sleeps */
};

static RARELY enum passage_result courtesy_release(struct courtesy_release *my,
                                                   struct registers *at, bool aside)
{
    word w = 0;
    PASSAGE_BEGIN
    my->any = 0;
    for (EACH_RIVAL(my->j)) {
        READ(concern, w, W(my->j));
        if (!registers_rival(at, my->j))
            continue;
        /* A claimant sleeps too, while one that claimed before it is inside; and who upgrades. */
        if (courtesy_state(w) == COURTESY_ASLEEP || courtesy_state(w) == COURTESY_CLAIMS ||
            courtesy_state(w) == COURTESY_UPGRADES)
            my->any = 1;
        if (my->any && !aside)
            break;
        if (aside && courtesy_state(w) == COURTESY_ASIDE)
            ROUSE(rouse, my->j);
    }
    my->j = 0;
    if (my->any) {
        my->any = 0;
        WAKE(wake);
    }
    PASSAGE_END
}

/* Leaving: a part by itself, for it needs little memory. */
struct courtesy_departure {
    PART_HEAD
    struct courtesy_release release;
};

static OFTEN enum passage_result courtesy_depart(struct courtesy_departure *my,
                                                 struct registers *at)
{
    bool none = false;
    PASSAGE_BEGIN
    WRITE(epilogue, W(registers_self(at)), courtesy_in(COURTESY_IDLE, registers_own(at, 0)));
    NONE_WITH(stirs, none, (word)((word)1 << COURTESY_STIRS_SHIFT));
    if (!none)
        NONE_TO_WAKE(sleeps, none, (1u << COURTESY_STATE_BITS) - 1, COURTESY_ASLEEP);
    if (!none)
        CALL(courtesy_release, &my->release, at, true);
    PASSAGE_END
}

#undef W
#endif
