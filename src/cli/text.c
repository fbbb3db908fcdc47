/* SPDX-License-Identifier: MIT */
/* Words and numbers as people read them. */
#include "cli/text.h"

#include <string.h>
#include <strings.h>
#include <time.h>
#include <wchar.h>

#include "common/printable.h"

static const struct {
    const char *name, *letters;
} modes[] = {{"exclusive", "EX"},        {"shared", "PR"},          {"protected-write", "PW"},
             {"concurrent-write", "CW"}, {"concurrent-read", "CR"}, {"null", "NL"}};

static const char *const precedences[] = {"in-order", "writers-first", "readers-first",
                                          "by-priority"};

static int64_t now_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t text_now(void)
{
    return now_of(CLOCK_MONOTONIC);
}

void text_duration(int64_t ns, char *text, size_t room)
{
    if (ns >= 0 && ns < 10000000000)
        snprintf(text, room, "%.3f s", (double)ns / 1e9);
    else
        text_seconds(ns, text, room);
}

void text_seconds(int64_t ns, char *text, size_t room)
{
    const long long seconds = ns < 0 ? 0 : ns / 1000000000;
    if (seconds < 60)
        snprintf(text, room, "%lld s", seconds);
    else if (seconds < 3600)
        snprintf(text, room, "%lld min %lld s", seconds / 60, seconds % 60);
    else if (seconds < 86400)
        snprintf(text, room, "%lld h %lld min", seconds / 3600, seconds % 3600 / 60);
    else
        snprintf(text, room, "%lld d %lld h", seconds / 86400, seconds % 86400 / 3600);
}

/* By the wall clock as it now stands. */
static int64_t real_time(int64_t ns)
{
    return now_of(CLOCK_REALTIME) - (text_now() - ns);
}

void text_moment(int64_t ns, char *text, size_t room)
{
    const time_t now = time(NULL), then = (time_t)(real_time(ns) / 1000000000);
    struct tm today, moment;
    localtime_r(&now, &today);
    localtime_r(&then, &moment);
    const bool same_day = today.tm_yday == moment.tm_yday && today.tm_year == moment.tm_year;
    strftime(text, room, same_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &moment);
}

void text_timestamp(int64_t ns, char *text, size_t room)
{
    const int64_t real = real_time(ns);
    const time_t then = (time_t)(real / 1000000000);
    struct tm moment;
    char seconds[32];
    gmtime_r(&then, &moment);
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &moment);
    snprintf(text, room, "%s.%03dZ", seconds, (int)(real / 1000000 % 1000));
}

/* How many columns of a terminal a printable character takes. */
static size_t width_of(uint32_t character)
{
    const int width = wcwidth((wchar_t)character);
    return width < 0 ? 1 : (size_t)width; /* the C library does not know it */
}

size_t text_print(FILE *out, const char *text, size_t most)
{
    size_t columns = 0;
    for (const char *at = text; *at;) {
        const size_t length = utf8_length(at);
        const uint32_t character = length ? utf8_character(at, length) : 0;
        const bool shown = length && is_printable(character);
        const size_t width = shown ? width_of(character) : 1;
        if (most && columns + width > most)
            break;
        if (out && shown)
            fwrite(at, 1, length, out);
        else if (out)
            fputc('?', out);
        columns += width;
        at += length ? length : 1;
    }
    return columns;
}

size_t text_columns(const char *text)
{
    return text_print(NULL, text, 0);
}

const char *text_mode_at(size_t at)
{
    return at < sizeof modes / sizeof *modes ? modes[at].name : NULL;
}

const char *text_precedence_at(size_t at)
{
    return at < sizeof precedences / sizeof *precedences ? precedences[at] : NULL;
}

const char *text_protocol_at(size_t at)
{
    static const char *const names[] = {"courtesy", "bakery", "region", "forks",
                                        "clock",    "races",  "pair"};
    return at < sizeof names / sizeof *names ? names[at] : NULL;
}

const char *text_mode(ay_mode mode)
{
    const char *name = text_mode_at(mode);
    return name ? name : "?";
}

const char *text_precedence(ay_precedence precedence)
{
    const char *name = text_precedence_at(precedence);
    return name ? name : "?";
}

bool text_parse_mode(const char *text, ay_mode *mode)
{
    for (size_t at = 0; at < sizeof modes / sizeof *modes; at++)
        if (strcasecmp(text, modes[at].name) == 0 || strcasecmp(text, modes[at].letters) == 0) {
            *mode = (ay_mode)at;
            return true;
        }
    return false;
}

void text_command(const ay_place *place, char *text, size_t room)
{
    const char *command = place->command, *space = strchrnul(command, ' '),
               *slash = memrchr(command, '/', (size_t)(space - command));
    if (slash && strncmp(slash, "/afteryou ", strlen("/afteryou ")) == 0)
        command = slash + 1; /* where ours was found tells nobody anything */
    snprintf(text, room, "%s", command);
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ')
        text[--length] = '\0';
    make_printable(text);
}
