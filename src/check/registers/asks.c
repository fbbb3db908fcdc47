/* SPDX-License-Identifier: MIT */
/* How an ask rests, instead of a thread that sleeps (memory/ask/): the hand-over between what is
 * slept on, the helper and the program, as moves of the process that has asked.
 *
 *   link     from now on a WAKE of a watched place, or its death, is heard
 *   look     whether a watched word differs from what was seen: then it goes on, else it rests
 *   stir     the helper has heard something: the ask stands in the list, and the descriptor becomes
 *            readable, unless it was already
 *   decided  the program, while the descriptor is readable: takes the ask from the list, and goes
 *            on; or finds none, and makes the descriptor unreadable
 *
 *   hint     instead of a WAKE that the helper hears, who leaves makes the descriptor
 *            readable, unless that is refused: `decided` finds nobody in the list, and takes the
 *            hint for what the helper takes a wake-up for. It may last until the process rests
 *            again. Who dies sends none
 *
 * Each is one act there, under ay__asks_mutex. The descriptor stays readable after an ask was
 * taken, until somebody finds none: so it may be readable when the process rests again, or asks
 * again. */
#include "check/registers/accesses.h"
#include "check/registers/register_model.h"

/* Of passage_head.watched, above the places. ASLEEP is everybody's. */
enum {
    HEARD = 0x40,   /* by the helper, which has not stirred it yet */
    TOLD = 0x20,    /* the descriptor is readable */
    CHECKED = 0x10, /* a mutant: the list was empty, and the descriptor is about to be read */
    HINTED = 0x10,  /* of models with hints, which that mutant is not: one is there */
    PLACES = 0x0f
};

static bool has_hints(enum asking asking)
{
    return asking == ASKS_HINTED || asking == ASKS_HINTS_ALONE;
}

bool asks_may_move(const struct passage_head *head)
{
    return !(head->watched & ASLEEP) || head->watched & (HEARD | TOLD | HINTED);
}

void asks_hear(struct registers *at, struct passage_head *head)
{
    const enum asking asking = at->model->protocol->asking;
    if (!head->linked && !(head->watched & ASLEEP))
        return;
    if (at->dies || !has_hints(asking)) {
        head->watched |= HEARD;
        return;
    }
    at->outcomes = 2; /* taken, or refused */
    if (at->choice)
        head->watched |= HINTED;
    else if (asking != ASKS_HINTS_ALONE)
        head->watched |= HEARD;
}

static void stir(struct passage_head *head)
{
    head->watched = (uint8_t)((head->watched & ~(HEARD | PLACES)) | TOLD);
    head->woken = 1; /* in the list */
}

/* True: it rests on. */
static bool decide(struct passage_head *head, enum asking asking)
{
    if (asking == ASKS_DRAINING_LATE && head->watched & CHECKED) {
        head->watched &= (uint8_t) ~(CHECKED | TOLD);
        return true;
    }
    const uint8_t hinted = has_hints(asking) ? head->watched & HINTED : 0;
    if (head->woken) {
        head->woken = 0;
        head->watched = TOLD | hinted;
        return false;
    }
    if (hinted) { /* what the process itself said may stand before it, and is taken too */
        head->watched = 0;
        return false;
    }
    if (asking == ASKS_DRAINING_LATE)
        head->watched |= CHECKED;
    else
        head->watched &= (uint8_t)~TOLD;
    return true;
}

/* Asleep: what happens next. True: it rests on. */
static bool rest_on(struct registers *at, struct passage_head *head, enum asking asking,
                    bool *woken)
{
    enum { STIR, DECIDE } act[2];
    uint8_t count = 0;
    const uint8_t hinted = has_hints(asking) ? head->watched & HINTED : 0;
    if (head->watched & HEARD)
        act[count++] = STIR;
    if (head->watched & TOLD || hinted)
        act[count++] = DECIDE;
    at->outcomes = count;
    if (act[at->choice] == STIR) {
        stir(head);
        return true;
    }
    *woken = true;
    return decide(head, asking);
}

bool asks_rest(struct registers *at, struct passage_head *head, struct watch *watch, bool *woken)
{
    const enum asking asking = at->model->protocol->asking;
    const uint8_t lasts = has_hints(asking) ? TOLD | HINTED : TOLD, told = head->watched & lasts;
    if (head->watched & ASLEEP)
        return rest_on(at, head, asking, woken);
    if (!head->linked) {
        if (asking == ASKS_LINKING_LATE && registers_differ(at, watch))
            return false;
        head->linked = 1;
        head->watched = asking == ASKS_LINKING_LATE ? told : (uint8_t)(told | watch->places);
        return true;
    }
    head->linked = 0;
    if (asking != ASKS_LINKING_LATE && registers_differ(at, watch)) {
        head->watched = told;
        return false;
    }
    head->watched = (uint8_t)((head->watched & (HEARD | lasts)) | watch->places | ASLEEP);
    return true;
}
