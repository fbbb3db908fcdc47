/* SPDX-License-Identifier: MIT */
/* Ways through the graph: hop by hop, and the shortest one from one state to another within a part
 * of it. */
#include <errno.h>
#include <string.h>

#include "check/search/analyses.h"

bool way_append(struct search *search, struct way *way, uint32_t state, size_t edge)
{
    const struct hop hop = {state, (uint32_t)edge};
    if (!store_grow(&search->store, &way->hops, sizeof hop))
        return false;
    memcpy(way->hops.bytes + way->hops.used, &hop, sizeof hop);
    way->hops.used += sizeof hop;
    return true;
}

void way_reverse(struct way *way, size_t first)
{
    struct hop *hops = (struct hop *)(void *)way->hops.bytes;
    for (size_t low = first, high = way_length(way); low + 1 < high; low++, high--) {
        const struct hop kept = hops[low];
        hops[low] = hops[high - 1];
        hops[high - 1] = kept;
    }
}

int way_find(struct search *search, const struct statuses *statuses, const struct walk *walk,
             uint32_t start, uint32_t goal, struct way *way)
{
    struct grown room = {0};
    const size_t states = search->store.count;
    if (!store_grow(&search->store, &room, states * (sizeof(struct hop) + sizeof(uint32_t))))
        return -ENOMEM;
    struct hop *came_by = (struct hop *)(void *)room.bytes; /* the hop that first led to a state */
    uint32_t *queue = (uint32_t *)(void *)(came_by + states);
    memset(came_by, 0xff, states * sizeof *came_by);
    uint32_t head = 0, tail = 0;
    came_by[start] = (struct hop){start, 0};
    queue[tail++] = start;
    while (head < tail && came_by[goal].state == STATE_NONE) {
        const uint32_t state = queue[head++];
        const struct edges edges = graph_edges(&search->graph, state);
        for (size_t at = 0; at < edges.count; at++) {
            const uint32_t target = edges.targets[at];
            if (came_by[target].state != STATE_NONE || !walk_has_kind(walk, edges.labels[at]) ||
                !walk_has_state(walk, statuses, target))
                continue;
            came_by[target] = (struct hop){state, (uint32_t)at};
            queue[tail++] = target;
        }
    }
    int error = 0;
    const size_t first = way_length(way);
    for (uint32_t state = goal; state != start && !error; state = came_by[state].state)
        if (!way_append(search, way, came_by[state].state, came_by[state].edge))
            error = -ENOMEM;
    way_reverse(way, first);
    store_release(&search->store, &room);
    return error;
}
