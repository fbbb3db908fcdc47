/* SPDX-License-Identifier: MIT */
/* What is to come: see happenings.h. */
#include "happenings.h"

#include <stdlib.h>

static struct happening *queue; /* a heap */
static size_t queued, queue_room;
static uint64_t orders;

static bool is_earlier(const struct happening *a, const struct happening *b)
{
    return a->time < b->time || (a->time == b->time && a->order < b->order);
}

static void swap(size_t a, size_t b)
{
    const struct happening kept = queue[a];
    queue[a] = queue[b];
    queue[b] = kept;
}

void happenings_add(struct happening what)
{
    if (queued == queue_room) {
        queue_room = 2 * queue_room + 1024;
        queue = realloc(queue, queue_room * sizeof *queue);
        if (!queue)
            abort();
    }
    what.order = orders++;
    queue[queued++] = what;
    for (size_t at = queued - 1; at > 0 && is_earlier(&queue[at], &queue[(at - 1) / 2]);
         at = (at - 1) / 2)
        swap(at, (at - 1) / 2);
}

struct happening happenings_take(void)
{
    const struct happening first = queue[0];
    queue[0] = queue[--queued];
    for (size_t at = 0, least = 0;; at = least) {
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < queued; child++)
            if (is_earlier(&queue[child], &queue[least]))
                least = child;
        if (least == at)
            return first;
        swap(at, least);
    }
}
