/* SPDX-License-Identifier: MIT */
/* What an observer saw of spaces: a copy that can be sorted and followed. */
#include "cli/status/sightings.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "common/grow.h"

static bool copy_names(const ay_place *place, struct sighting *item)
{
    size_t count = 0, length = 1;
    for (; place->names[count]; count++)
        length += strlen(place->names[count]) + strlen(" + ");
    item->name = calloc(count + 1, sizeof *item->name);
    item->names = calloc(1, length);
    if (!item->name || !item->names)
        return false;
    for (size_t at = 0; at < count; at++) {
        if (!(item->name[at] = strdup(place->names[at])))
            return false;
        strcat(strcat(item->names, at ? " + " : ""), place->names[at]);
    }
    return true;
}

static bool copy(const ay_place *place, struct sighting *item)
{
    *item = (struct sighting){.seen = *place};
    item->seen.names = NULL;
    text_command(place, item->command, sizeof item->command);
    item->seen.command = NULL;
    item->seen.units = NULL;
    if (place->unit_count > 0) {
        if (!(item->units = calloc(place->unit_count, sizeof *item->units)))
            return false;
        memcpy(item->units, place->units, place->unit_count * sizeof *item->units);
    }
    return copy_names(place, item);
}

int sightings_add(struct sightings *sightings, const ay_place *place)
{
    if (!grow(&sightings->item, sightings->count, &sightings->room, sizeof *sightings->item, 64))
        return -ENOMEM;
    return copy(place, &sightings->item[sightings->count++]) ? 0 : -ENOMEM;
}

static int keep(const ay_place *place, void *arg)
{
    return sightings_add(arg, place);
}

int sightings_take(const char *space, struct sightings *sightings)
{
    *sightings = (struct sightings){0};
    snprintf(sightings->name, sizeof sightings->name, "%s", space && *space ? space : "default");
    const int error = ay_look(space, &sightings->view, keep, sightings);
    if (error) {
        sightings_drop(sightings);
        return error;
    }
    snprintf(sightings->path, sizeof sightings->path, "%s", sightings->view.path);
    sightings->view.path = NULL;
    return 0;
}

void sightings_drop(struct sightings *sightings)
{
    for (size_t at = 0; at < sightings->count; at++) {
        struct sighting *item = &sightings->item[at];
        for (char **name = item->name; name && *name; name++)
            free(*name);
        free(item->name);
        free(item->names);
        free(item->units);
    }
    for (size_t at = 0; at < sightings->permissions; at++)
        free(sightings->permission[at].name);
    free(sightings->permission);
    sightings->permission = NULL;
    sightings->permissions = sightings->permission_room = 0;
    free(sightings->link);
    sightings->link = NULL;
    sightings->links = sightings->link_room = 0;
    free(sightings->item);
    sightings->item = NULL;
    sightings->count = sightings->room = 0;
}

static int rank(ay_state state)
{
    return state == AY_DEAD_INSIDE ? 0 : state == AY_INSIDE ? 1 : state == AY_WAITING ? 2 : 3;
}

static int compare(const void *left, const void *right)
{
    const struct sighting *a = left, *b = right;
    const int names = strcmp(a->names, b->names);
    if (names)
        return names;
    if (rank(a->seen.state) != rank(b->seen.state))
        return rank(a->seen.state) - rank(b->seen.state);
    if (a->seen.order != b->seen.order)
        return a->seen.order < b->seen.order ? -1 : 1;
    return a->seen.since_ns < b->seen.since_ns ? -1 : a->seen.since_ns > b->seen.since_ns;
}

void sightings_sort(struct sightings *sightings)
{
    if (sightings->count > 0)
        qsort(sightings->item, sightings->count, sizeof *sightings->item, compare);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int spaces_each(int (*each)(const char *space, void *arg), void *arg, char *trouble, size_t room)
{
    char path[PATH_MAX];
    const int error = ay_path("default", path, sizeof path);
    if (error) {
        snprintf(trouble, room, "%s", ay_message());
        return error;
    }
    *strrchr(path, '/') = '\0';
    struct dirent **entries;
    const int count = scandir(path, &entries, is_visible, alphasort);
    int result = count < 0 && errno != ENOENT ? -errno : 0;
    if (count < 0) {
        snprintf(trouble, room, "cannot read %s: %s", path, strerror(-result));
        return result;
    }
    for (int at = 0; at < count; at++) {
        if (!result)
            result = each(entries[at]->d_name, arg);
        free(entries[at]);
    }
    free(entries);
    if (result)
        snprintf(trouble, room, "%s", strerror(-result));
    return result;
}
