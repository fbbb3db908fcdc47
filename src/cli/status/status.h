/* SPDX-License-Identifier: MIT */
/* `afteryou status`: what its parts share. */
#ifndef AFTERYOU_CLI_STATUS_STATUS_H
#define AFTERYOU_CLI_STATUS_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/status/sightings.h"
#include "common/json.h"

/* What the rows are sorted by. */
enum status_order {
    STATUS_BY_REGION,
    STATUS_BY_SINCE,
    STATUS_BY_PID,
    STATUS_BY_USER,
    STATUS_ORDERS
};

struct status_words {
    const char *space; /* NULL: all of the user's */
    /* NULL: of one machine; else each sightings is a machine, and its path the state of the agent
     * there */
    const char *cluster;
    bool json, watch, colour, verbose, serve;
    const char *address; /* to serve at; NULL: at the first free port of this machine's own */
    enum status_order order;
    char **names; /* of regions, NULL-ended; none: all */
};

/* A file among the user's spaces that is none, or is of another version. */
struct status_unreadable {
    char *name, *why;
};

/* A process that still has the file of a removed space. */
struct status_holdout {
    char *path;
    int pid;
};

struct status_view {
    struct sightings *space;
    size_t count, room;
    struct status_unreadable *unreadable;
    size_t unreadable_count;
    struct status_holdout *removed; /* only once they were looked for */
    size_t removed_count, removed_room;
    const struct status_words *asked;
};

/* status.c: looks at all spaces asked for. 0, or a negative errno; what is wrong is in `trouble`.
 */
int status_look(const struct status_words *asked, struct status_view *view, char *trouble,
                size_t room);
void status_drop(struct status_view *view);
/* Whether both tell the same, but for how long it has been so. */
bool status_same(const struct status_view *one, const struct status_view *other);
/* Likewise of one machine's space, and of a place in it. */
bool status_same_space(const struct sightings *one, const struct sightings *other);
bool status_same_place(const struct sighting *one, const struct sighting *other);
/* Nothing is under way, but its last wait was cancelled: it is shown, like a death inside. */
static inline bool status_is_cancelled(const ay_place *seen)
{
    return seen->state == AY_IDLE && seen->cancelled_by != 0;
}

/* Whether the region is one of those asked for. */
bool status_is_asked(const struct status_words *asked, const struct sighting *item);

/* status_cluster.c: the same, of all machines of a cluster. */
int status_look_cluster(const struct status_words *asked, struct status_view *view, char *trouble,
                        size_t room);

/* status_links.c: the links of one of these, for people and for programs. */
void status_tell_links(FILE *out, const struct status_view *view, const struct sightings *machine);
void status_print_links(struct json *json, const struct status_view *view,
                        const struct sightings *machine);

/* The names of the orders; NULL behind the last. */
const char *status_order_at(size_t at);

/* status_removed.c: for each process that has the file of a removed space open, of those asked for.
 */
typedef void status_each_removed(const char *path, int pid, void *arg);
void status_removed(const struct status_words *asked, status_each_removed *each, void *arg);
/* The same, into the view; what memory does not suffice for is left out. */
void status_look_for_removed(struct status_view *view);
/* The same, of those that were found for another view. */
void status_copy_removed(struct status_view *to, const struct status_view *from);

/* status_table.c: lines of at most `columns` (0: no limit). The first one has the titles. Of the
 * rows, those that have every word of the filter, which is shorter than STATUS_FILTER; cycles of
 * waiting are never left out. */
enum { STATUS_FILTER = 128 };
void status_print_table(FILE *out, const struct status_view *view, enum status_order order,
                        const char *filter, size_t columns);

/* status_json.c: one line. Those of removed spaces have been looked for. */
void status_print_json(FILE *out, const struct status_view *view);
/* What a space is: fields of an object that is open. */
void status_describe_space(struct json *json, const struct sightings *space);
/* Whether it tells of a place. */
bool status_is_told(const struct status_words *asked, const struct sighting *item);
/* Parts of it. The first opens the object, and says when it was made. */
void status_begin_json(struct json *json);
void status_print_place(struct json *json, const struct sighting *item);
void status_print_cycles(struct json *json, const struct sightings *space);
void status_print_troubles(struct json *json, const struct status_view *view);
/* status_change.c: one line that tells what has changed since. False: it cannot be told so (other
 * spaces, a cluster, no memory), and what was printed is void. */
bool status_print_change(FILE *out, const struct status_view *before,
                         const struct status_view *after);
enum { STATUS_SCHEMA = 1 }; /* of both */

/* status_watch.c: until it is told to end. An exit code. */
int status_watch(const struct status_words *asked);

/* serve.c: the same, as a page for browsers. */
int status_serve(const struct status_words *asked);

#endif
