/* SPDX-License-Identifier: MIT */
/* `afteryou run`: the wrapper, which is what the shell sees. It stands between the shell and the
 * guardian, and owns nothing. */
#include "cli/run/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"
#include "common/assert.h"

struct wrapper {
    const char *called; /* run_called() */
    pid_t guardian;
    bool had_children; /* of the program that this one was executed in: not ours to end */
    struct between *between;
};

/* R2. What a guardian leaves is its deputy; or a tester of --when, if it was still in the queue and
 * died of what we passed on, or of its own; or, if both guards were killed, everything. */
static int guardian_died(const struct wrapper *self, int number)
{
    const bool inside = atomic_load(&self->between->inside);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    if (number == SIGKILL || inside)
        say(self->called, "the guardian (pid %d) was ended by signal %d (%s); %s",
            (int)self->guardian, number, strsignal(number),
            inside ? "the command is being ended" : "it was in the queue, and no command was run");
    if (inside && !self->had_children)
        tree_end();
    else
        tree_end_guards();
    assert_invariant(R2, !inside || self->had_children || tree_is_gone());
    return EXIT_SIGNAL + number;
}

/* A guardian in the queue is stopped by Ctrl-Z, and we with it. When it goes on, it tells us. One
 * that was stopped with SIGSTOP was meant alone. Only the last that is heard counts: it may go on
 * already. */
static bool has_ended(const struct wrapper *self, int *code)
{
    bool stop = false;
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0)
        if (pid == self->guardian && (WIFSTOPPED(status) || WIFCONTINUED(status))) {
            stop = WIFSTOPPED(status) && WSTOPSIG(status) != SIGSTOP;
        } else if (pid == self->guardian) {
            *code =
                WIFSIGNALED(status) ? guardian_died(self, WTERMSIG(status)) : WEXITSTATUS(status);
            return true;
        }
    if (stop)
        raise(SIGSTOP);
    return false;
}

/* If it was sent to the whole group, the deputy must have it before it hears from us. */
static void pass_on(const struct wrapper *self, int number)
{
    signals_await_group();
    kill(self->guardian, number);
}

static int wait_for_guardian(const struct wrapper *self)
{
    sigset_t all;
    siginfo_t info = {0};
    int code;
    sigfillset(&all);
    for (;;) {
        const int number = sigwaitinfo(&all, &info);
        if (number == SIGCHLD && has_ended(self, &code))
            return code;
        if (number == SIGNAL_BELL && atomic_load(&self->between->stays)) {
            atomic_store(&self->between->heard, true);
            return atomic_load(&self->between->code);
        }
        const bool from_us =
            info.si_code <= 0 && (info.si_pid == getpid() || info.si_pid == self->guardian);
        if (number > 0 && number != SIGCHLD && number != SIGNAL_BELL && !from_us)
            pass_on(self, number);
    }
}

int run_command(const struct run_words *asked)
{
    struct inheritance inherited = {.group = getpgrp()};
    struct wrapper self = {.called = run_called(asked), .had_children = tree_is_there()};
    signals_take(&inherited);
    self.between =
        mmap(NULL, sizeof *self.between, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (self.between == MAP_FAILED)
        return usage_error(self.called, "cannot map a page: %s", strerror(errno));
    self.between->wrapper = getpid();
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return usage_error(self.called, "cannot become the parent of orphans: %s", strerror(errno));
    self.guardian = fork();
    if (self.guardian < 0)
        return usage_error(self.called, "cannot fork: %s", strerror(errno));
    if (self.guardian == 0)
        guardian(asked, &inherited, self.between);
    _exit(wait_for_guardian(&self)); /* nothing is left to write, or to tidy up */
}

int command_run(int count, char **words)
{
    struct run_words asked;
    const int status = run_words_parse(count, words, &asked);
    if (status)
        return status < 0 ? 0 : status;
    return run_command(&asked);
}
