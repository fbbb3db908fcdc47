/* SPDX-License-Identifier: MIT */
/* Reads a recorded run, and says of what is none why it is none. */
#include "audit/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/json_line.h"
#include "common/grow.h"

static const char *const kinds[RECORD_KINDS] = {"request", "enter", "leave", "abandon", "send",
                                                "receive", "died",  "lost",  "joined",  "end"};
static const char *const modes[TRACE_MODES] = {
    "exclusive", "shared", "protected-write", "concurrent-write", "concurrent-read", "null"};

const char *record_name(unsigned kind)
{
    return kind < RECORD_KINDS ? kinds[kind] : "?";
}

uint8_t trace_asked_mode(const struct record *record)
{
    return record->mode == TRACE_MODE_NOT_GIVEN ? 0 : record->mode;
}

const char *trace_mode_name(unsigned mode)
{
    return mode < TRACE_MODES ? modes[mode] : "?";
}

/* Written out again, and not taken from the protocols: who judges must not share the error of whom
 * it judges. */
bool trace_conflict(unsigned mode, unsigned other)
{
    static const char compatible[TRACE_MODES][TRACE_MODES + 1] = {
        /*           EX PR PW CW CR NL */
        /* EX */ "000001",
        /* PR */ "010011",
        /* PW */ "000011",
        /* CW */ "000111",
        /* CR */ "011111",
        /* NL */ "111111",
    };
    return compatible[mode][other] == '0';
}

void trace_close(struct trace *trace)
{
    names_close(&trace->processes);
    names_close(&trace->regions);
    names_close(&trace->units);
    names_close(&trace->kinds);
    free(trace->records);
    *trace = (struct trace){0};
}

/* The members that a trace knows, and what is said of one that is of another kind than it must be.
 */
#define TEXT(key)                                                                                  \
    {                                                                                              \
        key, JSON_STRING, "its \"" key "\" is no string"                                           \
    }
#define NUMBER(key)                                                                                \
    {                                                                                              \
        key, JSON_NUMBER, "its \"" key "\" is no whole number from 0 to 2^64-1"                    \
    }
#define TRUTH(key)                                                                                 \
    {                                                                                              \
        key, JSON_TRUTH, "its \"" key "\" is neither true nor false"                               \
    }
static const struct {
    const char *key;
    enum json_kind kind;
    const char *wrong;
} known[] = {TEXT("trace"),   NUMBER("version"), TEXT("protocol"), TRUTH("fair"),     NUMBER("at"),
             TEXT("process"), TEXT("event"),     TEXT("space"),    TEXT("region"),    TEXT("mode"),
             NUMBER("fence"), NUMBER("slots"),   TEXT("units"),    NUMBER("message"), TEXT("kind"),
             TEXT("to"),      NUMBER("copies"),  TRUTH("rest")};
#undef TEXT
#undef NUMBER
#undef TRUTH

_Static_assert(sizeof known / sizeof *known <= JSON_PAIRS_MOST, "a line has room for them");

static bool is_known(const char *key)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].key, key) == 0)
            return true;
    return false;
}

static const char *judge_kinds(const struct json_line *line)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct json_pair *pair = json_find(line, known[i].key);
        if (pair && pair->kind != known[i].kind)
            return known[i].wrong;
    }
    return NULL;
}

static const char *text_of(const struct json_line *line, const char *key)
{
    const struct json_pair *pair = json_find(line, key);
    return pair ? pair->text : NULL;
}

static uint64_t number_of(const struct json_line *line, const char *key, uint64_t otherwise)
{
    const struct json_pair *pair = json_find(line, key);
    return pair ? pair->number : otherwise;
}

static const char *read_header(struct trace *trace, const struct json_line *line, uint32_t number)
{
    if (strcmp(text_of(line, "trace"), "afteryou") != 0)
        return "it is the header of something else: its \"trace\" is not \"afteryou\"";
    if (number != 1)
        return "a header stands in the first line, or nowhere: are these two traces, one after "
               "the other?";
    if (json_find(line, "event"))
        return "it is a header and an event at once";
    if (number_of(line, "version", 0) != 1)
        return "its version is not 1, the only one this auditor knows";
    const char *protocol = text_of(line, "protocol");
    trace->fair = number_of(line, "fair", false);
    snprintf(trace->protocol, sizeof trace->protocol, "%s", protocol ? protocol : "");
    return NULL;
}

