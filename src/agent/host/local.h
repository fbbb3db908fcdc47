/* SPDX-License-Identifier: MIT */
/* The agent as one more process of the machine's space: it enters a region in its turn, to take a
 * permission back. Nothing here waits. */
#ifndef AFTERYOU_AGENT_HOST_LOCAL_H
#define AFTERYOU_AGENT_HOST_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/host/pages.h"

struct local;

/* How a taking back goes on. */
struct local_news {
    unsigned resource;
    enum {
        LOCAL_BUSY,      /* somebody is inside: it waits */
        LOCAL_TROUBLE,   /* the region cannot be had, or not entered: it tries again and again */
        LOCAL_TAKEN_BACK /* done */
    } kind;
    /* of LOCAL_TAKEN_BACK: the permission was there; somebody had died inside */
    bool withdrawn, death;
    uint8_t mode;    /* PERMISSION_…: in which the agent was inside */
    uint64_t number; /* of the agent's own passage */
    char why[256];   /* of LOCAL_TROUBLE */
};

/* NULL: `trouble` says why. */
struct local *local_open(const struct directory *directory, struct pages *pages, char *trouble,
                         size_t room);
/* What was begun is given up. NULL is ignored. */
void local_close(struct local *local);
/* Begins to take a permission back, but for what may be inside beside `mode` (PERMISSION_…); news
 * follows, perhaps at once. */
void local_take_back(struct local *local, unsigned resource, const char *name, unsigned mode);
/* The next news, if there is any. */
bool local_next(struct local *local, struct local_news *news);
/* Readable when local_dispatch() is to be called, until it returns false. Each time that it returns
 * true there may be news. */
int local_fd(const struct local *local);
/* From now on another thread may call call(arg) instead, to the same end: a wake-up less. False:
 * `trouble` says why not. */
bool local_call(struct local *local, void (*call)(void *), void *arg, char *trouble, size_t room);
bool local_dispatch(struct local *local);
/* Puts away what was used, and tries again what could not be done; the nanoseconds after which it
 * wants to be called again, at the latest. */
int64_t local_tick(struct local *local);
/* As it said; but what has begun since counts. */
int64_t local_pause(const struct local *local);
/* Takes all of it back at once if nobody is inside; else false. */
bool local_try_take_back(struct local *local, unsigned resource, const char *name,
                         struct local_news *news);

#endif
