/* SPDX-License-Identifier: MIT */
/* A machine of a trial: a first process in namespaces of its own, with Corosync and the agent below
 * it. Nothing is left of it in the file system or the network when that process ends. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cluster/cluster.h"
#include "cli/commands.h"

enum {
    PATH_ROOM = 4096,
    ADDRESS_ROOM = 300,
    PAUSE_S = 1,
    NOT_RUN = 126,
    NOT_FOUND = 127,
    SIGNALLED = 128
};

extern char **environ;

static pid_t start(char *const *words, int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (output >= 0) {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    }
    pid_t child;
    const int error = posix_spawnp(&child, words[0], &actions, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error ? -error : child;
}

static int code_of(int status)
{
    return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

static int await(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return usage_error("cluster", "cannot wait for a command: %s", strerror(errno));
    return code_of(status);
}

int cluster_spawn(char *const *words, bool quiet)
{
    const int nothing = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    const pid_t child = start(words, nothing);
    if (nothing >= 0)
        close(nothing);
    return child < 0 ? NOT_FOUND : await(child);
}

/* ---- inside, as the first process ---- */

static noreturn void give_up(const char *what)
{
    say("cluster", "cannot make a machine: %s: %s", what, strerror(errno));
    _exit(EXIT_USAGE);
}

static void bind_over(const struct machine *machine, const char *name, const char *target)
{
    char source[PATH_ROOM];
    snprintf(source, sizeof source, "%s/%s", machine->directory, name);
    if (mount(source, target, NULL, MS_BIND, NULL) != 0)
        give_up(target);
}

static void furnish(const struct machine *machine)
{
    char name[PATH_ROOM];
    if (sethostname(machine->name, strlen(machine->name)) != 0)
        give_up("its name");
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        give_up("its mounts");
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
        give_up("/proc");
    if (mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0)
        give_up("/dev/shm");
    bind_over(machine, "etc", "/etc/corosync");
    snprintf(name, sizeof name, "%s/var", machine->name);
    bind_over(machine, name, "/var/lib/corosync");
    /* last: the directory may lie below it */
    if (mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") != 0)
        give_up("/run");
}

static void plug_in(const struct machine *machine)
{
    char address[ADDRESS_ROOM];
    snprintf(address, sizeof address, "%s/24", machine->address);
    char *const loopback[] = {"ip", "link", "set", "lo", "up", NULL};
    char *const own[] = {"ip", "address", "add", address, "dev", "eth0", NULL};
    char *const up[] = {"ip", "link", "set", "eth0", "up", NULL};
    if (cluster_spawn(loopback, false) != 0 || cluster_spawn(own, false) != 0 ||
        cluster_spawn(up, false) != 0) {
        errno = ENETDOWN;
        give_up("its network");
    }
}

static int open_log(const struct machine *machine, const char *name)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s/%s.log", machine->directory, machine->name, name);
    const int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log < 0)
        give_up(path);
    return log;
}

/* Starts both, and again whoever ends, after a pause, as an init system would. Reaps the orphans of
 * this PID namespace too. */
static noreturn void keep(const struct machine *machine, int corosync_log, int agent_log)
{
    char *const corosync[] = {"corosync", "-f", NULL};
    char *const agent[] = {(char *)(uintptr_t)machine->afteryou,
                           "agent",
                           "--cluster",
                           (char *)(uintptr_t)machine->cluster,
                           "--state",
                           "/var/lib/corosync/afteryou", /* outlives its power */
                           NULL};
    const struct {
        char *const *words;
        int log;
    } services[] = {{corosync, corosync_log}, {agent, agent_log}};
    pid_t running[2] = {0};
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    for (;;) {
        for (int at = 0; at < 2; at++)
            if (running[at] <= 0)
                running[at] = start(services[at].words, services[at].log);
        sigtimedwait(&children, NULL, &(struct timespec){.tv_sec = PAUSE_S});
        for (pid_t ended; (ended = waitpid(-1, NULL, WNOHANG)) > 0;)
            for (int at = 0; at < 2; at++)
                running[at] = running[at] == ended ? 0 : running[at];
        if (running[0] <= 0 || running[1] <= 0)
            nanosleep(&(struct timespec){.tv_sec = PAUSE_S}, NULL);
    }
}

