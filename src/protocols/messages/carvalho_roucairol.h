/* SPDX-License-Identifier: MIT */
/* What a node of Carvalho and Roucairol's algorithm remembers: carvalho_roucairol.c. */
#ifndef AFTERYOU_PROTOCOLS_MESSAGES_CARVALHO_ROUCAIROL_H
#define AFTERYOU_PROTOCOLS_MESSAGES_CARVALHO_ROUCAIROL_H

#include "protocols/messages/node.h"

enum {
    PLANES = MODE_NULL, /* the null mode asks nobody */
    MODE_BITS = 3,
    CONVERTING_MOST = 256
};

struct carvalho_roucairol {
    struct node *node;
    uint64_t *our, *highest, *missing; /* missing: how many permissions the waiter lacks */
    uint64_t *rank;                    /* of our request */
    uint64_t *deferred;                /* a set */
    uint64_t *A;                       /* PLANES sets */
    size_t width;
    /* for conversions; NULL among more than CONVERTING_MOST */
    uint64_t *asked_for; /* MODE_BITS sets: in which mode those deferred have asked, bit by bit */
    uint64_t *earlier;   /* a set: of those deferred for what is kept, who are before me */
    uint64_t *ranks;     /* of those deferred; NULL: nobody has one */
};

static inline size_t carvalho_roucairol_words(uint32_t nodes)
{
    const unsigned sets = 1 + PLANES + (nodes <= CONVERTING_MOST ? MODE_BITS + 1 : 0);
    return node_words(nodes) + sets * set_words(nodes);
}

static inline size_t carvalho_roucairol_room(uint32_t nodes)
{
    return 2 * set_words(nodes);
}

static inline size_t ranked_words(uint32_t nodes)
{
    return carvalho_roucairol_words(nodes) + nodes;
}

static inline size_t ranked_room(uint32_t nodes)
{
    return 4 * set_words(nodes);
}

static inline struct carvalho_roucairol carvalho_roucairol_of(uint64_t *state)
{
    struct node *node = (struct node *)state;
    const size_t width = set_words(node->nodes);
    uint64_t *own = state + node_words(node->nodes);
    const bool converts = node->nodes <= CONVERTING_MOST;
    return (struct carvalho_roucairol){
        .node = node,
        .our = node->own,
        .highest = node->own + 1,
        .missing = node->own + 2,
        .rank = node->own + 3,
        .deferred = own,
        .A = own + width,
        .width = width,
        .asked_for = converts ? own + (1 + PLANES) * width : NULL,
        .earlier = converts ? own + (1 + PLANES + MODE_BITS) * width : NULL,
        .ranks = node->ranked ? state + carvalho_roucairol_words((uint32_t)node->nodes) : NULL,
    };
}

static inline uint64_t *permissions(struct carvalho_roucairol my, uint64_t mode)
{
    return my.A + mode * my.width;
}

static inline bool permitted(struct carvalho_roucairol my, uint64_t j)
{
    return my.node->mode == MODE_NULL || set_has(permissions(my, my.node->mode), j);
}

static inline void defer(struct carvalho_roucairol my, const struct message *request, bool earlier)
{
    const uint32_t j = request->from;
    set_add(my.deferred, j);
    if (earlier)
        set_add(my.earlier, j);
    for (unsigned bit = 0; my.asked_for && bit < MODE_BITS; bit++)
        if (request->mode >> bit & 1)
            set_add(my.asked_for + bit * my.width, j);
    if (my.ranks)
        my.ranks[j] = (uint32_t)request->rank;
}

static inline void defer_no_longer(struct carvalho_roucairol my, uint64_t j)
{
    set_remove(my.deferred, j);
    if (my.earlier)
        set_remove(my.earlier, j);
    for (unsigned bit = 0; my.asked_for && bit < MODE_BITS; bit++)
        set_remove(my.asked_for + bit * my.width, j);
    if (my.ranks)
        my.ranks[j] = 0;
}

static inline int rank_of(uint64_t word)
{
    return (int)(int32_t)(uint32_t)word;
}

/* Of those deferred, who are before me once I ask anew: all that I have heard of are by number. */
static inline void keep_before_me(struct carvalho_roucairol my)
{
    for (uint32_t j = 0; my.ranks && j < my.node->nodes; j++)
        if (set_has(my.earlier, j) && rank_of(my.ranks[j]) < rank_of(*my.rank) &&
            !(my.node->without & WITHOUT_RANKS_DEFERRED))
            set_remove(my.earlier, j);
}

static inline unsigned deferred_mode(struct carvalho_roucairol my, uint64_t j)
{
    unsigned mode = MODE_EXCLUSIVE;
    for (unsigned bit = 0; my.asked_for && bit < MODE_BITS; bit++)
        mode |= (unsigned)set_has(my.asked_for + bit * my.width, j) << bit;
    return mode;
}

static inline void take_all(struct carvalho_roucairol my, uint64_t j)
{
    for (unsigned mode = 0; mode < PLANES; mode++)
        set_add(permissions(my, mode), j);
}

/* A[j] := false, for the modes that conflict with what j is given. */
static inline void give_up(struct carvalho_roucairol my, uint64_t j, unsigned given)
{
    for (unsigned mode = 0; mode < PLANES; mode++)
        if (modes_conflict(mode, given))
            set_remove(permissions(my, mode), j);
}

#endif
