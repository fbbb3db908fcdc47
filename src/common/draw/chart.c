/* SPDX-License-Identifier: MIT */
/* Curves on two logarithmic axes, as SVG. */
#include "common/draw/chart.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/draw/svg.h"

enum { WIDTH = 760, HEIGHT = 480, LEFT = 80, RIGHT = 190, TOP = 54, BOTTOM = 60 };

static double place(double value, double least, double most, double from, double to)
{
    const double clipped = value < least ? least : value > most ? most : value;
    return from + (log(clipped) - log(least)) / (log(most) - log(least)) * (to - from);
}

static double across(const struct chart *chart, double x)
{
    return place(x, chart->x_least, chart->x_most, LEFT, WIDTH - RIGHT);
}

static double up(const struct chart *chart, double y)
{
    return place(y, chart->y_least, chart->y_most, HEIGHT - BOTTOM, TOP);
}

/* Lines at 1, 2 and 5 times the powers of ten. */
static void draw_grid(const struct chart *chart, FILE *out)
{
    char text[32];
    for (int power = -3; power < 9; power++)
        for (unsigned i = 0; i < 3; i++) {
            const double value = (i == 0 ? 1 : i == 1 ? 2 : 5) * pow(10, power);
            snprintf(text, sizeof text, "%g", value);
            if (value >= chart->x_least && value <= chart->x_most) {
                const double x = across(chart, value);
                svg_line(out, "grid", (struct point){x, TOP}, (struct point){x, HEIGHT - BOTTOM});
                svg_text(out, "small", "middle", (struct point){x, HEIGHT - BOTTOM + 16}, text);
            }
            if (value >= chart->y_least && value <= chart->y_most) {
                const double y = up(chart, value);
                svg_line(out, "grid", (struct point){LEFT, y}, (struct point){WIDTH - RIGHT, y});
                svg_text(out, "small", "end", (struct point){LEFT - 6, y + 4}, text);
            }
        }
    svg_line(out, "axis", (struct point){LEFT, TOP}, (struct point){LEFT, HEIGHT - BOTTOM});
    svg_line(out, "axis", (struct point){LEFT, HEIGHT - BOTTOM},
             (struct point){WIDTH - RIGHT, HEIGHT - BOTTOM});
}

static int draw_curve(const struct chart *chart, unsigned i, FILE *out)
{
    const struct curve *curve = &chart->curves[i];
    struct point *points = calloc(curve->count ? curve->count : 1, sizeof *points);
    if (!points)
        return -ENOMEM;
    for (size_t at = 0; at < curve->count; at++) {
        points[at] = (struct point){across(chart, curve->x[at]), up(chart, curve->y[at])};
        svg_dot(out, svg_colour(i), points[at], 2.5);
    }
    svg_path(out, svg_colour(i), points, curve->count);
    const double y = TOP + 10 + 22.0 * i, x = WIDTH - RIGHT + 16;
    svg_line(out, svg_colour(i), (struct point){x, y}, (struct point){x + 22, y});
    svg_text(out, "name", "start", (struct point){x + 28, y + 4}, curve->name);
    free(points);
    return 0;
}

int chart_write(const struct chart *chart, FILE *out)
{
    svg_begin(out, WIDTH, HEIGHT, chart->title);
    svg_text(out, "title", "start", (struct point){LEFT, 28}, chart->title);
    draw_grid(chart, out);
    for (unsigned i = 0; i < chart->count; i++) {
        const int error = draw_curve(chart, i, out);
        if (error)
            return error;
    }
    svg_text(out, "name", "middle", (struct point){(LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 16},
             chart->x_name);
    svg_text(out, "name", "start", (struct point){LEFT - 60, TOP - 10}, chart->y_name);
    svg_end(out);
    errno = 0;
    return fflush(out) != 0 || ferror(out) ? (errno ? -errno : -EIO) : 0;
}
