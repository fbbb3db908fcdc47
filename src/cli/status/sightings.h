/* SPDX-License-Identifier: MIT */
/* What an observer saw of spaces: a copy that can be sorted and followed. Only ay_look() is asked;
 * nothing is disturbed. */
#ifndef AFTERYOU_CLI_STATUS_SIGHTINGS_H
#define AFTERYOU_CLI_STATUS_SIGHTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "afteryou.h"

struct sighting {
    ay_place seen;   /* its pointers are the fields below, or NULL */
    char *names;     /* "a + b" */
    char **name;     /* NULL-ended */
    unsigned *units; /* seen.unit_count */
    char command[256];
};

/* Of a machine: what its agent may let processes enter. */
struct sighted_permission {
    char *name;
    bool exclusive;
};

/* And of its links with the other machines. */
enum sighted_links { LINKS_NONE, LINKS_PLAIN, LINKS_SECURED };

struct sighted_link {
    unsigned node;
    bool up;
    uint64_t round_trip_ns; /* 0: not known */
    uint64_t breaks, resent, relayed;
};

struct sightings {
    char name[AY_NAME_MOST + 1]; /* of the space; its path, if that is how it was asked for */
    char path[PATH_MAX];
    ay_view view; /* .path is the field above */
    struct sighting *item;
    size_t count, room;
    /* Of a machine of a cluster alone. */
    int64_t lease_ms; /* for how long it still holds; 0: it has none */
    struct sighted_permission *permission;
    size_t permissions, permission_room;
    unsigned node;
    enum sighted_links kind;
    struct sighted_link *link;
    size_t links, link_room;
};

/* All places of a space: 0, or a negative errno (ay_message() says what). */
int sightings_take(const char *space, struct sightings *sightings);
void sightings_drop(struct sightings *sightings);
/* A copy of one more place: 0, or -ENOMEM. */
int sightings_add(struct sightings *sightings, const ay_place *place);
/* By region, then inside before waiting, then in the order of the queue. */
void sightings_sort(struct sightings *sightings);

/* Calls `each` for the name of every space of this user's, in alphabetical order, until it returns
 * non-zero. -errno, if the directory cannot be read, or is one that `run` would refuse; none is no
 * error. With any error, `trouble` says which. */
int spaces_each(int (*each)(const char *space, void *arg), void *arg, char *trouble, size_t room);

/* A search for cycles of places that wait for each other. */
struct cycle_search {
    const struct sightings *sightings;
    /* For each item: the waiting one of the thread that it waits for; .count: there is none. */
    size_t *next;
    size_t *seen; /* for each: one above the item from which it was reached; 0: not yet */
    size_t from;  /* where the search goes on */
};

/* False: no memory. */
bool cycles_open(struct cycle_search *search, const struct sightings *sightings);
void cycles_close(struct cycle_search *search);
/* The next cycle: its length, and its items, the least first, up to `room` of them; 0: there is no
 * further one. */
size_t cycles_next(struct cycle_search *search, size_t *cycle, size_t room);

#endif
