/* SPDX-License-Identifier: MIT */
/* The shortest run in which one process enters more than so many times while another waits.
 *
 * A walk breadth first from the first state, over pairs of a state and how often the victim has
 * been overtaken since it began to wait; where it does not wait, that is 0. */
#include <errno.h>
#include <string.h>

#include "check/search/analyses.h"

/* The hop that first led to a pair, and the count it came from. */
struct trail {
    struct hop hop;
    uint32_t count;
};

struct trails {
    struct search *search;
    const struct walk *walk;
    const struct statuses *statuses;
    unsigned overtaker, counts; /* counts of 0 to counts - 1 are told apart */
    struct grown room;
    struct trail *came_by;
    uint64_t *queue;
};

static int open_trails(struct trails *trails)
{
    const size_t pairs = (size_t)trails->search->store.count * trails->counts;
    if (!store_grow(&trails->search->store, &trails->room,
                    pairs * (sizeof *trails->came_by + sizeof *trails->queue)))
        return -ENOMEM;
    trails->queue = (uint64_t *)(void *)trails->room.bytes;
    trails->came_by = (struct trail *)(void *)(trails->queue + pairs);
    memset(trails->came_by, 0xff, pairs * sizeof *trails->came_by);
    return 0;
}

/* The count after a move: from one wait to the same, and whether it overtakes. */
static unsigned count_after(const struct trails *trails, struct hop hop, unsigned count)
{
    const struct edges edges = graph_edges(&trails->search->graph, hop.state);
    const uint32_t target = edges.targets[hop.edge];
    if (!walk_has_state(trails->walk, trails->statuses, hop.state) ||
        !walk_has_state(trails->walk, trails->statuses, target))
        return 0;
    return count + (label_process(edges.labels[hop.edge]) == trails->overtaker &&
                    overtaking_counts(trails->search, target, trails->walk->process,
                                      edges.labels[hop.edge]));
}

/* 1: found, and the last pair is told; 0: there is none. */
static int seek(struct trails *trails, uint64_t *found)
{
    uint64_t head = 0, tail = 0;
    trails->came_by[0] = (struct trail){{0, 0}, 0};
    trails->queue[tail++] = 0;
    while (head < tail) {
        const uint64_t pair = trails->queue[head++];
        const uint32_t state = (uint32_t)(pair / trails->counts);
        const unsigned count = (unsigned)(pair % trails->counts);
        const size_t edges = graph_edges(&trails->search->graph, state).count;
        for (uint32_t edge = 0; edge < edges; edge++) {
            const struct hop hop = {state, edge};
            const unsigned after = count_after(trails, hop, count);
            const uint32_t target = graph_edges(&trails->search->graph, state).targets[edge];
            const uint64_t next = (uint64_t)target * trails->counts + after;
            if (trails->came_by[next].hop.state != STATE_NONE)
                continue;
            trails->came_by[next] = (struct trail){hop, count};
            trails->queue[tail++] = next;
            if (after + 1 == trails->counts) {
                *found = next;
                return 1;
            }
        }
    }
    return 0;
}

static int follow_back(const struct trails *trails, uint64_t pair, struct way *way)
{
    while (pair) {
        const struct trail *trail = &trails->came_by[pair];
        if (!way_append(trails->search, way, trail->hop.state, trail->hop.edge))
            return -ENOMEM;
        pair = (uint64_t)trail->hop.state * trails->counts + trail->count;
    }
    way_reverse(way, 0);
    return 0;
}

int overtaken_find(struct search *search, const struct statuses *statuses, unsigned victim_statuses,
                   const struct overtaking *overtaking, unsigned most, struct way *way)
{
    struct way shortest = {0};
    int answer = 0;
    const unsigned processes = search->system->processes;
    for (unsigned pair = 0; pair < processes * processes && answer >= 0; pair++) {
        const struct walk walk = {
            .process = pair / processes, .statuses = victim_statuses, .kinds = KINDS_ALL};
        struct trails trails = {.search = search,
                                .walk = &walk,
                                .statuses = statuses,
                                .overtaker = pair % processes,
                                .counts = most + 2};
        if (overtaking->most[walk.process][trails.overtaker] <= most)
            continue;
        struct way found = {.victim = walk.process};
        uint64_t last = 0;
        int error = open_trails(&trails);
        if (!error && seek(&trails, &last))
            error = follow_back(&trails, last, &found);
        store_release(&search->store, &trails.room);
        if (!error && (!answer || way_length(&found) < way_length(&shortest))) {
            const struct way longer = shortest;
            shortest = found;
            found = longer;
        }
        store_release(&search->store, &found.hops);
        answer = error ? error : 1;
    }
    *way = shortest;
    return answer;
}
