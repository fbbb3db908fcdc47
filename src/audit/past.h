/* SPDX-License-Identifier: MIT */
/* Happened-before: what each process has heard of, and each message on its way.
 *
 * It is asked of two kinds of act alone: has a request, or a leaving, happened before this? So each
 * of these has a number for as long as it is asked about, and everybody has a set of those that
 * happened before what it does next. Most sets are nearly alike, and are shared (sets.h). */
#ifndef AFTERYOU_AUDIT_PAST_H
#define AFTERYOU_AUDIT_PAST_H

#include "audit/sets.h"
#include "audit/trace.h"

struct act {
    uint32_t process, record;
    bool asked; /* somebody may still ask; set when it is done, cleared when it is settled */
};

struct letter {
    uint32_t send;    /* the record, plus one; 0: an empty slot */
    uint32_t to_come; /* copies not yet received */
    uint32_t heard;   /* the sender's set at the send, while copies are to come */
};

struct past {
    const struct trace *trace;
    struct sets sets; /* of acts */
    uint32_t *heard;  /* by process: a set */
    struct act *acts; /* by number */
    uint32_t acts_room;
    uint32_t *spare; /* numbers that are in no set */
    uint32_t spare_count;
    struct letter *letters; /* open addressing, by the number of the message */
    size_t letters_room, letters_count;
};

/* `most`: so many acts are asked about at once. False: no memory. */
bool past_open(struct past *past, const struct trace *trace, uint32_t most);
void past_close(struct past *past);

/* The process requests or leaves; gives the number of it. */
uint32_t past_act(struct past *past, uint32_t process, size_t record);
/* Nobody will ask about it any more. TRACE_NONE: nothing to do. */
void past_settle(struct past *past, uint32_t act);
bool past_heard(const struct past *past, uint32_t process, uint32_t act);
/* The process hears of all that is in a set. */
void past_hear(struct past *past, uint32_t process, uint32_t set);
void past_forget(struct past *past, uint32_t process);
/* What it did itself, after it forgot. TRACE_NONE: nothing to do. */
void past_recall(struct past *past, uint32_t act);

/* NULL: not sent (yet). */
struct letter *past_letter(struct past *past, uint64_t number);
/* False: no memory. */
bool past_send(struct past *past, const struct record *record, size_t index);
void past_receive(struct past *past, uint32_t process, struct letter *letter);

#endif
