/* SPDX-License-Identifier: MIT */
/* `afteryou cluster try`: a whole cluster on this machine, kept by the process that started it. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cluster/cluster.h"
#include "cli/commands.h"

enum {
    TRY_NODES = 3,
    TRY_NODES_MOST = 9,
    PATH_ROOM = 4096,
    READY_S = 60,
    DOWN_MS = 30000,
    RETRY_NS = 200000000
};

static const char default_directory[] = "/run/afteryou-try";

struct trial {
    struct cluster_plan plan;
    const char *directory;
    char afteryou[PATH_ROOM];
    pid_t first[TRY_NODES_MOST];
};

static int plan_trial(const struct cluster_words *asked, struct trial *trial)
{
    uint64_t count = TRY_NODES;
    if (asked->nodes && !parse_number(asked->nodes, 2, TRY_NODES_MOST, &count))
        return usage_error("cluster", "try takes 2 to %d machines as --nodes, not '%s'",
                           TRY_NODES_MOST, asked->nodes);
    trial->plan = (struct cluster_plan){.name = asked->name ? asked->name : "try",
                                        .token_ms = CLUSTER_TOKEN_MS,
                                        .trial = true,
                                        .count = (unsigned)count};
    for (unsigned at = 0; at < count; at++) {
        struct cluster_node *node = &trial->plan.nodes[at];
        snprintf(node->name, sizeof node->name, "%c", 'a' + (int)at);
        snprintf(node->address, sizeof node->address, "10.99.0.%u", at + 1);
    }
    program_path("afteryou", AFTERYOU_BIN, trial->afteryou, sizeof trial->afteryou);
    return cluster_check_name(trial->plan.name) ? 0 : EXIT_USAGE;
}

static int check_means(void)
{
    char *const corosync[] = {"corosync", "-v", NULL}, *const ip[] = {"ip", "-V", NULL};
    if (geteuid() != 0)
        return usage_error("cluster", "try needs root: it makes network namespaces");
    if (cluster_spawn(corosync, true) != 0)
        return usage_error("cluster", "try needs corosync: apt-get install corosync");
    if (cluster_spawn(ip, true) != 0)
        return usage_error("cluster", "try needs ip(8): apt-get install iproute2");
    return 0;
}

static int write_files(const struct trial *trial)
{
    char etc[PATH_ROOM];
    if (snprintf(etc, sizeof etc, "%s/etc", trial->directory) >= (int)sizeof etc)
        return usage_error("cluster",
                           "the name of the directory is too long: choose a shorter --directory");
    int status = cluster_make_directory(etc);
    if (!status)
        status = cluster_write_key(etc);
    return status ? status : cluster_write_configuration(&trial->plan, etc);
}

/* This process's own network namespace becomes the switch between the machines. */
static int make_switch(void)
{
    char *const add[] = {"ip", "link", "add", "switch", "type", "bridge", NULL};
    char *const up[] = {"ip", "link", "set", "switch", "up", NULL};
    if (unshare(CLONE_NEWNET) != 0)
        return usage_error("cluster", "cannot make a network namespace: %s", strerror(errno));
    return cluster_spawn(add, false) == 0 && cluster_spawn(up, false) == 0
               ? 0
               : usage_error("cluster", "cannot make a bridge; the line of ip(8) above says why");
}

static int start_machines(struct trial *trial)
{
    for (unsigned at = 0; at < trial->plan.count; at++) {
        const struct cluster_node *node = &trial->plan.nodes[at];
        const struct machine machine = {.name = node->name,
                                        .address = node->address,
                                        .directory = trial->directory,
                                        .cluster = trial->plan.name,
                                        .afteryou = trial->afteryou};
        const pid_t first = machine_start(&machine);
        if (first < 0)
            return usage_error("cluster", "cannot start machine %s: %s", node->name,
                               strerror((int)-first));
        trial->first[at] = first;
    }
    return 0;
}

/* Whether one of the signals that end a trial has come; waits for it so long, or for ever (-1). */
static bool ended(long wait_ns)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    const struct timespec limit = {.tv_nsec = wait_ns};
    int signal;
    do
        signal = wait_ns < 0 ? sigwaitinfo(&ends, NULL) : sigtimedwait(&ends, NULL, &limit);
    while (signal < 0 && errno == EINTR);
    return signal > 0;
}

/* A machine is ready when a command has been inside there. -1 if the trial was ended before. */
static int await_ready(const struct trial *trial)
{
    char *const words[] = {(char *)(uintptr_t)trial->afteryou,
                           "run",
                           "ready",
                           "--cluster",
                           (char *)(uintptr_t)trial->plan.name,
                           "-w",
                           "5",
                           "--",
                           "true",
                           NULL};
    const time_t limit = time(NULL) + READY_S;
    for (unsigned at = 0; at < trial->plan.count;) {
        if (machine_run(trial->first[at], words, true) == 0)
            at++;
        else if (ended(RETRY_NS))
            return -1;
        else if (time(NULL) > limit)
            return usage_error(
                "cluster", "machine %s did not come up in %d s; these are the ends of all logs:",
                trial->plan.nodes[at].name, READY_S);
    }
    return 0;
}

