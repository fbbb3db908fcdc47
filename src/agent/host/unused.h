/* SPDX-License-Identifier: MIT */
/* Names that no process of this machine has open: who looks for them, and when. */
#ifndef AFTERYOU_AGENT_HOST_UNUSED_H
#define AFTERYOU_AGENT_HOST_UNUSED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct service;

/* Hashes of names. */
struct name_set {
    uint64_t *hash; /* 0: there is none here */
    size_t count, room;
};

/* How far a look has come. But for `open`, `seen` and `spent`, which are the thread's until it has
 * looked, all is of who has the service's mutex. */
struct unused {
    enum {
        UNUSED_RESTS,    /* until `due` */
        UNUSED_SEEKS,    /* whether there is any name to be looked for: `next` */
        UNUSED_LOOKS,    /* the thread does, until `looked` */
        UNUSED_COMPARES, /* what it has seen with what the agent knows: `next` */
    } stage;
    int64_t due;          /* of the next look, by CLOCK_MONOTONIC; INT64_MAX: not before a demand */
    int64_t pause;        /* before it */
    int64_t took;         /* the last look, of a processor's time */
    struct name_set open; /* as the thread has seen, */
    struct name_set since; /* and those that were asked for since it began to look */
    bool seen;             /* the space could be: set or cleared by each look */
    int64_t spent;         /* on it, of a processor's time */
    unsigned next;         /* the entry whose turn it is, while it seeks or compares */
    bool named;            /* of those sought, one has a name */
    bool doubted;          /* one that was asked for since could not be kept */
    bool found;            /* by the present look: a name that is not open */
    pthread_t thread;      /* of `joinable` */
    bool joinable;         /* set with each look, cleared before the next */
    _Atomic bool looked;   /* cleared with each look, set by the thread as the last but to say so */
    int fd;                /* an eventfd: readable then. -1: there is none */
    _Atomic bool ended;    /* set by unused_end(), never cleared: the thread need not go on */
};

void unused_begin(struct unused *unused);
/* Readable when unused_tick() is to be called: it calls for that once. */
int unused_fd(const struct unused *unused);
/* A process has asked for a name, and has it open: it will go, some time. */
void unused_demanded(struct unused *unused, const char *name, size_t length);
/* Sees to it that somebody looks, if it is time to, and tells the agent of some; returns the
 * nanoseconds after which it wants to be called again. */
int64_t unused_tick(struct service *service);
/* Waits for a thread that looks. */
void unused_end(struct unused *unused);

#endif
