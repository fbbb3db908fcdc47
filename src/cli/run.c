/* SPDX-License-Identifier: MIT */
/* `afteryou run`: the wrapper, which is what the shell sees. It stands between the shell and the guardian, and owns nothing. */
#include "cli/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"

/* R2. A guardian that dies of another signal than SIGKILL was still in the queue. */
static int guardian_died(pid_t guardian, int number)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    if (number == SIGKILL) {
        tree_end();
        say("run", "the guardian (pid %d) was killed, and the command with it", (int)guardian);
    }
    return EXIT_SIGNAL + number;
}

/* A guardian in the queue is stopped by Ctrl-Z, and we with it; one that is inside stops us when the command has stopped. */
static bool has_ended(pid_t guardian, int *code)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0)
        if (pid == guardian && WIFSTOPPED(status)) {
            raise(SIGSTOP);
        } else if (pid == guardian) {
            *code = WIFSIGNALED(status) ? guardian_died(guardian, WTERMSIG(status)) : WEXITSTATUS(status);
            return true;
        }
    return false;
}

static int wait_for_guardian(pid_t guardian)
{
    sigset_t set;
    siginfo_t info;
    int code;
    signals_to_pass(&set);
    for (;;) {
        const int number = sigwaitinfo(&set, &info);
        if (number == SIGCHLD && has_ended(guardian, &code))
            return code;
        if (number == SIGNAL_BETWEEN && info.si_code == SI_QUEUE && info.si_pid == guardian) {
            sigqueue(guardian, SIGNAL_BETWEEN, info.si_value); /* so that it does not take our end for a death */
            return info.si_value.sival_int;
        }
        if (number > 0 && number != SIGCHLD && number != SIGNAL_BETWEEN)
            signal_pass_to_guardian(guardian, &info);
    }
}

int run_command(const struct run_words *asked)
{
    struct inheritance inherited = {.group = getpgrp()};
    const pid_t self = getpid();
    signals_take(&inherited);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return usage_error("run", "cannot become the parent of orphans: %s", strerror(errno));
    const pid_t child = fork();
    if (child < 0)
        return usage_error("run", "cannot fork: %s", strerror(errno));
    if (child == 0)
        guardian(asked, self, &inherited);
    return wait_for_guardian(child);
}

int command_run(int count, char **words)
{
    struct run_words asked;
    const int status = run_words_parse(count, words, &asked);
    if (status)
        return status < 0 ? 0 : status;
    return run_command(&asked);
}
