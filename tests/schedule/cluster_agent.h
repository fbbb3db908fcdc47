/* SPDX-License-Identifier: MIT */
/* A cluster's agent, as a script has it: it publishes permissions when they are asked for, by the
 * functions of the agent that ships; and what befalls them is planned. */
#ifndef AFTERYOU_TESTS_SCHEDULE_CLUSTER_AGENT_H
#define AFTERYOU_TESTS_SCHEDULE_CLUSTER_AGENT_H

#include "scenes.h"
#include "world.h"

enum { NAMES = 4, UNITS = 2, FIRST_UNIT = 2, FENCES = 1 << 20, STEPS_OF_A_PLAN = 8 };

extern const char *const cluster_names[NAMES];

/* What befalls a name, once it is granted. RAN_OUT: its lease, and the agent finds so later.
 * SHARED_OUT: as much is taken back as is in a reader's way. */
enum fate { NONE, LOST, RAN_OUT, TAKEN_BACK, SHARED_OUT, RESTARTED };

struct plan {
    unsigned name;
    enum fate fate;
};

/* Of all processes of a run. Whoever has the turn may touch it. */
extern struct shared {
    unsigned events; /* grants and losses so far */
    struct {
        unsigned grant;             /* which it was, of all; 0: none is there */
        unsigned since;             /* the event with which it came, */
        unsigned lost;              /* or with which it last went, at once */
        uint64_t fence;             /* the greatest of those that were inside and valid */
        unsigned room[ACTORS_MOST]; /* who is inside: for so many; 0: it is not, or has lost it */
    } name[NAMES];
    unsigned done; /* processes that want nothing more */
} * shared;

void prepare_agent(void);
void act_agent(const struct plan *plan);
/* Judged by name: with fewer than so many others, and likewise for each of them. */
void come_in(unsigned name, unsigned with);
void go_out(unsigned name);

#endif
