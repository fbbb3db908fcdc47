/* SPDX-License-Identifier: MIT */
/* What the processes of a run share, and the parts of the scheduler with each other: turns.c
 * decides who goes on, kernel.c has the sleepers, threads.c the threads of a process, runs.c makes
 * one run after the other. */
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
    NAP_MOST_NS = 40 * 1000 * 1000,
    LAPSE_NS = DEADLINE_MS * 1000 * 1000,
    SLEPT_ON_MOST = 160,
    OPTIONS_MOST = 4 * ACTORS_MOST,
    DIRECTOR = ACTORS_MOST,
    UNDERTAKER = DIRECTOR + 1, /* and the process whose first thread is it */
    NOBODY = UNDERTAKER + PROCESSES_MOST,
    PATIENCE_S = 60,
    FINDING_ROOM = 400,
    FOUND_EXIT = 3
};

/* With too many rivals to watch, one naps, for longer each time, and may miss a death: it looks up
 * by itself then. */
#ifdef SCHEDULE_NARROW
enum { MISSES_DEATHS = true, NAP_BY_INTENT_NS = 10 * NAP_MOST_NS };
#else
enum { MISSES_DEATHS = false, NAP_BY_INTENT_NS = NAP_MOST_NS };
#endif

/* Who begins anew in a cluster pauses first, and looks at the clock whether it has. */
#ifdef SCHEDULE_CLUSTER
enum { NAPS_TAKE_TIME = true };
#else
enum { NAPS_TAKE_TIME = false };
#endif

enum actor_state { UNBORN, PARKED, READY, ASLEEP, NAPS, LINGERS, DONE, DEAD };

struct slept_on {
    uint64_t key;
    uint32_t value;
};

struct actor {
    enum actor_state state;
    unsigned process;  /* by its first actor */
    _Atomic pid_t tid; /* of a process the pid as well */
    bool keeper;
    bool started;   /* by a scene */
    bool has_mutex; /* of its process: it does not end there */
    bool ends;      /* as soon as it has the turn */
    bool inside;
    unsigned room;        /* inside: for so many */
    bool woken;           /* and not only roused because time passes */
    bool briefly;         /* asleep: for NAP_MOST_NS at most, by intent */
    bool until_deadline;  /* asleep: until one that may lapse */
    int64_t left_ns;      /* asleep: for so long at most */
    bool hurried;         /* has one, asleep or not */
    bool begins;          /* is about to reckon it: not before that is done does it lapse */
    int64_t clock_ns;     /* its own: how much time has passed for it */
    unsigned by;          /* which word */
    uint64_t slept_since; /* the kernel wakes who came first */
    unsigned count;
    struct slept_on on[SLEPT_ON_MOST];
};

/* ENDED: a thread, and not its process */
enum option_kind { GOES, KILLED, ENDED, LAPSES, ROUSED };

struct option {
    unsigned actor;
    enum option_kind kind;
};

struct decision {
    uint8_t taken, of;
    uint8_t actor; /* who decided */
    uint8_t whom;  /* was chosen */
    uint8_t kind;
    const void *at; /* where it stood */
};

/* What all processes of a run share. Whoever has the turn may touch it. */
struct world {
    _Atomic uint32_t turn; /* an actor, DIRECTOR, or UNDERTAKER and a process */
    _Atomic uint32_t over;
    const struct scene *scene;
    struct actor actor[ACTORS_MOST];
    unsigned actors; /* how many there are by now */
    bool preparing;  /* no decisions yet */
    unsigned ended;  /* for an undertaker: which thread */
    struct bounds left;
    unsigned deaths_inside, killed, told;
    unsigned naps;
    int64_t began_ns; /* on the machine's clock */
    uint64_t sleeps;
    uint64_t fence;
    uint64_t random; /* 0: decisions are the first that was not tried */
    unsigned usual;  /* how many steps runs had lately */
    unsigned pace;   /* at random: how close together decisions come (0: anywhere), */
    unsigned from;   /* from this one on */
    unsigned marked; /* or only at one in so many places (0: wherever), */
    uint64_t marks;  /* chosen by this number */
    unsigned position, length;
    char finding[FINDING_ROOM];
    struct decision decisions[STEPS_MOST];
};

extern struct world *world;
/* which actor this thread is, or DIRECTOR */
extern _Thread_local unsigned self;
extern _Thread_local bool enrolled; /* this thread's accesses are points */

/* Who is meant by a turn. */
static inline uint32_t turn_bit(unsigned turn)
{
    return UINT32_C(1) << (turn < UNDERTAKER ? turn : turn - UNDERTAKER);
}

/* turns.c */
void wait_for_turn(void);
void pass_turn(unsigned actor);
void end_run(void);
uint64_t draw(void); /* a number at random */
struct option decide(const void *place);
void give_turn(struct option option); /* by one that does not wait for it */
/* gives the turn to whoever is chosen, and returns when it is back */
void yield_turn(const void *place);
bool decide_lapse(const void *place); /* of its own deadline, now */
/* kernel.c */
void turn_wait(uint32_t value, uint32_t bits);
void turn_wake(uint32_t bits);
int64_t machine_now(void);
void sleep_on_own(const void *address); /* until wake_own() of a thread of this process */
void wake_own(const void *address);
void note_words(void);    /* before a death */
void wake_by_death(void); /* one of those who sleep on a word that the kernel has marked */
/* threads.c */
void undertake(void);            /* this process's first thread, for another of its threads */
_Noreturn void end_thread(void); /* this one, in the middle */

#endif
