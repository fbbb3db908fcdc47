/* SPDX-License-Identifier: MIT */
/* The exact greatest number of its own steps that a process needs to pass its doorway, whatever the
 * others do meanwhile.
 *
 * Lamport 1976, D0 (a): "There is a fixed bound on the number of process events in the execution of
 * the doorway." It is the weight of the heaviest path through the states in which the process is in
 * its doorway, where a step of its own weighs 1. A step of its own on a cycle makes it unbounded.
 */
#include <errno.h>

#include "check/search/analyses.h"

struct counting {
    const struct statuses *statuses;
    struct doorway *result;
    uint16_t *heaviest; /* by component number: the heaviest path from there on */
};

static int count_component(struct search *search, const struct component *component, void *context)
{
    struct counting *counting = context;
    const struct walk *walk = component->walk;
    unsigned heaviest = 0;
    for (uint32_t at = 0; at < component->count; at++) {
        const uint32_t state = component->members[at];
        const struct edges edges = graph_edges(&search->graph, state);
        for (size_t edge = 0; edge < edges.count; edge++) {
            const uint32_t target = edges.targets[edge];
            const bool own = label_process(edges.labels[edge]) == walk->process &&
                             label_kind(edges.labels[edge]) == MOVE_STEP;
            const bool stays = walk_has_kind(walk, edges.labels[edge]) &&
                               walk_has_state(walk, counting->statuses, target);
            if (own && stays && component->of[target] == component->number) {
                counting->result->victim = walk->process;
                counting->result->spins = (struct hop){state, (uint32_t)edge};
                return 1;
            }
            const unsigned beyond = stays && component->of[target] != component->number
                                        ? counting->heaviest[component->of[target]]
                                        : 0;
            if (beyond + own > heaviest)
                heaviest = beyond + own;
        }
    }
    counting->heaviest[component->number] = (uint16_t)heaviest;
    if (heaviest + 1 > counting->result->steps) /* and the one that begins */
        counting->result->steps = heaviest + 1;
    return 0;
}

int doorway_measure(struct search *search, const struct statuses *statuses, struct doorway *doorway)
{
    struct grown room = {0};
    *doorway = (struct doorway){.steps = 1};
    if (!store_grow(&search->store, &room, ((size_t)search->store.count + 2) * sizeof(uint16_t)))
        return -ENOMEM;
    struct counting counting = {statuses, doorway, (uint16_t *)(void *)room.bytes};
    int answer = 0;
    for (unsigned victim = 0; victim < search->system->processes && answer == 0; victim++) {
        const struct walk walk = {
            .process = victim, .statuses = DOORWAY_STATUSES, .kinds = KINDS_ALL};
        answer = components_visit(search, statuses, &walk, count_component, &counting);
    }
    store_release(&search->store, &room);
    return answer;
}
