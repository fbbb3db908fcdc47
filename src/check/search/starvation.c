/* SPDX-License-Identifier: MIT */
/* Whether a process can wait for ever while everybody, itself included, takes steps.
 *
 * Fairness: weak. On the cycle every process either takes a step of its own, or is somewhere in a
 * state in which it has none to take (idle, asleep, stopped for ever); likewise every store buffer
 * drains. A process that looks at a register and finds that it must wait has taken a step.
 * Beginning, giving up and dying are free: a process need never do them, and may do them again and
 * again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/search/analyses.h"

/* One thing that the cycle owes: a step of this process, or (SYSTEM) a move of its surroundings. */
static unsigned owed(edge_label label)
{
    switch (label_kind(label)) {
    case MOVE_STEP:
        return 1u << label_process(label);
    case MOVE_SYSTEM:
        return 1u << (PROCESSES_MOST + label_process(label));
    default:
        return 0;
    }
}

/* What is paid in this state: owed moves that stay within the component, and moves that there are
 * none of. */
static unsigned paid(const struct search *search, const struct component *component, uint32_t state)
{
    const struct edges edges = graph_edges(&search->graph, state);
    unsigned possible = 0, within = 0;
    for (size_t at = 0; at < edges.count; at++) {
        possible |= owed(edges.labels[at]);
        if (walk_has_kind(component->walk, edges.labels[at]) &&
            component->of[edges.targets[at]] == component->number)
            within |= owed(edges.labels[at]);
    }
    return within | (~possible & ((1u << 2 * PROCESSES_MOST) - 1));
}

static bool is_cycle(const struct search *search, const struct component *component)
{
    if (component->count > 1)
        return true;
    const struct edges edges = graph_edges(&search->graph, component->members[0]);
    unsigned possible = 0;
    for (size_t at = 0; at < edges.count; at++) {
        if (edges.targets[at] == component->members[0] &&
            walk_has_kind(component->walk, edges.labels[at]))
            return true;
        possible |= owed(edges.labels[at]);
    }
    return possible == 0; /* nobody can move: it stays so for ever */
}

/* The members of a component in numeric order, and the way a breadth-first route came to each. */
struct route {
    uint32_t *members;
    struct hop *came_by;
    uint32_t *queue;
    uint32_t count;
};

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t place_in(const struct route *route, uint32_t state)
{
    const uint32_t *found = bsearch(&state, route->members, route->count, sizeof state, by_number);
    return (uint32_t)(found - route->members);
}

/* Appends the shortest way within the component from `start` to a state that pays one of `wanted`
 * (0: to `goal`). Returns where it ended, or STATE_NONE without memory. */
static uint32_t travel(struct search *search, const struct component *component,
                       const struct route *route, struct way *cycle, uint32_t start,
                       unsigned wanted, uint32_t goal)
{
    memset(route->came_by, 0xff, route->count * sizeof *route->came_by);
    uint32_t head = 0, tail = 0, end = STATE_NONE;
    route->queue[tail++] = start;
    route->came_by[place_in(route, start)] = (struct hop){start, 0};
    while (head < tail && end == STATE_NONE) {
        const uint32_t state = route->queue[head++];
        if (wanted ? (paid(search, component, state) & wanted) != 0 : state == goal) {
            end = state;
            break;
        }
        const struct edges edges = graph_edges(&search->graph, state);
        for (size_t at = 0; at < edges.count; at++) {
            const uint32_t target = edges.targets[at];
            if (!walk_has_kind(component->walk, edges.labels[at]) ||
                component->of[target] != component->number)
                continue;
            struct hop *came_by = &route->came_by[place_in(route, target)];
            if (came_by->state == STATE_NONE) {
                *came_by = (struct hop){state, (uint32_t)at};
                route->queue[tail++] = target;
            }
        }
    }
    const size_t first = way_length(cycle);
    for (uint32_t state = end; state != start;) {
        const struct hop hop = route->came_by[place_in(route, state)];
        if (!way_append(search, cycle, hop.state, hop.edge))
            return STATE_NONE;
        state = hop.state;
    }
    way_reverse(cycle, first);
    return end;
}

