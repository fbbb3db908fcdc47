/* SPDX-License-Identifier: MIT */
/* `afteryou status` for people: one table of regions, then what is wrong. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/status/status.h"
#include "cli/text.h"

enum { COLUMNS = 10, USER_COLUMN = 5, CELL = 300, CYCLE_MOST = 64 };

static const char *const titles[COLUMNS] = {"SPACE", "REGION", "STATE", "MODE",  "PID",
                                            "USER",  "SINCE",  "FOR",   "FENCE", "COMMAND"};

#define MACHINE "MACHINE" /* the first column's title, of a cluster */

/* What a narrow screen does without, the most dispensable first: SINCE, USER, FENCE, MODE, SPACE,
 * PID, FOR. */
static const size_t dispensable[] = {6, 5, 8, 3, 0, 4, 7};

enum { COMMAND_LEAST = 16 }; /* of a narrow screen's columns, for the command */

struct cells {
    char cell[COLUMNS][CELL];
};

struct row {
    char *cell[COLUMNS]; /* one after the other, from the first on */
    const ay_place *seen;
    size_t index; /* by region */
};

struct table {
    struct row *row;
    size_t count;
    size_t width[COLUMNS];
    bool hidden[COLUMNS];
};

static void describe_state(const struct sighting *item, char *text)
{
    const ay_place *seen = &item->seen;
    if (status_is_cancelled(seen))
        snprintf(text, CELL, "cancelled by %d", seen->cancelled_by);
    else if (seen->state == AY_WAITING)
        snprintf(text, CELL, "waits, %llu%s", (unsigned long long)seen->order,
                 seen->conditional ? ", condition" : "");
    else
        snprintf(text, CELL, "%s",
                 seen->state != AY_INSIDE ? "died inside"
                 : seen->conditional      ? "inside, tests"
                                          : "inside");
}

static void describe_mode(const struct sighting *item, char *text)
{
    const ay_place *seen = &item->seen;
    size_t length = 0;
    if (seen->take == 0) {
        if (seen->slots > 1)
            snprintf(text, CELL, "%s, %u slots", text_mode(seen->mode), seen->slots);
        else if (seen->wants != seen->mode)
            snprintf(text, CELL, "%s, wants %s", text_mode(seen->mode), text_mode(seen->wants));
        else
            snprintf(text, CELL, "%s", text_mode(seen->mode));
        return;
    }
    if (seen->of == 0) { /* at the door of a cluster's units, each of which has a row of its own */
        snprintf(text, CELL, "takes %u", seen->take);
        return;
    }
    length = (size_t)snprintf(text, CELL, "%u of %u%s", seen->take, seen->of,
                              seen->unit_count ? ":" : "");
    for (size_t at = 0; at < seen->unit_count && length + 12 < CELL; at++)
        length +=
            (size_t)snprintf(text + length, CELL - length, "%s%u", at ? "," : " ", item->units[at]);
}

static void fill(const struct sightings *space, const struct sighting *item, struct cells *row)
{
    const ay_place *seen = &item->seen;
    snprintf(row->cell[0], CELL, "%s", space->name);
    snprintf(row->cell[1], CELL, "%s", item->names);
    describe_state(item, row->cell[2]);
    describe_mode(item, row->cell[3]);
    snprintf(row->cell[4], CELL, "%d", seen->pid);
    text_user(seen->uid, row->cell[5], CELL);
    if (seen->since_ns) {
        text_moment(seen->since_ns, row->cell[6], CELL);
        text_seconds(text_now() - seen->since_ns, row->cell[7], CELL);
    } else { /* it did not look at a clock */
        snprintf(row->cell[6], CELL, "-");
        snprintf(row->cell[7], CELL, "-");
    }
    snprintf(row->cell[8], CELL, seen->state == AY_WAITING ? "-" : "%llu",
             (unsigned long long)seen->fence);
    snprintf(row->cell[9], CELL, "%s", item->command);
}

/* Of ten thousand rows each takes as much room as its text. False: there is none. */
static bool keep(const struct cells *cells, struct row *row)
{
    size_t length[COLUMNS], whole = 0;
    for (size_t column = 0; column < COLUMNS; column++)
        whole += length[column] = strlen(cells->cell[column]) + 1;
    char *text = malloc(whole);
    if (!text)
        return false;
    for (size_t column = 0; column < COLUMNS; text += length[column++])
        row->cell[column] = memcpy(text, cells->cell[column], length[column]);
    return true;
}

