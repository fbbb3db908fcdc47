/* SPDX-License-Identifier: MIT */
/* The program afteryou-tools: all of the command `afteryou`, which hands over to it (start.c).
 * Finds the subcommand. */
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "common/descriptors.h"

static const struct option_command commands[] = {
    {"run", command_run, "run a command inside a region", &run_options},
    {"flock", command_flock, "flock(1), word for word, with a queue", &flock_options},
    {"status", command_status, "who is inside, who waits for whom", &status_options},
    {"spaces", command_spaces, "list, create, show, remove, repair spaces", &spaces_options},
    {"cancel", command_cancel, "end the wait of a process", &cancel_options},
    {"agent", command_agent, "stand on this machine for the others of a cluster", &agent_options},
    {"check", command_check, "try every interleaving of a protocol, every death", &check_options},
    {"simulate", command_simulate, "messages and delays per passage, with faults",
     &simulate_options},
    {"audit", command_audit, "judge a recorded run", &audit_options},
    {"cluster", command_cluster, "set up many machines, or try them on this one", &cluster_options},
};

static void print_usage(FILE *out)
{
    fputs("usage: afteryou COMMAND [OPTION…]\n\nCommands:\n", out);
    for (size_t at = 0; at < sizeof commands / sizeof *commands; at++)
        fprintf(out, "  %-10s %s\n", commands[at].name, commands[at].summary);
    fputs("\n'afteryou COMMAND --help' tells more. See also afteryou(1).\n", out);
}

/* The exit code; `command` is who speaks of it, if there is one. */
static int obey(int count, char **words, const char **command)
{
    /* a link of that name, first in the PATH of old scripts */
    if (count > 0 && strcmp(basename(words[0]), "flock") == 0) {
        *command = "flock";
        return command_flock(count, words);
    }
    if (count < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(words[1], "--help") == 0 || strcmp(words[1], "help") == 0 ||
        strcmp(words[1], "-h") == 0) {
        print_usage(stdout);
        return 0;
    }
    if (strcmp(words[1], "--version") == 0 || strcmp(words[1], "-V") == 0) {
        puts("afteryou " AFTERYOU_VERSION);
        return 0;
    }
    if (strcmp(words[1], "--options") == 0) {
        options_print_all(commands, sizeof commands / sizeof *commands);
        return 0;
    }
    for (size_t at = 0; at < sizeof commands / sizeof *commands; at++)
        if (strcmp(words[1], commands[at].name) == 0) {
            *command = commands[at].name;
            return commands[at].run(count - 1, words + 1);
        }
    return usage_error("", "there is no command '%s'; 'afteryou --help' lists them", words[1]);
}

int main(int count, char **words)
{
    if (!descriptors_fill_standard())
        return EXIT_USAGE; /* and no word: there may be no stderr */
    /* for the widths of characters; whatever LANG says, our own words are in UTF-8 */
    setlocale(LC_CTYPE, "C.UTF-8");
    /* Room for the longest of our lists: of a write that fails in between, stdio does not keep the
     * reason (output.c). */
    static char printed[64 * 1024];
    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, printed, _IOFBF, sizeof printed);
    const char *command = "";
    const int status = obey(count, words, &command);
    return output_end(command, status);
}
