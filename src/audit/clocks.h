/* SPDX-License-Identifier: MIT */
/* Happened-before: a vector clock for each process, and for each message on its way (Mattern;
 * Fidge).
 *
 * Only what a passage does is ever asked about. So a clock counts the events of those processes
 * that make one in this trace, and of nobody else: a column for each. */
#ifndef AFTERYOU_AUDIT_CLOCKS_H
#define AFTERYOU_AUDIT_CLOCKS_H

#include "audit/trace.h"

struct letter {
    uint64_t number;  /* the message's, plus one; 0: an empty slot */
    uint32_t *clock;  /* the sender's at the send; NULL: all copies received */
    uint32_t to_come; /* copies not yet received */
    uint32_t to;      /* the only one who may receive it; TRACE_NONE: anybody */
    size_t send;      /* the record */
};

struct clocks {
    uint32_t *column;       /* by process; TRACE_NONE: it makes no passage */
    uint32_t columns;       /* words of a clock: 1 at least */
    uint32_t *rows;         /* processes × columns */
    uint32_t *spare;        /* freed letters' clocks, chained through their first words */
    struct letter *letters; /* open addressing */
    size_t letters_room, letters_count;
    uint32_t **blocks; /* what letters' clocks are cut from */
    size_t blocks_count, block_left;
};

bool clocks_open(struct clocks *clocks, const struct trace *trace);
void clocks_close(struct clocks *clocks);

uint32_t *clocks_of(const struct clocks *clocks, uint32_t process);
/* What a clock says of a process that makes a passage. */
uint32_t clocks_count(const struct clocks *clocks, const uint32_t *clock, uint32_t process);
void clocks_tick(struct clocks *clocks, uint32_t process);
/* All but its own count. */
void clocks_forget(struct clocks *clocks, uint32_t process);
/* to := the greater of the two, word by word */
void clocks_merge(const struct clocks *clocks, uint32_t *to, const uint32_t *from);

/* NULL: not sent (yet). */
struct letter *clocks_letter(struct clocks *clocks, uint64_t number);
/* False: no memory. */
bool clocks_send(struct clocks *clocks, const struct record *record, size_t index);
void clocks_receive(struct clocks *clocks, uint32_t process, struct letter *letter);

#endif
