/* SPDX-License-Identifier: MIT */
/* Starts the command, or the test of --when, as if the shell had started it; but it dies with its
 * parent. */
#include "cli/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdnoreturn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* From the child to its parent; after exec, the end of the file. */
struct report {
    int error;        /* why it cannot run: an errno */
    sigset_t pending; /* the signals that it got while it blocked them */
};

/* All signals are blocked. The parent says when it may go on. */
static noreturn void become(char *const *words, const struct inheritance *inherited, bool quiet,
                            pid_t parent, int link)
{
    struct report report = {0};
    char word;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        report.error = errno;
    else if (getppid() != parent)
        report.error = ESRCH;
    else if (inherited->group > 0 && setpgid(0, inherited->group) != 0)
        report.error = errno;
    const int nothing = quiet && !report.error ? open("/dev/null", O_RDONLY) : -1;
    if (nothing > 0) {
        dup2(nothing, STDIN_FILENO);
        close(nothing);
    }
    if (!report.error && recv(link, &word, 1, 0) != 1)
        _exit(EXIT_FAILED);
    sigpending(&report.pending);
    send(link, &report, sizeof report, MSG_NOSIGNAL);
    if (!report.error) {
        sigaction(SIGCHLD, &inherited->child, NULL);
        sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
        execvp(words[0], words);
        report.error = errno;
        send(link, &report, sizeof report, MSG_NOSIGNAL);
    }
    _exit(EXIT_FAILED);
}

/* What the parent got and the child did not. The parent looks first: so whatever it has and the
 * child has not was sent before there was a child, or to the parent alone. */
static int lead(int link, sigset_t *missed)
{
    struct report report, end = {0};
    sigset_t got;
    sigpending(&got);
    send(link, "", 1, MSG_NOSIGNAL);
    sigemptyset(missed);
    if (recv(link, &report, sizeof report, 0) != sizeof report)
        return 0; /* it was killed, as a command may be */
    for (int number = 1; number < SIGNALS; number++)
        if (sigismember(&got, number) == 1 && sigismember(&report.pending, number) != 1)
            sigaddset(missed, number);
    if (!report.error && recv(link, &end, sizeof end, 0) == sizeof end)
        report.error = end.error;
    return report.error;
}

pid_t child_start(char *const *words, const struct inheritance *inherited, bool quiet,
                  sigset_t *missed)
{
    int link[2];
    const pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link) != 0)
        return -errno;
    const pid_t child = fork();
    int error = errno;
    if (child == 0) {
        close(link[0]);
        become(words, inherited, quiet, parent, link[1]);
    }
    close(link[1]);
    if (child > 0)
        error = lead(link[0], missed);
    close(link[0]);
    if (child > 0 && error == 0)
        return child;
    if (child > 0)
        waitpid(child, NULL, 0);
    return -error;
}

int child_code(int status)
{
    return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}
