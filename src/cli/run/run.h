/* SPDX-License-Identifier: MIT */
/* `afteryou run`: what its parts share.
 *
 *   shell ── wrapper ── guardian ── deputy ── command ── whatever it starts
 *
 * The wrapper is what the shell sees: it passes signals on, and ends as the command ends. The
 * guardian waits in the queue and holds the region; the deputy, which is there once that is next,
 * and begins once it is inside, holds it too (ay_share). Both are subreapers: what the command
 * leaves behind becomes the deputy's, or if that is gone the guardian's, so the region stays held
 * until the last of it is gone.
 *   R1  The wrapper dies: the guardian kills all below it, waits until it is gone, and only then
 *       lets the next one in.
 *   R2  The guardian dies, of whatever: the deputy does the same. The wrapper waits for it.
 *   R3  The deputy dies: the kernel kills the command (PDEATHSIG), the guardian the rest.
 *   R4  The command dies by a signal: the guardian ends without leaving, so the next one in is told
 *       of a death inside.
 *   R5  A cluster's region is lost: the command is ended, first gently, and `run` has a code of its
 *       own.
 *   R6  A guard (guardian, deputy, tester of --when) that an outer run's guard finds among what it
 *       has to end is not killed but told: it ends what it guards, and then itself. So no region is
 *       free before what it protects is gone.
 */
#ifndef AFTERYOU_CLI_RUN_RUN_H
#define AFTERYOU_CLI_RUN_RUN_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>
#include <sys/types.h>

#include "afteryou.h"
#include "cli/options.h"

enum {
    EXIT_REFUSED = 1,
    EXIT_LOST = 123,
    EXIT_FAILED = 125,
    EXIT_NOT_RUN = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128
};

/* The bell: look at what has changed. Rung by the guards, and by the kernel at a parent's death. */
#define SIGNAL_BELL SIGRTMAX
enum { SIGNALS = 65 };

enum command_state { COMMAND_RUNS, COMMAND_STOPPED, COMMAND_ENDED };

/* A page that wrapper, guardian and deputy share. A change is followed by the bell, or by an end.
 */
struct between {
    /* written by the wrapper */
    pid_t wrapper;      /* before there is a guardian */
    _Atomic bool heard; /* that the guardian stays; so its own end is no death */
    /* written by the guardian, and only ever set or raised */
    _Atomic bool inside;
    uint64_t fence; /* of the passage; written before `go`, as is the next */
    bool after_death;
    _Atomic uint32_t go; /* 1: the command is to be started; the child that waits sleeps on it */
    _Atomic bool stays;  /* the command has ended, with `code`, and others go on */
    _Atomic int code;
    _Atomic bool lost; /* R5: the command is to be ended, gently */
    _Atomic bool end;  /* R1, R3, R5: all is to be killed */
    /* signals for the command that its group may have got too */
    _Atomic uint32_t passed_on[SIGNALS];
    _Atomic uint32_t sent_to_guardian[SIGNALS]; /* others for the command, or for what it left */
    /* written by the deputy */
    _Atomic int error;      /* why the command could not be run: an errno */
    _Atomic uint32_t stops; /* how often the command was seen stopped; written before `state` */
    _Atomic int state;      /* enum command_state */
    _Atomic int status;     /* of the command, as waitpid has it, once it has ended */
    _Atomic int left;       /* how many others there were then */
    _Atomic bool done;      /* nothing is left, and the deputy ends; written last */
};

struct run_words {
    const char *space;
    const char *cluster; /* NULL: of one machine */
    ay_options options;
    ay_spec spec;
    const char *also[AY_ALSO_MOST + 1];
    int timeout_ms; /* negative: for ever; 0: not at all */
    double seconds; /* as it was said */
    int refused;    /* the exit code when not obtained */
    const char *when;
    int lock;           /* the file of `afteryou flock`, locked too once inside; -1: none */
    int lock_operation; /* LOCK_EX or LOCK_SH */
    bool close;         /* hold for the command alone */
    bool quiet;         /* no word when not obtained */
    bool verbose;
    char **command; /* NULL-ended */
};

/* The subcommand, as `say` wants it: the guards work for both. */
static inline const char *run_called(const struct run_words *asked)
{
    return asked->lock >= 0 ? "flock" : "run";
}

/* How the program was started, which is how its command is to start. */
struct inheritance {
    sigset_t mask;
    struct sigaction child; /* of SIGCHLD */
    pid_t group;            /* 0: of another PID namespace; who has left it cannot come back */
};

/* run_words.c. 0; negative: done, with success (--help); or an exit code, after one line on stderr.
 */
int run_words_parse(int count, char **words, struct run_words *asked);

/* Options that flock has, too: of --wait, as option_taker answers. */
int run_take_wait(const struct option_word *word, struct run_words *asked);
#define RUN_SECONDS "seconds from 0 to 2147483, as in 2.5"
enum { RUN_SECONDS_MOST = 2147483 };
void run_use_shell(char *line, struct run_words *asked);

/* run.c: runs it all; the exit code. */
int run_command(const struct run_words *asked);

/* run_lock.c: the lock of asked->lock, in what is left of the time: 0, or the exit code, after a
 * word about it. */
int lock_obtain(const struct run_words *asked, int64_t asked_ns);

/* run_guardian.c: the whole life of the guardian. All signals are blocked. */
noreturn void guardian(const struct run_words *asked, const struct inheritance *inherited,
                       struct between *between);

/* run_environment.c: what the command is told by its environment. 0, or -1 with errno. Of the run,
 * before there is a deputy; of the passage, by the deputy, which makes room for it before. */
int environment_of_run(const struct run_words *asked, const ay_region *region);
int environment_prepare(void);
void environment_of_passage(const struct between *between);

