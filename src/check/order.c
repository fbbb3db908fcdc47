/* SPDX-License-Identifier: MIT */
/* First come, first served: whether one that began when a conflicting other was already queued can be inside first. */
#include <errno.h>
#include <string.h>

#include "check/analyses.h"

static bool conflicts(const struct search *search, uint32_t state, unsigned i, unsigned j)
{
    unsigned char bytes[STATE_SIZE_MOST] __attribute__((aligned(8)));
    if (search->system->all_conflict)
        return true;
    store_get(&search->store, state, bytes);
    return search->system->conflict(search->system, bytes, i, j);
}

/* The states on the way to `last`, by the links that the walk left. */
static int record(struct search *search, const uint32_t *from, uint32_t last, unsigned victim, struct cycle *run)
{
    size_t count = 1;
    for (uint32_t state = last; from[state] != state; state = from[state])
        count++;
    if (!store_grow(&search->store, &run->states, count * sizeof last))
        return -ENOMEM;
    uint32_t *states = (uint32_t *)(void *)run->states.bytes;
    run->states.used = count * sizeof last;
    run->victim = victim;
    for (uint32_t state = last; count-- > 0; state = from[state])
        states[count] = state;
    return 1;
}

/* Walks on from every state in which `first` is queued and `second` is idle, as long as `first` stays queued. */
static int walk_pair(struct search *search, const struct statuses *statuses, unsigned first, unsigned second,
                     uint32_t *from, uint32_t *queue, struct cycle *run)
{
    uint32_t head = 0, tail = 0;
    memset(from, 0xff, search->store.count * sizeof *from);
    for (uint32_t state = 0; state < search->store.count; state++)
        if (status_in(statuses, state, first) == STATUS_QUEUED && status_in(statuses, state, second) == STATUS_IDLE) {
            from[state] = state;
            queue[tail++] = state;
        }
    while (head < tail) {
        const uint32_t state = queue[head++];
        const struct edges edges = graph_edges(&search->graph, state);
        for (size_t at = 0; at < edges.count; at++) {
            const uint32_t target = edges.targets[at];
            if (status_in(statuses, target, first) != STATUS_QUEUED || from[target] != STATE_NONE)
                continue;
            from[target] = state;
            queue[tail++] = target;
            if (label_enters(edges.labels[at]) && label_process(edges.labels[at]) == second &&
                conflicts(search, target, first, second))
                return record(search, from, target, first, run);
        }
    }
    return 0;
}

int order_find_inversion(struct search *search, const struct statuses *statuses, struct cycle *inversion)
{
    struct grown room = {0};
    const size_t count = search->store.count;
    if (!store_grow(&search->store, &room, 2 * count * sizeof(uint32_t)))
        return -ENOMEM;
    uint32_t *from = (uint32_t *)(void *)room.bytes, *queue = from + count;
    int answer = 0;
    for (unsigned first = 0; first < search->system->processes && answer == 0; first++)
        for (unsigned second = 0; second < search->system->processes && answer == 0; second++)
            if (first != second)
                answer = walk_pair(search, statuses, first, second, from, queue, inversion);
    store_release(&search->store, &room);
    return answer;
}
