/* SPDX-License-Identifier: MIT */
/* Rows: a word for each node, as token_data or q.
 *
 * They lie in a node's state, right behind the head and its sets, `protocol->rows` of them. There
 * they are N² words in all. Where N is great and few nodes ask, most of these words are what they
 * were at first; so an engine may keep the rows itself, and only what differs. A state is shorter
 * by them then. Protocols do not see which it is.
 */
#ifndef AFTERYOU_PROTOCOLS_MESSAGES_ROWS_H
#define AFTERYOU_PROTOCOLS_MESSAGES_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* An engine that keeps rows. Words are numbered from the first row's first; all are 0 when a node
 * begins. */
struct keeper {
    uint64_t (*get)(const struct keeper *keeper, uint64_t node, uint64_t at);
    void (*put)(const struct keeper *keeper, uint64_t node, uint64_t at, uint64_t value);
    /* `count` words from `at` on become these */
    void (*replace)(const struct keeper *keeper, uint64_t node, uint64_t at, const uint64_t *words,
                    uint64_t count);
};

struct per_node {
    uint64_t *words; /* in the state; NULL: the keeper has them */
    const struct keeper *keeper;
    uint64_t node, first, count;
    uint64_t blank; /* what its words are when a node begins */
};

static inline void row_begin(struct per_node row)
{
    for (uint64_t j = 0; row.words && row.blank && j < row.count; j++)
        row.words[j] = row.blank;
}

static inline uint64_t row_get(struct per_node row, uint64_t j)
{
    return row.words ? row.words[j]
                     : row.keeper->get(row.keeper, row.node, row.first + j) ^ row.blank;
}

static inline void row_put(struct per_node row, uint64_t j, uint64_t value)
{
    if (row.words)
        row.words[j] = value;
    else
        row.keeper->put(row.keeper, row.node, row.first + j, value ^ row.blank);
}

/* The whole row, to words that are beside each other and from such; only rows whose blank is 0. */
static inline void row_copy(uint64_t *to, struct per_node row)
{
    for (uint64_t j = 0; j < row.count; j++)
        to[j] = row_get(row, j);
}

static inline void row_replace(struct per_node row, const uint64_t *from)
{
    if (row.words)
        memcpy(row.words, from, (size_t)row.count * sizeof *from);
    else
        row.keeper->replace(row.keeper, row.node, row.first, from, row.count);
}

#endif
