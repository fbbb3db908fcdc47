/* SPDX-License-Identifier: MIT */
/* The program afteryou-agent, which is `afteryou agent`: reads its words, and runs the agent of a
 * cluster. A program of its own, so that nothing else of `afteryou` needs Corosync's libraries. */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/service.h"
#include "cli/commands.h"
#include "common/descriptors.h"

enum {
    WORD_CLUSTER = 256,
    WORD_PROTOCOL,
    WORD_LEASE,
    WORD_GRACE,
    WORD_MODE,
    WORD_GROUP,
    WORD_METRICS,
    WORD_STATE
};

static const struct option options[] = {
    {"cluster", required_argument, NULL, WORD_CLUSTER},
    {"protocol", required_argument, NULL, WORD_PROTOCOL},
    {"lease", required_argument, NULL, WORD_LEASE},
    {"grace", required_argument, NULL, WORD_GRACE},
    {"mode", required_argument, NULL, WORD_MODE},
    {"group", required_argument, NULL, WORD_GROUP},
    {"metrics", required_argument, NULL, WORD_METRICS},
    {"state", required_argument, NULL, WORD_STATE},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static void print_help(void)
{
    puts("usage: afteryou agent --cluster NAME [OPTION…]\n"
         "Stands on this machine for all the other machines of a cluster: with it, 'afteryou run "
         "--cluster NAME' and\n"
         "ay_open(\"cluster:NAME\") keep processes of many machines apart. Runs in the foreground, "
         "beside Corosync;\n"
         "one on each machine, with the same options.\n\n"
         "      --cluster NAME     the cluster\n"
         "      --protocol P       carvalho-roucairol (the default), ricart-agrawala, lamport, "
         "token\n"
         "      --lease SECONDS    how long a machine may go on without word from the majority "
         "(default: 5)\n"
         "      --grace SECONDS    after how long without word a machine counts as dead (default: "
         "8)\n"
         "      --mode MODE        permissions of the cluster's space on this machine (default: "
         "0600)\n"
         "      --group GROUP      its group\n"
         "      --metrics WHERE    a path for a socket, or 127.0.0.1:PORT (default: 'metrics' "
         "beside the space)\n"
         "      --state DIRECTORY  where the number of the last change is kept (default: "
         "/var/lib/afteryou)\n"
         "  -v, --verbose          log every permission\n"
         "  -h, --help             this\n"
         "  -V, --version          the version\n\n"
         "AFTERYOU_CLUSTERS in the environment: the directory of all clusters, instead of "
         "/run/afteryou.\n"
         "Ends at SIGTERM and SIGINT, with 0; 125 if it cannot run.");
}

static int take_seconds(const char *option, const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    if (end == text || *end || !(*seconds > 0))
        return usage_error("agent", "%s takes seconds, as in 2.5, not '%s'", option, text);
    return 0;
}

static int take_mode(const char *text, unsigned *mode)
{
    char *end;
    const unsigned long octal = strtoul(text, &end, 8);
    if (end == text || *end || octal > 0777 || (octal & 0600) != 0600)
        return usage_error("agent", "--mode takes octal permissions that include 0600, not '%s'",
                           text);
    *mode = (unsigned)octal;
    return 0;
}

static int take_group(const char *text, gid_t *group)
{
    const struct group *found = getgrnam(text);
    uint64_t number;
    if (found)
        *group = found->gr_gid;
    else if (parse_number(text, 0, UINT32_MAX - 1, &number))
        *group = (gid_t)number;
    else
        return usage_error("agent", "there is no group '%s'", text);
    return 0;
}

static int take_option(int option, char **words, struct service_options *asked)
{
    switch (option) {
    case WORD_CLUSTER:
        asked->cluster = optarg;
        return 0;
    case WORD_PROTOCOL:
        asked->protocol = optarg;
        return 0;
    case WORD_LEASE:
        return take_seconds("--lease", optarg, &asked->lease);
    case WORD_GRACE:
        return take_seconds("--grace", optarg, &asked->grace);
    case WORD_MODE:
        return take_mode(optarg, &asked->mode);
    case WORD_GROUP:
        return take_group(optarg, &asked->group);
    case WORD_METRICS:
        asked->metrics = optarg;
        return 0;
    case WORD_STATE:
        asked->state = optarg;
        return 0;
    case 'v':
        asked->verbose = true;
        return 0;
    default:
        return common_option("agent", option, words, print_help);
    }
}

int main(int count, char **words)
{
    if (!descriptors_fill_standard())
        return EXIT_USAGE; /* and no word: there may be no stderr */
    struct service_options asked = {
        .lease = 5, .grace = 8, .mode = 0600, .group = (gid_t)-1, .state = "/var/lib/afteryou"};
    optind = 1;
    for (int option; (option = getopt_long(count, words, ":vhV", options, NULL)) != -1;) {
        const int status = take_option(option, words, &asked);
        if (status)
            return status < 0 ? 0 : status;
    }
    if (optind < count)
        return usage_error("agent", "what is '%s'? 'afteryou agent --help' tells more",
                           words[optind]);
    const char *trouble = service_options_trouble(&asked);
    if (trouble)
        return usage_error("agent", "%s", trouble);
    return service_run(&asked);
}
