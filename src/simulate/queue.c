/* SPDX-License-Identifier: MIT */
/* What is to happen, soonest first; what was put in first comes first among equals. */
#include "simulate/queue.h"

#include <stdlib.h>

#include "common/grow.h"

enum { CHILDREN = 4 };

static bool sooner(const struct due *a, const struct due *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

bool queue_put(struct queue *queue, struct due due)
{
    if (!grow(&queue->heap, queue->count, &queue->room, sizeof *queue->heap, 1024))
        return false;
    due.order = queue->put++ & ((UINT64_C(1) << 56) - 1);
    size_t at = queue->count++;
    while (at > 0 && sooner(&due, &queue->heap[(at - 1) / CHILDREN])) {
        queue->heap[at] = queue->heap[(at - 1) / CHILDREN];
        at = (at - 1) / CHILDREN;
    }
    queue->heap[at] = due;
    return true;
}

struct due queue_take(struct queue *queue)
{
    const struct due first = queue->heap[0], last = queue->heap[--queue->count];
    size_t at = 0;
    for (;;) {
        const size_t child = CHILDREN * at + 1;
        if (child >= queue->count)
            break;
        const size_t end = child + CHILDREN < queue->count ? child + CHILDREN : queue->count;
        size_t least = child;
        for (size_t other = child + 1; other < end; other++)
            if (sooner(&queue->heap[other], &queue->heap[least]))
                least = other;
        if (!sooner(&queue->heap[least], &last))
            break;
        queue->heap[at] = queue->heap[least];
        at = least;
    }
    queue->heap[at] = last;
    return first;
}

void queue_close(struct queue *queue)
{
    free(queue->heap);
    *queue = (struct queue){0};
}
