/* SPDX-License-Identifier: MIT */
/* One state of the link's model, and what may be done in it. */
#ifndef AFTERYOU_CHECK_MESSAGES_LINK_STATE_H
#define AFTERYOU_CHECK_MESSAGES_LINK_STATE_H

#include "check/messages/link_model.h"

enum { ENDS = 2, SLOTS = 2, ROOM = 4, LEDGER_ROOM = 6, NONE = SLOTS, PART = 16 };

/* Bytes only: what the search keeps. A packet is its number and how many were taken, four bits
 * each; a list of them, oldest first, is indexed by the end that sends. */
struct end_bytes {
    uint8_t said, acknowledged, taken, sent[LINK_WAYS], detour, up, owes[LINK_WAYS];
    uint8_t present; /* the connection on which it sends; NONE */
    uint8_t says_left;
    uint8_t got; /* messages that its application has */
    uint8_t spare[4];
};

struct connection_bytes {
    uint8_t made, accepted; /* set by the dialling and the accepting end */
    uint8_t open[ENDS];     /* the end reads and writes it */
    uint8_t count[ENDS];    /* packets on their way */
    uint8_t packet[ENDS][ROOM];
    uint8_t spare[2];
};

struct link_bytes {
    struct end_bytes end[ENDS];
    struct connection_bytes connection[SLOTS];
    struct {
        uint8_t count[ENDS], packet[ENDS][LEDGER_ROOM], connections_left, spare;
    } ledger;
};
_Static_assert(sizeof(struct end_bytes) == PART && sizeof(struct connection_bytes) == PART &&
                   sizeof(struct link_bytes) == 5 * PART,
               "parts of one size, without holes");

/* What a move does: of the end that makes it, and of a connection where it says so. */
enum doing_kind {
    DOES_SAY,
    DOES_DOUBT,
    DOES_RECEIVE_BY_LEDGER,
    DOES_DIAL, /* this and what follows: of a connection */
    DOES_ACCEPT,
    DOES_CLOSE,
    DOES_SEND,
    DOES_RECEIVE,
    DOES_KINDS
};

struct link_doing {
    const struct link_model *model;
    struct link_bytes *state;
    unsigned self, slot;
    const char *complaint;
    bool full;
    char *line; /* NULL: nobody listens */
    size_t room;
};

/* All that an end said has been taken, and it knows. */
static inline bool is_done(const struct link_bytes *state, unsigned end)
{
    return state->end[end].acknowledged >= state->end[end].said &&
           state->end[1 - end].got >= state->end[end].said;
}

/* Whether the end may do it, on the connection where it is of one. */
bool link_may_do(const struct link_model *model, const struct link_bytes *state, unsigned self,
                 unsigned slot, enum doing_kind kind);
void link_make(struct link_doing *doing, enum doing_kind kind);
/* The move that does it. */
struct move link_move(unsigned self, unsigned slot, enum doing_kind kind);

#endif
