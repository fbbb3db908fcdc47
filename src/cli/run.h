/* SPDX-License-Identifier: MIT */
/* `afteryou run`: what its parts share.
 *
 *   shell ── wrapper ── guardian ── command ── whatever it starts
 *
 * The wrapper is what the shell sees: it passes signals on, and ends as the command ends. The guardian owns the region, and is
 * the parent of all the command leaves behind (a subreaper), so the region stays held until the last of them is gone.
 *   R1  The wrapper dies: the guardian kills what runs, waits until it is gone, and only then lets the next one in.
 *   R2  The guardian dies: the kernel kills the command (PDEATHSIG); the wrapper, a subreaper too, kills the rest.
 *   R3  The command dies by a signal: the guardian ends without leaving, so the next one in is told of a death inside.
 *   R4  A cluster's region is lost: the guardian ends the command, first gently, and ends with a code of its own.
 */
#ifndef AFTERYOU_CLI_RUN_H
#define AFTERYOU_CLI_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdnoreturn.h>
#include <sys/types.h>

#include "afteryou.h"

enum {
    EXIT_REFUSED = 1,
    EXIT_LOST = 123,
    EXIT_FAILED = 125,
    EXIT_NOT_RUN = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128
};

/* Between wrapper and guardian: the guardian says that it stays (with the command's exit code), and the wrapper that it heard; the
 * kernel tells the guardian that the wrapper has died. */
#define SIGNAL_BETWEEN SIGRTMAX
/* The value with which the guardian sends it to itself: the region is lost. */
enum { SIGNAL_LOST = -1 };

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

/* How the program was started, which is how its command is to start. */
struct inheritance {
    sigset_t mask;
    struct sigaction child; /* of SIGCHLD */
    pid_t group;
};

/* run_words.c. 0; negative: done, with success (--help); or an exit code, after one line on stderr. */
int run_words_parse(int count, char **words, struct run_words *asked);

/* Options that flock has, too. 0, or EXIT_USAGE after a line that begins with the command. */
int run_parse_wait(const char *command, const char *text, struct run_words *asked);
void run_use_shell(char *line, struct run_words *asked);

/* run.c: runs it all; the exit code. */
int run_command(const struct run_words *asked);

/* run_lock.c: the lock of asked->lock, in what is left of the time: 0, or the exit code, after a word about it. */
int lock_obtain(const struct run_words *asked, int64_t asked_ns);

/* run_guardian.c: the whole life of the guardian. The signals that pass on are blocked. */
noreturn void guardian(const struct run_words *asked, pid_t wrapper, const struct inheritance *inherited);

/* run_signals.c: the signals that pass on, SIGCHLD and SIGNAL_BETWEEN. */
void signals_to_pass(sigset_t *set);
/* Blocks them, after remembering how they were. */
void signals_take(struct inheritance *inherited);
/* Whether the whole foreground group got it, and so the command too. */
bool signal_from_terminal(const siginfo_t *info);
void signal_pass_to_guardian(pid_t guardian, const siginfo_t *info);

/* run_child.c: a child in the wrapper's process group that dies with the calling thread: its pid, or a negative errno, which is that of exec if
 * it could not run. With `quiet`, its stdin is /dev/null. */
pid_t child_start(char *const *words, const struct inheritance *inherited, bool quiet);
/* 128 + n if a signal ended it. */
int child_code(int status);

/* run_tree.c: to all children of this process, as the kernel now lists them. How many. */
int tree_signal(int signal);
/* Kills until no child is left, and adopts what they leave. */
void tree_end(void);

/* run_lost.c: from now on the loss of the region is a signal. 0, or a negative errno. */
int lost_watch(ay_region *region);

/* run_holders.c: words about who is inside, or else who waits, of the resources asked for. */
void holders_describe(const struct run_words *asked, char *text, size_t room);

/* run_queue.c: shows, on a terminal, how the queue moves, until it is told to stop. */
struct queue_display;
struct queue_display *queue_display_start(const struct run_words *asked, pid_t group);
void queue_display_stop(struct queue_display *display);

/* run_condition.c: --when. */
struct condition;
struct condition *condition_start(const struct run_words *asked, ay_space *space, const struct inheritance *inherited);
/* For ay_enter_when(); the argument is the condition. */
bool condition_holds(void *condition);
/* Ends the watching; true if a death inside was told to the condition and not yet to anybody who acts on it. */
bool condition_stop(struct condition *condition, bool entered);
/* NULL, or what is wrong with the test. */
const char *condition_trouble(const struct condition *condition);

#endif
