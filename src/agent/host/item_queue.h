/* SPDX-License-Identifier: MIT */
/* Queues of what the transport has received and not handed over, or taken and not sent. */
#ifndef AFTERYOU_AGENT_HOST_ITEM_QUEUE_H
#define AFTERYOU_AGENT_HOST_ITEM_QUEUE_H

#include "agent/core/agent.h"

struct ring {
    uint32_t node;
    uint64_t sequence;
};

struct item {
    struct item *next;
    enum { ITEM_RING, ITEM_LEFT, ITEM_PARCEL } kind;
    struct ring ring;
    struct address who;
    bool with_its_machine;
    size_t length;
    uint8_t bytes[];
};

/* First in, first out. */
struct item_queue {
    struct item *first, **end;
};

/* With room for so many bytes. Without memory the program ends, after a line on stderr: a parcel
 * that is lost without a cut would be worse. */
struct item *queue_add(struct item_queue *queue, size_t length);
void queue_drop_first(struct item_queue *queue);
void queue_clear(struct item_queue *queue);

#endif
