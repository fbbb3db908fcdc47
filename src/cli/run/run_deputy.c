/* SPDX-License-Identifier: MIT */
/* The deputy: the guardian's child and the command's parent, which holds the region too.
 *
 * It is in the process group of the job, so it gets what is sent to the whole group. That is how it
 * knows that a signal which the wrapper got and passed on has reached the command already; but for
 * what came before there was a command.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/run/run.h"
#include "cli/text.h"
#include "common/assert.h"

/* How long the wrapper may take to pass on what the group got: what it has not by then was sent to
 * the deputy alone. */
#define GROUP_NS INT64_C(1000000000)
/* How long to wait until the files of a dead guardian are closed. */
enum { BURY_TIMES = 50, BURY_AGAIN_NS = 2 * 1000 * 1000 };
enum { HOLD_SIZE = 1 }; /* a page, whatever its size */

struct deputy {
    const struct run_words *asked;
    struct between *between;
    pid_t guardian;
    void *hold;         /* what it holds the region by: hold() */
    pid_t command;      /* 0: it has ended */
    bool stopped;       /* the command is, as last heard */
    struct child child; /* how the command was started */
    /* R5: what is there has been told to end */
    bool lost;
    uint32_t passed_on[SIGNALS], sent_to_guardian[SIGNALS]; /* as far as they were heeded */
    /* when it got that signal itself, and has not heard of it from the wrapper; or 0 */
    int64_t got_ns[SIGNALS];
    /* of these, what came before there was a command: so the command has not got it with the group.
     * Set when the command has looked; cleared when it is given */
    sigset_t missed;
    /* of these, what the opposite has undone since, as the kernel does with what is pending: a stop
     * by SIGCONT, SIGCONT by a stop. So the wrapper may not tell; if it does, it is late. Set by
     * undo(); cleared with got_ns */
    sigset_t undone;
    int64_t give_at; /* when to look whether that was too long ago; INT64_MAX: never */
};

void let_go_of_files(void)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        dup2(nothing, fd);
    DIR *files = opendir("/proc/self/fd");
    for (const struct dirent *entry; files && (entry = readdir(files));) {
        const int fd = atoi(entry->d_name);
        const int flags = fcntl(fd, F_GETFD);
        if (fd > STDERR_FILENO && flags >= 0 && !(flags & FD_CLOEXEC))
            close(fd);
    }
    if (files)
        closedir(files);
}

/* A lock of an open file lasts while anything refers to that: a mapping does, which a child has
 * too. It needs no descriptor. Whenever one of those is closed, by the command when it is executed
 * or by the deputy when it ends, the kernel walks through the locks of all who wait. */
static void *hold(int share)
{
    return mmap(NULL, HOLD_SIZE, PROT_NONE, MAP_SHARED, share, 0);
}

static void let_go(const struct deputy *self)
{
    munmap(self->hold, HOLD_SIZE);
}

/* R1, R2. If the guardian is dead, the region is then left as by one who died inside: at once, if
 * the guardian's files are closed. Should it fail, whoever waits finds out by himself. */
static noreturn void end_all(const struct deputy *self)
{
    ay_space *space;
    wrapper_goes_on(self->between, (enum command_state)atomic_load(&self->between->state));
    tree_end();
    let_go(self);
    if (getppid() != self->guardian && ay_open(self->asked->space, NULL, &space) == 0)
        for (int times = 0; times < BURY_TIMES && ay_repair(space) == 0; times++)
            nanosleep(&(struct timespec){.tv_nsec = BURY_AGAIN_NS}, NULL);
    _exit(EXIT_SIGNAL + SIGKILL);
}

static void ring_guardian(const struct deputy *self)
{
    if (getppid() == self->guardian)
        kill(self->guardian, SIGNAL_BELL);
}

/* The command is ours to reap, so its pid is its own. What it left is sent the same, once it has
 * ended. */
static void give(const struct deputy *self, int number)
{
    if (self->command > 0)
        kill(self->command, number);
    else
        tree_signal(number);
}

/* So often as it came, if it is one that queues. */
static void give_times(const struct deputy *self, int number, uint32_t times)
{
    for (uint32_t time = 0; time < (number < SIGRTMIN ? 1 : times); time++)
        give(self, number);
}

static void forget(struct deputy *self, int number)
{
    self->got_ns[number] = 0;
    sigdelset(&self->missed, number);
    sigdelset(&self->undone, number);
}

