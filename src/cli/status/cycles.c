/* SPDX-License-Identifier: MIT */
/* Who waits in a circle. A place waits for at most one other, and so each leads to at most one: a
 * walk that meets itself has found a cycle. Thousands may wait in one chain, so nothing is searched
 * twice. */
#include <stdlib.h>

#include "cli/status/sightings.h"

/* An item, by a number that it is looked up by. */
struct keyed {
    uint64_t key;
    size_t item;
};

struct index {
    struct keyed *entry;
    size_t count;
};

static int compare_keys(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->item < b->item ? -1 : a->item > b->item;
}

/* The first item of that key; `none`: there is none. */
static size_t look_up(const struct index *index, uint64_t key, size_t none)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (index->entry[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < index->count && index->entry[low].key == key ? index->entry[low].item : none;
}

static void find_nexts(struct cycle_search *search, struct index *places, struct index *waiting)
{
    const struct sightings *all = search->sightings;
    for (size_t at = 0; at < all->count; at++) {
        const ay_place *seen = &all->item[at].seen;
        places->entry[places->count++] = (struct keyed){seen->place, at};
        if (seen->state == AY_WAITING && seen->thread != 0)
            waiting->entry[waiting->count++] = (struct keyed){seen->thread, at};
    }
    qsort(places->entry, places->count, sizeof *places->entry, compare_keys);
    qsort(waiting->entry, waiting->count, sizeof *waiting->entry, compare_keys);
    for (size_t at = 0; at < all->count; at++) {
        const ay_place *seen = &all->item[at].seen;
        const size_t holder = seen->state == AY_WAITING && seen->waits_for >= 0
                                  ? look_up(places, (uint64_t)seen->waits_for, all->count)
                                  : all->count;
        search->next[at] = holder < all->count
                               ? look_up(waiting, all->item[holder].seen.thread, all->count)
                               : all->count;
    }
}

bool cycles_open(struct cycle_search *search, const struct sightings *sightings)
{
    const size_t count = sightings->count ? sightings->count : 1;
    struct index places = {.entry = calloc(count, sizeof *places.entry)},
                 waiting = {.entry = calloc(count, sizeof *waiting.entry)};
    *search = (struct cycle_search){.sightings = sightings,
                                    .next = calloc(count, sizeof *search->next),
                                    .seen = calloc(count, sizeof *search->seen)};
    const bool done = places.entry && waiting.entry && search->next && search->seen;
    if (done)
        find_nexts(search, &places, &waiting);
    else
        cycles_close(search);
    free(places.entry);
    free(waiting.entry);
    return done;
}

void cycles_close(struct cycle_search *search)
{
    free(search->next);
    free(search->seen);
    *search = (struct cycle_search){0};
}

/* From its least member. */
static size_t tell(const struct cycle_search *search, size_t member, size_t *cycle, size_t room)
{
    size_t least = member, length = 0;
    for (size_t at = search->next[member]; at != member; at = search->next[at])
        least = at < least ? at : least;
    size_t at = least;
    do {
        if (length < room)
            cycle[length++] = at;
        at = search->next[at];
    } while (at != least);
    return length;
}

size_t cycles_next(struct cycle_search *search, size_t *cycle, size_t room)
{
    const size_t count = search->sightings->count;
    while (search->from < count) {
        const size_t from = search->from++;
        size_t at = from;
        while (at < count && !search->seen[at]) {
            search->seen[at] = from + 1;
            at = search->next[at];
        }
        if (at < count && search->seen[at] == from + 1)
            return tell(search, at, cycle, room);
    }
    return 0;
}
