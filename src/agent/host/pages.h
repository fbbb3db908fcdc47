/* SPDX-License-Identifier: MIT */
/* The pages that the agent publishes, from the side of their one writer. */
#ifndef AFTERYOU_AGENT_HOST_PAGES_H
#define AFTERYOU_AGENT_HOST_PAGES_H

#include "agent/host/directory.h"
#include "common/permissions.h"

enum { PAGES_AHEAD = 1024 }; /* room for so many names beyond those that there are, at first */

struct pages {
    struct permissions *map;
    int fd; /* locked: one agent a machine and cluster */
    /* Made anew: what processes of this machine were granted before is not known. Set by
     * pages_open() and pages_bind_space(). */
    bool fresh;
    unsigned allocated; /* the file has room for so many names: pages_grow() */
};

struct pages_options {
    const char *cluster, *protocol;
    int64_t lease, grace;
};

/* Makes them, or takes over those of a predecessor. 0, or a negative errno, and what is wrong in
 * `trouble`. */
int pages_open(struct pages *pages, const struct directory *directory,
               const struct pages_options *options, char *trouble, size_t room);
void pages_close(struct pages *pages);
/* The space that goes with them. If they were of another, that was removed: they are fresh then,
 * and whatever they granted is lost. */
void pages_bind_space(struct pages *pages, uint64_t device, uint64_t inode);
/* From now on local processes take it for what it is: the space is there. */
void pages_announce(struct pages *pages);

/* Makes room for so many names, if there is memory; returns for how many there is. */
unsigned pages_grow(struct pages *pages, unsigned names);
/* A name at a new index, or in place of another there, of which nothing is granted; an empty one
 * takes it away. */
void pages_name(struct pages *pages, unsigned index, const char *name, size_t length);
/* Or raised: those inside by a weaker mode stay. */
void pages_grant(struct pages *pages, unsigned index, unsigned mode, uint32_t slot, uint64_t base,
                 uint64_t number);
bool pages_has_some(const struct pages *pages, unsigned index); /* in whatever mode */
/* False: it was not granted. */
bool pages_withdraw(struct pages *pages, unsigned index);
/* Who is to hear of it before another is inside; and whether those here who sleep are woken. */
void pages_watch(struct pages *pages, unsigned index, bool armed, bool others, bool heard);
/* What may be inside beside `mode` is left; by an agent that woke up for it at that moment
 * (CLOCK_MONOTONIC). False: it was not granted. */
bool pages_lower_since(struct pages *pages, unsigned index, unsigned mode, int64_t woken_ns);
/* Those begun under it are told, and have until then to stop (CLOCK_BOOTTIME). */
void pages_lose(struct pages *pages, unsigned index, int64_t owed);
void pages_busy(struct pages *pages, unsigned index);
void pages_death(struct pages *pages, unsigned index, bool death);
void pages_lease(struct pages *pages, int64_t deadline);
void pages_state(struct pages *pages, enum agent_state state);
void pages_keep_view(struct pages *pages, uint64_t view);
void pages_full(struct pages *pages, bool full);

#endif