/* Takes one move that pays some of `wanted`, if one stays within the component; tells what the
 * state and the move have paid. */
static int pay(struct search *search, const struct component *component, struct way *cycle,
               uint32_t *here, unsigned wanted, unsigned *settled)
{
    const struct edges edges = graph_edges(&search->graph, *here);
    unsigned possible = 0;
    for (size_t at = 0; at < edges.count; at++)
        possible |= owed(edges.labels[at]);
    *settled = ~possible & wanted; /* nothing to take is as good as taken */
    for (size_t at = 0; at < edges.count; at++)
        if (owed(edges.labels[at]) & wanted && walk_has_kind(component->walk, edges.labels[at]) &&
            component->of[edges.targets[at]] == component->number) {
            *settled |= owed(edges.labels[at]);
            if (!way_append(search, cycle, *here, at))
                return -ENOMEM;
            *here = edges.targets[at];
            return 0;
        }
    return 0;
}

int starvation_draw(struct search *search, const struct component *component, uint32_t home,
                    struct way *cycle)
{
    struct route route = {.count = component->count};
    struct grown room = {0};
    if (!store_grow(&search->store, &room,
                    component->count * (sizeof(struct hop) + 2 * sizeof(uint32_t))))
        return -ENOMEM;
    route.came_by = (struct hop *)(void *)room.bytes;
    route.members = (uint32_t *)(void *)(route.came_by + route.count);
    route.queue = route.members + route.count;
    memcpy(route.members, component->members, route.count * sizeof *route.members);
    qsort(route.members, route.count, sizeof *route.members, by_number);
    uint32_t here = home;
    unsigned owing = (1u << 2 * PROCESSES_MOST) - 1, settled = 0;
    int answer = 1;
    cycle->start = home;
    while (answer == 1 && owing) {
        here = travel(search, component, &route, cycle, here, owing, 0);
        if (here == STATE_NONE || pay(search, component, cycle, &here, owing, &settled))
            answer = -ENOMEM;
        owing &= ~settled;
    }
    if (answer == 1 && travel(search, component, &route, cycle, here, 0, home) == STATE_NONE)
        answer = -ENOMEM;
    store_release(&search->store, &room);
    return answer;
}

bool starvation_is_fair(const struct search *search, const struct component *component)
{
    unsigned all = 0;
    for (uint32_t at = 0; at < component->count; at++)
        all |= paid(search, component, component->members[at]);
    return all == (1u << 2 * PROCESSES_MOST) - 1 && is_cycle(search, component);
}

static int judge_component(struct search *search, const struct component *component, void *context)
{
    if (!starvation_is_fair(search, component))
        return 0;
    struct way *cycle = context;
    cycle->victim = component->walk->process;
    uint32_t first = component->members[0];
    for (uint32_t at = 1; at < component->count; at++)
        if (component->members[at] < first)
            first = component->members[at];
    return starvation_draw(search, component, first, cycle);
}

static int find(struct search *search, const struct statuses *statuses, struct walk walk,
                struct way *cycle)
{
    int answer = 0;
    for (walk.process = 0; walk.process < search->system->processes && answer == 0; walk.process++)
        if (!search->victims || search->victims >> walk.process & 1)
            answer = components_visit(search, statuses, &walk, judge_component, cycle);
    return answer;
}

int starvation_find(struct search *search, const struct statuses *statuses, unsigned kinds,
                    struct way *cycle)
{
    return find(search, statuses, (struct walk){.statuses = WAITING, .kinds = kinds}, cycle);
}

int starvation_find_able(struct search *search, const struct statuses *statuses, struct way *cycle)
{
    const struct walk walk = {
        .statuses = WAITING, .kinds = 1u << MOVE_STEP | 1u << MOVE_SYSTEM, .able = true};
    return find(search, statuses, walk, cycle);
}
