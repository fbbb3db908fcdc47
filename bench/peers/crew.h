/* SPDX-License-Identifier: MIT */
/* A crew: the members of one run, as processes or as threads of one process, started together and
 * stopped together. */
#ifndef BENCH_PEERS_CREW_H
#define BENCH_PEERS_CREW_H

#include <sys/types.h>

#include "cases.h"
#include "loops.h"

/* What one member found; written by itself alone. */
struct finding {
    _Alignas(APART) uint64_t passages;
    int64_t cpu_ns;
    double value; /* ns, of whatever the case measures */
};

struct crew {
    struct meeting meeting;
    struct work work;
    _Alignas(APART) _Atomic unsigned ready;
    _Atomic int failed; /* a negative errno: meeting.message says why */
    _Atomic int64_t entered_ns;
    struct finding findings[MEMBERS_MOST];
    /* the rest is the bench's own */
    const struct peer *peer;
    const struct bench_case *of;
    pid_t pids[MEMBERS_MOST];
    unsigned processes;
};

/* What a member does once it has joined. */
typedef void member_body(struct crew *crew, struct member *member);

/* Makes a meeting of that peer for that case. NULL: `message` (MESSAGE_ROOM bytes) says why. */
struct crew *crew_make(const struct peer *peer, const struct bench_case *of, char *message);
/* Starts one more member, as a process: 0 or a negative errno. */
int crew_fork(struct crew *crew, member_body *body);
/* Starts so many, as processes or threads, whatever the peer has. */
int crew_start(struct crew *crew, unsigned members, member_body *body);
/* Waits until so many are ready: 0, or a negative errno. */
int crew_await_ready(struct crew *crew, unsigned members);
/* Waits until all have ended, for a while; ends those that have not: -ETIMEDOUT. */
int crew_await_end(struct crew *crew);
/* Ends whoever is left, and unmakes the meeting; copies its message. */
void crew_end(struct crew *crew, char *message);

/* In a member: joins as number `self`; if it fails, says so and ends the process. */
void crew_join(struct crew *crew, struct member *member, unsigned self);
/* The loops by which this member goes. */
const struct loops *crew_loops(const struct crew *crew, const struct member *member);

/* Files on tmpfs, in a directory that is made at the first call, and removed with them when the
 * bench ends, be it by a signal. */
enum crew_file { FILE_PEER, FILE_LOCK, FILE_SPACE };
/* writes PATH_ROOM bytes at most; returns `path` */
const char *crew_file(enum crew_file which, char *path);
void crew_prepare(void); /* before anything else */

#endif
