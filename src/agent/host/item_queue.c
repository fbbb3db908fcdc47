/* SPDX-License-Identifier: MIT */
/* Queues of what the transport has received and not handed over, or taken and not sent. */
#include "agent/host/item_queue.h"

#include <stdio.h>
#include <stdlib.h>

struct item *queue_add(struct item_queue *queue, size_t length)
{
    struct item *item = calloc(1, sizeof *item + length);
    if (!item) {
        fputs("afteryou agent: out of memory\n", stderr);
        abort();
    }
    item->length = length;
    *queue->end = item;
    queue->end = &item->next;
    return item;
}

void queue_drop_first(struct item_queue *queue)
{
    struct item *item = queue->first;
    queue->first = item->next;
    if (!queue->first)
        queue->end = &queue->first;
    free(item);
}

void queue_clear(struct item_queue *queue)
{
    while (queue->first)
        queue_drop_first(queue);
    queue->end = &queue->first;
}
