/* SPDX-License-Identifier: MIT */
/* The graph of a finished search: for every state the moves out of it, each with a label that the
 * analyses read. */
#ifndef AFTERYOU_CHECK_SEARCH_GRAPH_H
#define AFTERYOU_CHECK_SEARCH_GRAPH_H

#include "check/search/store.h"

/* A move in a byte: who, which kind, and whether it enters; if not, where it stood. */
typedef uint8_t edge_label;
enum { LABEL_ENTERS = 3 };

static inline edge_label label_of(struct move move)
{
    return (edge_label)(move.process | move.kind << 3 |
                        (move.enters ? LABEL_ENTERS : move.waits) << 6);
}
static inline unsigned label_process(edge_label label)
{
    return label & 7u;
}
static inline unsigned label_kind(edge_label label)
{
    return label >> 3 & 7u;
}
static inline bool label_enters(edge_label label)
{
    return label >> 6 == LABEL_ENTERS;
}
static inline enum waits label_waits(edge_label label)
{
    return label_enters(label) ? WAITS_NOT : (enum waits)(label >> 6);
}

struct graph {
    struct grown firsts;  /* uint64_t for each expanded state: where its edges begin */
    struct grown targets; /* uint32_t an edge */
    struct grown labels;  /* edge_label an edge */
};

struct edges {
    const uint32_t *targets;
    const edge_label *labels;
    size_t count;
};

static inline struct edges graph_edges(const struct graph *graph, uint32_t state)
{
    const uint64_t *firsts = (const uint64_t *)(const void *)graph->firsts.bytes;
    const size_t states = graph->firsts.used / sizeof *firsts, edges = graph->labels.used;
    const uint64_t begin = firsts[state], end = state + 1 < states ? firsts[state + 1] : edges;
    return (struct edges){(const uint32_t *)(const void *)graph->targets.bytes + begin,
                          graph->labels.bytes + begin, end - begin};
}

#endif
