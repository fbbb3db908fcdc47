/* SPDX-License-Identifier: MIT */
/* `afteryou cluster`: its words. `init` prepares machines, `try` makes a cluster of namespaces on
 * this one. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/cluster/cluster.h"
#include "cli/commands.h"

enum {
    WORD_NODES = 256,
    WORD_NAME,
    WORD_DIRECTORY,
    WORD_TOKEN,
    WORD_FORCE,
    WORD_DOWN,
    TOKEN_LEAST = 100,
    TOKEN_MOST = 60000
};

static const struct option options[] = {
    {"nodes", required_argument, NULL, WORD_NODES},
    {"name", required_argument, NULL, WORD_NAME},
    {"directory", required_argument, NULL, WORD_DIRECTORY},
    {"token", required_argument, NULL, WORD_TOKEN},
    {"force", no_argument, NULL, WORD_FORCE},
    {"down", no_argument, NULL, WORD_DOWN},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static void print_help(void)
{
    puts(
        "usage: afteryou cluster init --nodes NAME=ADDRESS,… [OPTION…]   write Corosync's files, "
        "say how to install "
        "them\n"
        "       afteryou cluster try [--nodes N] [--name NAME]           a cluster on this "
        "machine, until Ctrl-C "
        "(root)\n"
        "       afteryou cluster try exec NODE [--] COMMAND…             run a command on a "
        "machine of it\n"
        "       afteryou cluster try cut NODE…                           pull their network plugs\n"
        "       afteryou cluster try heal NODE…                          and put them back\n"
        "       afteryou cluster try --down                              end it, from anywhere\n\n"
        "  --nodes LIST       init: the machines, a=10.0.0.1,b=10.0.0.2,c=10.0.0.3; try: how many "
        "(default: 3)\n"
        "  --name NAME        of the cluster (default: afteryou; try: try)\n"
        "  --directory DIR    init: where to write (default: .); try: where it lives (default: "
        "/run/afteryou-try)\n"
        "  --token MS         init: how long Corosync waits for a silent machine (default: 1000)\n"
        "  --force            init: write the files anew, with a new key\n"
        "  --down             try: end it and remove all of it\n"
        "  -h, --help         this\n"
        "  -V, --version      the version");
}

static int take_token(struct cluster_words *asked)
{
    uint64_t token;
    if (!parse_number(optarg, TOKEN_LEAST, TOKEN_MOST, &token))
        return usage_error("cluster", "--token takes milliseconds from %d to %d, not '%s'",
                           TOKEN_LEAST, TOKEN_MOST, optarg);
    asked->token_ms = (unsigned)token;
    return 0;
}

static int take_option(int option, char **words, struct cluster_words *asked)
{
    switch (option) {
    case WORD_NODES:
        asked->nodes = optarg;
        return 0;
    case WORD_NAME:
        asked->name = optarg;
        return 0;
    case WORD_DIRECTORY:
        asked->directory = optarg;
        return *optarg ? 0 : usage_error("cluster", "--directory is empty");
    case WORD_TOKEN:
        return take_token(asked);
    case WORD_FORCE:
        asked->force = true;
        return 0;
    case WORD_DOWN:
        asked->down = true;
        return 0;
    default:
        return common_option("cluster", option, words, print_help);
    }
}

/* 0 to go on, -1 if all is said and done, or EXIT_USAGE; optind is then at the first word that is
 * no option. */
static int parse(int count, char **words, const char *letters, struct cluster_words *asked)
{
    optind = 0; /* anew, also for getopt_long()'s own order */
    for (int option; (option = getopt_long(count, words, letters, options, NULL)) != -1;) {
        const int status = take_option(option, words, asked);
        if (status)
            return status;
    }
    return 0;
}

static int init(int count, char **words, struct cluster_words *asked)
{
    const int status = parse(count, words, ":hV", asked);
    if (status)
        return status;
    if (optind < count)
        return usage_error("cluster", "init takes options only, not '%s'", words[optind]);
    if (asked->down)
        return usage_error("cluster", "--down goes with 'try'");
    return cluster_init(asked);
}

/* Its options stand before its words: those of the command to run are the command's. */
static int try_it(int count, char **words, struct cluster_words *asked)
{
    const int status = parse(count, words, "+:hV", asked);
    if (status)
        return status;
    if (asked->force || asked->token_ms)
        return usage_error("cluster", "%s goes with 'init'", asked->force ? "--force" : "--token");
    return cluster_try(count - optind, words + optind, asked);
}

int command_cluster(int count, char **words)
{
    struct cluster_words asked = {0};
    int status = parse(count, words, "+:hV", &asked);
    if (!status) {
        const int at = optind;
        if (at >= count)
            status = usage_error("cluster",
                                 "what? 'init' or 'try'; 'afteryou cluster --help' tells more");
        else if (strcmp(words[at], "init") == 0)
            status = init(count - at, words + at, &asked);
        else if (strcmp(words[at], "try") == 0)
            status = try_it(count - at, words + at, &asked);
        else
            status = usage_error("cluster", "there is no '%s'; there are init, try", words[at]);
    }
    if (fflush(stdout) != 0)
        return usage_error("cluster", "cannot write: %s", strerror(errno));
    return status < 0 ? 0 : status;
}
