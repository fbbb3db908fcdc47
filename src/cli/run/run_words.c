/* SPDX-License-Identifier: MIT */
/* The words of `afteryou run`: flock(1)'s letters where flock has one. */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/run/run.h"
#include "cli/text.h"

enum { WORD_TAKE = 256, WORD_OF, WORD_ALSO, WORD_WHEN, WORD_PRIORITY, WORD_CLUSTER, WORD_PROTOCOL };

static const struct option options[] = {
    {"shared", no_argument, NULL, 's'},
    {"exclusive", no_argument, NULL, 'x'},
    {"mode", required_argument, NULL, 'm'},
    {"slots", required_argument, NULL, 'k'},
    {"take", required_argument, NULL, WORD_TAKE},
    {"of", required_argument, NULL, WORD_OF},
    {"also", required_argument, NULL, WORD_ALSO},
    {"nonblock", no_argument, NULL, 'n'},
    {"nb", no_argument, NULL, 'n'},
    {"wait", required_argument, NULL, 'w'},
    {"timeout", required_argument, NULL, 'w'},
    {"conflict-exit-code", required_argument, NULL, 'E'},
    {"when", required_argument, NULL, WORD_WHEN},
    {"priority", required_argument, NULL, WORD_PRIORITY},
    {"command", required_argument, NULL, 'c'},
    {"close", no_argument, NULL, 'o'},
    {"no-fork", no_argument, NULL, 'F'},
    {"unlock", no_argument, NULL, 'u'},
    {"space", required_argument, NULL, 'S'},
    {"cluster", required_argument, NULL, WORD_CLUSTER},
    {"protocol", required_argument, NULL, WORD_PROTOCOL},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static void print_help(void)
{
    puts(
        "usage: afteryou run NAME [OPTION…] [--] COMMAND [WORD…]\n"
        "       afteryou run NAME [OPTION…] -c 'SHELL LINE'\n"
        "Runs a command inside the region NAME: after those who came before, and before those who "
        "come after.\n"
        "The region is held until the command and everything it started is gone. If this program "
        "is killed,\n"
        "they are killed with it.\n\n"
        "How it is entered:\n"
        "  -x, -e, --exclusive  alone (the default)\n"
        "  -s, --shared         together with others that are shared: readers\n"
        "  -m, --mode MODE      exclusive, shared, protected-write, concurrent-write, "
        "concurrent-read, null\n"
        "  -k, --slots SLOTS    at most so many inside at once\n"
        "      --take N         with N of the units that --of counts; AFTERYOU_UNITS lists them\n"
        "      --of T           the units are 0 to T-1\n"
        "      --also NAME      this one too, at the same time (up to 6 times)\n"
        "      --when TEST      only when the shell command TEST succeeds; it is run while inside\n"
        "      --priority P     the greater first, in a space by priority\n\n"
        "How long to wait:\n"
        "  -n, --nb, --nonblock            not at all\n"
        "  -w, --wait, --timeout SECONDS   so long at most, as in 2.5\n"
        "  -E, --conflict-exit-code CODE   exit code when not obtained (default: 1), and no word "
        "about it\n"
        "  -q, --quiet          no word when not obtained: the exit code tells\n\n"
        "What is run:\n"
        "  -c, --command LINE   a line for the shell ($SHELL, or /bin/sh)\n"
        "  -o, --close          hold for the command alone, not for what it leaves running\n"
        "  -F, --no-fork        flock(1)'s; nothing changes: signals reach the command anyway\n\n"
        "Where:\n"
        "  -S, --space SPACE    another space than 'default': a name, or a path\n"
        "      --protocol P     of a space that is made now (default: courtesy)\n"
        "      --cluster NAME   a space of many machines, whose agent runs on this one: "
        "afteryou-agent(1)\n\n"
        "  -v, --verbose        tell what happens, and how long it took\n"
        "  -h, --help           this\n"
        "  -V, --version        the version\n\n"
        "The command finds AFTERYOU_FENCE, AFTERYOU_UNITS and AFTERYOU_AFTER_DEATH in its "
        "environment.\n"
        "Exit code: the command's own; 128+n if signal n ended it; 1 (or -E) not obtained; 125 "
        "afteryou failed;\n"
        "126 the command could not be run; 127 it was not found; 123 a cluster's region was lost, "
        "and the command "
        "ended.");
}

int run_parse_wait(const char *command, const char *text, struct run_words *asked)
{
    char *end;
    asked->seconds = strtod(text, &end);
    if (end == text || *end || !(asked->seconds >= 0))
        return usage_error(command, "-w takes seconds, as in 2.5, not '%s'", text);
    if (asked->seconds > INT_MAX / 1000)
        return usage_error(command, "-w takes at most %d seconds, not '%s'", INT_MAX / 1000, text);
    asked->timeout_ms = (int)(asked->seconds * 1000);
    if (asked->timeout_ms == 0 && asked->seconds > 0)
        asked->timeout_ms = 1;
    return 0;
}

static int parse_unsigned(const char *option, const char *text, unsigned most, unsigned *number)
{
    uint64_t parsed;
    if (!parse_number(text, 1, most, &parsed))
        return usage_error("run", "%s takes a number from 1 to %u, not '%s'", option, most, text);
    *number = (unsigned)parsed;
    return 0;
}

static int parse_priority(const char *text, struct run_words *asked)
{
    char *end;
    const long priority = strtol(text, &end, 10);
    if (end == text || *end || priority < INT_MIN || priority > INT_MAX)
        return usage_error("run", "--priority takes a whole number, not '%s'", text);
    asked->spec.priority = (int)priority;
    asked->options.precedence = AY_BY_PRIORITY; /* or it would be ignored, silently */
    return 0;
}

static int parse_code(const char *text, struct run_words *asked)
{
    uint64_t code;
    if (!parse_number(text, 0, 255, &code))
        return usage_error("run", "-E takes an exit code from 0 to 255, not '%s'", text);
    asked->refused = (int)code;
    asked->quiet = true; /* who asks for a code of its own looks at it */
    return 0;
}

static int add_also(const char *name, struct run_words *asked)
{
    size_t count = 0;
    while (asked->also[count])
        count++;
    if (count == AY_ALSO_MOST)
        return usage_error("run", "--also can be said %d times at most", AY_ALSO_MOST);
    asked->also[count] = name;
    asked->spec.also = asked->also;
    return 0;
}

void run_use_shell(char *line, struct run_words *asked)
{
    static char plain_shell[] = "/bin/sh", minus_c[] = "-c";
    static char *words[] = {plain_shell, minus_c, NULL, NULL};
    char *shell = getenv("SHELL");
    if (shell && *shell)
        words[0] = shell;
    words[2] = line;
    asked->command = words;
}

static int use_cluster(const char *name, struct run_words *asked)
{
    static char space[AY_NAME_MOST + 16];
    if (strlen(name) > AY_NAME_MOST)
        return usage_error("run", "the name of the cluster has %zu bytes; at most %d are allowed",
                           strlen(name), AY_NAME_MOST);
    snprintf(space, sizeof space, "cluster:%s", name);
    asked->cluster = name;
    asked->space = space;
    return 0;
}

static int take_mode(const char *text, struct run_words *asked)
{
    if (text_parse_mode(text, &asked->spec.mode))
        return 0;
    return usage_error(
        "run",
        "there is no mode '%s'; there are exclusive, shared, protected-write, concurrent-write, "
        "concurrent-read, null",
        text);
}

/* Options that are one store each. */
static bool take_plain(int option, struct run_words *asked)
{
    switch (option) {
    case 's':
        asked->spec.mode = AY_SHARED;
        return true;
    case 'x':
    case 'e':
        asked->spec.mode = AY_EXCLUSIVE;
        return true;
    case 'o':
        asked->close = true;
        return true;
    case 'v':
        asked->verbose = true;
        return true;
    case 'q':
        asked->quiet = true;
        return true;
    case 'F': /* the wrapper passes on what it gets, so whoever started it reaches the command */
        return true;
    case 'S':
        asked->space = optarg;
        return true;
    case WORD_PROTOCOL:
        asked->options.protocol = optarg;
        return true;
    case WORD_WHEN:
        asked->when = optarg;
        return true;
    default:
        return false;
    }
}

static int take_option(int option, char **words, struct run_words *asked)
{
    switch (option) {
    case 'm':
        return take_mode(optarg, asked);
    case 'k':
        return parse_unsigned("-k", optarg, AY_SLOTS_MOST, &asked->spec.slots);
    case WORD_TAKE:
        return parse_unsigned("--take", optarg, AY_UNITS_MOST, &asked->spec.take);
    case WORD_OF:
        return parse_unsigned("--of", optarg, AY_UNITS_MOST, &asked->spec.of);
    case WORD_ALSO:
        return add_also(optarg, asked);
    case 'w':
        return run_parse_wait("run", optarg, asked);
    case 'E':
        return parse_code(optarg, asked);
    case WORD_PRIORITY:
        return parse_priority(optarg, asked);
    case 'c':
        run_use_shell(optarg, asked);
        return 0;
    case WORD_CLUSTER:
        return use_cluster(optarg, asked);
    case 'u':
        return usage_error(
            "run", "there is nothing to unlock: a region is left when its command has ended "
                   "('afteryou flock -u NUMBER' is for an open descriptor)");
    default:
        return take_plain(option, asked) ? 0 : common_option("run", option, words, print_help);
    }
}

static int check_name(const char *what, const char *name)
{
    if (!*name)
        return usage_error("run", "%s is empty", what);
    if (strlen(name) > AY_NAME_MOST)
        return usage_error("run", "%s has %zu bytes; at most %d are allowed", what, strlen(name),
                           AY_NAME_MOST);
    return 0;
}

/* What no option can see by itself. */
static int check_together(const struct run_words *asked, bool no_wait, bool waits)
{
    if (!asked->spec.name)
        return usage_error("run", "no name given; 'afteryou run --help' tells more");
    int error = check_name("the name", asked->spec.name);
    for (const char *const *also = asked->also; !error && *also; also++)
        error = check_name("a name of --also", *also);
    if (error)
        return error;
    if ((!asked->command || !*asked->command) &&
        asked->spec.name[strspn(asked->spec.name, "0123456789")] == '\0')
        return usage_error(
            "run", "no command given for '%s'; if it is an open descriptor: 'afteryou flock %s'",
            asked->spec.name, asked->spec.name);
    if (!asked->command || !*asked->command)
        return usage_error("run", "no command given for '%s'; 'afteryou run --help' tells more",
                           asked->spec.name);
    if (no_wait && waits)
        return usage_error("run", "-n and -w exclude each other: not to wait, or to wait so long");
    if (asked->cluster &&
        (asked->spec.slots > 1 || asked->spec.take || asked->also[0] || asked->when))
        return usage_error(
            "run", "-k, --take, --also and --when are for one machine: a cluster has none of them");
    if (asked->spec.slots && asked->spec.take)
        return usage_error(
            "run",
            "-k and --take exclude each other: places that are alike, or units with a number");
    if (!asked->spec.take != !asked->spec.of)
        return usage_error("run", "--take N and --of T go together");
    if (asked->spec.take > asked->spec.of)
        return usage_error("run", "--take %u is more than there is: --of %u", asked->spec.take,
                           asked->spec.of);
    return 0;
}

int run_words_parse(int count, char **words, struct run_words *asked)
{
    bool no_wait = false, waits = false, ended = false;
    *asked = (struct run_words){.timeout_ms = -1, .refused = EXIT_REFUSED, .lock = -1};
    optind = 1;
    while (!ended) {
        const int option = getopt_long(count, words, "+:sxem:k:nw:E:c:oFuS:qvhV", options, NULL);
        if (option == -1) {
            ended = optind >= count || asked->spec.name || strcmp(words[optind - 1], "--") == 0;
            if (optind < count && !asked->spec.name)
                asked->spec.name = words[optind++];
            continue;
        }
        no_wait |= option == 'n';
        waits |= option == 'w';
        const int status = option == 'n' ? 0 : take_option(option, words, asked);
        if (status)
            return status;
    }
    asked->quiet &= !asked->verbose;
    if (no_wait)
        asked->timeout_ms = waits ? asked->timeout_ms : 0;
    if (optind < count && asked->command)
        return usage_error("run", "both -c and a command: '%s'", words[optind]);
    if (optind < count)
        asked->command = words + optind;
    return check_together(asked, no_wait, waits);
}
