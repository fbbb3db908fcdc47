/* SPDX-License-Identifier: MIT */
/* The rows of a run, and their CSV (RFC 4180, but for plain ends of lines): one line a row, unknown
 * numbers empty. */
#include "rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct column {
    const char *name;
    size_t offset;
    size_t text; /* its room; 0: a number */
};

#define NUMBER(name)                                                                               \
    {                                                                                              \
#name, offsetof(struct row, name), 0                                                       \
    }
#define TEXT(title, name)                                                                          \
    {                                                                                              \
        title, offsetof(struct row, name), sizeof((struct row *)0)->name                           \
    }

static const struct column columns[] = {
    TEXT("case", of),
    TEXT("peer", peer),
    NUMBER(samples),
    NUMBER(median_ns),
    NUMBER(low_ns),
    NUMBER(high_ns),
    NUMBER(p99_ns),
    NUMBER(ratio),
    NUMBER(spread),
    NUMBER(passages_per_second),
    NUMBER(fairness),
    NUMBER(overtaken),
    NUMBER(overtaken_in_queue),
    NUMBER(cpu_ns),
    TEXT("trusted", trusted),
    TEXT("note", note),
};
enum { COLUMNS = sizeof columns / sizeof *columns, LINE_ROOM = 4096 };

struct row *rows_add(struct rows *rows, const char *of, const char *peer)
{
    if (rows->count == rows->room) {
        rows->room = rows->room ? 2 * rows->room : 64;
        rows->at = realloc(rows->at, rows->room * sizeof *rows->at);
        if (!rows->at) {
            fputs("bench: out of memory\n", stderr);
            exit(1);
        }
    }
    struct row *row = &rows->at[rows->count++];
    memset(row, 0, sizeof *row);
    for (size_t at = 0; at < COLUMNS; at++)
        if (columns[at].text == 0)
            *(double *)((char *)row + columns[at].offset) = -1;
    snprintf(row->of, sizeof row->of, "%s", of);
    snprintf(row->peer, sizeof row->peer, "%s", peer);
    return row;
}

void rows_add_machine(struct rows *rows, const char *what, const char *value)
{
    struct row *row = rows_add(rows, ROW_MACHINE, what);
    snprintf(row->note, sizeof row->note, "%s", value);
}

const struct row *rows_find(const struct rows *rows, const char *of, const char *peer)
{
    for (size_t at = 0; at < rows->count; at++)
        if (strcmp(rows->at[at].of, of) == 0 && strcmp(rows->at[at].peer, peer) == 0)
            return &rows->at[at];
    return NULL;
}

const char *rows_machine(const struct rows *rows, const char *what)
{
    const struct row *row = rows_find(rows, ROW_MACHINE, what);
    return row ? row->note : "";
}

void rows_free(struct rows *rows)
{
    free(rows->at);
    *rows = (struct rows){0};
}

static void write_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\n\r")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, out);
    fputc('"', out);
}

int rows_write(const struct rows *rows, FILE *out)
{
    for (size_t at = 0; at < COLUMNS; at++)
        fprintf(out, "%s%s", at ? "," : "", columns[at].name);
    fputc('\n', out);
    for (size_t row = 0; row < rows->count; row++) {
        for (size_t at = 0; at < COLUMNS; at++) {
            const char *field = (const char *)&rows->at[row] + columns[at].offset;
            if (at)
                fputc(',', out);
            if (columns[at].text)
                write_text(out, field);
            else if (*(const double *)field >= 0)
                fprintf(out, "%.6g", *(const double *)field);
        }
        fputc('\n', out);
    }
    return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}

/* Takes the next field off the line: NULL if there is none. */
static const char *next_field(char **line)
{
    char *from = *line, *to = from, *begin = from;
    if (!from)
        return NULL;
    const bool quoted = *from == '"';
    from += quoted;
    for (; *from && (quoted || *from != ','); from++) {
        if (quoted && *from == '"' && *++from != '"')
            break;
        *to++ = *from;
    }
    *line = *from == ',' ? from + 1 : NULL;
    *to = '\0';
    return begin;
}

static bool read_row(struct rows *rows, char *line)
{
    struct row *row = rows_add(rows, "", "");
    for (size_t at = 0; at < COLUMNS; at++) {
        const char *field = next_field(&line);
        if (!field)
            return false;
        char *into = (char *)row + columns[at].offset, *end;
        if (columns[at].text) {
            snprintf(into, columns[at].text, "%s", field);
        } else if (*field) {
            *(double *)into = strtod(field, &end);
            if (*end)
                return false;
        }
    }
    return line == NULL;
}

int rows_read(struct rows *rows, const char *path, char *message, size_t room)
{
    char line[LINE_ROOM], head[LINE_ROOM] = "";
    FILE *in = fopen(path, "r");
    if (!in) {
        snprintf(message, room, "%s: %s", path, strerror(errno));
        return -errno;
    }
    for (size_t at = 0; at < COLUMNS; at++)
        snprintf(head + strlen(head), sizeof head - strlen(head), "%s%s", at ? "," : "",
                 columns[at].name);
    int result = 0;
    for (unsigned number = 1; result == 0 && fgets(line, sizeof line, in); number++) {
        line[strcspn(line, "\r\n")] = '\0';
        if (number == 1 ? strcmp(line, head) == 0 : read_row(rows, line))
            continue;
        result = -EINVAL;
        snprintf(message, room, "%s:%u: not a line that this program writes: run the bench anew",
                 path, number);
    }
    fclose(in);
    return result;
}
