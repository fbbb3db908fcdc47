/* SPDX-License-Identifier: MIT */
/* What is to come on a simulated network (hundred.c), the earliest first. */
#ifndef AFTERYOU_TESTS_AGENT_HAPPENINGS_H
#define AFTERYOU_TESTS_AGENT_HAPPENINGS_H

#include "agent/core/agent.h"

struct happening {
    int64_t time;
    uint64_t order; /* among those of one time */
    enum { DELIVERS, ARRIVES, LINKS, TICKS, TAKES_BACK, LEAVES } kind;
    unsigned machine; /* ARRIVES, …: to whom */
    uint32_t slot;    /* ARRIVES, LINKS: of the other, as it knows it */
    uint64_t incarnation;
    struct address from; /* DELIVERS */
    uint8_t *bytes;
    size_t length;
    unsigned resource; /* TAKES_BACK */
};

void happenings_add(struct happening what); /* its order is filled in */
struct happening happenings_take(void);     /* there must be one */

#endif
