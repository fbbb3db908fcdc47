/* SPDX-License-Identifier: MIT */
/* What every subcommand needs to read its words and to complain about them. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
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

/* Whether the letter that getopt_long() stumbled over is in this word, one of letters. */
static bool is_in_letters(const char *word, int letter)
{
    return word && word[0] == '-' && word[1] != '-' && strchr(word, letter);
}

int option_error(const char *command, int result, char **words)
{
    const char *word = words[optind - 1];
    if (result == ':')
        return usage_error(command, "%s wants a value", word);
    /* While letters of the same word are left, it is not behind us yet. */
    if (optopt && optopt < 256 &&
        (is_in_letters(word, optopt) || is_in_letters(words[optind], optopt)))
        return usage_error(command, "there is no option -%c; 'afteryou %s --help' lists them",
                           optopt, command);
    if (optopt)
        return usage_error(command, "%.*s takes no value, but got '%s'", (int)strcspn(word, "="),
                           word, strchrnul(word, '=') + 1);
    return usage_error(
        command,
        "there is no option %s, or more than one that begins so; 'afteryou %s --help' lists them",
        word, command);
}

int common_option(const char *command, int option, char **words, void (*print_help)(void))
{
    if (option == 'h')
        print_help();
    else if (option == 'V')
        puts("afteryou " AFTERYOU_VERSION);
    else
        return option_error(command, option, words);
    return -1;
}
