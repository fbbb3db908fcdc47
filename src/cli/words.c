/* SPDX-License-Identifier: MIT */
/* What every subcommand needs to read its words and to complain about them. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "common/printable.h"

/* One write(2), and no more than a pipe takes at once: lines of several processes do not mix. */
static void say_arguments(const char *command, const char *format, va_list arguments)
{
    char line[PIPE_BUF];
    size_t length =
        (size_t)snprintf(line, sizeof line, "afteryou%s%s: ", *command ? " " : "", command);
    vsnprintf(line + length, sizeof line - length - 1, format, arguments);
    make_printable(line);
    length = strlen(line);
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, length) < 0)
        return; /* nobody is there to be told */
}

void say(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_arguments(command, format, arguments);
    va_end(arguments);
}

int usage_error(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_arguments(command, format, arguments);
    va_end(arguments);
    return EXIT_USAGE;
}

static bool parse_scaled(const char *text, bool scaled, uint64_t least, uint64_t most,
                         uint64_t *number)
{
    if (!isdigit((unsigned char)*text))
        return false;
    char *end;
    errno = 0;
    const unsigned long long plain = strtoull(text, &end, 10);
    if (errno)
        return false;
    unsigned shift = 0;
    if (scaled && *end) {
        shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
        if (!shift)
            return false;
        end++;
    }
    if (*end || plain > UINT64_MAX >> shift)
        return false;
    *number = (uint64_t)plain << shift;
    return *number >= least && *number <= most;
}

bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
    return parse_scaled(text, false, least, most, number);
}

bool parse_size(const char *text, uint64_t least, uint64_t most, uint64_t *bytes)
{
    return parse_scaled(text, true, least, most, bytes);
}
