/* SPDX-License-Identifier: MIT */
/* Whether a process burns nothing while the world stands still, and comes out in bounded time when
 * it gives up.
 *
 * Both ask for a cycle that has a step of the process on it: in the one case a cycle of its own
 * steps alone, none of which is a nap; in the other of everybody's moves, where the process passes
 * no place at which it may be given up. Steps that are on no cycle are as many as there are states,
 * at most: bounded.
 */
#include <errno.h>

#include "check/search/analyses.h"

struct looking {
    const struct statuses *statuses;
    struct way *cycle;
};

/* Takes the first step of the process that stays within the component, and the way back. */
static int judge_component(struct search *search, const struct component *component, void *context)
{
    const struct looking *looking = context;
    const struct walk *walk = component->walk;
    for (uint32_t member = 0; member < component->count; member++) {
        const uint32_t state = component->members[member];
        const struct edges edges = graph_edges(&search->graph, state);
        for (size_t at = 0; at < edges.count; at++) {
            const uint32_t target = edges.targets[at];
            if (!walk_has_kind(walk, edges.labels[at]) ||
                label_process(edges.labels[at]) != walk->process ||
                !walk_has_state(walk, looking->statuses, target) ||
                component->of[target] != component->number)
                continue;
            struct way *cycle = looking->cycle;
            cycle->victim = walk->process;
            cycle->start = state;
            if (!way_append(search, cycle, state, at))
                return -ENOMEM;
            const int error = way_find(search, looking->statuses, walk, target, state, cycle);
            return error ? error : 1;
        }
    }
    return 0;
}

static int find(struct search *search, const struct statuses *statuses, struct walk walk,
                struct way *cycle)
{
    struct looking looking = {statuses, cycle};
    int answer = 0;
    for (walk.process = 0; walk.process < search->system->processes && answer == 0; walk.process++)
        answer = components_visit(search, statuses, &walk, judge_component, &looking);
    return answer;
}

int patience_find_spin(struct search *search, const struct statuses *statuses, struct way *cycle)
{
    const struct walk walk = {.statuses = WAITING | 1u << STATUS_LEAVING,
                              .kinds = 1u << MOVE_STEP | 1u << MOVE_SYSTEM,
                              .which = WALK_ALONE};
    return find(search, statuses, walk, cycle);
}

int patience_find_heedless(struct search *search, const struct statuses *statuses,
                           struct way *cycle)
{
    const struct walk walk = {
        .statuses = WAITING | 1u << STATUS_LEAVING, .kinds = KINDS_ALL, .which = WALK_LATE};
    return find(search, statuses, walk, cycle);
}
