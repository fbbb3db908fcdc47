/* SPDX-License-Identifier: MIT */
/* The search: every reachable state of a system, breadth first, so that the first violation found
 * is a shortest one. */
#ifndef AFTERYOU_CHECK_SEARCH_SEARCH_H
#define AFTERYOU_CHECK_SEARCH_SEARCH_H

#include "check/search/estimate.h"
#include "check/search/graph.h"
#include "check/search/store.h"
#include "check/search/system.h"

struct search_limits {
    size_t memory;    /* bytes */
    uint32_t states;  /* 0: no limit */
    double seconds;   /* 0: no limit */
    unsigned threads; /* that make moves, the search's own counted (crew.h); 0 is 1 */
    /* where safety alone is asked: keep states only, not how they were reached (compact.h) */
    bool compact;
};

enum search_end {
    SEARCH_EXHAUSTED, /* every reachable state was seen */
    SEARCH_VIOLATED,  /* a state or a move breaks a safety property */
    SEARCH_OVERFLOW,  /* a number outgrew its field: what lies beyond was not seen */
    SEARCH_FULL,      /* likewise: a store buffer, or the network, had no room for one more */
    SEARCH_STATES,
    SEARCH_MEMORY,
    SEARCH_SECONDS
};

struct search {
    const struct system *system;
    struct search_limits limits;
    bool keep_graph;                               /* the analyses of progress and order need it */
    void (*progress)(const struct search *search); /* called now and then; may be NULL */
    unsigned victims; /* in: whose lockout is judged, a bit each; 0: everybody's */

    struct store store;
    struct graph graph;
    uint32_t expanded; /* states whose successors were taken */
    uint32_t depth;    /* of the state last expanded */
    struct estimate estimate;
    uint64_t moves;   /* moves made */
    uint64_t reached; /* of the system's goals, a bit each */
    size_t peak;      /* the most memory that was used, in bytes */
    double started, ended;
    enum search_end end;
    const char *violated; /* which property */
    /* the state that shows it, or from which the move that shows it was made */
    uint32_t culprit;
    bool by_move;
    struct move last; /* that move */
    /* a compact search found a violation, and there is no memory for the way there */
    bool untold;
};

/* 0, or -ENOMEM. Afterwards search->end tells. Close it in either case. */
int search_run(struct search *search);
void search_close(struct search *search);

double search_seconds(const struct search *search);
/* Seconds, from some moment on. */
double search_clock(void);

#endif
