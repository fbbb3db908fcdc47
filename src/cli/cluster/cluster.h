/* SPDX-License-Identifier: MIT */
/* What the files of `afteryou cluster` share: the plan of a cluster, the files made from it, and
 * the machines of a trial. */
#ifndef AFTERYOU_CLI_CLUSTER_CLUSTER_H
#define AFTERYOU_CLI_CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    CLUSTER_NODES_MOST = 32,
    PLAN_NAME_MOST = 63,
    CLUSTER_ADDRESS_MOST = 255,
    CLUSTER_TOKEN_MS = 1000
};

struct cluster_node {
    char name[PLAN_NAME_MOST + 1], address[CLUSTER_ADDRESS_MOST + 1];
};

struct cluster_plan {
    const char *name; /* of the cluster: Corosync's cluster_name, and what --cluster is given */
    unsigned token_ms;
    /* all machines are one: Corosync must not take real-time priority, and logs to a file */
    bool trial;
    unsigned count;
    struct cluster_node nodes[CLUSTER_NODES_MOST];
};

/* What the command line asked for. */
struct cluster_words {
    const char *nodes, *name, *directory;
    unsigned token_ms;
    bool force, down, bare;
};

/* Each says on stderr what is wrong, and returns false. */
bool cluster_check_name(const char *name);
/* "a=10.0.0.1,b=10.0.0.2", checked: names and addresses are well formed and different. */
bool cluster_parse_nodes(const char *list, struct cluster_plan *plan);

/* corosync.conf and authkey below an existing directory: 0, or EXIT_USAGE after saying what went
 * wrong. */
int cluster_write_configuration(const struct cluster_plan *plan, const char *directory);
int cluster_write_key(const char *directory);
/* That neither of the two is there yet. */
int cluster_check_absent(const char *directory);
/* Makes the directory and its parents: 0 or EXIT_USAGE. */
int cluster_make_directory(const char *directory);

/* ---- the machines of a trial ---- */

/* One machine: processes in network, mount, PID and UTS namespaces of their own. All of it ends
 * with its first process, and that with its parent. */
struct machine {
    const char *name, *address;
    const char *directory; /* of the trial */
    const char *cluster;
    const char *afteryou; /* this command's own file */
    bool bare;            /* nothing runs on it by itself */
};

/* Its first process, once it is furnished and plugged in; or a negative errno. It starts Corosync
 * and the agent, unless the machine is bare, and starts them again when they end. */
pid_t machine_start(const struct machine *machine);
/* Becomes a process of the machine whose first process that is, and runs a command there: its exit
 * code, or EXIT_USAGE after saying why not. */
int machine_run(pid_t first, char *const *words, bool quiet);
/* Runs a command here and waits for it: its exit code; 127 if there is none. */
int cluster_spawn(char *const *words, bool quiet);

/* Makes a trial, and keeps it until it is told to end. */
int trial_up(const struct cluster_words *asked, const char *directory);

/* ---- the directory of a trial ---- */

#define TRIAL_DIRECTORY "/run/afteryou-try" /* unless --directory says otherwise */

/* Takes the directory for a trial: the lock's descriptor, or -1 after saying why not. */
int trial_take(const char *directory);
/* The process that keeps the trial, or a negative errno: -ESRCH if there is none. */
pid_t trial_keeper(const char *directory);
int trial_note_machine(const char *directory, const char *name, pid_t first);
/* The first process of a machine of the trial, or a negative errno. */
pid_t trial_machine(const char *directory, const char *name);
/* Removes it and all below it; 0 or a negative errno. */
int trial_remove(const char *directory);

int cluster_init(const struct cluster_words *asked);
int cluster_try(int count, char **words, const struct cluster_words *asked);
/* What there is to be done with a trial; NULL behind the last. */
const char *cluster_try_at(size_t at);

#endif
