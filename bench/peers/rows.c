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
enum { COLUMNS = sizeof columns / sizeof *columns };

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
