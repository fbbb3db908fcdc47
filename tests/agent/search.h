/* SPDX-License-Identifier: MIT */
/* A state of the search over a small cluster (search.c): the world, and what may still happen. */
#ifndef AFTERYOU_TESTS_AGENT_SEARCH_H
#define AFTERYOU_TESTS_AGENT_SEARCH_H

#include "world.h"

enum { MACHINES_HERE = 2, RANGES_MOST = 512, GAPS = 1 << 12 };

/* What may still happen: each has a word of the command line. */
struct bounds {
    unsigned long depth;    /* moves in all */
    unsigned long entries;  /* of each machine's local processes */
    unsigned long deaths;   /* of these, inside */
    unsigned long closes;   /* that nobody on a machine has the name open any more */
    unsigned long kills;    /* of agents */
    unsigned long breaks;   /* of connections */
    unsigned long times;    /* that time goes on to what is due */
    unsigned long pauses;   /* that nothing happens for a lease, or for a grace */
    unsigned long modes;    /* 1: shared besides exclusive */
    unsigned long protocol; /* which */
    unsigned long without;  /* bits: 1 << enum agent_rule */
    unsigned long hasty;    /* 1: who was told of a death leaves before its agent has heard so */
    unsigned long scene;    /* 1: at first machine 0 is inside, and machine 1 waits */
    unsigned long refuted;  /* 1: something must be found */
    /* at first so many machines have one who sleeps until others have passed: on machine 0 until
     * as many have as `entries`, on machine 1 until one more has */
    unsigned long asleep;
    unsigned long halves; /* world.halves */
};

struct searched {
    struct bounds left;
    unsigned long wants_left[MACHINES_HERE];
    size_t steps; /* moves that led here */
    struct world world;
};

/* What may happen next. */
enum { MOVES_MOST = 64 };

struct moves {
    struct move {
        uint8_t kind, machine, at;
    } move[MOVES_MOST];
    size_t count;
};

/* search_moves.c */
void list_moves(struct searched *state, struct moves *moves);
void make_move(struct searched *state, struct move move);
const char *move_words(struct move move);
/* Nothing is left that happens by itself while time stands still. */
bool is_settled(const struct moves *moves);

/* Whether what lies between the fields of a struct can be left out of the key: else it tells states
 * apart that are the same. */
extern const bool state_key_is_exact;
/* 128 bits made of all that can matter to its future. */
void state_key(const struct searched *state, uint64_t key[2]);

/* Before a move: else the key would tell what is of no meaning. */
void clear_gaps(struct searched *state);

/* All memory that matters, and what was in it. */
struct snapshot {
    struct range {
        void *memory;
        size_t length;
    } range[RANGES_MOST];
    unsigned ranges;
    uint8_t *bytes;
    size_t used, room;
};

void snapshot_take(struct snapshot *snapshot, struct searched *state);
void snapshot_put_back(const struct snapshot *snapshot);

#endif
