/* SPDX-License-Identifier: MIT */
/* The passage of an ask: through the space, and where that is a cluster's, through that; and where
 * the region has several names there, through one after the other. */
#include <string.h>

#include "memory/ask/ask.h"
#include "memory/passage/long_way.h"
#include "memory/remote/kind.h"

/* How its members are entered; NULL: it has none. */
static const struct remote_kind *kind_of(const struct ask *ask)
{
    const struct remote_kind *kind = ask->region->remote.kind;
    return kind && kind->present ? kind : NULL;
}

ay_region *ay__ask_member(const struct ask *ask, unsigned which)
{
    const struct remote_kind *kind = kind_of(ask);
    if (kind)
        return kind->member(ask->region, which);
    return which == 0 ? ask->region : NULL;
}

/* From its first step there. */
static void enter_space(struct ask *ask)
{
    memset(ask->memory, 0, ask->asks->space->protocol->resumable->room);
    ask->remote = false;
}

void ay__ask_begin(struct ask *ask)
{
    const struct remote_kind *kind = kind_of(ask);
    ask->member = ask->region;
    ask->between = kind != NULL;
    ask->pauses = false;
    if (kind) {
        /* some of its members pass before others, and none of them is its thread's */
        ay__ask_holds(ask->region);
        kind->begin(ask->region, true);
    }
    enter_space(ask);
}

int ay__ask_end(struct ask *ask, bool passed)
{
    const struct remote_kind *kind = kind_of(ask);
    return kind ? kind->end(ask->region, passed) : ay__passage_end(ask->region, passed);
}

static enum passage_result pass_one(struct ask *ask)
{
    struct registers *at = &ask->member->at;
    for (;;) {
        if (!ask->remote) {
            const enum passage_result result =
                at->fixed.protocol->resumable->go_on(at, ask->memory);
            if (result != PASSED || !at->near.cluster)
                return result;
            ask->remote = true;
        }
        switch (ay__cluster_go_on(ask->member)) {
        case CLUSTER_PERMITS:
            return PASSED;
        case CLUSTER_GIVES_UP:
            return ABANDONED;
        case CLUSTER_RESTS:
            return ay__ask_rest_remote(ask) == SLEEP_LASTS ? STOPPED : ABANDONED;
        case CLUSTER_MAKES_WAY:
            at->fixed.protocol->leave(at);
            break;
        case CLUSTER_COMES_BACK:
            enter_space(ask);
            break;
        case CLUSTER_BEGINS_ANEW:
            break;
        }
    }
}

/* Who loses the descriptor looks at the present one. */
static void set_member(struct ask *ask, ay_region *member)
{
    pthread_mutex_lock(&ay__asks_mutex);
    ask->member = member;
    pthread_mutex_unlock(&ay__asks_mutex);
}

/* The next member. False: its passage could not begin. */
static bool go_to_next(struct ask *ask)
{
    bool enters;
    ay_region *next = kind_of(ask)->present(ask->region, &enters);
    if (!next)
        return false;
    set_member(ask, next);
    ask->between = false;
    next->at.passage.asked = true;
    enter_space(ask);
    ask->remote = !enters;
    return true;
}

/* What it had may have been given back, and its own begun anew. */
static enum passage_result rest_between(struct ask *ask)
{
    ask->region->at.passage.asked = true;
    set_member(ask, ask->region);
    ask->pauses = true;
    return ay__ask_pause(ask) == SLEEP_LASTS ? STOPPED : ABANDONED;
}

enum passage_result ay__ask_pass(struct ask *ask)
{
    const struct remote_kind *kind = kind_of(ask);
    if (!kind)
        return pass_one(ask);
    enum members_next next = ask->pauses ? kind->rested(ask->region) : MEMBERS_MORE;
    ask->pauses = false;
    for (;;) {
        if (next == MEMBERS_PASSED)
            return PASSED;
        if (next == MEMBERS_GIVE_UP)
            return ABANDONED;
        if (next == MEMBERS_REST)
            return rest_between(ask);
        if (ask->between && !go_to_next(ask))
            return ABANDONED;
        const enum passage_result result = pass_one(ask);
        if (result != PASSED)
            return result;
        ask->between = true;
        next = kind->pass_on(ask->region);
    }
}
