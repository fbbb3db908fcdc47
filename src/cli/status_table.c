/* SPDX-License-Identifier: MIT */
/* `afteryou status` for people: one table of regions, then what is wrong. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/status.h"
#include "cli/text.h"

enum { COLUMNS = 10, CELL = 300, CYCLE_MOST = 64 };

static const char *const titles[COLUMNS] = {"SPACE", "REGION", "STATE", "MODE",  "PID",
                                            "USER",  "SINCE",  "FOR",   "FENCE", "COMMAND"};

#define MACHINE "MACHINE" /* the first column's title, of a cluster */

struct row {
    char cell[COLUMNS][CELL];
    ay_state state;
};

struct table {
    struct row *row;
    size_t count;
    size_t width[COLUMNS];
};

static void describe_state(const struct sighting *item, char *text)
{
    const ay_place *seen = &item->seen;
    if (seen->state == AY_WAITING)
        snprintf(text, CELL, "waits, %llu%s", (unsigned long long)seen->order, seen->conditional ? ", condition" : "");
    else
        snprintf(text, CELL, "%s", seen->state == AY_INSIDE ? "inside" : "died inside");
}

static void describe_mode(const struct sighting *item, char *text)
{
    const ay_place *seen = &item->seen;
    size_t length = 0;
    if (seen->take == 0) {
        if (seen->slots > 1)
            snprintf(text, CELL, "%s, %u slots", text_mode(seen->mode), seen->slots);
        else
            snprintf(text, CELL, "%s", text_mode(seen->mode));
        return;
    }
    length = (size_t)snprintf(text, CELL, "%u of %u%s", seen->take, seen->of, seen->unit_count ? ":" : "");
    for (size_t at = 0; at < seen->unit_count && length + 12 < CELL; at++)
        length += (size_t)snprintf(text + length, CELL - length, "%s%u", at ? "," : " ", item->units[at]);
}

static void fill(const struct sightings *space, const struct sighting *item, struct row *row)
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
    snprintf(row->cell[8], CELL, seen->state == AY_WAITING ? "-" : "%llu", (unsigned long long)seen->fence);
    snprintf(row->cell[9], CELL, "%s", item->command);
    row->state = seen->state;
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

static bool make(const struct status_view *view, struct table *table)
{
    size_t room = 1;
    for (size_t at = 0; at < view->count; at++)
        room += view->space[at].count;
    *table = (struct table){.row = calloc(room, sizeof *table->row)};
    if (!table->row)
        return false;
    for (size_t at = 0; at < view->count; at++)
        for (size_t which = 0; which < view->space[at].count; which++) {
            const struct sighting *item = &view->space[at].item[which];
            if (item->seen.state != AY_IDLE && status_is_asked(view->asked, item))
                fill(&view->space[at], item, &table->row[table->count++]);
        }
    measure(table, view->asked->cluster != NULL);
    return true;
}

/* `cells` of COLUMNS, padded; none if `text` is NULL. */
static void print_line(FILE *out, const struct table *table, const char *const *cells, size_t most)
{
    size_t used = 0;
    for (size_t column = 0; column < COLUMNS && (!most || used < most); column++) {
        used += text_print(out, cells[column], most ? most - used : 0);
        const size_t pad = column + 1 < COLUMNS ? table->width[column] - text_columns(cells[column]) + 2 : 0;
        for (size_t at = 0; at < pad && (!most || used < most); at++, used++)
            fputc(' ', out);
    }
    fputc('\n', out);
}

static void print_row(FILE *out, const struct table *table, const struct row *row, bool colour, size_t most)
{
    const char *cells[COLUMNS];
    for (size_t column = 0; column < COLUMNS; column++)
        cells[column] = row->cell[column];
    const char *begin = row->state == AY_INSIDE ? "\033[32m" : row->state == AY_DEAD_INSIDE ? "\033[31m" : "";
    if (colour)
        fputs(begin, out);
    print_line(out, table, cells, most);
    if (colour && *begin)
        fputs("\033[0m", out);
}

static void print_cycles(FILE *out, const struct sightings *space, bool colour)
{
    size_t from = 0, cycle[CYCLE_MOST], length;
    while ((length = sightings_cycle(space, &from, cycle, CYCLE_MOST)) > 0) {
        fprintf(out, "%sdeadlock%s in ", colour ? "\033[31m" : "", colour ? "\033[0m" : "");
        text_print(out, space->name, 0);
        fputs(": ", out);
        for (size_t at = 0; at < length; at++) {
            const struct sighting *item = &space->item[cycle[at]];
            fprintf(out, "pid %d waits for '", item->seen.pid);
            text_print(out, item->names, 0);
            fprintf(out, "' after pid %d%s", space->item[cycle[(at + 1) % length]].seen.pid,
                    at + 1 < length ? ", " : "\n");
        }
    }
}

static void print_agents(FILE *out, const struct status_view *view)
{
    fputs("\nagents:", out);
    for (size_t at = 0; at < view->count; at++) {
        fputs(at ? ", " : " ", out);
        text_print(out, view->space[at].name, 0);
        fputc(' ', out);
        text_print(out, view->space[at].path, 0);
    }
    fputc('\n', out);
}

void status_print_table(FILE *out, const struct status_view *view, size_t columns, size_t rows)
{
    struct table table;
    if (!make(view, &table)) {
        say("status", "out of memory");
        return;
    }
    const char *heads[COLUMNS];
    memcpy(heads, titles, sizeof heads);
    if (view->asked->cluster)
        heads[0] = MACHINE;
    print_line(out, &table, heads, columns);
    size_t shown = table.count;
    if (rows && shown + 1 > rows)
        shown = rows > 2 ? rows - 2 : 0;
    for (size_t at = 0; at < shown; at++)
        print_row(out, &table, &table.row[at], view->asked->colour, columns);
    if (shown < table.count)
        fprintf(out, "… and %zu more\n", table.count - shown);
    if (view->asked->cluster)
        print_agents(out, view);
    for (size_t at = 0; at < view->count; at++)
        print_cycles(out, &view->space[at], view->asked->colour);
    free(table.row);
}
