/* SPDX-License-Identifier: MIT */
/* `courtesy` as a thread runs it that waits, by a script. */
#include <string.h>

#include "scripted_engine.h"

static inline bool registers_sleep(struct registers *at, struct watch *watch, bool *woken)
{
    note_sleep(at, watch);
    *woken = draw(at) % 2;
    return !gives_up(at, 16);
}

static inline bool registers_pause(struct registers *at, unsigned place, unsigned index, word seen)
{
    note(at, 'P', (uint64_t)place << 8 | index, seen);
    return !gives_up(at, 16);
}

#include "protocols/registers/courtesy/courtesy.h"

void run_straight(struct script *script)
{
    struct registers at = begin_script(script);
    struct courtesy_passage my;
    memset(&my, 0, sizeof my);
    script->result = (int)courtesy_enter(&my, &at);
}