/* run_deputy.c: the deputy's pid, or a negative errno. It begins with deputy_go(). `share`, which
 * ay_share() gave, is closed. */
pid_t deputy_start(const struct run_words *asked, const struct inheritance *inherited,
                   struct between *between, int share);
/* Its turn has come: 0, or -1 with errno if the job is gone. Whoever is inside rings for it, too,
 * when it has nothing better to do. */
int deputy_go(pid_t deputy, const struct inheritance *inherited, struct between *between);
/* One whose turn never comes, if there is one: nothing of ours outlives the guardian. */
void deputy_dismiss(pid_t deputy, const struct between *between);
/* Whoever waits for the end of a pipe waits for the command, not for a guard. */
void let_go_of_files(void);

/* run_signals.c: blocks all signals, after remembering how they were. */
void signals_take(struct inheritance *inherited);
/* Who sends to a group keeps others from changing one: after this change, of no process, all of the
 * group have got what one of them got. */
void signals_await_group(void);
/* A group of its own: what the terminal, or somebody with kill -9 -GROUP, sends to the job does not
 * reach the guardian. Who leads a group cannot begin a session, as it is to once it is inside: so
 * its leader is a child that has ended. 0, or -1 with errno. */
int signals_leave_group(void);
/* Sent by this process to itself: as it is with SIGPIPE and SIGXFSZ. */
bool signal_is_own(const siginfo_t *info);
/* For a guard: the wrapper, its parent, was stopped with the command if that was stopped, as last
 * heard. It is to go on, and to tell how the command has ended. */
void wrapper_goes_on(const struct between *between, enum command_state state);
/* As sigwaitinfo(), until `deadline_ns` (text_now) at most: then 0. INT64_MAX: for ever. */
int signal_next(const sigset_t *set, siginfo_t *info, int64_t deadline_ns);

/* run_child.c: a child in the wrapper's process group that dies with the calling thread. It looks
 * at this until it is executed, so this must stay where it is. */
struct child {
    /* set by the parent, before it is started */
    char *const *words;
    const struct inheritance *inherited;
    const struct between *between; /* NULL: it is told of no passage */
    bool quiet;                    /* its stdin is /dev/null */
    /* set by child_make() and child_go() */
    pid_t parent;
    int status;                     /* the parent's, to read; -1: it waits for child_go() */
    _Atomic uint32_t parent_looked; /* at its signals: child_go() */
    /* the signals that waited for the parent when the child was in the group; set by who looked */
    sigset_t parent_got;
    _Atomic uint32_t looked; /* 1: the parent waits for it; 2: the child has, after the parent */
    /* set by the child */
    sigset_t got;
    int error; /* why it could not be executed: an errno; read once it has ended */
};
/* Its pid, or a negative errno. All signals are blocked. It waits: for `go`, if that is to come and
 * it can see for itself what the parent has got, or for child_go(). */
pid_t child_make(struct child *child);
/* For one that waits for it. The parent is in the wrapper's process group, if it is ever to be. */
void child_go(struct child *child, pid_t pid);
/* Whether child_missed() can be asked. If not, the bell is rung when it can. Until then the parent
 * fetches nothing but the bell and SIGCHLD. */
bool child_has_looked(struct child *child);
/* Whether that signal waits for the parent, and the child did not get it, for it was not there
 * yet. */
bool child_missed(struct child *child, int number);
/* 128 + n if a signal ended it. */
int child_code(int status);

/* run_tree.c: from now on this process is a guard: the parent of all that is orphaned below it,
 * with the bell for its parent's death. 0, or a negative errno. Signals are blocked. */
int guard_begin(pid_t parent);
/* 0 if it is not known. */
pid_t process_parent(pid_t pid);
/* To all children of this process. How many. */
int tree_signal(int signal);
/* Kills until no child is left, and adopts what they leave. Guards are told (R6). */
void tree_end(void);
/* No child is left. */
bool tree_is_gone(void);
/* Tells those children that are guards, waits until they have ended, and leaves the others alone.
 */
void tree_end_guards(void);
/* Whether this process has children. */
bool tree_is_there(void);

/* run_lost.c: from now on the loss of the region rings the bell. 0, or a negative errno. */
int lost_watch(ay_region *region);

/* run_holders.c: words about who is inside, or else who waits, of the resources asked for. */
void holders_describe(const struct run_words *asked, char *text, size_t room);

bool holders_is_asked_for(const struct run_words *asked, const char *name);

/* run_nested.c: the runs that this one is part of, and that hold until it has ended. */
struct nested {
    /* of the nearest that is inside in the same space (ay_place.thread); 0: none */
    uint64_t thread;
    pid_t holder;      /* of one that is in our way; 0: none */
    char command[256]; /* its command */
};
void nested_find(const struct run_words *asked, struct nested *found);
/* To the runs within: this process is their guardian. 0, or -1. */
int nested_announce(void);

/* run_queue.c: shows, on a terminal, how the queue moves, until it is told to stop. */
struct queue_display;
struct queue_display *queue_display_start(const struct run_words *asked, pid_t group);
void queue_display_stop(struct queue_display *display);

/* run_condition.c: --when. */
struct condition;
struct condition *condition_start(const struct run_words *asked, ay_space *space,
                                  const struct inheritance *inherited);
/* For ay_enter_when(); the argument is the condition. */
bool condition_holds(void *condition);
void condition_stop(struct condition *condition); /* ends the watching */
/* Whether the last test inside was ended before it had answered, for the time was over. */
bool condition_was_cut_off(const struct condition *condition);
/* NULL, or what is wrong with the test. */
const char *condition_trouble(const struct condition *condition);

#endif
