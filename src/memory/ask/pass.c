/* SPDX-License-Identifier: MIT */
/* The passage of an ask: through the space, and where that is a cluster's, through that. */
#include <string.h>

#include "memory/ask/ask.h"
#include "memory/remote/cluster.h"

void ay__ask_enter_space(struct ask *ask)
{
    memset(ask->memory, 0, ask->asks->space->protocol->resumable->room);
    ask->remote = false;
}

enum passage_result ay__ask_pass(struct ask *ask)
{
    struct registers *at = &ask->region->at;
    for (;;) {
        if (!ask->remote) {
            const enum passage_result result =
                at->fixed.protocol->resumable->go_on(at, ask->memory);
            if (result != PASSED || !at->near.cluster)
                return result;
            ask->remote = true;
        }
        switch (ay__cluster_go_on(ask->region)) {
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
            ay__ask_enter_space(ask);
            break;
        case CLUSTER_BEGINS_ANEW:
            break;
        }
    }
}
