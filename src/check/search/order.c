/* SPDX-License-Identifier: MIT */
/* First come, first served: whether one that began when a conflicting other was already queued can
 * be inside first. And precedence: likewise one that began, or began to look anew, when an other
 * that it should let pass was queued. */
#include <errno.h>
#include <string.h>

#include "check/search/analyses.h"

enum rule { RULE_ORDER, RULE_PRECEDENCE };

/* Whether `second`, which has just entered, has wronged `first`. */
static bool wrongs(const struct search *search, uint32_t state, enum rule rule, unsigned first,
                   unsigned second)
{
    const struct system *system = search->system;
    unsigned char bytes[STATE_SIZE_MOST] __attribute__((aligned(8)));
    if (rule == RULE_ORDER && system->all_conflict)
        return true;
    store_get(&search->store, state, bytes);
    return (system->all_conflict || system->conflict(system, bytes, first, second)) &&
           (rule == RULE_ORDER || system->precedes(system, bytes, first, second));
}

/* Whether `second` has yet to look at all others, should it enter. */
static bool is_fresh(const struct search *search, const struct statuses *statuses, uint32_t state,
                     enum rule rule, unsigned second)
{
    unsigned char bytes[STATE_SIZE_MOST] __attribute__((aligned(8)));
    const enum status status = status_in(statuses, state, second);
    if (status == STATUS_IDLE)
        return true;
    if (rule == RULE_ORDER || status != STATUS_QUEUED)
        return false;
    store_get(&search->store, state, bytes);
    return search->system->rests(search->system, bytes, second);
}

/* The way to `last`, whose last hop is known, by the links that the walk left. */
static int record(struct search *search, const uint32_t *from, struct hop last, struct way *way)
{
    if (!way_append(search, way, last.state, last.edge))
        return -ENOMEM;
    uint32_t state = last.state;
    for (; from[state] != state; state = from[state]) {
        const struct edges edges = graph_edges(&search->graph, from[state]);
        size_t edge = 0;
        while (edges.targets[edge] != state)
            edge++;
        if (!way_append(search, way, from[state], edge))
            return -ENOMEM;
    }
    way->start = state;
    way_reverse(way, 0);
    return 1;
}

/* Walks on from every state in which `first` is queued and `second` is fresh, as long as `first`
 * stays queued. */
static int walk_pair(struct search *search, const struct statuses *statuses, enum rule rule,
                     unsigned first, unsigned second, uint32_t *from, uint32_t *queue,
                     struct way *way)
{
    uint32_t head = 0, tail = 0;
    memset(from, 0xff, search->store.count * sizeof *from);
    for (uint32_t state = 0; state < search->store.count; state++)
        if (status_in(statuses, state, first) == STATUS_QUEUED &&
            is_fresh(search, statuses, state, rule, second)) {
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
                wrongs(search, target, rule, first, second)) {
                way->victim = first;
                return record(search, from, (struct hop){state, (uint32_t)at}, way);
            }
        }
    }
    return 0;
}

static int find(struct search *search, const struct statuses *statuses, enum rule rule,
                struct way *way)
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
                answer = walk_pair(search, statuses, rule, first, second, from, queue, way);
    store_release(&search->store, &room);
    return answer;
}

int order_find_inversion(struct search *search, const struct statuses *statuses,
                         struct way *inversion)
{
    return find(search, statuses, RULE_ORDER, inversion);
}

int order_find_slight(struct search *search, const struct statuses *statuses, struct way *slight)
{
    return search->system->precedes ? find(search, statuses, RULE_PRECEDENCE, slight) : 0;
}
