/* SPDX-License-Identifier: MIT */
/* Lists of words with commas between them, as options have them. */
#ifndef BENCH_PEERS_LISTS_H
#define BENCH_PEERS_LISTS_H

#include <string.h>

/* Takes the next word off the list; NULL: there is none. */
static inline const char *next_word(const char **list, size_t *length)
{
    const char *word = *list;
    if (!word)
        return NULL;
    *length = strcspn(word, ",");
    *list = word[*length] ? word + *length + 1 : NULL;
    return word;
}

#endif
