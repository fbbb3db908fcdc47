/* SPDX-License-Identifier: MIT */
/* What is asked of the graph of an exhausted search, and the runs that answer no. */
#ifndef AFTERYOU_CHECK_SEARCH_ANALYSES_H
#define AFTERYOU_CHECK_SEARCH_ANALYSES_H

#include "check/search/run.h"
#include "check/search/search.h"

/* Which part of the graph an analysis walks: the states in which `process` has one of these
 * statuses, and the moves of these kinds between them. */
struct walk {
    unsigned process;
    unsigned statuses; /* a bit for each enum status */
    unsigned kinds;    /* a bit for each enum move_kind */
    bool able;         /* only where what `process` waits for holds */
    enum { WALK_ALL, WALK_ALONE, WALK_LATE } which;
    /* WALK_ALONE: only what `process` does without a nap. WALK_LATE: of what `process` does, only
     * steps where it may not be given up, and all that others do. */
};

enum {
    WAITING = 1 << STATUS_DOORWAY | 1 << STATUS_ACTIVE | 1 << STATUS_QUEUED,
    DOORWAY_STATUSES = 1 << STATUS_DOORWAY | 1 << STATUS_ACTIVE,
    KINDS_ALIVE = 1 << MOVE_STEP | 1 << MOVE_START | 1 << MOVE_ABORT | 1 << MOVE_SYSTEM,
    KINDS_ALL = KINDS_ALIVE | 1 << MOVE_DEATH | 1 << MOVE_FAULT
};

/* The statuses of all processes in every state, and whether what they wait for fails to hold: a few
 * bits each, read off once. 0, or -ENOMEM. */
struct statuses {
    struct grown packed; /* uint32_t a state */
};
int statuses_read(struct search *search, struct statuses *statuses);

enum { STATUS_BITS = 4, STATUS_UNABLE = 1 << 3 };
_Static_assert((int)STATUS_HALTED < STATUS_UNABLE && STATUS_BITS * PROCESSES_MOST <= 32,
               "they fit");

static inline unsigned packed_status(const struct statuses *statuses, uint32_t state,
                                     unsigned process)
{
    const uint32_t *packed = (const uint32_t *)(const void *)statuses->packed.bytes;
    return packed[state] >> process * STATUS_BITS;
}
static inline enum status status_in(const struct statuses *statuses, uint32_t state,
                                    unsigned process)
{
    return (enum status)(packed_status(statuses, state, process) & (STATUS_UNABLE - 1u));
}
static inline bool able_in(const struct statuses *statuses, uint32_t state, unsigned process)
{
    return !(packed_status(statuses, state, process) & STATUS_UNABLE);
}

/* Someone can still enter, from every state in which somebody waits, with no further death, abort
 * or newcomer (with newcomers, if conditions may depend on them). 0, -ENOMEM, or 1 with the state
 * that is stuck. */
int progress_find_stuck(struct search *search, const struct statuses *statuses, bool newcomers,
                        uint32_t *stuck);

/* A process waits for ever on a cycle that is weakly fair: every process that is not idle or asleep
 * takes steps, every store buffer drains. `kinds` says what the others may do on the cycle. 0,
 * -ENOMEM, or 1 with the cycle: it ends where it starts, and has no hops at all if nobody can move
 * there. */
struct way {
    unsigned victim;
    uint32_t start;
    struct grown hops; /* struct hop each */
};
int starvation_find(struct search *search, const struct statuses *statuses, unsigned kinds,
                    struct way *cycle);
/* Likewise of one that waits with a true condition while nobody dies, gives up or begins: so nobody
 * enters on the cycle, and conditions stay as they are. */
int starvation_find_able(struct search *search, const struct statuses *statuses, struct way *cycle);

/* One more hop. False without memory. */
bool way_append(struct search *search, struct way *way, uint32_t state, size_t edge);
/* The hops from the first-th on were found backwards: turns them round. */
void way_reverse(struct way *way, size_t first);
static inline size_t way_length(const struct way *way)
{
    return way->hops.used / sizeof(struct hop);
}

/* How often each other process can enter while one waits: the exact greatest number over all runs,
 * slow or fast. */
enum { OVERTAKES_UNBOUNDED = 0xff };
struct overtaking {
    uint8_t most[PROCESSES_MOST][PROCESSES_MOST]; /* [victim][overtaker] */
    unsigned victim, overtaker;                   /* the worst pair */
    uint8_t worst;
    struct hop overtakes; /* if unbounded: the overtaking move, which lies on a cycle */
};
int overtaking_measure(struct search *search, const struct statuses *statuses,
                       unsigned victim_statuses, struct overtaking *overtaking);

