/* SPDX-License-Identifier: MIT */
/* Signals: wrapper, guardian and deputy block them all, and fetch them one by one. */
#include "cli/run/run.h"

#include <errno.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/text.h"

void signals_take(struct inheritance *inherited)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &inherited->mask);
    /* Were it ignored, the kernel would reap our children for us. */
    const struct sigaction normal = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &normal, &inherited->child);
}

void signals_await_group(void)
{
    setpgid(INT_MAX, 0);
}

int signals_leave_group(void)
{
    const pid_t leader = vfork();
    if (leader == 0)
        _exit(0);
    if (leader < 0)
        return -1;
    const int result = setpgid(leader, leader) == 0 ? setpgid(0, leader) : -1, error = errno;
    waitpid(leader, NULL, 0);
    errno = error;
    return result;
}

bool signal_is_own(const siginfo_t *info)
{
    return info->si_pid == getpid() && info->si_code <= 0;
}

void wrapper_goes_on(const struct between *between, enum command_state state)
{
    if (state == COMMAND_STOPPED && getppid() == between->wrapper)
        kill(between->wrapper, SIGCONT);
}

int signal_next(const sigset_t *set, siginfo_t *info, int64_t deadline_ns)
{
    if (deadline_ns == INT64_MAX)
        return sigwaitinfo(set, info);
    const int64_t left = deadline_ns - text_now();
    const struct timespec time = {.tv_sec = left > 0 ? left / 1000000000 : 0,
                                  .tv_nsec = left > 0 ? left % 1000000000 : 0};
    const int number = sigtimedwait(set, info, &time);
    return number < 0 && errno == EAGAIN ? 0 : number;
}
