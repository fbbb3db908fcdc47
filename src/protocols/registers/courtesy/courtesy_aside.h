/* SPDX-License-Identifier: MIT */
/* What one aside does under `courtesy`: its condition was false, and it sleeps until that may have
 * changed. See courtesy.h. */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_COURTESY_COURTESY_ASIDE_H
#define AFTERYOU_PROTOCOLS_REGISTERS_COURTESY_COURTESY_ASIDE_H

#include "protocols/registers/courtesy/courtesy_parts.h"

#define W(process) (process), 0

/* Aside: looks whether anything has changed since the condition was tried, and watches as many
 * rivals as it can. One that is no rival any more may have been inside before it went: that is a
 * change too. */
struct courtesy_survey {
    PART_HEAD
    place_number j;
    uint8_t changed;
    struct glimpse glimpse;
};

static inline enum passage_result courtesy_survey(struct courtesy_survey *my, struct registers *at,
                                                  struct watch *watch, const struct sights *sights,
                                                  struct courtesy_without without)
{
    word w = 0;
    PASSAGE_BEGIN
    glimpse_clear(&my->glimpse);
    if (!without.sweep)
        watch_clear(watch);
    for (EACH_RIVAL(my->j)) {
        READ(survey, w, W(my->j));
        if (!registers_rival(at, my->j))
            continue;
        glimpse_note(&my->glimpse, sights, my->j, courtesy_sight(at, w, without));
        watch_add(at, watch, my->j, w);
        if (without.sights && courtesy_number(w) > courtesy_number(registers_own(at, 0)))
            my->changed = 1;
    }
    my->j = 0;
    if (!without.sights)
        my->changed = glimpse_differs(&my->glimpse, sights, registers_missed(at), !without.sweep);
    glimpse_clear(&my->glimpse);
    PASSAGE_END
}

/* Tells the others that are aside of what one of them has found by itself. */
struct courtesy_relay {
    PART_HEAD
    place_number j;
};

static RARELY enum passage_result courtesy_relay(struct courtesy_relay *my, struct registers *at)
{
    word w = 0;
    PASSAGE_BEGIN
    for (EACH_RIVAL(my->j)) {
        READ(fellow, w, W(my->j));
        if (registers_rival(at, my->j) && courtesy_state(w) == COURTESY_ASIDE)
            ROUSE(relay, my->j);
    }
    my->j = 0;
    PASSAGE_END
}

/* Sleeps aside until something has changed. To be woken is no change by itself. Whoever was inside
 * and leaves rouses all that are aside; one that does so before I listen has left by then, and the
 * survey shows it. A death rouses those alone that watch it: if nobody does, one that looks up by
 * itself finds it, and tells the others. */
struct courtesy_slumber {
    PART_HEAD
    uint8_t found; /* it looked up by itself */
    struct courtesy_survey survey;
    struct courtesy_relay relay;
};

static inline enum passage_result courtesy_slumber(struct courtesy_slumber *my,
                                                   struct registers *at, struct passage_head *head,
                                                   struct watch *watch, struct sights *sights,
                                                   struct courtesy_without without)
{
    bool woken = false;
    PASSAGE_BEGIN
    my->found = 0;
    for (;;) {
        if (!without.listening)
            LISTEN(listen, head);
        CALL(courtesy_survey, &my->survey, at, watch, sights, without);
        if (without.listening)
            LISTEN(late, head);
        if (my->survey.changed)
            break;
        SLUMBER(slumber, head, watch, woken);
        my->found = !woken;
    }
    my->survey.changed = 0;
    if (my->found)
        CALL(courtesy_relay, &my->relay, at);
    my->found = 0;
    watch_clear(watch);
    sights_clear(sights, 0);
    PASSAGE_END
}

#undef W
#endif
