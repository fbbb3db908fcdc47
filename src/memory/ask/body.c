/* SPDX-License-Identifier: MIT */
/* `courtesy`, built for passages that stop where others sleep: the same text as courtesy/hooks.c,
 * over the same registers. */
#define REGISTERS_STOP_AT_SLEEP
#include "memory/ask/ask.h"
#include "memory/passage/words.h"

static inline enum registers_rest rest_of(enum sleeping sleeping)
{
    return sleeping == SLEEP_LASTS  ? REST_LASTS
           : sleeping == SLEEP_OVER ? REST_OVER
                                    : REST_GIVEN_UP;
}

static inline enum registers_rest registers_rest(struct registers *at, struct watch *watch,
                                                 bool *woken)
{
    at->passage.waited = true;
    return rest_of(ay__ask_rest(at, watch, woken));
}

static inline bool registers_woken(const struct registers *at)
{
    return ((const ay_region *)at)->ask->woken;
}

static inline enum registers_rest registers_linger(struct registers *at, unsigned place,
                                                   unsigned index, word seen)
{
    at->passage.waited = true;
    if (at->passage.spins++ < SPINS_MOST && at->passage.deadline != INT64_MIN) {
        spin_once();
        return REST_OVER;
    }
    return rest_of(ay__ask_linger(at, place, index, seen));
}

#include "protocols/registers/courtesy/courtesy.h"

_Static_assert(offsetof(ay_region, at) == 0, "the registers lead to their region");

static enum passage_result go_on(struct registers *at, void *memory)
{
    return courtesy_enter(memory, at);
}

const struct resumable ay__courtesy_resumable = {.room = sizeof(struct courtesy_passage),
                                                 .go_on = go_on};
