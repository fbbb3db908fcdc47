/* SPDX-License-Identifier: MIT */
/* The judge at work: where every process is in every region, and what must have happened before
 * what. */
#ifndef AFTERYOU_AUDIT_JUDGE_H
#define AFTERYOU_AUDIT_JUDGE_H

#include "audit/audit.h"
#include "audit/clocks.h"

enum passage_status { STATUS_OUTSIDE, STATUS_WAITING, STATUS_INSIDE };
enum life { LIFE_UP, LIFE_LOST /* was told that it is out */, LIFE_DEAD };

struct leaving {
    uint32_t process, clock;
    size_t record;
};

struct leavings {
    struct leaving *list;
    uint32_t count;
    size_t room;
};

/* One process in one region. */
struct passage {
    enum passage_status status;
    uint8_t mode;
    uint32_t slots, units; /* as in the record */
    /* one a mode, once needed: leavings that this one's own will stand for */
    struct leavings *covered;
    size_t request, enter;   /* records */
    uint32_t asked;          /* its own clock at the request */
    uint32_t *request_clock; /* the whole clock at the request, once it ever waited */
    uint32_t seat;           /* where it stands in the region's list of the busy */
};

struct region {
    uint32_t *busy; /* processes that wait or are inside */
    uint32_t busy_count;
    /* not yet known to have happened before all that could conflict with them */
    struct leavings left[TRACE_MODES];
    /* shared memory: what happened before the leavings in that mode; NULL: none */
    uint32_t *handed[TRACE_MODES];
    bool fenced[TRACE_MODES]; /* there was one; the highest, and whose it was */
    uint64_t fence[TRACE_MODES];
    size_t fence_record[TRACE_MODES];
};

struct judge {
    const struct trace *trace;
    struct audit *audit;
    struct clocks clocks;
    struct passage *passages; /* processes × regions */
    struct region *regions;
    uint8_t *lives; /* enum life */
    bool failed;
};

static inline const char *name_of(const struct judge *judge, size_t record)
{
    return judge->trace->processes.text[judge->trace->records[record].process];
}

static inline uint32_t line_of(const struct judge *judge, size_t record)
{
    return judge->trace->records[record].line;
}

static inline struct passage *passage_of(struct judge *judge, uint32_t process, uint32_t region)
{
    return &judge->passages[(size_t)process * judge->trace->regions.count + region];
}

/* Keeps the first finding of each property. */
void audit_find(struct judge *judge, enum audit_property property, size_t record, size_t other,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

/* passages.c */
void audit_request(struct judge *judge, const struct record *record, size_t index);
void audit_enter(struct judge *judge, const struct record *record, size_t index);
void audit_leave(struct judge *judge, const struct record *record, size_t index);
void audit_gone(struct judge *judge, const struct record *record);
void audit_joined(struct judge *judge, const struct record *record, size_t index);

#endif
