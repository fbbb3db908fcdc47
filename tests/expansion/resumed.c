/* SPDX-License-Identifier: MIT */
/* `courtesy` as an ask runs it: it stops where a thread would sleep, at each such place or not as
 * it is drawn, and goes on with what it keeps in its struct alone. */
#define REGISTERS_STOP_AT_SLEEP
#include <stdlib.h>
#include <string.h>

#include "scripted_engine.h"

/* Drawn apart: whether it stops must not change what it hears. */
static uint64_t stopping;

static inline enum registers_rest stop_or_not(void)
{
    stopping = stopping * UINT64_C(6364136223846793005) + 1442695040888963407;
    return stopping >> 62 ? REST_LASTS : REST_OVER;
}

static inline enum registers_rest registers_rest(struct registers *at, struct watch *watch,
                                                 bool *woken)
{
    note_sleep(at, watch);
    at->woken = draw(at) % 2;
    if (gives_up(at, 16))
        return REST_GIVEN_UP;
    const enum registers_rest rest = stop_or_not();
    if (rest == REST_OVER)
        *woken = at->woken;
    return rest;
}

static inline bool registers_woken(const struct registers *at)
{
    return at->woken != (at->script->forgets == FORGETS_HOW_IT_WOKE);
}

static inline enum registers_rest registers_linger(struct registers *at, unsigned place,
                                                   unsigned index, word seen)
{
    note(at, 'P', (uint64_t)place << 8 | index, seen);
    return gives_up(at, 16) ? REST_GIVEN_UP : stop_or_not();
}

#include "protocols/registers/courtesy/courtesy.h"

/* What lay on the stack is something else by the time that it goes on. */
static __attribute__((noinline)) void use_the_stack(void)
{
    volatile unsigned char other[16 * 1024];
    for (size_t at = 0; at < sizeof other; at++)
        other[at] = (unsigned char)(at * 37 + 5);
}

static __attribute__((noinline)) enum passage_result go_on(struct courtesy_passage *my,
                                                           struct registers *at)
{
    return courtesy_enter(my, at);
}

void run_resumed(struct script *script)
{
    struct registers at = begin_script(script);
    struct courtesy_passage *my = calloc(1, sizeof *my);
    if (!my)
        abort();
    stopping = script->seed;
    enum passage_result result;
    while ((result = go_on(my, &at)) == STOPPED) {
        script->stops++;
        if (script->forgets == FORGETS_WHAT_IT_KNEW) {
            watch_clear(&my->watch);
            my->scan = (struct courtesy_scan){.head = my->scan.head};
        }
        use_the_stack();
    }
    script->result = (int)result;
    free(my);
}
