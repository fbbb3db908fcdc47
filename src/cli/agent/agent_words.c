/* SPDX-License-Identifier: MIT */
/* The words of `afteryou agent`: for the program afteryou-agent, and for `afteryou`, which tells
 * what is wrong with them before it looks for that program. */
#include <grp.h>
#include <stdlib.h>

#include "cli/agent/agent_words.h"
#include "cli/commands.h"
#include "common/clusters.h"
#include "simulate/simulate.h"

static int take_mode(const struct option_word *word)
{
    char *end;
    const unsigned long octal = strtoul(word->value, &end, 8);
    if (end == word->value || *end || octal > 0777 || (octal & 0600) != 0600)
        return OPTION_REFUSED;
    ((struct service_options *)word->asked)->mode = (unsigned)octal;
    return OPTION_TAKEN;
}

static int take_group(const struct option_word *word)
{
    struct service_options *asked = word->asked;
    const struct group *found = getgrnam(word->value);
    uint64_t number;
    if (found)
        asked->group = found->gr_gid;
    else if (parse_number(word->value, 0, UINT32_MAX - 1, &number))
        asked->group = (gid_t)number;
    else
        return OPTION_REFUSED;
    return OPTION_TAKEN;
}

/* Those that ship stand first in the catalogue, before the broken ones. */
static const char *protocol_at(size_t at)
{
    const struct variant *variant = variant_at((unsigned)at);
    return variant && !variant->left_out ? variant->name : NULL;
}

static const struct option_row rows[] = {
    {.names = {"cluster"},
     .argument = "NAME",
     .help = "the cluster",
     .kind = OPTION_TEXT,
     OPTION_AT(struct service_options, cluster)},
    {.names = {"protocol"},
     .argument = "P",
     .help = "the protocol",
     .standard = "carvalho-roucairol",
     .kind = OPTION_WORD,
     OPTION_AT(struct service_options, protocol),
     .list = protocol_at},
    {.names = {"lease"},
     .argument = "SECONDS",
     .help = "how long a machine may go on without word from the majority",
     .standard = "5",
     .kind = OPTION_REAL,
     .most = 3600,
     .takes = "seconds from 0.5 to 3600, as in 2.5",
     OPTION_AT(struct service_options, lease)},
    {.names = {"grace"},
     .argument = "SECONDS",
     .help = "after how long without word a machine counts as dead",
     .standard = "8",
     .kind = OPTION_REAL,
     .most = 7200,
     .takes = "seconds from 0.75 to 7200, as in 2.5",
     OPTION_AT(struct service_options, grace)},
    {.names = {"mode"},
     .argument = "MODE",
     .help = "permissions of the cluster's space on this machine",
     .standard = "0600",
     .kind = OPTION_CALL,
     .take = take_mode,
     .takes = "octal permissions that include 0600"},
    {.names = {"group"},
     .argument = "GROUP",
     .help = "the group of the space",
     .kind = OPTION_CALL,
     .take = take_group,
     .takes = "the name or the number of a group",
     .offer = OFFER_GROUPS},
    {.names = {"metrics"},
     .argument = "WHERE",
     .help = "a path for a socket, or 127.0.0.1:PORT",
     .standard = "'metrics' beside the space",
     .kind = OPTION_TEXT,
     OPTION_AT(struct service_options, metrics),
     .offer = OFFER_FILES},
    {.names = {"state"},
     .argument = "DIRECTORY",
     .help = "where the number of the last change is kept",
     .standard = "/var/lib/afteryou",
     .kind = OPTION_TEXT,
     OPTION_AT(struct service_options, state),
     .offer = OFFER_DIRECTORIES},
    {.letters = "v",
     .names = {"verbose"},
     .help = "log every permission",
     .kind = OPTION_FLAG,
     OPTION_AT(struct service_options, verbose)},
    {.heading = "Links with the other agents",
     .names = {"listen"},
     .argument = "ADDRESS",
     .help = "the numeric address at which they reach this one",
     .standard = "the ring's",
     .kind = OPTION_TEXT,
     OPTION_AT(struct service_options, listen)},
    {.names = {"port"},
     .argument = "PORT",
     .help = "its port; another one for each cluster of a machine",
     .standard = "5447",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = UINT16_MAX,
     OPTION_AT(struct service_options, port)},
    {.names = {"key"},
     .argument = "FILE",
     .help = "who has it may be linked: the same bytes, 32 or more, on all machines",
     .standard = "/etc/corosync/authkey",
     .kind = OPTION_TEXT,
     OPTION_AT(struct service_options, key),
     .offer = OFFER_FILES},
    {.names = {"plain-links"},
     .help = "neither authenticated nor encrypted: for a network that nobody else is on",
     .kind = OPTION_FLAG,
     OPTION_AT(struct service_options, plain_links)},
    {.names = {"no-links"},
     .help = "all messages go by Corosync's ring, which takes longer; the same on all machines",
     .kind = OPTION_FLAG,
     OPTION_AT(struct service_options, no_links)},
    {0},
};

const struct option_table agent_options = {
    .command = "agent",
    .usage =
        "usage: afteryou agent --cluster NAME [OPTION…]\n"
        "Stands on this machine for all the other machines of a cluster: with it, 'afteryou run\n"
        "--cluster NAME' and ay_open(\"cluster:NAME\") keep processes of many machines apart. It\n"
        "runs in the foreground, beside Corosync; one on each machine, with the same options.",
    .remarks = "AFTERYOU_CLUSTERS in the environment: the directory of all clusters, instead of\n"
               "/run/afteryou.\n"
               "Ends at SIGTERM and SIGINT, with 0; 125 if it cannot run.",
    .rows = rows,
    .wrong = EXIT_USAGE,
};

int agent_words_parse(int count, char **words, struct service_options *asked)
{
    struct option_reading reading;
    *asked = (struct service_options){.lease = 5,
                                      .grace = 8,
                                      .mode = 0600,
                                      .group = (gid_t)-1,
                                      .state = "/var/lib/afteryou",
                                      .port = LINK_PORT,
                                      .key = "/etc/corosync/authkey"};
    const int status = options_read(&agent_options, count, words, asked, &reading);
    if (status)
        return status;
    if (reading.count > 0)
        return usage_error("agent", "'%s' is no option; 'afteryou agent --help' lists them",
                           reading.words[0]);
    return 0;
}
