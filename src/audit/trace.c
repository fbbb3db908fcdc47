/* SPDX-License-Identifier: MIT */
/* Reads a recorded run, and says of what is none why it is none. */
#include "audit/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/json.h"

static const char *const kinds[RECORD_KINDS] = {"request", "enter", "leave", "abandon", "send",
                                                "receive", "died",  "lost",  "joined",  "end"};
static const char *const modes[TRACE_MODES] = {"exclusive",        "shared",          "protected-write",
                                               "concurrent-write", "concurrent-read", "null"};

const char *record_name(unsigned kind)
{
    return kind < RECORD_KINDS ? kinds[kind] : "?";
}

const char *trace_mode_name(unsigned mode)
{
    return mode < TRACE_MODES ? modes[mode] : "?";
}

/* Written out again, and not taken from the protocols: who judges must not share the error of whom it judges. */
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

static uint32_t hash_text(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

static bool names_grow(struct names *names)
{
    const uint32_t room = names->room ? 2 * names->room : 32;
    char **text = realloc(names->text, room * sizeof *text);
    if (!text)
        return false;
    names->text = text;
    names->room = room;
    uint32_t *table = calloc(4 * (size_t)room, sizeof *table);
    if (!table)
        return false;
    for (uint32_t i = 0; i < names->count; i++) {
        uint32_t at = hash_text(names->text[i]) & (4 * room - 1);
        while (table[at])
            at = (at + 1) & (4 * room - 1);
        table[at] = i + 1;
    }
    free(names->table);
    names->table = table;
    names->table_room = 4 * room;
    return true;
}

/* The number of that name, new or old; TRACE_NONE: no memory. */
static uint32_t names_find(struct names *names, const char *text)
{
    if (names->count == names->room && !names_grow(names))
        return TRACE_NONE;
    uint32_t at = hash_text(text) & (names->table_room - 1);
    for (; names->table[at]; at = (at + 1) & (names->table_room - 1))
        if (strcmp(names->text[names->table[at] - 1], text) == 0)
            return names->table[at] - 1;
    names->text[names->count] = strdup(text);
    if (!names->text[names->count])
        return TRACE_NONE;
    names->table[at] = ++names->count;
    return names->count - 1;
}

static void names_close(struct names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        free(names->text[i]);
    free(names->text);
    free(names->table);
}

void trace_close(struct trace *trace)
{
    names_close(&trace->processes);
    names_close(&trace->regions);
    free(trace->records);
    *trace = (struct trace){0};
}

static const struct json_pair *member(const struct json_line *line, const char *key, enum json_kind kind)
{
    for (unsigned i = 0; i < line->count; i++)
        if (strcmp(line->pairs[i].key, key) == 0 && line->pairs[i].kind == kind)
            return &line->pairs[i];
    return NULL;
}

static const char *read_header(struct trace *trace, const struct json_line *line)
{
    const struct json_pair *version = member(line, "version", JSON_NUMBER), *fair = member(line, "fair", JSON_TRUTH),
                           *protocol = member(line, "protocol", JSON_STRING);
    if (!version || version->number != 1)
        return "its version is not 1, the only one this auditor knows";
    trace->fair = fair && fair->number;
    snprintf(trace->protocol, sizeof trace->protocol, "%s", protocol ? protocol->text : "");
    return NULL;
}

static bool concerns_region(unsigned kind)
{
    return kind <= RECORD_ABANDON;
}

/* The members that a record of its kind has. */
static const char *read_members(struct trace *trace, const struct json_line *line, struct record *record)
{
    const struct json_pair *process = member(line, "process", JSON_STRING),
                           *region = member(line, "region", JSON_STRING), *mode = member(line, "mode", JSON_STRING),
                           *fence = member(line, "fence", JSON_NUMBER), *message = member(line, "message", JSON_NUMBER),
                           *kind = member(line, "kind", JSON_STRING), *copies = member(line, "copies", JSON_NUMBER),
                           *at = member(line, "at", JSON_NUMBER);
    if (record->kind == RECORD_END)
        return NULL;
    if (!at)
        return "it has no time: \"at\", in nanoseconds, is missing";
    if (!process)
        return "it has no \"process\"";
    if ((record->kind == RECORD_SEND || record->kind == RECORD_RECEIVE) && !message)
        return "it has no \"message\" number";
    record->at = at->number;
    record->process = names_find(&trace->processes, process->text);
    record->region = concerns_region(record->kind) ? names_find(&trace->regions, region ? region->text : "") : 0;
    record->fence = fence ? fence->number : 0;
    record->message = message ? message->number : 0;
    record->copies = copies ? (uint32_t)copies->number : 1;
    snprintf(record->name, sizeof record->name, "%s", kind ? kind->text : "");
    trace->messages |= record->kind == RECORD_SEND;
    for (record->mode = 0; mode && record->mode < TRACE_MODES; record->mode++)
        if (strcmp(mode->text, modes[record->mode]) == 0)
            break;
    return record->mode == TRACE_MODES ? "its \"mode\" is none of the six" : NULL;
}

static const char *read_record(struct trace *trace, const struct json_line *line, uint32_t number)
{
    if (member(line, "trace", JSON_STRING))
        return read_header(trace, line);
    const struct json_pair *event = member(line, "event", JSON_STRING), *rest = member(line, "rest", JSON_TRUTH);
    if (!event)
        return "it has no \"event\"";
    struct record record = {.line = number, .process = TRACE_NONE};
    while (record.kind < RECORD_KINDS && strcmp(event->text, kinds[record.kind]) != 0)
        record.kind++;
    if (record.kind == RECORD_KINDS)
        return "its \"event\" is none that this auditor knows";
    const char *wrong = read_members(trace, line, &record);
    if (wrong)
        return wrong;
    if (record.kind == RECORD_END) {
        trace->ended = true;
        trace->rest = rest && rest->number;
        return NULL;
    }
    if (trace->count == trace->room) {
        const size_t room = trace->room ? 2 * trace->room : 1024;
        struct record *records = realloc(trace->records, room * sizeof *records);
        if (!records)
            return "there is no memory for it";
        trace->records = records;
        trace->room = room;
    }
    trace->records[trace->count++] = record;
    return NULL;
}

static int read_lines(struct trace *trace, FILE *file, char *complaint, size_t room)
{
    char *text = NULL;
    size_t size = 0;
    ssize_t length;
    uint32_t number = 0;
    const char *wrong = NULL;
    struct json_line line;
    while (!wrong && (length = getline(&text, &size, file)) != -1) {
        number++;
        if (text[length - 1] != '\n') {
            wrong = "the file ends in the middle of it: it was cut short";
            break;
        }
        text[length - 1] = '\0';
        wrong = strlen(text) != (size_t)length - 1 ? "it contains a zero byte" : json_read(text, &line);
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