static void show_logs(const struct trial *trial)
{
    for (unsigned at = 0; at < trial->plan.count; at++) {
        char agent[PATH_ROOM], corosync[PATH_ROOM];
        snprintf(agent, sizeof agent, "%s/%s/agent.log", trial->directory,
                 trial->plan.nodes[at].name);
        snprintf(corosync, sizeof corosync, "%s/%s/corosync.log", trial->directory,
                 trial->plan.nodes[at].name);
        char *const words[] = {"tail", "-n", "5", agent, corosync, NULL};
        cluster_spawn(words, false);
    }
}

static void print_ways_to_play(const struct trial *trial)
{
    const char *name = trial->plan.name, *last = trial->plan.nodes[trial->plan.count - 1].name;
    char command[PATH_ROOM + 64];
    if (strcmp(trial->directory, default_directory) == 0)
        snprintf(command, sizeof command, "afteryou cluster try");
    else
        snprintf(command, sizeof command, "afteryou cluster try --directory %s", trial->directory);
    printf(
        "A cluster '%s' of %u machines is up: a to %s. From another terminal, for example:\n\n"
        "%s exec a -- afteryou run deploy --cluster %s -c 'hostname; sleep 30' &\n"
        "%s exec b -- afteryou run deploy --cluster %s -- hostname     # waits for a; kill -9 the "
        "sleep to see it "
        "enter\n"
        "%s exec %s -- afteryou status --cluster %s\n"
        "%s cut a      # a's network plug: a is told that it lost what it held; the others go on\n"
        "%s heal a\n"
        "%s exec a -- bash\n\n"
        "Logs: %s/a/agent.log, %s/a/corosync.log, …  Ctrl-C, or %s --down, ends it and removes "
        "it.\n",
        name, trial->plan.count, last, command, name, command, name, command, last, name, command,
        command, command, trial->directory, trial->directory, command);
    fflush(stdout);
}

static void take_down(struct trial *trial)
{
    for (unsigned at = 0; at < trial->plan.count; at++)
        if (trial->first[at] > 0)
            kill(trial->first[at], SIGKILL);
    for (unsigned at = 0; at < trial->plan.count; at++)
        while (trial->first[at] > 0 && waitpid(trial->first[at], NULL, 0) < 0 && errno == EINTR)
            ;
    const int error = trial_remove(trial->directory);
    if (error)
        say("cluster", "cannot remove %s: %s", trial->directory, strerror(-error));
}

static int keep_trial(struct trial *trial)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigaddset(&ends, SIGCHLD); /* the machines' first processes wait for it */
    sigprocmask(SIG_BLOCK, &ends, NULL);
    int status = write_files(trial);
    if (!status)
        status = make_switch();
    if (!status)
        status = start_machines(trial);
    if (!status) {
        printf("%u machines are starting, with Corosync and an agent each…\n", trial->plan.count);
        fflush(stdout);
        status = await_ready(trial);
        if (status > 0)
            show_logs(trial);
    }
    if (!status) {
        print_ways_to_play(trial);
        ended(-1);
    }
    take_down(trial);
    return status < 0 ? 0 : status;
}

static int up(const struct cluster_words *asked, const char *directory)
{
    struct trial trial = {.directory = directory};
    int status = plan_trial(asked, &trial);
    if (!status)
        status = check_means();
    const int lock = status ? -1 : trial_take(directory);
    if (lock < 0)
        return EXIT_USAGE;
    status = keep_trial(&trial);
    close(lock);
    return status;
}

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

static const struct {
    const char *name;
    int (*run)(int count, char **words, const char *directory);
} actions[] = {{"exec", execute}, {"cut", cut}, {"heal", heal}};

const char *cluster_try_at(size_t at)
{
    return at < sizeof actions / sizeof *actions ? actions[at].name : NULL;
}

int cluster_try(int count, char **words, const struct cluster_words *asked)
{
    const char *directory = asked->directory ? asked->directory : default_directory;
    if (asked->down)
        return count ? usage_error("cluster", "--down goes alone: leave out '%s'", words[0])
                     : down(directory);
    if (count == 0)
        return up(asked, directory);
    for (size_t at = 0; cluster_try_at(at); at++)
        if (strcmp(words[0], actions[at].name) == 0)
            return actions[at].run(count - 1, words + 1, directory);
    char there[64];
    return usage_error("cluster", "try has no '%s'; there are %s", words[0],
                       option_words(cluster_try_at, " and ", there, sizeof there));
}
