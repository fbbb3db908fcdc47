/* SPDX-License-Identifier: MIT */
/* Starts the command, or the test of --when, as if the shell had started it; but it dies with its
 * parent. */
#include "cli/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdnoreturn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* After vfork: in the parent's memory, while the parent waits. Only system calls. */
static noreturn void become(char *const *words, const struct inheritance *inherited, bool quiet,
                            pid_t parent, volatile int *error)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        *error = errno;
    else if (getppid() != parent)
        *error = ESRCH;
    else if (inherited->group > 0 && setpgid(0, inherited->group) != 0)
        *error = errno;
    const int nothing = quiet && !*error ? open("/dev/null", O_RDONLY) : -1;
    if (nothing > 0) {
        dup2(nothing, STDIN_FILENO);
        close(nothing);
    }
    if (!*error) {
        sigaction(SIGCHLD, &inherited->child, NULL);
        sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
        execvp(words[0], words);
        *error = errno;
    }
    _exit(EXIT_FAILED);
}

pid_t child_start(char *const *words, const struct inheritance *inherited, bool quiet)
{
    volatile int error = 0;
    const pid_t parent = getpid();
    const pid_t child = vfork();
    if (child == 0)
        become(words, inherited, quiet, parent, &error);
    if (child < 0)
        return -errno;
    if (error == 0)
        return child;
    waitpid(child, NULL, 0);
    return -error;
}

int child_code(int status)
{
    return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}
