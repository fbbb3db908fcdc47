/* SPDX-License-Identifier: MIT */
/* A region with several names in a cluster: what its two files share. cluster_several.c has the
 * calls, several_steps.c the passages of its members. */
#ifndef AFTERYOU_MEMORY_REMOTE_SEVERAL_H
#define AFTERYOU_MEMORY_REMOTE_SEVERAL_H

#include "memory/remote/kind.h"

struct cluster_several {
    /* fixed while the region is open */
    unsigned count;
    unsigned first; /* the member that has the name of the spec */
    ay_region *member[NAMES_MOST];
    /* while it is being entered */
    struct request asked;
    bool by_ask; /* and not by a thread that waits */
    enum several_round {
        ROUND_ENTER, /* into the region of the space, and by the permission */
        ROUND_ARM,   /* the condition is false: the agents are to tell who will be inside */
        ROUND_REAL   /* it is true: the permission for more than to ask */
    } round;
    unsigned passed;            /* members that have passed in this round, and wait for the rest */
    unsigned begun;             /* a bit for each whose passage has begun */
    int error;                  /* why it gives up, if that is not the present one's reason; or 0 */
    const ay_region *cancelled; /* one of them, whose wait somebody has cancelled; NULL: none */
    /* outside of all, until somebody is about to be inside. Set when it has left them, cleared when
     * a round begins */
    bool asleep;
    /* what it rests on between two rounds, and until when */
    struct ay__waitv words[NAMES_MOST + 1];
    unsigned word_count;
    int64_t wake;
    /* Inside: a bit for each member that was told of a death of which the caller has not heard. Set
     * by who is told; cleared when the caller hears of it, or the member is left. */
    unsigned owed;
};

/* several_steps.c: as in struct remote_kind */
int ay__several_enter(ay_region *region);
void ay__several_begin(ay_region *region, bool by_ask);
ay_region *ay__several_present(ay_region *region, bool *enters);
enum members_next ay__several_pass_on(ay_region *region);
enum members_next ay__several_rested(ay_region *region);
unsigned ay__several_rest(const ay_region *region, const struct ay__waitv **words, int64_t *wake);
bool ay__several_called_off(ay_region *region);
int ay__several_end(ay_region *region, bool passed);
bool ay__several_stand(const ay_region *region); /* all of them */
/* so many of them, inside */
void ay__several_leave_first(struct cluster_several *several, unsigned count);

#endif
