/* SPDX-License-Identifier: MIT */
/* Names, each kept once, and numbered as they come. */
#include "audit/names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hash_text(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

static bool names_grow(struct names *names)
{
    const uint32_t room = names->room ? 2 * names->room : 32;
    char **text = realloc(names->text, room * sizeof *text);
    if (!text)
        return false;
    names->text = text;
    char **key = realloc(names->key, room * sizeof *key);
    if (!key)
        return false;
    names->key = key;
    names->room = room;
    uint32_t *table = calloc(4 * (size_t)room, sizeof *table);
    if (!table)
        return false;
    for (uint32_t i = 0; i < names->count; i++) {
        uint32_t at = hash_text(names->key[i]) & (4 * room - 1);
        while (table[at])
            at = (at + 1) & (4 * room - 1);
        table[at] = i + 1;
    }
    free(names->table);
    names->table = table;
    names->table_room = 4 * room;
    return true;
}

uint32_t names_find(struct names *names, const char *key, const char *text)
{
    if (names->count == names->room && !names_grow(names))
        return NAMES_NONE;
    uint32_t at = hash_text(key) & (names->table_room - 1);
    for (; names->table[at]; at = (at + 1) & (names->table_room - 1))
        if (strcmp(names->key[names->table[at] - 1], key) == 0)
            return names->table[at] - 1;
    names->key[names->count] = strdup(key);
    if (!names->key[names->count])
        return NAMES_NONE;
    names->text[names->count] = strdup(text);
    if (!names->text[names->count]) {
        free(names->key[names->count]);
        return NAMES_NONE;
    }
    names->table[at] = ++names->count;
    return names->count - 1;
}

void names_close(struct names *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        free(names->text[i]);
        free(names->key[i]);
    }
    free(names->text);
    free(names->key);
    free(names->table);
}