/* Whether a move, made while the victim waits, overtakes it. */
bool overtaking_counts(const struct search *search, uint32_t to, unsigned victim, edge_label label);
/* The shortest way, from the first state on, on which one enters more than `most` times while
 * another waits, as was measured. 0, -ENOMEM, or 1 with the way. */
int overtaken_find(struct search *search, const struct statuses *statuses, unsigned victim_statuses,
                   const struct overtaking *overtaking, unsigned most, struct way *way);

/* Appends the shortest way from `start` to `goal` within the walk. 0 or -ENOMEM. */
int way_find(struct search *search, const struct statuses *statuses, const struct walk *walk,
             uint32_t start, uint32_t goal, struct way *way);

/* First come, first served: who was queued before a conflicting other began is inside before it. 0,
 * -ENOMEM, or 1 with the way from before the other's beginning to its entry. */
int order_find_inversion(struct search *search, const struct statuses *statuses,
                         struct way *inversion);
/* Precedence: who stood in the queue while one that it precedes, and that conflicts, was idle or
 * about to look anew is inside before it. Likewise. */
int order_find_slight(struct search *search, const struct statuses *statuses, struct way *slight);

/* Quiet: if all others stand still, a process is inside or asleep after a bounded number of its own
 * steps. 0, -ENOMEM, or 1 with the cycle on which it spins. */
int patience_find_spin(struct search *search, const struct statuses *statuses, struct way *cycle);
/* Whoever gives up is outside after a bounded number of its own steps, whatever the others do. 0,
 * -ENOMEM, or 1 with a cycle of steps on which it never looks at its deadline. */
int patience_find_heedless(struct search *search, const struct statuses *statuses,
                           struct way *cycle);

/* How many of its own steps a process needs for its doorway at most, the one that begins included.
 * 0, -ENOMEM, or 1 with a step in the doorway that lies on a cycle: there is no bound. */
struct doorway {
    unsigned steps;
    unsigned victim;
    struct hop spins;
};
int doorway_measure(struct search *search, const struct statuses *statuses,
                    struct doorway *doorway);

/* Within how many intervals a process is inside though it need not wait, each with so many events
 * of every process. 0, -ENOMEM, or 1 with a state from which it may wait for ever. The system says
 * what is permitted. */
struct admission {
    unsigned events, intervals;
    unsigned victim;
    uint32_t stuck;
};
int admission_measure(struct search *search, const struct statuses *statuses, unsigned events,
                      struct admission *admission);

/* After the last error exclusion is broken finitely often. 0, -ENOMEM, or 1 with a cycle that
 * begins where it is broken. The system says what is legitimate. */
int recovery_find_relapse(struct search *search, const struct statuses *statuses,
                          struct way *cycle);

/* Strongly connected components of a walk, each handed over once all that it leads to have been.
 * `visit` returns non-zero to end the walk; 0, that value, or -ENOMEM is returned. */
struct component {
    const uint32_t *members;
    uint32_t count;
    uint32_t number;    /* as in `of` */
    const uint32_t *of; /* the component of each state that has been handed over */
    const struct walk *walk;
};
typedef int component_visitor(struct search *search, const struct component *component,
                              void *context);
int components_visit(struct search *search, const struct statuses *statuses,
                     const struct walk *walk, component_visitor *visit, void *context);

/* Whether there is a weakly fair cycle through all states of the component. */
bool starvation_is_fair(const struct search *search, const struct component *component);
/* A round trip from `home` through such a component that pays everything owed. 1, or -ENOMEM. */
int starvation_draw(struct search *search, const struct component *component, uint32_t home,
                    struct way *cycle);

static inline bool walk_has_state(const struct walk *walk, const struct statuses *statuses,
                                  uint32_t state)
{
    return walk->statuses >> status_in(statuses, state, walk->process) & 1 &&
           (!walk->able || able_in(statuses, state, walk->process));
}

static inline bool walk_has_kind(const struct walk *walk, edge_label label)
{
    if (!(walk->kinds >> label_kind(label) & 1))
        return false;
    if (walk->which == WALK_ALL)
        return true;
    if (label_process(label) != walk->process)
        return walk->which == WALK_LATE;
    if (label_kind(label) == MOVE_SYSTEM)
        return true;
    return label_kind(label) == MOVE_STEP &&
           label_waits(label) < (walk->which == WALK_ALONE ? WAITS_NAPS : WAITS_HEEDS);
}

#endif
