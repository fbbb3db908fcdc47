/* SPDX-License-Identifier: MIT */
/* The judge at work: where every process is in every region, and what must have happened before
 * what. */
#ifndef AFTERYOU_AUDIT_JUDGE_H
#define AFTERYOU_AUDIT_JUDGE_H

#include "audit/audit.h"
#include "audit/past.h"

enum passage_status { STATUS_OUTSIDE, STATUS_WAITING, STATUS_INSIDE };
enum life { LIFE_UP, LIFE_LOST /* was told that it is out */, LIFE_DEAD };

/* One process in one region. */
struct passage {
    uint32_t process, region;
    uint32_t next; /* another one of the same process; TRACE_NONE: there is none */
    uint8_t status, mode;
    uint8_t modes;         /* a bit for each mode that it ever asks for */
    uint32_t slots, units; /* as in the record */
    size_t request, enter; /* records */
    uint32_t asked;        /* the act of its request, while it waits; else TRACE_NONE */
    uint32_t heard;        /* while it waits: the set of what had happened before its request */
    /* the act of its last leaving in each mode, for as long as who enters must have heard of it;
     * else TRACE_NONE */
    uint32_t left[TRACE_MODES];
    uint32_t seat; /* where it stands in the region's list of the busy */
};

struct region {
    uint32_t *busy; /* passages that wait or are inside */
    uint32_t busy_count;
    uint32_t left[TRACE_MODES]; /* sets: the last leavings in that mode, of each process */
    /* sets, for shared memory: what happened before the leavings in that mode */
    uint32_t handed[TRACE_MODES];
    bool fenced[TRACE_MODES]; /* there was one; the highest, and whose it was */
    uint64_t fence[TRACE_MODES];
    size_t fence_record[TRACE_MODES];
};

struct judge {
    const struct trace *trace;
    struct audit *audit;
    struct past past;
    struct passage *passages;
    size_t passages_count, passages_room;
    uint32_t *table; /* of passages, by process and region: open addressing, number + 1 */
    size_t table_room;
    uint32_t *first; /* by process: its first passage; TRACE_NONE: it has none */
    struct region *regions;
    uint32_t *busy; /* what the regions' lists are cut from */
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

/* Keeps the first finding of each property. */
void audit_find(struct judge *judge, enum audit_property property, size_t record, size_t other,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

/* stage.c: room for what is judged, made before the first record is. False: no memory. */
bool judge_open(struct judge *judge);
void judge_close(struct judge *judge);
/* The passage of the record's process in its region. */
struct passage *passage_of(const struct judge *judge, const struct record *record);

/* passages.c */
void audit_request(struct judge *judge, const struct record *record, size_t index);
void audit_enter(struct judge *judge, const struct record *record, size_t index);
void audit_leave(struct judge *judge, const struct record *record, size_t index);
void audit_gone(struct judge *judge, const struct record *record);
void audit_joined(struct judge *judge, const struct record *record, size_t index);

#endif
