/* SPDX-License-Identifier: MIT */
/* `afteryou cluster try`: a whole cluster on this machine, kept by the process that started it.
 * What is done with it from outside is in cluster_play.c. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cluster/cluster.h"
#include "cli/commands.h"

enum { TRY_NODES = 3, TRY_NODES_MOST = 9, PATH_ROOM = 4096, READY_S = 60, RETRY_NS = 200000000 };

struct trial {
    struct cluster_plan plan;
    const char *directory;
    char afteryou[PATH_ROOM];
    bool bare;
    pid_t first[TRY_NODES_MOST]; /* 0: none */
};

static int plan_trial(const struct cluster_words *asked, struct trial *trial)
{
    uint64_t count = TRY_NODES;
    if (asked->nodes && !parse_number(asked->nodes, 2, TRY_NODES_MOST, &count))
        return usage_error("cluster", "try takes 2 to %d machines as --nodes, not '%s'",
                           TRY_NODES_MOST, asked->nodes);
    trial->plan =
        (struct cluster_plan){.name = asked->name ? asked->name : "try",
                              .token_ms = asked->token_ms ? asked->token_ms : CLUSTER_TOKEN_MS,
                              .trial = true,
                              .count = (unsigned)count};
    for (unsigned at = 0; at < count; at++) {
        struct cluster_node *node = &trial->plan.nodes[at];
        snprintf(node->name, sizeof node->name, "%c", 'a' + (int)at);
        snprintf(node->address, sizeof node->address, "10.99.0.%u", at + 1);
    }
    trial->bare = asked->bare;
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

/* Those that do not run. */
static int start_machines(struct trial *trial)
{
    for (unsigned at = 0; at < trial->plan.count; at++) {
        if (trial->first[at] > 0 && waitpid(trial->first[at], NULL, WNOHANG) == 0)
            continue;
        trial->first[at] = 0;
        const struct cluster_node *node = &trial->plan.nodes[at];
        const struct machine machine = {.name = node->name,
                                        .address = node->address,
                                        .directory = trial->directory,
                                        .cluster = trial->plan.name,
                                        .afteryou = trial->afteryou,
                                        .bare = trial->bare};
        const pid_t first = machine_start(&machine);
        if (first < 0)
            return usage_error("cluster", "cannot start machine %s: %s", node->name,
                               strerror((int)-first));
        trial->first[at] = first;
    }
    return 0;
}

/* Whether one of the signals that end a trial comes within so long. */
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
        signal = sigtimedwait(&ends, NULL, &limit);
    while (signal < 0 && errno == EINTR);
    return signal > 0;
}

/* Until one of the signals that end a trial comes; `try on` sends SIGUSR1. */
static void keep_until_ended(struct trial *trial)
{
    sigset_t all;
    sigemptyset(&all);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGTERM);
    sigaddset(&all, SIGHUP);
    sigaddset(&all, SIGUSR1);
    for (;;) {
        const int signal = sigwaitinfo(&all, NULL);
        if (signal == SIGUSR1)
            start_machines(trial);
        else if (signal > 0)
            return;
    }
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
    if (strcmp(trial->directory, TRIAL_DIRECTORY) == 0)
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
    output_flush();
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
    sigaddset(&ends, SIGUSR1);
    sigaddset(&ends, SIGCHLD); /* the machines' first processes wait for it */
    sigprocmask(SIG_BLOCK, &ends, NULL);
    int status = write_files(trial);
    if (!status)
        status = make_switch();
    if (!status)
        status = start_machines(trial);
    if (!status && trial->bare) {
        printf("%u bare machines are up. Ctrl-C ends them\n", trial->plan.count);
        output_flush();
        keep_until_ended(trial);
    }
    if (!status && !trial->bare) {
        printf("%u machines are starting, with Corosync and an agent each…\n", trial->plan.count);
        output_flush();
        status = await_ready(trial);
        if (status > 0)
            show_logs(trial);
    }
    if (!status && !trial->bare) {
        print_ways_to_play(trial);
        keep_until_ended(trial);
    }
    take_down(trial);
    return status < 0 ? 0 : status;
}

int trial_up(const struct cluster_words *asked, const char *directory)
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