static bool concerns_region(unsigned kind)
{
    return kind <= RECORD_ABANDON;
}

/* The number of a name within its space: two spaces have nothing in common. Both may have colons:
 * the key says where the space ends. */
static uint32_t name_within(struct names *names, const char *space, const char *name)
{
    char *key;
    const int length = space ? asprintf(&key, "%zu:%s:%s", strlen(space), space, name)
                             : asprintf(&key, ":%s", name);
    if (length < 0)
        return TRACE_NONE;
    const char *shown = strchr(key, ':') + 1;
    const uint32_t number = names_find(names, key, shown);
    free(key);
    return number;
}

static uint8_t read_mode(const char *mode)
{
    uint8_t number = 0;
    while (mode && number < TRACE_MODES && strcmp(mode, modes[number]) != 0)
        number++;
    return mode ? number : TRACE_MODE_NOT_GIVEN;
}

/* "0,3,17": numbers that grow, so that two lists are quickly compared. */
static bool are_units(const char *text)
{
    for (uint64_t before = 0, first = 1;; first = 0, text++) {
        uint64_t unit = 0;
        if (*text < '0' || *text > '9')
            return false;
        for (; *text >= '0' && *text <= '9' && unit < UINT32_MAX; text++)
            unit = unit * 10 + (uint64_t)(*text - '0');
        if (!first && unit <= before)
            return false;
        before = unit;
        if (*text != ',')
            return *text == '\0';
    }
}

/* The members of an event that concerns a region. */
static const char *read_passage(struct trace *trace, const struct json_line *line,
                                struct record *record)
{
    const char *region = text_of(line, "region"), *mode = text_of(line, "mode"),
               *units = text_of(line, "units");
    const uint64_t slots = number_of(line, "slots", 1);
    record->mode = read_mode(mode);
    if (mode && record->mode == TRACE_MODES)
        return "its \"mode\" is none of the six";
    if (slots < 1 || slots > UINT32_MAX)
        return "its \"slots\" are not from 1 to 2^32-1";
    if (units && !are_units(units))
        return "its \"units\" are not numbers that grow, with commas between them";
    record->slots = (uint32_t)slots;
    record->fenced = json_find(line, "fence") != NULL;
    record->fence = number_of(line, "fence", 0);
    record->region = name_within(&trace->regions, text_of(line, "space"), region ? region : "");
    record->units = units ? names_find(&trace->units, units, units) : TRACE_NONE;
    return record->region == TRACE_NONE || (units && record->units == TRACE_NONE)
               ? "there is no memory for it"
               : NULL;
}

static const char *read_message(struct trace *trace, const struct json_line *line,
                                struct record *record)
{
    const char *kind = text_of(line, "kind"), *to = text_of(line, "to");
    const uint64_t copies = number_of(line, "copies", 1);
    if (!json_find(line, "message"))
        return "it has no \"message\" number";
    if (number_of(line, "message", 0) == UINT64_MAX)
        return "its \"message\" number is too great";
    if (copies > UINT32_MAX)
        return "its \"copies\" are more than 2^32-1";
    record->message = number_of(line, "message", 0);
    record->copies = (uint32_t)copies;
    record->to = to ? name_within(&trace->processes, text_of(line, "space"), to) : TRACE_NONE;
    record->name = kind ? names_find(&trace->kinds, kind, kind) : TRACE_NONE;
    trace->messages |= record->kind == RECORD_SEND;
    return (to && record->to == TRACE_NONE) || (kind && record->name == TRACE_NONE)
               ? "there is no memory for it"
               : NULL;
}