static bool is_stop(int number)
{
    return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/* The wrapper has some time from now on to tell of it. */
static void undo(struct deputy *self, int number)
{
    if (self->got_ns[number] == 0)
        return;
    sigaddset(&self->undone, number);
    self->got_ns[number] = text_now();
    if (self->give_at == INT64_MAX)
        self->give_at = self->got_ns[number] + GROUP_NS;
}

static void undo_stops(struct deputy *self)
{
    undo(self, SIGTSTP);
    undo(self, SIGTTIN);
    undo(self, SIGTTOU);
}

/* Whether the command got it with the group. */
static bool was_for_the_group(struct deputy *self, int number)
{
    const int64_t got_ns = self->got_ns[number];
    const bool missed = sigismember(&self->missed, number) == 1;
    forget(self, number);
    return got_ns && !missed && self->command > 0 && getpgid(self->command) == getpgrp();
}

static void end_if_told(const struct deputy *self)
{
    if (getppid() != self->guardian || atomic_load(&self->between->end))
        end_all(self);
}

static void heed_bell(struct deputy *self)
{
    struct between *between = self->between;
    end_if_told(self);
    for (int number = 1; number < SIGNALS; number++) {
        const uint32_t passed_on = atomic_load(&between->passed_on[number]);
        const uint32_t sent = atomic_load(&between->sent_to_guardian[number]);
        if (passed_on != self->passed_on[number] && !was_for_the_group(self, number))
            give_times(self, number, passed_on - self->passed_on[number]);
        if (sent != self->sent_to_guardian[number])
            give_times(self, number, sent - self->sent_to_guardian[number]);
        self->passed_on[number] = passed_on;
        self->sent_to_guardian[number] = sent;
    }
    if (atomic_load(&between->lost) && !self->lost) {
        self->lost = true;
        tree_signal(SIGTERM);
        tree_signal(SIGCONT);
    }
}

/* A signal for the deputy itself. If the group got it, and the command with it, the wrapper will
 * tell. */
static void note_signal(struct deputy *self, int number)
{
    assert_required(number > 0 && number < SIGNALS);
    if (self->command == 0 || getppid() != self->guardian) {
        give(self, number);
    } else {
        if (number == SIGCONT)
            undo_stops(self);
        else if (is_stop(number))
            undo(self, SIGCONT);
        sigdelset(&self->undone, number);
        self->got_ns[number] = text_now();
        if (self->give_at == INT64_MAX)
            self->give_at = self->got_ns[number] + GROUP_NS;
    }
}

/* A command that is stopped need not be stopped; and the wrapper, stopped with it, may tell when it
 * goes on. */
static int64_t when_to_give(const struct deputy *self, int number)
{
    const bool waits = is_stop(number) && self->stopped;
    return self->got_ns[number] && !waits ? self->got_ns[number] + GROUP_NS : INT64_MAX;
}

static void give_what_was_not_for_the_group(struct deputy *self)
{
    const int64_t now = text_now();
    self->give_at = INT64_MAX;
    for (int number = 1; number < SIGNALS; number++) {
        const int64_t give_at = when_to_give(self, number);
        if (give_at <= now) {
            const bool undone = sigismember(&self->undone, number) == 1;
            forget(self, number);
            if (!undone)
                give(self, number);
        } else if (give_at < self->give_at) {
            self->give_at = give_at;
        }
    }
}

static noreturn void could_not_run(const struct deputy *self, int error)
{
    atomic_store(&self->between->error, error);
    _exit(EXIT_FAILED);
}

/* Who has continued the whole group may have reached us first: then the command's going on is heard
 * next. */
static void note_command(struct deputy *self, int status)
{
    if (WIFSTOPPED(status)) {
        self->stopped = true;
        undo(self, SIGCONT);
        signals_await_group();
    } else if (WIFCONTINUED(status)) {
        self->stopped = false;
        undo_stops(self);
    } else if (self->child.error) {
        could_not_run(self, self->child.error);
    } else {
        self->command = 0;
        atomic_store(&self->between->status, status);
    }
}

/* What was heard last: who stops the wrapper for a stop that is over stops a job that goes on. */
static void tell_of_stop(const struct deputy *self, bool was_heard)
{
    if (was_heard && self->stopped)
        atomic_fetch_add(&self->between->stops, 1);
    if (was_heard)
        atomic_store(&self->between->state, self->stopped ? COMMAND_STOPPED : COMMAND_RUNS);
}

/* The next one in need not wait until the kernel has taken this process down, nor until it has
 * closed a file, for which it walks through the locks of all who wait: a guardian that leaves gives
 * back what both hold. One that does not leave (R4, R5) is to be the last that holds. */
static noreturn void end_well(const struct deputy *self)
{
    if (self->lost || WIFSIGNALED(atomic_load(&self->between->status)))
        let_go(self);
    atomic_store(&self->between->done, true);
    ring_guardian(self);
    close_range(0, ~0u, 0); /* nobody waits for the end of a pipe meanwhile */
    sched_yield();          /* to the guardian, if that is to have this processor */
    _exit(0);
}

/* SIGCHLD. Without -o it stays for the others that the command started. */
static void reap(struct deputy *self)
{
    const bool was_running = self->command > 0;
    bool heard = false;
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0)
        if (pid == self->command) {
            note_command(self, status);
            heard = true;
        }
    const bool over = (pid < 0 && errno == ECHILD) || (self->command == 0 && self->asked->close);
    const bool ended = was_running && self->command == 0;
    if (ended && !over) {
        if (self->lost)
            tree_signal(SIGTERM);
        atomic_store(&self->between->left, tree_signal(0));
        let_go_of_files();
    }
    if (ended)
        atomic_store(&self->between->state, COMMAND_ENDED);
    else
        tell_of_stop(self, heard);
    if (over)
        end_well(self);
    if (was_running)
        ring_guardian(self);
}