/* Reaps the orphans of this PID namespace, and nothing else. */
static noreturn void reap(void)
{
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    for (;;) {
        sigwaitinfo(&children, NULL);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
}

/* Waits for the cable, and says when all is there. */
static noreturn void be_first(const struct machine *machine, int keeper)
{
    char go;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || read(keeper, &go, 1) != 1)
        _exit(EXIT_USAGE);
    setsid(); /* Ctrl-C is the keeper's */
    unsetenv("NOTIFY_SOCKET");
    const int corosync_log = open_log(machine, "corosync"), agent_log = open_log(machine, "agent");
    furnish(machine);
    plug_in(machine);
    if (write(keeper, "", 1) != 1)
        _exit(EXIT_USAGE);
    close(keeper);
    if (machine->bare)
        reap();
    keep(machine, corosync_log, agent_log);
}

/* ---- outside ---- */

/* A cable from the switch, which is this process's network namespace, to eth0 of the machine. */
static int lay_cable(const struct machine *machine, pid_t first)
{
    char name[PLAN_NAME_MOST + 1], pid[24];
    snprintf(name, sizeof name, "%s", machine->name);
    snprintf(pid, sizeof pid, "%d", first);
    char *const add[] = {"ip",   "link", "add",  "name",  name, "type", "veth",
                         "peer", "name", "eth0", "netns", pid,  NULL};
    /* what is left of an earlier one, for the kernel ends it when it gets around to it */
    char *const remove[] = {"ip", "link", "delete", "dev", name, NULL};
    cluster_spawn(remove, true);
    char *const join[] = {"ip", "link", "set", "dev", name, "master", "switch", "up", NULL};
    return cluster_spawn(add, false) == 0 && cluster_spawn(join, false) == 0 ? 0 : -ENETDOWN;
}

static int make_directories(const struct machine *machine)
{
    static const char *const names[] = {"", "/var"};
    for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
        char path[PATH_ROOM];
        snprintf(path, sizeof path, "%s/%s%s", machine->directory, machine->name, names[at]);
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            return -errno;
    }
    return 0;
}

pid_t machine_start(const struct machine *machine)
{
    char ready;
    int plug[2];
    int error = make_directories(machine);
    if (error)
        return error;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, plug) != 0)
        return -errno;
    struct clone_args arguments = {
        .flags = CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS, .exit_signal = SIGCHLD};
    const pid_t first = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
    if (first == 0) {
        close(plug[1]);
        be_first(machine, plug[0]);
    }
    error = first < 0 ? -errno : lay_cable(machine, first);
    close(plug[0]);
    if (!error && send(plug[1], "", 1, MSG_NOSIGNAL) != 1)
        error = -errno;
    if (!error && read(plug[1], &ready, 1) != 1)
        error = -EIO; /* it has said why */
    close(plug[1]);
    if (!error)
        error = trial_note_machine(machine->directory, machine->name, first);
    if (!error)
        return first;
    if (first > 0) {
        kill(first, SIGKILL);
        waitpid(first, NULL, 0);
    }
    return error;
}

static noreturn void become(char *const *words, bool quiet)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    const int nothing = quiet ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
    if (nothing >= 0 && (dup2(nothing, STDIN_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0 ||
                         dup2(nothing, STDERR_FILENO) < 0))
        _exit(EXIT_USAGE);
    execvp(words[0], words);
    usage_error("cluster", "cannot run '%s': %s", words[0], strerror(errno));
    _exit(errno == ENOENT ? NOT_FOUND : NOT_RUN);
}

/* In a child of its own, because only children are in the PID namespace that setns() gives. */
static noreturn void enter_and_run(int machine, char *const *words, bool quiet)
{
    char place[PATH_ROOM];
    const bool placed = getcwd(place, sizeof place);
    if (setns(machine, CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS) != 0)
        _exit(usage_error("cluster", "cannot enter the machine: %s", strerror(errno)));
    if (!placed || chdir(place) != 0)
        (void)!chdir("/");
    const pid_t child = fork();
    if (child != 0)
        _exit(child < 0 ? usage_error("cluster", "cannot fork: %s", strerror(errno))
                        : await(child));
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        _exit(EXIT_USAGE);
    become(words, quiet);
}

int machine_run(pid_t first, char *const *words, bool quiet)
{
    const int machine = (int)syscall(SYS_pidfd_open, first, 0);
    if (machine < 0)
        return usage_error("cluster", "the machine is gone: %s", strerror(errno));
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
            _exit(EXIT_USAGE);
        enter_and_run(machine, words, quiet);
    }
    const int code =
        child < 0 ? usage_error("cluster", "cannot fork: %s", strerror(errno)) : await(child);
    close(machine);
    return code;
}
