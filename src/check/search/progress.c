/* SPDX-License-Identifier: MIT */
/* Whether, from every state, someone can still enter; and the statuses that all analyses read. */
#include <errno.h>
#include <string.h>

#include "check/search/analyses.h"

int statuses_read(struct search *search, struct statuses *statuses)
{
    unsigned char state[STATE_SIZE_MOST] __attribute__((aligned(8)));
    const struct system *system = search->system;
    *statuses = (struct statuses){0};
    if (!store_grow(&search->store, &statuses->packed, search->store.count * sizeof(uint32_t)))
        return -ENOMEM;
    uint32_t *packed = (uint32_t *)(void *)statuses->packed.bytes;
    for (uint32_t number = 0; number < search->store.count; number++) {
        store_get(&search->store, number, state);
        for (unsigned process = 0; process < system->processes; process++) {
            uint32_t status = (uint32_t)system->status(system, state, process);
            if (system->able && WAITING >> status & 1 && !system->able(system, state, process))
                status |= STATUS_UNABLE;
            packed[number] |= status << process * STATUS_BITS;
        }
    }
    return 0;
}

static bool somebody_waits(const struct search *search, const struct statuses *statuses,
                           uint32_t state)
{
    for (unsigned process = 0; process < search->system->processes; process++)
        if (WAITING >> status_in(statuses, state, process) & 1)
            return true;
    return false;
}

/* One look at a state: it is good if a move enters, or leads to a good state. */
static bool can_enter(const struct search *search, const unsigned char *good, uint32_t state,
                      unsigned kinds)
{
    const struct edges edges = graph_edges(&search->graph, state);
    for (size_t at = 0; at < edges.count; at++)
        if (kinds >> label_kind(edges.labels[at]) & 1 &&
            (label_enters(edges.labels[at]) || good[edges.targets[at]]))
            return true;
    return false;
}

int progress_find_stuck(struct search *search, const struct statuses *statuses, bool newcomers,
                        uint32_t *stuck)
{
    const unsigned kinds = 1u << MOVE_STEP | 1u << MOVE_SYSTEM | (newcomers ? 1u << MOVE_START : 0);
    const uint32_t count = search->store.count;
    struct grown bytes = {0};
    if (!store_grow(&search->store, &bytes, count))
        return -ENOMEM;
    unsigned char *good = bytes.bytes;
    for (uint32_t state = 0; state < count; state++)
        good[state] = !somebody_waits(search, statuses, state);
    /* Goodness flows against the moves. Most moves lead to later states, so the pass runs from the
     * last state to the first; a few passes settle what flows the other way. */
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t state = count; state-- > 0;)
            if (!good[state] && can_enter(search, good, state, kinds)) {
                good[state] = 1;
                changed = true;
            }
    }
    int answer = 0;
    for (uint32_t state = 0; state < count && answer == 0; state++)
        if (!good[state]) {
            *stuck = state;
            answer = 1;
        }
    store_release(&search->store, &bytes);
    return answer;
}
