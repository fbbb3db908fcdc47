/* SPDX-License-Identifier: MIT */
/* `courtesy` where safety alone is asked, for symmetry.h: what it remembers of places, and what of
 * its passages nobody's safety depends on. Of regions of one slot, without conditions, conversions
 * and names. */
#ifndef AFTERYOU_CHECK_REGISTERS_MODELS_COURTESY_PLACES_H
#define AFTERYOU_CHECK_REGISTERS_MODELS_COURTESY_PLACES_H

#include <string.h>

#include "check/registers/symmetry.h"
#include "protocols/registers/courtesy/courtesy.h"

static inline place_number *courtesy_cursor(void *passage, unsigned *point)
{
    struct courtesy_passage *my = passage;
    struct courtesy_retirement *retirement = &my->retreat.retirement;
    const struct {
        unsigned point;
        place_number *cursor;
    } parts[] = {
        {my->express.glance.head.point, &my->express.glance.j},
        {my->doorway.head.point, &my->doorway.j},
        {my->scan.head.point, &my->scan.j},
        {my->claim.look.head.point, &my->claim.look.j},
        {my->release.head.point, &my->release.j},
        {my->departure.release.head.point, &my->departure.release.j},
        {retirement->stir.head.point, &retirement->stir.j},
        {retirement->departure.release.head.point, &retirement->departure.release.j},
    };
    for (unsigned part = 0; part < sizeof parts / sizeof *parts; part++)
        if (parts[part].point) {
            *point = parts[part].point;
            return parts[part].cursor;
        }
    return NULL;
}

/* Not of one that is idle, nor of one whose number is not known yet: nobody goes by these. */
static uint64_t compared(word w)
{
    return courtesy_state(w) == COURTESY_IDLE || courtesy_undecided(w)
               ? 0
               : UINT64_C(1) << courtesy_number(w);
}

/* What somebody saw of the place counts as well: of two that keep it waiting, it watches one. */
static inline uint64_t courtesy_numbers(const struct register_model *model,
                                        const unsigned char *state, unsigned place)
{
    uint64_t found = compared(*model_words(model, state, place));
    for (unsigned at = 0; model->tso && at < model_buffer(model, state, place)->count; at++)
        if (model_buffer(model, state, place)->store[at].index == 0)
            found |= compared(model_buffer(model, state, place)->store[at].value);
    for (unsigned who = 0; who < model->places; who++) {
        const struct courtesy_passage *my = model_passage(model, state, who);
        if (watch_has(&my->watch, place))
            found |= compared(my->watch.seen[place]);
    }
    return found;
}

static inline void courtesy_relabel(void *passage, unsigned places, const uint8_t *rank)
{
    struct courtesy_passage *my = passage;
    if (!my->watch.places)
        return;
    if (!rank) {
        watch_clear(&my->watch);
        return;
    }
    my->watch.places = (uint8_t)symmetry_set(my->watch.places, places, rank);
    symmetry_words(my->watch.seen, places, rank);
}

/* One that leaves, and has said so: it only looks whom to wake. */
static inline bool courtesy_has_left(const struct model_process *process,
                                     const struct courtesy_passage *my)
{
    return process->part == PART_LEAVING && (my->departure.release.head.point ||
                                             my->retreat.retirement.departure.release.head.point);
}

static inline bool courtesy_sleeps(const struct courtesy_passage *my)
{
    return (my->head.watched || my->head.woken || my->head.heeds) && !my->scan.head.point &&
           !my->claim.look.head.point && !my->release.head.point &&
           !my->departure.release.head.point;
}

/* A claimant that steps back, whatever it sees of the rest; if it does not, it stays as it was. */
static inline void courtesy_hasten_back(const struct register_model *model, unsigned char *state,
                                        unsigned who)
{
    struct courtesy_passage *my = model_passage(model, state, who);
    const struct courtesy_passage before = *my;
    while (my->claim.look.head.point)
        register_model_step_blindly(model, state, who);
    if (my->claim.head.point || my->claim.look.oldest || my->claim.look.before)
        *my = before;
}

/* Let whoever sleeps go on at any moment, as if it had been woken. Then it makes no difference who
 * watches whom and who wakes whom; one asleep is one that is slow to look again; and one whose scan
 * has found somebody in its way, or whose claim must be taken back, need not look at the rest:
 * whatever it does later it may do now, or as late as it likes. A scan that recalls permissions
 * looks at all; and behind a departure there is a choice, of the express lane. */
static inline void courtesy_hasten(const struct register_model *model, unsigned char *state)
{
    for (unsigned who = 0; who < model->system.processes; who++) {
        struct model_process *process = model_process(model, state, who);
        struct courtesy_passage *my = model_passage(model, state, who);
        if (courtesy_has_left(process, my)) {
            process->part = PART_IDLE;
            process->request = 0;
            memset(my, 0, sizeof *my);
        }
        while (process->part == PART_ENTERING) {
            if (courtesy_sleeps(my)) {
                my->head.watched = 0;
                my->head.woken = 1;
                register_model_step_blindly(model, state, who);
            } else if (my->release.head.point ||
                       (my->departure.release.head.point && !model->express) ||
                       (my->scan.head.point && my->scan.blockers && !model->protocol->withdrawn)) {
                register_model_step_blindly(model, state, who);
            } else {
                break;
            }
        }
        if (my->claim.look.head.point &&
            ((my->claim.look.oldest && !model->overtake) || my->claim.look.before))
            courtesy_hasten_back(model, state, who);
        if (!my->claim.head.point) /* a claimant goes by whom it watches */
            watch_clear(&my->watch);
        /* it may be given up as if it slept */
        my->head.heeds = model->aborts && (my->scan.head.point || my->claim.look.head.point);
    }
}

static const char *const courtesy_firsts[] = {"glance",  "number", "scan", "look",
                                              "concern", "stir",   NULL};

#endif
