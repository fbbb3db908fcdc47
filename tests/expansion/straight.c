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

/* Whatever lay there before. */
static void open_memory(struct courtesy_passage *my, const struct script *script)
{
    memset(my, script->before, sizeof *my);
}

static void unset(struct courtesy_passage *my, const struct script *script)
{
    switch (script->unset) {
    case ALL_IS_SET:
        break;
    case SLOTS_UNSET:
        my->slots.again = script->before;
        break;
    case SCAN_UNSET:
        memset(&my->scan, script->before, sizeof my->scan);
        break;
    case CLAIM_UNSET:
        my->claim.again = script->before;
        break;
    case AGAIN_UNSET:
        my->again.inside = script->before;
        break;
    }
}

/* Inside: units or another mode, as an engine has it; then it leaves. */
static void go_on(struct registers *at)
{
    const struct script *script = at->script;
    struct courtesy_passage my;
    open_memory(&my, script);
    if (script->units) {
        courtesy_hold(&my, at);
        open_memory(&my, script);
        courtesy_give_back(&my, at);
        return;
    }
    if (script->slots == 1 && !script->retains) {
        courtesy_begin_upgrade(&my);
        if (courtesy_upgrade(&my, at, MODE_EXCLUSIVE, (struct courtesy_without){0}) != PASSED)
            courtesy_keep_mode(&my, at);
        else
            note(at, 'u', my.conversion.refused, 0);
        open_memory(&my, script);
        courtesy_downgrade(&my, at, script->mode);
    }
    open_memory(&my, script);
    courtesy_leave(&my, at);
}

void run_straight(struct script *script)
{
    struct registers at = begin_script(script);
    for (unsigned passages = script->whole ? 3 : 1; passages > 0; passages--) {
        struct courtesy_passage my;
        open_memory(&my, script);
        courtesy_begin(&my);
        unset(&my, script);
        script->result = (int)courtesy_enter(&my, &at);
        if (script->whole && script->result == PASSED) {
            go_on(&at);
        } else if (script->whole) { /* it has given up */
            open_memory(&my, script);
            courtesy_leave(&my, &at);
        }
    }
}
