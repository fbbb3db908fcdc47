/* SPDX-License-Identifier: MIT */
/* A recorded run, read from JSON lines (docs/messages.md has the format). */
#ifndef AFTERYOU_AUDIT_TRACE_H
#define AFTERYOU_AUDIT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/names.h"

enum trace_event {
    RECORD_REQUEST,
    RECORD_ENTER,
    RECORD_LEAVE,
    RECORD_ABANDON, /* gave up waiting */
    RECORD_SEND,
    RECORD_RECEIVE,
    RECORD_DIED,
    RECORD_LOST, /* was told that it is a member no longer */
    RECORD_JOINED,
    RECORD_END,
    RECORD_KINDS
};

enum { TRACE_MODES = 6, TRACE_MODE_NOT_GIVEN = TRACE_MODES, TRACE_NONE = NAMES_NONE };

/* What is read of a trace has bounds: an endless file ends with a message, not with the machine's
 * memory. */
enum { TRACE_LINE_MOST = 1 << 20, TRACE_RECORDS_MOST = 1 << 26 };

/* As small as it can be: a trace has millions of them. */
struct record {
    uint64_t at;
    union {
        uint64_t fence;   /* enter, if `fenced` */
        uint64_t message; /* send, receive */
    };
    uint32_t line;    /* counted from 1 */
    uint32_t process; /* TRACE_NONE: none */
    union {
        uint32_t region; /* request, enter, leave, abandon; else TRACE_NONE */
        uint32_t copies; /* send: how many will receive it */
    };
    union {
        uint32_t slots; /* request, enter: how many may be inside at once */
        uint32_t to;    /* send: the only one who may receive it; TRACE_NONE: anybody */
    };
    union {
        /* enter: those it holds, as a number of trace->units; TRACE_NONE: it holds none */
        uint32_t units;
        uint32_t name; /* send: the message's kind, as a number of trace->kinds; TRACE_NONE: none */
    };
    uint8_t kind; /* enum trace_event */
    uint8_t mode; /* TRACE_MODE_NOT_GIVEN: the line has none */
    bool fenced;  /* it has a fence */
};

struct trace {
    struct record *records;
    size_t count, room;
    struct names processes, regions; /* with the space before them, where the trace names it */
    struct names units;              /* "0,3": the lists of units that were held */
    struct names kinds;              /* of messages */
    char protocol[64];               /* from the header; empty: none */
    bool fair;                       /* the header claims first come, first served by causality */
    /* it has sends: happened-before is by messages; else by regions handed over */
    bool messages;
    /* the last line says so: nothing was cut off; and all had come to rest */
    bool ended, rest;
};

/* 0, or a negative errno; -EBADMSG: it is no trace, and `complaint` says where and why. Close it in
 * either case. */
int trace_read(struct trace *trace, const char *path, char *complaint, size_t room);
void trace_close(struct trace *trace);

/* Whether two modes exclude each other: the matrix of afteryou.h. */
bool trace_conflict(unsigned mode, unsigned other);
/* The mode of a request. */
uint8_t trace_asked_mode(const struct record *record);
const char *record_name(unsigned kind);
const char *trace_mode_name(unsigned mode);

/* How long what all processes' names begin with is: the space before them, if it is one alone. */
size_t trace_common(const struct trace *trace);

#endif
