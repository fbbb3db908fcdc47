/* SPDX-License-Identifier: MIT */
/* The owner's side of a retained permission (protocols/registers/courtesy/courtesy_retain.h). */
#include "memory/courtesy/retention.h"

#include "common/assert.h"
#include "memory/passage/words.h"
#include "protocols/registers/courtesy/courtesy.h"

/* The bell is mapped now: what is retained is given back under the mutex, should the region be
 * closed, and that may have to rouse one aside. */
void ay__retention_open(struct registers *at)
{
    ay_space *space = at->fixed.space;
    if (!space->retain || !ay__futex_several() ||
        atomic_load(&ay__process.retaining) >= RETAINED_MOST || !ay__space_map_bell(space))
        return;
    at->retention.may = true;
    atomic_fetch_add(&ay__process.retaining, 1);
    ay__keeper_tell();
}

/* Rivals may be asleep on its word, until the permission that it retains is taken back. */
void ay__retention_give_back(struct registers *at)
{
    assert_required(ay__mutex_is_held());
    if (atomic_load(&at->retention.grant) == 0 || atomic_load(&at->near.own->inside) != 0)
        return;
    at->retention.wanted = false;
    atomic_store(&at->retention.grant, 0);
    at->fixed.protocol->leave(at);
}

void ay__retention_close(struct registers *at)
{
    ay__retention_give_back(at);
    if (at->retention.may)
        atomic_fetch_sub(&ay__process.retaining, 1);
}

void ay__retention_decide(struct registers *at)
{
    assert_required(at->retention.may || registers_own(at, COURTESY_GRANT) == 0);
    at->retention.wanted =
        registers_own(at, COURTESY_GRANT) != 0 ||
        (at->retention.may && at->near.plain && !at->rivals.news &&
         (lane_is_last(&at->lane) || (at->habits.calm && !at->retention.recalled)) &&
         ay__futex_several());
}

void ay__retention_end(struct registers *at)
{
    struct courtesy_retirement my;
    if (registers_own(at, COURTESY_GRANT) != 0)
        courtesy_settle(&my, at, true);
    at->retention.wanted = false;
    at->retention.recalled = true;
}
