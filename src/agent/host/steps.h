/* SPDX-License-Identifier: MIT */
/* One event after the other, with the time; and the one place that carries out what the agent
 * decides. */
#ifndef AFTERYOU_AGENT_HOST_STEPS_H
#define AFTERYOU_AGENT_HOST_STEPS_H

#include <pthread.h>
#include <stdatomic.h>

#include "agent/core/agent.h"
#include "agent/host/directory.h"
#include "agent/host/journal.h"
#include "agent/host/pages.h"
#include "agent/host/service.h"
#include "agent/host/unused.h"

struct service {
    const struct service_options *options;
    struct agent agent;
    void *memory; /* the agent's */
    struct agent_effects effects;
    struct directory directory;
    struct pages pages;
    struct local *local;
    struct transport *transport;
    struct links *links; /* NULL: there are none, by its options */
    struct control *control;
    struct view_file view_file;
    struct unused unused;
    int64_t due; /* of the next ON_TICK: set by DO_WAKE; 0: at the end of this turn */
    int socket, signals;
    /* Who does anything with all this has it: the loop, but while it waits; and who is told that a
     * region is decided. */
    pthread_mutex_t mutex;
    /* Something may be decided: set by who finds that, cleared by who sees to it. Who gives the
     * mutex back looks at it afterwards. */
    _Atomic bool decided;
    bool hearing;  /* what has been taken back is being handed over, one by one */
    int64_t until; /* the loop waits so long at most */
    int timer;     /* wakes the loop sooner, if another thread has found reason to */
    bool over;     /* set when the loop has ended, never cleared: others do nothing any more */
    bool ending;   /* set by a signal or DO_STOP, never cleared */
    int exit_code; /* not 0: set by DO_STOP */
};

/* What happens at this moment: the time is filled in. */
void service_step(struct service *service, struct agent_event event);
void service_say(struct service *service, enum log_level level, const char *event,
                 const char *details);

#endif
