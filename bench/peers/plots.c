/* SPDX-License-Identifier: MIT */
/* The plots of a run: which rows are drawn, and how. */
#include "plots.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "common/draw/chart.h"
#include "dots.h"

enum { PLACES = 5, CURVES_MOST = 6, PATH_MOST = 4096 };

struct canvas {
    const struct rows *rows;
    const char *directory;
    char *message;
    size_t room;
};

static FILE *open_plot(const struct canvas *canvas, const char *name)
{
    char path[PATH_MOST];
    snprintf(path, sizeof path, "%s/performance-%s.svg", canvas->directory, name);
    FILE *out = fopen(path, "w");
    if (!out)
        snprintf(canvas->message, canvas->room, "%s: %s", path, strerror(errno));
    return out;
}

static int close_plot(const struct canvas *canvas, FILE *out, int result)
{
    if (fclose(out) != 0 && result == 0)
        result = -errno;
    if (result != 0)
        snprintf(canvas->message, canvas->room, "plot: %s", strerror(-result));
    return result;
}

static double median_of(const struct rows *rows, const char *of, const char *peer)
{
    const struct row *row = rows_find(rows, of, peer);
    return row ? row->median_ns : -1;
}

/* How the cost alone grows with the places open. */
static int plot_alone(const struct canvas *canvas)
{
    static const char *const names[CURVES_MOST] = {"robust", "courtesy", "courtesy-retain",
                                                   "bakery", "races",    "region"};
    static const double places[PLACES] = {2, 8, 16, 64, 256};
    static double x[CURVES_MOST][PLACES], y[CURVES_MOST][PLACES];
    struct curve curves[CURVES_MOST];
    size_t count = 0;
    for (size_t name = 0; name < CURVES_MOST; name++) {
        struct curve *curve = &curves[count];
        *curve = (struct curve){.name = names[name], .x = x[count], .y = y[count]};
        for (size_t at = 0; at < PLACES; at++) {
            char of[WORD_ROOM];
            snprintf(of, sizeof of, "alone-%.0f", places[at]);
            const double ns = median_of(canvas->rows, of, names[name]);
            if (ns <= 0)
                continue;
            x[count][curve->count] = places[at];
            y[count][curve->count++] = ns;
        }
        count += curve->count > 0;
    }
    if (count == 0)
        return 0;
    const struct chart chart = {.title = "Alone: a passage, by places open",
                                .x_name = "places open",
                                .y_name = "ns",
                                .x_least = 2,
                                .x_most = 256,
                                .y_least = 1,
                                .y_most = 10000,
                                .curves = curves,
                                .count = count};
    FILE *out = open_plot(canvas, "alone");
    return out ? close_plot(canvas, out, chart_write(&chart, out)) : -EIO;
}

static void add_values(struct dots *dots, const struct rows *rows, const char *const *cases,
                       const char *peer, bool ratio)
{
    bool any = false;
    for (size_t at = 0; at < dots->rows; at++)
        if (strcmp(dots->row_names[at], peer) == 0)
            return;
    for (size_t of = 0; of < dots->series; of++) {
        const struct row *row = rows_find(rows, cases[of], peer);
        const double value = !row ? -1 : ratio ? row->ratio : row->median_ns / 1000;
        dots->values[dots->rows][of] = value;
        any |= value > 0;
    }
    dots->row_names[dots->rows] = peer;
    dots->rows += any;
}

/* A row for each peer that has any of these cases, in the order of the table. */
static struct dots *gather(const struct rows *rows, const char *const *cases, size_t count,
                           bool ratio)
{
    static struct dots dots;
    dots = (struct dots){.series = count};
    for (size_t at = 0; at < rows->count; at++)
        for (size_t of = 0; of < count; of++)
            if (strcmp(rows->at[at].of, cases[of]) == 0 && dots.rows < DOTS_ROWS_MOST)
                add_values(&dots, rows, cases, rows->at[at].peer, ratio);
    return &dots;
}

static int plot_dots(const struct canvas *canvas, const char *name, const struct dots *dots)
{
    if (dots->rows == 0)
        return 0;
    FILE *out = open_plot(canvas, name);
    return out ? close_plot(canvas, out, dots_write(dots, out)) : -EIO;
}

static int plot_contended(const struct canvas *canvas, unsigned members)
{
    static const unsigned sections[] = {0, 100, 1000, 10000};
    char cases[4][WORD_ROOM], title[96], name[WORD_ROOM];
    const char *words[4];
    for (size_t at = 0; at < 4; at++) {
        snprintf(cases[at], sizeof cases[at], "contended-%u-%u", members, sections[at]);
        words[at] = cases[at];
    }
    struct dots *dots = gather(canvas->rows, words, 4, true);
    static const char *const series[] = {"empty", "100 ns inside", "1 µs inside", "10 µs inside"};
    memcpy(dots->series_names, series, sizeof series);
    snprintf(title, sizeof title,
             "%u processes: the time of a passage, by that of the robust mutex", members);
    snprintf(name, sizeof name, "contended-%u", members);
    dots->title = title;
    dots->axis = "ratio (less is better)";
    dots->mark = 1;
    return plot_dots(canvas, name, dots);
}

static int plot_kill(const struct canvas *canvas)
{
    static const char *const cases[] = {"kill-0", "kill-256"};
    struct dots *dots = gather(canvas->rows, cases, 2, false);
    dots->series_names[0] = "small holder";
    dots->series_names[1] = "256 MB holder";
    dots->title = "kill -9 of the holder, to the next one inside";
    dots->axis = "µs, median";
    return plot_dots(canvas, "kill", dots);
}

/* What is paid, and what is promised for it. */
static int plot_overtaken(const struct canvas *canvas, const char *of, const char *name,
                          const char *title)
{
    static struct cloud cloud;
    cloud = (struct cloud){.title = title,
                           .x_axis = "time of a passage, by that of the robust mutex",
                           .y_axis = "greatest number of overtakings, plus one"};
    for (size_t at = 0; at < canvas->rows->count && cloud.count < DOTS_ROWS_MOST; at++) {
        const struct row *row = &canvas->rows->at[at];
        if (strcmp(row->of, of) != 0 || row->ratio <= 0 || row->overtaken < 0)
            continue;
        const struct peer *peer = peer_named(row->peer, strlen(row->peer));
        cloud.names[cloud.count] = row->peer;
        cloud.x[cloud.count] = row->ratio;
        cloud.y[cloud.count] = row->overtaken + 1;
        cloud.colours[cloud.count++] = peer && peer->options ? 0 : 1;
    }
    if (cloud.count == 0)
        return 0;
    FILE *out = open_plot(canvas, name);
    return out ? close_plot(canvas, out, cloud_write(&cloud, out)) : -EIO;
}

int plots_write(const struct rows *rows, const char *directory, char *message, size_t room)
{
    const struct canvas canvas = {
        .rows = rows, .directory = directory, .message = message, .room = room};
    int result = plot_alone(&canvas);
    for (unsigned members = 2; members <= MEMBERS_PLOTTED && result == 0; members *= 2)
        result = plot_contended(&canvas, members);
    if (result == 0)
        result = plot_overtaken(&canvas, "contended-2-1000", "overtaken-2",
                                "2 processes, 1 µs inside: cost and overtaking (ours in blue)");
    if (result == 0)
        result = plot_overtaken(&canvas, "contended-8-1000", "overtaken-8",
                                "8 processes, 1 µs inside: cost and overtaking (ours in blue)");
    return result ? result : plot_kill(&canvas);
}
