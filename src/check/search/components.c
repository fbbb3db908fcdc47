/* SPDX-License-Identifier: MIT */
/* Strongly connected components of a part of the graph.
 *
 * D. J. Pearce, A space-efficient algorithm for finding strongly connected components, 2016:
 * Tarjan's algorithm with one number a state. A state's number is, while it is open, the least
 * index it reaches; once closed, its component. Component numbers come from the top, so they are
 * greater than every index still open.
 */
#include <errno.h>
#include <string.h>

#include "check/search/analyses.h"

struct frame {
    uint32_t state;
    uint32_t edge; /* the next one to look at */
    bool root;     /* it reaches nothing that was opened before it, as far as known */
};

struct visit {
    struct search *search;
    const struct statuses *statuses;
    const struct walk *walk;
    uint32_t *number; /* 0: not seen */
    struct grown numbers;
    struct grown frames; /* the path to the state being looked at */
    struct grown open;   /* finished states that await their component's root */
    uint32_t index, component;
};

static struct frame *top_frame(const struct visit *visit)
{
    return (struct frame *)(void *)(visit->frames.bytes + visit->frames.used) - 1;
}

static bool push(struct visit *visit, uint32_t state)
{
    if (!store_grow(&visit->search->store, &visit->frames, sizeof(struct frame)))
        return false;
    visit->frames.used += sizeof(struct frame);
    *top_frame(visit) = (struct frame){.state = state, .root = true};
    visit->number[state] = visit->index++;
    return true;
}

/* The first successor not yet seen, or STATE_NONE. */
static uint32_t descend(struct visit *visit)
{
    struct frame *frame = top_frame(visit);
    const struct edges edges = graph_edges(&visit->search->graph, frame->state);
    uint32_t *mine = &visit->number[frame->state];
    for (; frame->edge < edges.count; frame->edge++) {
        const uint32_t target = edges.targets[frame->edge];
        if (!walk_has_kind(visit->walk, edges.labels[frame->edge]) ||
            !walk_has_state(visit->walk, visit->statuses, target))
            continue;
        if (visit->number[target] == 0)
            return target; /* this edge is looked at again when the target is finished */
        if (visit->number[target] < *mine) {
            *mine = visit->number[target];
            frame->root = false;
        }
    }
    return STATE_NONE;
}

/* The state on top is finished: if it is the root of its component, the component is handed over.
 */
static int finish(struct visit *visit, component_visitor *hand_over, void *context)
{
    const struct frame frame = *top_frame(visit);
    visit->frames.used -= sizeof frame;
    if (!store_grow(&visit->search->store, &visit->open, sizeof frame.state))
        return -ENOMEM;
    uint32_t *open = (uint32_t *)(void *)visit->open.bytes;
    size_t count = visit->open.used / sizeof *open;
    open[count++] = frame.state;
    visit->open.used = count * sizeof *open;
    if (!frame.root)
        return 0;
    const uint32_t least = visit->number[frame.state];
    size_t first = count - 1;
    while (first > 0 && visit->number[open[first - 1]] >= least)
        first--;
    for (size_t at = first; at < count; at++)
        visit->number[open[at]] = visit->component;
    visit->index -= (uint32_t)(count - first);
    visit->open.used = first * sizeof *open;
    const struct component component = {open + first, (uint32_t)(count - first), visit->component--,
                                        visit->number, visit->walk};
    return hand_over(visit->search, &component, context);
}

static int visit_from(struct visit *visit, uint32_t state, component_visitor *hand_over,
                      void *context)
{
    if (!push(visit, state))
        return -ENOMEM;
    while (visit->frames.used) {
        const uint32_t next = descend(visit);
        if (next != STATE_NONE) {
            if (!push(visit, next))
                return -ENOMEM;
            continue;
        }
        const int answer = finish(visit, hand_over, context);
        if (answer)
            return answer;
    }
    return 0;
}

int components_visit(struct search *search, const struct statuses *statuses,
                     const struct walk *walk, component_visitor *hand_over, void *context)
{
    struct visit visit = {.search = search, .statuses = statuses, .walk = walk, .index = 1};
    const uint32_t count = search->store.count;
    visit.component = count + 1;
    int answer = -ENOMEM;
    if (store_grow(&search->store, &visit.numbers, count * sizeof *visit.number)) {
        visit.number = (uint32_t *)(void *)visit.numbers.bytes;
        answer = 0;
        for (uint32_t state = 0; state < count && answer == 0; state++)
            if (visit.number[state] == 0 && walk_has_state(walk, statuses, state))
                answer = visit_from(&visit, state, hand_over, context);
    }
    store_release(&search->store, &visit.numbers);
    store_release(&search->store, &visit.frames);
    store_release(&search->store, &visit.open);
    return answer;
}
