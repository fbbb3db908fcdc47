/* SPDX-License-Identifier: MIT */
/* How long a process can be kept waiting though nothing stands in its way, in intervals.
 *
 * Lamport 1976, D4: "There exist integers M and P such that at least one of the following
 * conditions must be false at some point during any time interval consisting of M consecutive
 * P-intervals": it waits, nobody malfunctions, no rival is inside, its condition is true, and no
 * rival in the queue should go before it. "A P-interval is a time interval containing at least P
 * events from each process." A process outside its passage, or inside the critical section, makes
 * events of its own that nobody sees: as many as are asked for.
 *
 * Sets of states: those in which k intervals may have passed. The first are all in which the
 * conditions hold; the next are those that a whole interval leads to, and they are among the
 * former. So the sets shrink until none is left, and the number of sets is the least M; or they do
 * not, and there is none. An interval that ends as soon as it can leaves the most room for others.
 */
#include <errno.h>
#include <string.h>

#include "check/search/analyses.h"

/* A state, and how many events of each process the interval has had so far: digits to the base
 * events + 1. */
struct admitting {
    struct search *search;
    const struct statuses *statuses;
    unsigned victim, events, codes;
    unsigned scale[PROCESSES_MOST + 1];
    unsigned char *now, *next; /* a byte a state: it is in the set */
    unsigned char *visited;    /* a bit for each state and code */
    struct grown queue;        /* uint64_t each */
};

static bool is_busy(const struct admitting *on, uint32_t state, unsigned process)
{
    return (WAITING | 1u << STATUS_LEAVING) >> status_in(on->statuses, state, process) & 1;
}

static unsigned digit(const struct admitting *on, unsigned code, unsigned process)
{
    return code / on->scale[process] % (on->events + 1);
}

/* The code with all events of those that are not busy in the state. */
static unsigned settle(const struct admitting *on, uint32_t state, unsigned code)
{
    for (unsigned process = 0; process < on->search->system->processes; process++)
        if (!is_busy(on, state, process))
            code += (on->events - digit(on, code, process)) * on->scale[process];
    return code;
}

static bool visit(struct admitting *on, uint32_t state, unsigned code)
{
    const uint64_t item = (uint64_t)state * on->codes + code;
    if (on->visited[item / 8] >> item % 8 & 1)
        return true;
    on->visited[item / 8] = (unsigned char)(on->visited[item / 8] | 1u << item % 8);
    if (!store_grow(&on->search->store, &on->queue, sizeof item))
        return false;
    memcpy(on->queue.bytes + on->queue.used, &item, sizeof item);
    on->queue.used += sizeof item;
    return true;
}

/* All moves of one state on its way through an interval. False without memory. */
static bool go_on(struct admitting *on, const unsigned char *may, uint32_t state, unsigned code)
{
    const struct edges edges = graph_edges(&on->search->graph, state);
    const unsigned kinds = 1u << MOVE_STEP | 1u << MOVE_START | 1u << MOVE_SYSTEM;
    for (size_t at = 0; at < edges.count; at++) {
        const uint32_t target = edges.targets[at];
        const unsigned mover = label_process(edges.labels[at]);
        if (!(kinds >> label_kind(edges.labels[at]) & 1) || !may[target])
            continue;
        unsigned after = code;
        if (label_kind(edges.labels[at]) != MOVE_SYSTEM && digit(on, code, mover) < on->events)
            after += on->scale[mover];
        after = settle(on, target, after);
        if (after == on->codes - 1)
            on->next[target] = 1;
        else if (!visit(on, target, after))
            return false;
    }
    return true;
}

/* From on->now to on->next. False without memory. */
static bool pass_interval(struct admitting *on, const unsigned char *may)
{
    const uint32_t count = on->search->store.count;
    memset(on->visited, 0, ((size_t)count * on->codes + 7) / 8);
    memset(on->next, 0, count);
    on->queue.used = 0;
    for (uint32_t state = 0; state < count; state++)
        if (on->now[state] && !visit(on, state, settle(on, state, 0)))
            return false;
    while (on->queue.used) {
        uint64_t item;
        on->queue.used -= sizeof item;
        memcpy(&item, on->queue.bytes + on->queue.used, sizeof item);
        if (!go_on(on, may, (uint32_t)(item / on->codes), (unsigned)(item % on->codes)))
            return false;
    }
    return true;
}

static void find_permitted(struct admitting *on, unsigned char *may)
{
    const struct system *system = on->search->system;
    unsigned char bytes[STATE_SIZE_MOST] __attribute__((aligned(8)));
    for (uint32_t state = 0; state < on->search->store.count; state++) {
        may[state] = 0;
        if (status_in(on->statuses, state, on->victim) != STATUS_QUEUED)
            continue;
        store_get(&on->search->store, state, bytes);
        may[state] = system->permitted(system, bytes, on->victim);
    }
}

static int measure_victim(struct admitting *on, unsigned char *may, struct admission *result)
{
    const uint32_t count = on->search->store.count;
    find_permitted(on, may);
    memcpy(on->now, may, count);
    for (unsigned intervals = 0;; intervals++) {
        const unsigned char *any = memchr(on->now, 1, count);
        if (!any) {
            if (intervals > result->intervals)
                result->intervals = intervals;
            return 0;
        }
        if (!pass_interval(on, may))
            return -ENOMEM;
        if (memcmp(on->now, on->next, count) == 0) {
            result->victim = on->victim;
            result->stuck = (uint32_t)(any - on->now);
            return 1;
        }
        memcpy(on->now, on->next, count);
    }
}

int admission_measure(struct search *search, const struct statuses *statuses, unsigned events,
                      struct admission *admission)
{
    struct admitting on = {.search = search, .statuses = statuses, .events = events, .scale = {1}};
    const uint32_t count = search->store.count;
    *admission = (struct admission){.events = events};
    for (unsigned process = 0; process < search->system->processes; process++)
        on.scale[process + 1] = on.scale[process] * (events + 1);
    on.codes = on.scale[search->system->processes];
    struct grown room = {0};
    if (!store_grow(&search->store, &room, (size_t)count * 3 + ((size_t)count * on.codes + 7) / 8))
        return -ENOMEM;
    unsigned char *may = room.bytes;
    on.now = may + count;
    on.next = on.now + count;
    on.visited = on.next + count;
    int answer = 0;
    for (on.victim = 0; on.victim < search->system->processes && answer == 0; on.victim++)
        answer = measure_victim(&on, may, admission);
    store_release(&search->store, &on.queue);
    store_release(&search->store, &room);
    return answer;
}
