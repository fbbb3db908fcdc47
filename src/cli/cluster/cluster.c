/* SPDX-License-Identifier: MIT */
/* `afteryou cluster`: its words. `init` prepares machines, `try` makes a cluster of namespaces on
 * this one. */
#include <stdio.h>
#include <string.h>

#include "cli/cluster/cluster.h"
#include "cli/commands.h"

enum { TOKEN_LEAST = 100, TOKEN_MOST = 60000, FOR_INIT = 1, FOR_TRY = 2 };

static const struct option_row rows[] = {
    {.names = {"nodes"},
     .argument = "LIST",
     .help = "init: the machines, as in a=10.0.0.1,b=10.0.0.2,c=10.0.0.3; try: how many, 3 if not "
             "given",
     .kind = OPTION_TEXT,
     OPTION_AT(struct cluster_words, nodes)},
    {.names = {"name"},
     .argument = "NAME",
     .help = "the name of the cluster (default: afteryou; try: try)",
     .kind = OPTION_TEXT,
     OPTION_AT(struct cluster_words, name)},
    {.names = {"directory"},
     .argument = "DIR",
     .help = "init: where to write (default: .); try: where it lives (default: /run/afteryou-try)",
     .kind = OPTION_TEXT,
     OPTION_AT(struct cluster_words, directory),
     .offer = OFFER_DIRECTORIES},
    {.names = {"token"},
     .argument = "MS",
     .help = "how long Corosync waits for a silent machine, in milliseconds",
     .standard = "1000",
     .kind = OPTION_NUMBER,
     .least = TOKEN_LEAST,
     .most = TOKEN_MOST,
     .takes = "milliseconds from 100 to 60000",
     OPTION_AT(struct cluster_words, token_ms)},
    {.names = {"force"},
     .help = "init: write the files anew, with a new key",
     .kind = OPTION_FLAG,
     OPTION_AT(struct cluster_words, force),
     .only = FOR_INIT},
    {.names = {"bare"},
     .help = "try: machines on which neither Corosync nor an agent is started",
     .kind = OPTION_FLAG,
     OPTION_AT(struct cluster_words, bare),
     .only = FOR_TRY},
    {.names = {"down"},
     .help = "try: end it and remove all of it",
     .kind = OPTION_FLAG,
     OPTION_AT(struct cluster_words, down),
     .only = FOR_TRY},
    {0},
};

static const char *action_at(size_t at)
{
    static const char *const names[] = {"init", "try"};
    return at < sizeof names / sizeof *names ? names[at] : NULL;
}

/* Those of the trial as it is made without --nodes. */
static const char *machine_at(size_t at)
{
    static const char *const names[] = {"a", "b", "c"};
    return at < sizeof names / sizeof *names ? names[at] : NULL;
}

static const struct option_place places[] = {
    {.from = 1, .to = 1, .list = action_at},
    {.from = 2, .to = 2, .after = "try", .list = cluster_try_at},
    {.from = 3, .after = "try", .list = machine_at}};

const struct option_table cluster_options = {
    .command = "cluster",
    .usage =
        "usage: afteryou cluster init --nodes NAME=ADDRESS,… [OPTION…]  write Corosync's files,\n"
        "                                                               say how to install them\n"
        "       afteryou cluster try [--nodes N] [--name NAME]          make a cluster, until\n"
        "                                                               Ctrl-C (root)\n"
        "       afteryou cluster try exec NODE [--] COMMAND…            run a command there\n"
        "       afteryou cluster try cut NODE…                          pull their network plugs\n"
        "       afteryou cluster try heal NODE…                         and put them back\n"
        "       afteryou cluster try off NODE…                          as a power cut does\n"
        "       afteryou cluster try on NODE…                           and start them again\n"
        "       afteryou cluster try --down                             end it, from anywhere",
    .rows = rows,
    .order = OPTIONS_FIRST,
    .wrong = EXIT_USAGE,
    .places = places,
    .places_count = 3,
    .command_after = 3,
};

/* The options that stand after the action, and that all of them go with it. As options_read(). */
static int read_more(int count, char **words, enum option_order order, unsigned purpose,
                     struct cluster_words *asked, struct option_reading *reading)
{
    struct option_table table = cluster_options;
    table.order = order;
    const uint64_t before = reading->given;
    const char *action = words[0];
    const int status = options_read(&table, count, words, asked, reading);
    if (status)
        return status;
    reading->given |= before;
    const char *beyond = option_beyond(&table, reading, purpose);
    if (beyond)
        return usage_error("cluster", "--%s does not go with '%s'", beyond, action);
    return asked->directory && !*asked->directory
               ? usage_error("cluster", "--directory is empty: name a directory")
               : 0;
}

static int init(int count, char **words, struct cluster_words *asked,
                struct option_reading *reading)
{
    const int status = read_more(count, words, OPTIONS_ANYWHERE, FOR_INIT, asked, reading);
    if (status)
        return status;
    if (reading->count > 0)
        return usage_error("cluster", "init takes options only, not '%s'", reading->words[0]);
    return cluster_init(asked);
}

/* Its options stand before its words: those of the command to run are the command's. */
static int try_it(int count, char **words, struct cluster_words *asked,
                  struct option_reading *reading)
{
    const int status = read_more(count, words, OPTIONS_FIRST, FOR_TRY, asked, reading);
    return status ? status : cluster_try(reading->count, reading->words, asked);
}

int command_cluster(int count, char **words)
{
    struct cluster_words asked = {0};
    struct option_reading reading;
    int status = options_read(&cluster_options, count, words, &asked, &reading);
    const char *action = !status && reading.count > 0 ? reading.words[0] : NULL;
    if (status)
        ;
    else if (!action)
        status =
            usage_error("cluster", "say 'init' or 'try'; 'afteryou cluster --help' tells more");
    else if (strcmp(action, "init") == 0)
        status = init(reading.count, reading.words, &asked, &reading);
    else if (strcmp(action, "try") == 0)
        status = try_it(reading.count, reading.words, &asked, &reading);
    else
        status = usage_error("cluster", "there is no '%s'; there are init and try", action);
    return status < 0 ? 0 : status;
}
