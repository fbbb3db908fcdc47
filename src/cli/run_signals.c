/* SPDX-License-Identifier: MIT */
/* Signals that reach the wrapper, on their way to the command. */
#include "cli/run.h"

#include <stddef.h>

/* How a passed signal says where it came from. */
enum { FROM_SOMEBODY = 0, FROM_TERMINAL = 1 };

void signals_to_pass(sigset_t *set)
{
    static const int own[] = {SIGTTIN, SIGTTOU, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPIPE};
    sigfillset(set);
    for (size_t at = 0; at < sizeof own / sizeof *own; at++)
        sigdelset(set, own[at]);
}

void signals_take(struct inheritance *inherited)
{
    sigset_t set;
    signals_to_pass(&set);
    sigprocmask(SIG_BLOCK, &set, &inherited->mask);
    /* Were it ignored, the kernel would reap our children for us. */
    const struct sigaction normal = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &normal, &inherited->child);
}

bool signal_from_terminal(const siginfo_t *info)
{
    return info->si_code == SI_KERNEL || (info->si_code == SI_QUEUE && info->si_value.sival_int == FROM_TERMINAL);
}

void signal_pass_to_guardian(pid_t guardian, const siginfo_t *info)
{
    const union sigval from = {.sival_int = signal_from_terminal(info) ? FROM_TERMINAL : FROM_SOMEBODY};
    sigqueue(guardian, info->si_signo, from);
}