/* The members that a record of its kind has. */
static const char *read_members(struct trace *trace, const struct json_line *line,
                                struct record *record)
{
    const char *process = text_of(line, "process");
    if (!json_find(line, "at"))
        return "it has no time: \"at\", in nanoseconds, is missing";
    if (!process)
        return "it has no \"process\"";
    record->at = number_of(line, "at", 0);
    record->process = name_within(&trace->processes, text_of(line, "space"), process);
    if (record->process == TRACE_NONE)
        return "there is no memory for it";
    if (record->kind == RECORD_SEND || record->kind == RECORD_RECEIVE)
        return read_message(trace, line, record);
    return concerns_region(record->kind) ? read_passage(trace, line, record) : NULL;
}

static const char *keep(struct trace *trace, const struct record *record)
{
    if (trace->count == TRACE_RECORDS_MOST)
        return "the trace is too long: more than 67 million events";
    if (!grow(&trace->records, trace->count, &trace->room, sizeof *trace->records, 1024))
        return "there is no memory for it";
    trace->records[trace->count++] = *record;
    return NULL;
}

static const char *read_record(struct trace *trace, const struct json_line *line, uint32_t number)
{
    const char *wrong = judge_kinds(line);
    if (wrong)
        return wrong;
    if (json_find(line, "trace"))
        return read_header(trace, line, number);
    const char *event = text_of(line, "event");
    if (!event)
        return "it has no \"event\"";
    if (trace->ended)
        return "it stands after the \"end\"";
    struct record record = {.line = number, .process = TRACE_NONE, .region = TRACE_NONE};
    while (record.kind < RECORD_KINDS && strcmp(event, kinds[record.kind]) != 0)
        record.kind++;
    if (record.kind == RECORD_KINDS)
        return "its \"event\" is none that this auditor knows";
    if (record.kind == RECORD_END) {
        trace->ended = true;
        trace->rest = number_of(line, "rest", false);
        return NULL;
    }
    wrong = read_members(trace, line, &record);
    return wrong ? wrong : keep(trace, &record);
}

/* One line into `text`, which has room for TRACE_LINE_MOST + 1 bytes: 1, 0 at the end, or what is
 * wrong. */
static int next_line(FILE *file, char *text, const char **wrong)
{
    size_t length = 0;
    int c;
    while ((c = getc_unlocked(file)) != EOF && c != '\n') {
        if (c == '\0' || length == TRACE_LINE_MOST) {
            *wrong = c == '\0' ? "it contains a zero byte" : "it is longer than a megabyte";
            return 1;
        }
        text[length++] = (char)c;
    }
    text[length] = '\0';
    if (c == EOF && length > 0)
        *wrong = "the file ends in the middle of it: it was cut short";
    return c != EOF || length > 0;
}

static int read_lines(struct trace *trace, FILE *file, char *complaint, size_t room)
{
    char *text = malloc(TRACE_LINE_MOST + 1);
    uint32_t number = 0;
    const char *wrong = NULL;
    struct json_line line;
    if (!text)
        return -ENOMEM;
    while (!wrong && next_line(file, text, &wrong)) {
        number++;
        if (!wrong)
            wrong = json_read(text, is_known, &line);
        if (!wrong)
            wrong = read_record(trace, &line, number);
    }
    free(text);
    if (ferror(file))
        return -EIO;
    if (wrong)
        snprintf(complaint, room, "line %u is no line of a trace: %s", number, wrong);
    else if (number == 0)
        snprintf(complaint, room, "the file is empty");
    else if (trace->count == 0)
        snprintf(complaint, room, "the trace has no events");
    else
        return 0;
    return -EBADMSG;
}

int trace_read(struct trace *trace, const char *path, char *complaint, size_t room)
{
    *trace = (struct trace){0};
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (!file)
        return -errno;
    const int error = read_lines(trace, file, complaint, room);
    if (file != stdin)
        fclose(file);
    return error;
}

size_t trace_common(const struct trace *trace)
{
    const struct names *names = &trace->processes;
    const char *first = names->count ? names->text[0] : "", *end = strrchr(first, ':');
    const size_t length = end ? (size_t)(end + 1 - first) : 0;
    for (uint32_t at = 1; at < names->count; at++)
        if (strncmp(names->text[at], first, length) != 0)
            return 0;
    return length;
}
