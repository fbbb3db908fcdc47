/* SPDX-License-Identifier: MIT */
/* What one does with a trial from another terminal: commands on its machines, cables, power, its
 * end. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/cluster/cluster.h"
#include "cli/commands.h"

enum { PATH_ROOM = 4096, DOWN_MS = 30000, POWER_MS = 5 };

static int down(const char *directory)
{
    const pid_t keeper = trial_keeper(directory);
    if (keeper == -ESRCH) {
        char path[PATH_ROOM];
        snprintf(path, sizeof path, "%s/keeper", directory);
        const int error = access(path, F_OK) == 0 ? trial_remove(directory) : 0;
        if (error)
            return usage_error("cluster", "cannot remove %s: %s", directory, strerror(-error));
        printf("no trial runs in %s\n", directory);
        return 0;
    }
    const int handle = keeper < 0 ? -1 : (int)syscall(SYS_pidfd_open, keeper, 0);
    /* Asked again: the process with this handle is the keeper if the trial is still kept. */
    if (handle < 0 || trial_keeper(directory) != keeper ||
        syscall(SYS_pidfd_send_signal, handle, SIGTERM, NULL, 0) != 0)
        return usage_error("cluster", "cannot end the trial in %s: %s", directory,
                           strerror(keeper < 0 ? -keeper : errno));
    struct pollfd end = {.fd = handle, .events = POLLIN};
    if (poll(&end, 1, DOWN_MS) != 1)
        return usage_error("cluster", "the trial in %s did not end in %d s: end its process, %d",
                           directory, DOWN_MS / 1000, (int)keeper);
    close(handle);
    return 0;
}

static int no_machine(const char *directory, const char *name, pid_t why)
{
    if (why == -ESRCH)
        return usage_error("cluster", "no trial runs in %s; 'afteryou cluster try' starts one",
                           directory);
    return usage_error("cluster", "there is no machine '%s' in the trial in %s", name, directory);
}

/* So that `afteryou` there is this command, installed or not. */
static int put_first_in_path(void)
{
    char own[PATH_ROOM], path[2 * PATH_ROOM];
    program_path("afteryou", AFTERYOU_BIN, own, sizeof own);
    *strrchr(own, '/') = '\0';
    const char *before = getenv("PATH");
    snprintf(path, sizeof path, "%s:%s", own, before ? before : "/usr/sbin:/usr/bin:/sbin:/bin");
    return setenv("PATH", path, 1) == 0 ? 0 : -errno;
}

static int execute(int count, char **words, const char *directory)
{
    const int command = count > 1 && strcmp(words[1], "--") == 0 ? 2 : 1;
    if (count <= command)
        return usage_error("cluster",
                           "exec needs a machine and a command, as in: exec a -- hostname");
    const pid_t first = trial_machine(directory, words[0]);
    if (first < 0)
        return no_machine(directory, words[0], first);
    const int error = put_first_in_path();
    if (error)
        return usage_error("cluster", "cannot set PATH: %s", strerror(-error));
    signal(SIGINT, SIG_IGN); /* Ctrl-C is the command's */
    signal(SIGQUIT, SIG_IGN);
    return machine_run(first, words + command, false);
}

static int set_links(int count, char **words, const char *directory, char *state)
{
    const pid_t keeper = trial_keeper(directory);
    if (count == 0)
        return usage_error("cluster", "which machine? as in: cut a");
    for (int at = 0; at < count; at++) {
        const pid_t first = trial_machine(directory, words[at]);
        if (first < 0)
            return no_machine(directory, words[at], first);
    }
    const int handle = (int)syscall(SYS_pidfd_open, keeper, 0);
    if (handle < 0 || setns(handle, CLONE_NEWNET) != 0)
        return usage_error("cluster", "cannot reach the switch: %s", strerror(errno));
    int status = 0;
    for (int at = 0; at < count; at++) {
        char *const link[] = {"ip", "link", "set", "dev", words[at], state, NULL};
        status |= cluster_spawn(link, false);
    }
    return status ? EXIT_USAGE : 0;
}

static int cut(int count, char **words, const char *directory)
{
    return set_links(count, words, directory, "down");
}

static int heal(int count, char **words, const char *directory)
{
    return set_links(count, words, directory, "up");
}

/* A process of the trial gets a signal if it is still the one that it was. */
static bool tell(pid_t pid, int signal)
{
    const int handle = (int)syscall(SYS_pidfd_open, pid, 0);
    const bool told = handle >= 0 && syscall(SYS_pidfd_send_signal, handle, signal, NULL, 0) == 0;
    if (handle >= 0)
        close(handle);
    return told;
}

/* Dead, or about to be reaped by its keeper. */
static bool is_off(const char *directory, const char *name)
{
    const pid_t first = trial_machine(directory, name);
    const int handle = first < 0 ? -1 : (int)syscall(SYS_pidfd_open, first, 0);
    struct pollfd end = {.fd = handle, .events = POLLIN};
    const bool off = handle < 0 || poll(&end, 1, 0) == 1;
    if (handle >= 0)
        close(handle);
    return off;
}

static bool await_power(const char *directory, const char *name, bool off)
{
    for (int waited = 0; is_off(directory, name) != off; waited += POWER_MS) {
        if (waited > DOWN_MS)
            return false;
        poll(NULL, 0, POWER_MS);
    }
    return true;
}

static int set_power(int count, char **words, const char *directory, bool off)
{
    if (count == 0)
        return usage_error("cluster", "which machine? as in: off a");
    for (int at = 0; at < count; at++) {
        const pid_t first = trial_machine(directory, words[at]);
        if (first < 0)
            return no_machine(directory, words[at], first);
        if (is_off(directory, words[at]) != off)
            tell(off ? first : trial_keeper(directory), off ? SIGKILL : SIGUSR1);
        if (!await_power(directory, words[at], off))
            return usage_error("cluster", "machine %s did not %s in %d s; its logs are in %s",
                               words[at], off ? "end" : "start", DOWN_MS / 1000, directory);
    }
    return 0;
}

/* All its processes are killed at once, and its cable goes. */
static int turn_off(int count, char **words, const char *directory)
{
    return set_power(count, words, directory, true);
}

static int turn_on(int count, char **words, const char *directory)
{
    return set_power(count, words, directory, false);
}

static const struct {
    const char *name;
    int (*run)(int count, char **words, const char *directory);
} actions[] = {{"exec", execute}, {"cut", cut}, {"heal", heal}, {"off", turn_off}, {"on", turn_on}};

const char *cluster_try_at(size_t at)
{
    return at < sizeof actions / sizeof *actions ? actions[at].name : NULL;
}

int cluster_try(int count, char **words, const struct cluster_words *asked)
{
    const char *directory = asked->directory ? asked->directory : TRIAL_DIRECTORY;
    if (asked->down)
        return count ? usage_error("cluster", "--down goes alone: leave out '%s'", words[0])
                     : down(directory);
    if (count == 0)
        return trial_up(asked, directory);
    for (size_t at = 0; cluster_try_at(at); at++)
        if (strcmp(words[0], actions[at].name) == 0)
            return actions[at].run(count - 1, words + 1, directory);
    char there[64];
    return usage_error("cluster", "try has no '%s'; there are %s", words[0],
                       option_words(cluster_try_at, " and ", there, sizeof there));
}
