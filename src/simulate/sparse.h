/* SPDX-License-Identifier: MIT */
/* Words by number, most of which are zero: those that are not, in a table of open addressing. 16 to
 * 24 bytes each. */
#ifndef AFTERYOU_SIMULATE_SPARSE_H
#define AFTERYOU_SIMULATE_SPARSE_H

#include <stdbool.h>
#include <stdint.h>

struct sparse {
    uint64_t *words;
    uint32_t
        *numbers; /* beside the words, in one piece with them: the word's number + 1; 0: free */
    uint32_t used, room;
};

uint64_t sparse_get(const struct sparse *sparse, uint32_t number);
/* Words below `least` no longer matter, and may become 0; at least 1. False: no memory. */
bool sparse_put(struct sparse *sparse, uint32_t number, uint64_t word, uint64_t least);
/* `count` words from `number` on become these. */
bool sparse_replace(struct sparse *sparse, uint32_t number, const uint64_t *words, uint32_t count);
void sparse_close(struct sparse *sparse); /* and all are zero again */

#endif
