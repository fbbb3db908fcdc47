/* SPDX-License-Identifier: MIT */
/* The exact greatest number of times that one process can enter while another waits.
 *
 * It is the weight of the heaviest path through the states in which the victim waits, where a move
 * weighs 1 if with it the overtaker is inside. A weight on a cycle makes it unbounded. No fairness
 * is asked: a victim that stands still for a while is overtaken all the same.
 */
#include <errno.h>

#include "check/search/analyses.h"

struct weigh {
    const struct statuses *statuses;
    struct overtaking *result;
    uint8_t *heaviest; /* by component number, then overtaker: the heaviest path from there on */
};

bool overtaking_counts(const struct search *search, uint32_t to, unsigned victim, edge_label label)
{
    if (!label_enters(label) || label_process(label) == victim)
        return false;
    if (search->system->all_conflict) /* the state need not be looked at */
        return true;
    unsigned char state[STATE_SIZE_MOST] __attribute__((aligned(8)));
    store_get(&search->store, to, state);
    return search->system->conflict(search->system, state, victim, label_process(label));
}

static int weigh_component(struct search *search, const struct component *component, void *context)
{
    struct weigh *weigh = context;
    struct overtaking *result = weigh->result;
    const unsigned victim = component->walk->process, processes = search->system->processes;
    uint8_t heaviest[PROCESSES_MOST] = {0};
    for (uint32_t at = 0; at < component->count; at++) {
        const uint32_t state = component->members[at];
        const struct edges edges = graph_edges(&search->graph, state);
        for (size_t edge = 0; edge < edges.count; edge++) {
            const uint32_t target = edges.targets[edge];
            if (!walk_has_kind(component->walk, edges.labels[edge]) ||
                !walk_has_state(component->walk, weigh->statuses, target))
                continue;
            const bool weighs = overtaking_counts(search, target, victim, edges.labels[edge]);
            const bool within = component->of[target] == component->number;
            const uint8_t *beyond = weigh->heaviest + (size_t)component->of[target] * processes;
            for (unsigned other = 0; other < processes; other++) {
                const unsigned weight = weighs && other == label_process(edges.labels[edge]);
                unsigned total =
                    within ? (weight ? OVERTAKES_UNBOUNDED : 0) : beyond[other] + weight;
                if (total >= OVERTAKES_UNBOUNDED ||
                    (!within && beyond[other] == OVERTAKES_UNBOUNDED))
                    total = OVERTAKES_UNBOUNDED;
                if (total > heaviest[other])
                    heaviest[other] = (uint8_t)total;
                if (weight && within && result->worst != OVERTAKES_UNBOUNDED) {
                    result->worst = OVERTAKES_UNBOUNDED;
                    result->victim = victim;
                    result->overtaker = other;
                    result->overtakes = (struct hop){state, (uint32_t)edge};
                }
            }
        }
    }
    for (unsigned other = 0; other < processes; other++) {
        weigh->heaviest[(size_t)component->number * processes + other] = heaviest[other];
        if (heaviest[other] > result->most[victim][other])
            result->most[victim][other] = heaviest[other];
        if (heaviest[other] > result->worst) {
            result->worst = heaviest[other];
            result->victim = victim;
            result->overtaker = other;
        }
    }
    return 0;
}

int overtaking_measure(struct search *search, const struct statuses *statuses,
                       unsigned victim_statuses, struct overtaking *overtaking)
{
    *overtaking = (struct overtaking){0};
    struct grown room = {0};
    const unsigned processes = search->system->processes;
    if (!store_grow(&search->store, &room, ((size_t)search->store.count + 2) * processes))
        return -ENOMEM;
    struct weigh weigh = {statuses, overtaking, room.bytes};
    int answer = 0;
    for (unsigned victim = 0; victim < processes && answer == 0; victim++) {
        const struct walk walk = {
            .process = victim, .statuses = victim_statuses, .kinds = KINDS_ALL};
        answer = components_visit(search, statuses, &walk, weigh_component, &weigh);
    }
    store_release(&search->store, &room);
    return answer;
}