static void drop(struct table *table)
{
    for (size_t at = 0; at < table->count; at++)
        free(table->row[at].cell[0]);
    free(table->row);
}

static void measure(struct table *table, bool cluster)
{
    for (size_t column = 0; column < COLUMNS; column++) {
        table->width[column] = strlen(cluster && column == 0 ? MACHINE : titles[column]);
        for (size_t at = 0; at < table->count; at++) {
            const size_t width = text_columns(table->row[at].cell[column]);
            if (width > table->width[column])
                table->width[column] = width;
        }
    }
}

/* So that the rest fits, if it can. */
static void hide(struct table *table, size_t most)
{
    size_t whole = COMMAND_LEAST;
    for (size_t column = 0; column + 1 < COLUMNS; column++)
        whole += table->width[column] + 2;
    for (size_t at = 0; at < sizeof dispensable / sizeof *dispensable && whole > most; at++) {
        table->hidden[dispensable[at]] = true;
        whole -= table->width[dispensable[at]] + 2;
    }
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_rows(const void *left, const void *right, void *by)
{
    const struct row *a = left, *b = right;
    const enum status_order order = *(const enum status_order *)by;
    int result = 0;
    if (order == STATUS_BY_SINCE) { /* the longest first; who looked at no clock is last */
        const int64_t never = INT64_MAX;
        result = compare_numbers(a->seen->since_ns ? a->seen->since_ns : never,
                                 b->seen->since_ns ? b->seen->since_ns : never);
    } else if (order == STATUS_BY_PID) {
        result = compare_numbers(a->seen->pid, b->seen->pid);
    } else if (order == STATUS_BY_USER) {
        result = strcmp(a->cell[USER_COLUMN], b->cell[USER_COLUMN]);
    }
    return result ? result : compare_numbers((int64_t)a->index, (int64_t)b->index);
}

/* Whether every word of the filter is somewhere in the row, whatever the case of its letters. */
static bool fits(const struct cells *row, const char *filter)
{
    char word[STATUS_FILTER];
    for (const char *at = filter; *(at += strspn(at, " "));) {
        const size_t length = strcspn(at, " ");
        bool found = false;
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        for (size_t column = 0; column < COLUMNS && !found; column++)
            found = strcasestr(row->cell[column], word) != NULL;
        if (!found)
            return false;
        at += length;
    }
    return true;
}

static bool make(const struct status_view *view, enum status_order order, const char *filter,
                 struct table *table)
{
    struct cells cells;
    size_t room = 1;
    for (size_t at = 0; at < view->count; at++)
        room += view->space[at].count;
    *table = (struct table){.row = calloc(room, sizeof *table->row)};
    if (!table->row)
        return false;
    for (size_t at = 0; at < view->count; at++)
        for (size_t which = 0; which < view->space[at].count; which++) {
            const struct sighting *item = &view->space[at].item[which];
            if ((item->seen.state == AY_IDLE && !status_is_cancelled(&item->seen)) ||
                !status_is_asked(view->asked, item))
                continue;
            struct row *const row = &table->row[table->count];
            fill(&view->space[at], item, &cells);
            if (!fits(&cells, filter))
                continue;
            if (!keep(&cells, row)) {
                drop(table);
                return false;
            }
            row->seen = &item->seen;
            row->index = table->count++;
        }
    qsort_r(table->row, table->count, sizeof *table->row, compare_rows, &order);
    measure(table, view->asked->cluster != NULL);
    return true;
}

/* `cells` of COLUMNS, padded. */
static void print_line(FILE *out, const struct table *table, const char *const *cells, size_t most)
{
    size_t used = 0;
    for (size_t column = 0; column < COLUMNS && (!most || used < most); column++) {
        if (table->hidden[column])
            continue;
        used += text_print(out, cells[column], most ? most - used : 0);
        const size_t pad =
            column + 1 < COLUMNS ? table->width[column] - text_columns(cells[column]) + 2 : 0;
        for (size_t at = 0; at < pad && (!most || used < most); at++, used++)
            fputc(' ', out);
    }
    fputc('\n', out);
}

static void print_row(FILE *out, const struct table *table, const struct row *row, bool colour,
                      size_t most)
{
    const char *cells[COLUMNS];
    for (size_t column = 0; column < COLUMNS; column++)
        cells[column] = row->cell[column];
    const ay_state state = row->seen->state;
    const char *begin = state == AY_INSIDE ? "\033[32m" : state == AY_DEAD_INSIDE ? "\033[31m" : "";
    if (colour)
        fputs(begin, out);
    print_line(out, table, cells, most);
    if (colour && *begin)
        fputs("\033[0m", out);
}

static void tell_cycle(FILE *out, const struct sightings *space, const size_t *cycle, size_t length)
{
    fprintf(out, " in %s: ", space->name);
    for (size_t at = 0; at < length; at++)
        fprintf(out, "%spid %d waits for '%s' after pid %d", at ? ", " : "",
                space->item[cycle[at]].seen.pid, space->item[cycle[at]].names,
                space->item[cycle[(at + 1) % length]].seen.pid);
}

static void tell_agents(FILE *out, const struct status_view *view)
{
    for (size_t at = 0; at < view->count; at++)
        fprintf(out, "%s %s %s", at ? "," : "", view->space[at].name, view->space[at].path);
}

/* `title`, in colour if that is not NULL, and the text that was told, which is closed and freed. */
static void print_told(FILE *out, const char *title, const char *colour, FILE *told, char **text,
                       size_t most)
{
    if (fclose(told) == 0) {
        fprintf(out, "%s%s%s", colour ? colour : "", title, colour ? "\033[0m" : "");
        text_print(out, *text, most > strlen(title) ? most - strlen(title) : most ? 1 : 0);
        fputc('\n', out);
    }
    free(*text);
}

static void print_cycles(FILE *out, const struct sightings *space, bool colour, size_t most)
{
    struct cycle_search search;
    size_t cycle[CYCLE_MOST], length, room;
    if (!cycles_open(&search, space))
        return;
    while ((length = cycles_next(&search, cycle, CYCLE_MOST)) > 0) {
        char *text = NULL;
        FILE *told = open_memstream(&text, &room);
        if (!told)
            break;
        tell_cycle(told, space, cycle, length);
        print_told(out, "deadlock", colour ? "\033[31m" : NULL, told, &text, most);
    }
    cycles_close(&search);
}

static void print_agents(FILE *out, const struct status_view *view, size_t most)
{
    char *text = NULL;
    size_t room;
    FILE *told = open_memstream(&text, &room);
    if (!told)
        return;
    tell_agents(told, view);
    fputc('\n', out);
    print_told(out, "agents:", NULL, told, &text, most);
}

/* That they are plain is said: whoever is on the network could speak for a machine. */
static void print_links(FILE *out, const struct status_view *view, const struct sightings *machine,
                        size_t most)
{
    char *text = NULL, title[AY_NAME_MOST + 32];
    size_t room;
    if (machine->kind == LINKS_NONE)
        return;
    FILE *told = open_memstream(&text, &room);
    if (!told)
        return;
    status_tell_links(told, view, machine);
    snprintf(title, sizeof title,
             "%s of %s:", machine->kind == LINKS_PLAIN ? "plain links" : "links", machine->name);
    print_told(out, title, NULL, told, &text, most);
}

void status_print_table(FILE *out, const struct status_view *view, enum status_order order,
                        const char *filter, size_t columns)
{
    struct table table;
    if (!make(view, order, filter, &table)) {
        say("status", "out of memory");
        return;
    }
    const char *heads[COLUMNS];
    memcpy(heads, titles, sizeof heads);
    if (view->asked->cluster)
        heads[0] = MACHINE;
    if (columns)
        hide(&table, columns);
    print_line(out, &table, heads, columns);
    for (size_t at = 0; at < table.count; at++)
        print_row(out, &table, &table.row[at], view->asked->colour, columns);
    if (table.count == 0 && *filter) {
        text_print(out, "nothing fits the filter", columns);
        fputc('\n', out);
    }
    if (view->asked->cluster)
        print_agents(out, view, columns);
    for (size_t at = 0; at < view->count; at++)
        print_links(out, view, &view->space[at], columns);
    for (size_t at = 0; at < view->count; at++)
        print_cycles(out, &view->space[at], view->asked->colour, columns);
    drop(&table);
}
