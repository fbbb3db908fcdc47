/* SPDX-License-Identifier: MIT */
/* Every order in which a few real processes can make their accesses to shared memory, and every
 * moment at which one of them can be killed: within a number of preemptions and kills.
 *
 * The library is the one that ships, compiled so that access_point() calls the scheduler. One actor
 * runs at a time; at each of its points it is decided who goes on. The kernel's part is real (a
 * killed process is killed, and the kernel marks what it leaves), but for sleeping: who sleeps on a
 * futex waits here until somebody wakes that word. Time does not pass by itself. So a wake-up that
 * is lost leaves all asleep, and is found, though the library would look up by itself after a
 * while. That a deadline passes (a lapse), and that one wakes up for no reason, are decisions too.
 *
 * A run is a list of decisions. The next run repeats them up to the last one that has another way,
 * and takes that: stateless search, as in VeriSoft (Godefroid 1997), within few preemptions, as in
 * CHESS (Musuvathi & Qadeer 2007).
 */
#ifndef AFTERYOU_TESTS_SCHEDULE_SCHEDULER_H
#define AFTERYOU_TESTS_SCHEDULE_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

/* An actor is a thread: the first of a process, its keeper, or one that it starts. */
enum { PROCESSES_MOST = 4, ACTORS_MOST = 12 };

/* Of what there may be how much in a run. */
struct bounds {
    unsigned preemptions;
    unsigned kills;  /* of processes, and of threads that were started */
    unsigned lapses; /* deadlines that pass before they have to */
    unsigned rouses; /* sleeps that end for no reason, and naps that end early */
};

struct scene {
    const char *name;
    unsigned actors;                 /* processes */
    const char *space;               /* its file; removed before each run */
    void (*prepare)(unsigned actor); /* one after the other, before decisions begin */
    void (*act)(unsigned actor);
    /* in a process of its own, when all is over; deaths: of how many that were inside */
    void (*audit)(unsigned deaths, unsigned kills);
    bool immortal; /* nobody is killed, whatever is asked for */
    bool no_hints; /* what one sends to another is refused */
    bool threads;  /* keepers act as well, and threads that are started */
    bool hurried;  /* some have deadlines */
    bool in_vain;  /* one of which has to lapse */
    struct bounds bounds;
    const char *within; /* only points in these files count, by their names; NULL: all */
};

struct tally {
    uint64_t runs, steps;
    bool exhausted;
};

/* Runs it until all is tried, or something is found (false; it has been told on stderr), or so many
 * runs are made. */
bool scene_explore(const struct scene *scene, uint64_t runs_most, struct tally *tally);
/* Runs it with decisions drawn at random. */
bool scene_sample(const struct scene *scene, uint64_t runs, uint64_t seed, struct tally *tally);

/* In an actor: */
/* What is left of a deadline may lapse while it is set: DEADLINE_MS is to be asked for. */
enum { DEADLINE_MS = 100 };
void say_hurried(bool hurried);
void point(void);            /* others may run here, which is no preemption */
void linger(void);           /* until the other processes are done */
void await_readable(int fd); /* an eventfd, which a thread of this process writes to */
/* With fewer than so many others, whom it may be inside with; and likewise for each of them. */
void say_inside(unsigned room);
void say_outside(void);
void say_fence(uint64_t fence); /* of this passage: greater than all before */
void say_told(void);            /* of a death */
_Noreturn void found(const char *format, ...) __attribute__((format(printf, 1, 2)));
unsigned told_so_far(void);
/* Another actor, of this process. It counts as killed if it ends inside, or in the middle. */
void start_thread(void *(*run)(void *), void *argument);
void await_threads(void); /* until all that it started have ended */

#endif
