/* SPDX-License-Identifier: MIT */
/* What the processes of a run share, and the parts of the scheduler with each other: turns.c
 * decides who goes on, kernel.c has the sleepers, runs.c makes one run after the other. */
#ifndef AFTERYOU_TESTS_SCHEDULE_WORLD_H
#define AFTERYOU_TESTS_SCHEDULE_WORLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "scheduler.h"

enum {
    STEPS_MOST = 20000,
    NAPS_MOST = 200,
    NAP_MOST_NS = 20 * 1000 * 1000,
    SLEPT_ON_MOST = 160,
    OPTIONS_MOST = 2 * ACTORS_MOST,
    DIRECTOR = ACTORS_MOST,
    PATIENCE_S = 60,
    FINDING_ROOM = 400,
    FOUND_EXIT = 3
};

enum actor_state { UNBORN, READY, ASLEEP, NAPS, DONE, DEAD };

struct slept_on {
    uint64_t key;
    uint32_t value;
};

struct actor {
    enum actor_state state;
    pid_t pid;
    bool inside;
    bool woken;           /* and not only roused because time passes */
    bool briefly;         /* asleep: for NAP_MOST_NS at most, by intent */
    unsigned by;          /* which word */
    uint64_t slept_since; /* the kernel wakes who came first */
    unsigned count;
    struct slept_on on[SLEPT_ON_MOST];
};

struct decision {
    uint8_t taken, of;
    uint8_t actor; /* who decided */
    bool kills;
    const void *at; /* where it stood */
};

/* What all processes of a run share. Whoever has the turn may touch it. */
struct world {
    _Atomic uint32_t turn; /* an actor, or DIRECTOR */
    _Atomic uint32_t over;
    const struct scene *scene;
    struct actor actor[ACTORS_MOST];
    unsigned preemptions, kills; /* left */
    unsigned deaths_inside, killed, told;
    unsigned naps;
    uint64_t sleeps;
    uint64_t fence;
    uint64_t random; /* 0: decisions are the first that was not tried */
    unsigned usual;  /* how many steps runs had lately */
    unsigned pace;   /* at random: how close together decisions come (0: anywhere), */
    unsigned from;   /* from this one on */
    unsigned position, length;
    char finding[FINDING_ROOM];
    struct decision decisions[STEPS_MOST];
};

extern struct world *world;
extern unsigned self;               /* which actor this process is, or DIRECTOR */
extern _Thread_local bool enrolled; /* this thread is the actor, and its accesses are points */

struct option {
    unsigned actor;
    bool kills;
};

/* turns.c */
void wait_for_turn(void);
void pass_turn(unsigned actor);
void end_run(void);
uint64_t draw(void); /* a number at random */
struct option decide(const void *place);
/* gives the turn to whoever is chosen, and returns when it is back */
void yield_turn(const void *place);
/* kernel.c */
void futex_wait(_Atomic uint32_t *word, uint32_t value);
void futex_wake(_Atomic uint32_t *word);
void wake_by_death(void); /* one of those who sleep on a word that the kernel has marked */

#endif
