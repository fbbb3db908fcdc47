/* SPDX-License-Identifier: MIT */
/* The shortest way from one state to another within a part of the graph. */
#include <errno.h>
#include <string.h>

#include "check/analyses.h"

/* Appends the states behind `start` up to and including `goal`, which the walk is known to reach. */
static int record(struct search *search, const uint32_t *from, uint32_t start, uint32_t goal, struct cycle *route)
{
    size_t count = 0;
    for (uint32_t state = goal; state != start; state = from[state])
        count++;
    if (!store_grow(&search->store, &route->states, count * sizeof goal))
        return -ENOMEM;
    uint32_t *states = (uint32_t *)(void *)(route->states.bytes + route->states.used);
    route->states.used += count * sizeof goal;
    for (uint32_t state = goal; count-- > 0; state = from[state])
        states[count] = state;
    return 0;
}

int route_find(struct search *search, const struct statuses *statuses, const struct walk *walk, uint32_t start,
               uint32_t goal, struct cycle *route)
{
    struct grown room = {0};
    const size_t states = search->store.count;
    if (!store_grow(&search->store, &room, 2 * states * sizeof(uint32_t)))
        return -ENOMEM;
    uint32_t *from = (uint32_t *)(void *)room.bytes, *queue = from + states;
    memset(from, 0xff, states * sizeof *from);
    uint32_t head = 0, tail = 0;
    from[start] = start;
    queue[tail++] = start;
    while (head < tail && from[goal] == STATE_NONE) {
        const uint32_t state = queue[head++];
        const struct edges edges = graph_edges(&search->graph, state);
        for (size_t at = 0; at < edges.count; at++) {
            const uint32_t target = edges.targets[at];
            if (from[target] != STATE_NONE || !walk_has_kind(walk, edges.labels[at]) ||
                !walk_has_state(walk, statuses, target))
                continue;
            from[target] = state;
            queue[tail++] = target;
        }
    }
    const int error = record(search, from, start, goal, route);
    store_release(&search->store, &room);
    return error;
}
