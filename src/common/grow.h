/* SPDX-License-Identifier: MIT */
/* A list that grows: room for one more item, twice as much each time. */
#ifndef AFTERYOU_COMMON_GROW_H
#define AFTERYOU_COMMON_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* `list` points to the pointer to the items, of this size each, of which there are `count` in
 * `*room`; `first` is the room of a list that has none yet. False: there is no memory, and the list
 * is as it was. */
static inline bool grow(void *list, size_t count, size_t *room, size_t size, size_t first)
{
    if (count < *room)
        return true;
    const size_t more = *room ? 2 * *room : first;
    void *items;
    memcpy(&items, list, sizeof items); /* which may be a pointer to any type */
    items = reallocarray(items, more, size);
    if (!items)
        return false;
    memcpy(list, &items, sizeof items);
    *room = more;
    return true;
}

#endif
