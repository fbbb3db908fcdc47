/* SPDX-License-Identifier: MIT */
/* `afteryou cluster init`: writes what Corosync needs on each machine, and says how to put it
 * there. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cluster/cluster.h"
#include "cli/commands.h"
#include "common/clusters.h"

static void warn_of_quorum(const struct cluster_plan *plan)
{
    if (plan->count % 2 != 0)
        return;
    const unsigned majority = plan->count / 2 + 1, spare = plan->count - majority;
    say("cluster",
        "warning: the majority of %u machines is %u. The loss of %u stops all, and so does a "
        "cut into halves. %u machines survive the loss of %u",
        plan->count, majority, spare + 1, plan->count + 1, spare + 1);
}

static void print_commands(const struct cluster_plan *plan, const char *directory)
{
    printf("Written: %s/corosync.conf and %s/authkey (the key to the cluster: keep it secret).\n"
           "Put both on every machine:\n\n",
           directory, directory);
    for (unsigned at = 0; at < plan->count; at++) {
        const char *address = plan->nodes[at].address;
        const bool bracketed = strchr(address, ':');
        printf(
            "ssh root@%s apt-get install -y afteryou-cluster\n"
            "scp -p %s/corosync.conf %s/authkey root@%s%s%s:/etc/corosync/\n"
            "ssh root@%s 'chown root: /etc/corosync/authkey && chmod 0400 /etc/corosync/authkey && "
            "systemctl enable corosync afteryou-agent@%s && systemctl restart corosync "
            "afteryou-agent@%s'\n\n",
            address, directory, directory, bracketed ? "[" : "", address, bracketed ? "]" : "",
            address, plan->name, plan->name);
    }
    printf("They must reach each other by UDP at port 5405 (Corosync) and by TCP at port %d (the "
           "agents).\n"
           "Then, on any of them:\n\n"
           "corosync-quorumtool\n"
           "afteryou run deploy --cluster %s -- hostname\n",
           LINK_PORT, plan->name);
}

int cluster_init(const struct cluster_words *asked)
{
    struct cluster_plan plan = {.name = asked->name ? asked->name : "afteryou",
                                .token_ms = asked->token_ms ? asked->token_ms : CLUSTER_TOKEN_MS};
    const char *directory = asked->directory ? asked->directory : ".";
    if (!asked->nodes)
        return usage_error("cluster", "init needs --nodes NAME=ADDRESS,NAME=ADDRESS,…");
    if (!cluster_check_name(plan.name) || !cluster_parse_nodes(asked->nodes, &plan))
        return EXIT_USAGE;
    warn_of_quorum(&plan);
    int status = cluster_make_directory(directory);
    if (!status && !asked->force)
        status = cluster_check_absent(directory);
    if (!status)
        status = cluster_write_key(directory);
    if (!status)
        status = cluster_write_configuration(&plan, directory);
    if (!status)
        print_commands(&plan, directory);
    return status;
}
