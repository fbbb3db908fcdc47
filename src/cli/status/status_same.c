/* SPDX-License-Identifier: MIT */
/* Whether two looks saw the same, as somebody who reads about it would say: since when something
 * lasts belongs to it, how long it has lasted does not. */
#include <stdlib.h>
#include <string.h>

#include "cli/status/status.h"

/* The agents say how many milliseconds something has lasted: since when varies by a few. */
enum { CLUSTER_SLACK_NS = 50000000 };

static bool same_names(char *const *one, char *const *other)
{
    for (; *one && *other; one++, other++)
        if (strcmp(*one, *other) != 0)
            return false;
    return !*one && !*other;
}

static bool same_owner(const ay_place *one, const ay_place *other)
{
    return one->pid == other->pid && one->tid == other->tid &&
           one->pid_namespace == other->pid_namespace && one->start_time == other->start_time &&
           one->uid == other->uid && one->thread == other->thread;
}

static bool same_passage(const ay_place *one, const ay_place *other, int64_t slack)
{
    return one->state == other->state && one->alive == other->alive &&
           one->conditional == other->conditional && one->mode == other->mode &&
           one->wants == other->wants && one->cancelled_by == other->cancelled_by &&
           one->slots == other->slots && one->take == other->take && one->of == other->of &&
           one->priority == other->priority && one->fence == other->fence &&
           one->order == other->order && one->waits_for == other->waits_for &&
           llabs(one->since_ns - other->since_ns) <= slack;
}

static bool same_place(const struct sighting *one, const struct sighting *other, int64_t slack)
{
    return one->seen.place == other->seen.place && same_passage(&one->seen, &other->seen, slack) &&
           same_owner(&one->seen, &other->seen) && strcmp(one->command, other->command) == 0 &&
           same_names(one->name, other->name) && one->seen.unit_count == other->seen.unit_count &&
           (one->seen.unit_count == 0 ||
            memcmp(one->units, other->units, one->seen.unit_count * sizeof *one->units) == 0);
}

/* How long a lease still holds belongs to no comparison: whether there is one does. */
static bool same_permissions(const struct sightings *one, const struct sightings *other)
{
    if (one->permissions != other->permissions || (one->lease_ms > 0) != (other->lease_ms > 0))
        return false;
    for (size_t at = 0; at < one->permissions; at++)
        if (strcmp(one->permission[at].name, other->permission[at].name) != 0 ||
            one->permission[at].exclusive != other->permission[at].exclusive)
            return false;
    return true;
}

/* What their figures are belongs to no comparison: whether they are up does. */
static bool same_links(const struct sightings *one, const struct sightings *other)
{
    if (one->kind != other->kind || one->links != other->links)
        return false;
    for (size_t at = 0; at < one->links; at++)
        if (one->link[at].node != other->link[at].node || one->link[at].up != other->link[at].up)
            return false;
    return true;
}

static bool same_space(const struct sightings *one, const struct sightings *other, int64_t slack)
{
    if (strcmp(one->name, other->name) != 0 || strcmp(one->path, other->path) != 0 ||
        one->count != other->count || one->view.used != other->view.used ||
        one->view.alive != other->view.alive || one->view.mode != other->view.mode ||
        one->view.uid != other->view.uid || one->view.gid != other->view.gid ||
        one->view.created_s != other->view.created_s || !same_permissions(one, other) ||
        !same_links(one, other))
        return false;
    for (size_t at = 0; at < one->count; at++)
        if (!same_place(&one->item[at], &other->item[at], slack))
            return false;
    return true;
}

static bool same_troubles(const struct status_view *one, const struct status_view *other)
{
    if (one->unreadable_count != other->unreadable_count ||
        one->removed_count != other->removed_count)
        return false;
    for (size_t at = 0; at < one->unreadable_count; at++)
        if (strcmp(one->unreadable[at].name, other->unreadable[at].name) != 0 ||
            strcmp(one->unreadable[at].why, other->unreadable[at].why) != 0)
            return false;
    for (size_t at = 0; at < one->removed_count; at++)
        if (one->removed[at].pid != other->removed[at].pid ||
            strcmp(one->removed[at].path, other->removed[at].path) != 0)
            return false;
    return true;
}

bool status_same_space(const struct sightings *one, const struct sightings *other)
{
    return same_space(one, other, 0);
}

bool status_same_place(const struct sighting *one, const struct sighting *other)
{
    return same_place(one, other, 0);
}

bool status_same(const struct status_view *one, const struct status_view *other)
{
    const int64_t slack = one->asked->cluster ? CLUSTER_SLACK_NS : 0;
    if (one->count != other->count || !same_troubles(one, other))
        return false;
    for (size_t at = 0; at < one->count; at++)
        if (!same_space(&one->space[at], &other->space[at], slack))
            return false;
    return true;
}
