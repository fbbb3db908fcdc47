/* SPDX-License-Identifier: MIT */
/* The agent as one more process of the machine's space: it enters a region in its turn, to take a
 * permission back. */
#ifndef AFTERYOU_AGENT_HOST_LOCAL_H
#define AFTERYOU_AGENT_HOST_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/host/pages.h"

struct local;

/* What a thread has to tell the agent. */
struct local_news {
    unsigned resource;
    enum {
        LOCAL_BUSY,      /* somebody is inside: it waits */
        LOCAL_TROUBLE,   /* the region cannot be opened, or not entered: it tries again and again */
        LOCAL_TAKEN_BACK /* done */
    } kind;
    /* of LOCAL_TAKEN_BACK: the permission was there; somebody had died inside */
    bool withdrawn, death;
    uint64_t number; /* of the agent's own passage */
    char why[256];   /* of LOCAL_TROUBLE */
};

/* NULL: `trouble` says why. */
struct local *local_open(const struct directory *directory, struct pages *pages, char *trouble,
                         size_t room);
/* Readable when there is news. */
int local_fd(const struct local *local);
bool local_next(struct local *local, struct local_news *news);
/* Begins to take a permission back; news follows. */
void local_take_back(struct local *local, unsigned resource, const char *name);
/* Takes back at once if nobody is inside; else false. */
bool local_try_take_back(struct local *local, unsigned resource, const char *name,
                         struct local_news *news);

#endif