static noreturn void look_after_command(struct deputy *self)
{
    sigset_t all;
    siginfo_t info;
    sigfillset(&all);
    for (;;) {
        const int number = signal_next(&all, &info, self->give_at);
        if (number == 0)
            give_what_was_not_for_the_group(self);
        else if (number == SIGCHLD)
            reap(self);
        else if (number == SIGNAL_BELL)
            heed_bell(self);
        else if (number > 0 && number < SIGNALS && !signal_is_own(&info))
            note_signal(self, number);
    }
}

/* What came before there was a command is known once the command has looked. It does not while it
 * is stopped: so the bell is heard meanwhile, and its end. */
static void await_look(struct deputy *self)
{
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGNAL_BELL);
    while (!child_has_looked(&self->child)) {
        if (signal_next(&set, &info, INT64_MAX) == SIGCHLD)
            reap(self);
        end_if_told(self);
    }
    for (int number = 1; number < SIGNALS; number++)
        if (child_missed(&self->child, number))
            sigaddset(&self->missed, number);
    heed_bell(self); /* it may have been rung for something else */
}

static void make_command(struct deputy *self)
{
    self->command = child_make(&self->child);
    if (self->command < 0)
        could_not_run(self, -self->command);
}

/* Somebody may have killed it while it waited: nothing was run yet, so it is made again. */
static void make_again_if_gone(struct deputy *self)
{
    if (atomic_load(&self->child.looked) == 2 || waitpid(self->command, NULL, WNOHANG) == 0)
        return;
    if (self->child.error)
        could_not_run(self, self->child.error);
    make_command(self);
}

/* Until the guardian is inside, and says so. If it dies before, there is nothing to end but a child
 * that dies with its parent; inside, it may have shared the region already. The bell that was rung
 * for its death may have been heard here: so it is asked for once more behind it. True: a child's
 * end was heard, perhaps the command's, which may have begun before we heard of its turn. */
static bool await_turn(struct deputy *self)
{
    const struct between *between = self->between;
    bool heard = false;
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGNAL_BELL);
    sigaddset(&set, SIGCHLD);
    while (!atomic_load(&between->go) && getppid() == self->guardian) {
        make_again_if_gone(self);
        heard |= signal_next(&set, &info, INT64_MAX) == SIGCHLD;
    }
    if (getppid() != self->guardian && atomic_load(&between->inside))
        end_all(self);
    if (getppid() != self->guardian)
        _exit(EXIT_FAILED);
    return heard;
}

static noreturn void deputy(struct deputy *self)
{
    const int error = guard_begin(self->guardian);
    if (error)
        could_not_run(self, -error);
    if (environment_prepare() != 0)
        could_not_run(self, errno);
    make_command(self);
    const bool heard = await_turn(self);
    make_again_if_gone(self);
    child_go(&self->child, self->command);
    if (heard)
        reap(self);
    if (!child_has_looked(&self->child))
        await_look(self);
    look_after_command(self);
}

pid_t deputy_start(const struct run_words *asked, const struct inheritance *inherited,
                   struct between *between, int share)
{
    struct deputy self = {
        .asked = asked,
        .between = between,
        .guardian = getpid(),
        .hold = hold(share),
        .child = {.words = asked->command, .inherited = inherited, .between = between},
        .give_at = INT64_MAX};
    const int error = errno;
    close(share);
    if (self.hold == MAP_FAILED)
        return -error;
    const pid_t child = fork();
    if (child == 0)
        deputy(&self);
    return child < 0 ? -errno : child;
}

/* The guardian is still in the job's session, and the deputy's parent: so it may move it. */
int deputy_go(pid_t deputy, const struct inheritance *inherited, struct between *between)
{
    if (inherited->group > 0 && setpgid(deputy, inherited->group) != 0)
        return -1;
    atomic_store(&between->go, 1);
    syscall(SYS_futex, &between->go, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return 0;
}

void deputy_dismiss(pid_t deputy, const struct between *between)
{
    if (deputy > 0 && !atomic_load(&between->go) && kill(deputy, SIGKILL) == 0)
        waitpid(deputy, NULL, 0);
}
