/* SPDX-License-Identifier: MIT */
/* The playground's commands on stdin, a line each: for the tests, and for whoever makes the levels.
 *
 *   catalogue | open WORDS | state INDEX | make INDEX MOVE | shows INDEX PROPERTY |
 *   hint INDEX PROPERTY | check WORDS
 *
 * Every command is answered by a line of JSON, or by "null" after a line on stderr. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "playground/calls.h"

static bool obey(char *line)
{
    char *rest = line;
    const char *command = strsep(&rest, " ");
    const char *words = rest ? rest : "";
    if (strcmp(command, "catalogue") == 0)
        return playground_catalogue();
    if (strcmp(command, "open") == 0)
        return playground_open(words);
    if (strcmp(command, "check") == 0)
        return playground_check(words, (size_t)2 << 30, NULL);
    char *after;
    const size_t index = strtoul(words, &after, 10);
    after += strspn(after, " ");
    if (strcmp(command, "state") == 0)
        return playground_state(index);
    if (strcmp(command, "make") == 0)
        return playground_make(index, after);
    if (strcmp(command, "shows") == 0)
        return playground_shows(index, after);
    if (strcmp(command, "hint") == 0)
        return playground_hint(index, after);
    fprintf(stderr, "playground: there is no command '%s'\n", command);
    return false;
}

int main(void)
{
    char line[1 << 14];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (!obey(line))
            puts("null");
        fflush(stdout);
    }
    return 0;
}
