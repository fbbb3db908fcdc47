/* SPDX-License-Identifier: MIT */
/* What the search explores: a system of processes whose states are flat bytes, and the moves
 * between them.
 *
 * The search knows nothing of registers or messages. It asks a system for its first state and for
 * the successors of a state, and judges what it finds by the status of each process.
 */
#ifndef AFTERYOU_CHECK_SEARCH_SYSTEM_H
#define AFTERYOU_CHECK_SEARCH_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROCESSES_MOST = 8, SUCCESSORS_MOST = 512, STATE_SIZE_MOST = 2048, GOAL_NAME = 64 };

/* Where a process is in its passage. */
enum status {
    STATUS_IDLE,        /* outside: never began, left, or died */
    STATUS_DOORWAY,     /* has begun; nothing of it is public yet */
    STATUS_ACTIVE,      /* its public variable shows it; not yet in the queue */
    STATUS_QUEUED,      /* past the doorway, and not inside */
    STATUS_INSIDE,      /* in the critical section */
    STATUS_LEAVING,     /* in the epilogue */
    STATUS_MALFUNCTION, /* failed, and its words read as anything */
    STATUS_HALTED       /* stopped for ever, undetectably */
};

enum move_kind {
    /* the process goes on; it must, if it is not idle: this is the fairness that is assumed */
    MOVE_STEP,
    MOVE_START, /* an idle process begins a passage; it need not */
    MOVE_ABORT, /* a waiting process gives up (timeout, cancel, try) */
    MOVE_DEATH, /* a process dies */
    /* the surroundings move (a store buffer drains, a message arrives, a malfunction ends); they
     * must in the end */
    MOVE_SYSTEM,
    MOVE_FAULT /* a process stops for ever, undetectably */
};

/* Where a process stands before its step. */
enum waits {
    WAITS_NOT,
    WAITS_HEEDS, /* it looks at its deadline there, and may be given up */
    WAITS_NAPS   /* likewise, and it sleeps: until something changes, or for a time */
};

struct move {
    uint8_t process;
    uint8_t kind;
    uint8_t enters : 1; /* with this move the process is inside */
    uint8_t waits : 2;  /* enum waits: what it might have done instead, where it stood */
    uint8_t choice;     /* which outcome, where one access has several */
};

struct successors {
    unsigned count;
    size_t size; /* bytes of a state */
    struct move move[SUCCESSORS_MOST];
    /* the move leads back to where it began: a look that finds it must wait */
    bool stays[SUCCESSORS_MOST];
    /* a safety property that the move itself broke, or NULL */
    const char *complaint[SUCCESSORS_MOST];
    unsigned char *states;
    /* The search must say so, for what lies beyond is not seen: a number grew beyond its field;
     * what is on its way (stores in a buffer, messages) has no more room. */
    bool overflow, full;
};

struct system {
    const char *name;
    size_t size; /* bytes of a state: a whole number of parts, STATE_SIZE_MOST at most */
    /* a multiple of 8; the store keeps each distinct part once, so cut where processes end */
    size_t part_size;
    unsigned processes;
    bool all_conflict; /* every two passages conflict: no need to ask */
    void *context;
    /* Set of a system that can do all that this one can, and perhaps more, in fewer states: what it
     * breaks is looked for in this one. NULL: it is the system itself. */
    const struct system *exact;
    /* What must be seen to happen somewhere, a bit each: without that, whatever else holds says
     * nothing. 0: nothing is asked. */
    uint64_t goals;

    void (*begin)(const struct system *system, unsigned char *state);
    /* Fills `out`; states it adds are complete. Several threads may ask at once. */
    void (*successors)(const struct system *system, const unsigned char *state,
                       struct successors *out);
    /* NULL, or the safety property that this state breaks. */
    const char *(*judge)(const struct system *system, const unsigned char *state);
    enum status (*status)(const struct system *system, const unsigned char *state,
                          unsigned process);
    /* Whether what a process waits for holds, its turn aside. NULL: nobody waits for more. */
    bool (*able)(const struct system *system, const unsigned char *state, unsigned process);
    /* By precedence: whether i's passage should go before j's, whoever came first; and whether a
     * process stands where it looks at everybody anew before it enters. NULL: all are alike. */
    bool (*precedes)(const struct system *system, const unsigned char *state, unsigned i,
                     unsigned j);
    bool (*rests)(const struct system *system, const unsigned char *state, unsigned process);
    /* Whether the passages that two processes are making conflict. */
    bool (*conflict)(const struct system *system, const unsigned char *state, unsigned i,
                     unsigned j);
    /* The goals that this state shows to be reached; and one of them, in words. */
    uint64_t (*reaches)(const struct system *system, const unsigned char *state);
    /* GOAL_NAME letters suffice */
    void (*name_goal)(const struct system *system, unsigned goal, char *text, size_t room);
    /* Whether nothing stands in the way of a process that waits in the queue. NULL: not known. */
    bool (*permitted)(const struct system *system, const unsigned char *state, unsigned process);
    /* Whether exclusion holds, where errors may break it for a while. NULL: there are none. */
    bool (*legitimate)(const struct system *system, const unsigned char *state);
    /* Makes the move in `state` without the search's reductions, and says in words what was done.
     */
    void (*narrate)(const struct system *system, unsigned char *state, struct move move, char *line,
                    size_t room);
};

/* The room for one more successor; the caller fills it. */
static inline unsigned char *successors_add(struct successors *out, struct move move)
{
    if (out->count == SUCCESSORS_MOST)
        /* a system with more outcomes than the search has room for is an error in the system */
        __builtin_trap();
    out->move[out->count] = move;
    out->stays[out->count] = false;
    out->complaint[out->count] = NULL;
    return out->states + out->size * out->count++;
}

#endif
