/* SPDX-License-Identifier: MIT */
/* Two drawings on logarithmic axes, as SVG: a row of dots for each name, and labelled points. */
#include "dots.h"

#include <errno.h>
#include <math.h>

#include "common/draw/svg.h"

enum {
    LEFT = 130,
    WIDTH = 560,
    TOP = 76,
    ROW = 18,
    CLOUD_HEIGHT = 400,
    MARGIN = 40,
    NAME_WIDTH = 66,
    NAME_HEIGHT = 10
};

/* A logarithmic axis over whole powers of ten. */
struct axis {
    double least, most, from, to;
};

static struct axis axis_over(const double *values, size_t count, size_t step, double from,
                             double to)
{
    double least = INFINITY, most = 0;
    for (size_t at = 0; at < count; at++) {
        const double value = values[at * step];
        if (value <= 0 || isinf(value))
            continue;
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    if (most <= 0)
        least = most = 1;
    const double low = pow(10, floor(log10(least))), high = pow(10, ceil(log10(most)));
    return (struct axis){
        .least = low, .most = high > low ? high : 10 * low, .from = from, .to = to};
}

static struct axis axis_joined(struct axis a, struct axis b)
{
    a.least = b.least < a.least ? b.least : a.least;
    a.most = b.most > a.most ? b.most : a.most;
    return a;
}

static double on_axis(const struct axis *axis, double value)
{
    const double clipped = value < axis->least  ? axis->least
                           : value > axis->most ? axis->most
                                                : value;
    return axis->from +
           log(clipped / axis->least) / log(axis->most / axis->least) * (axis->to - axis->from);
}

static void draw_axis(FILE *out, const struct axis *axis, double other_from, double other_to,
                      int across)
{
    char text[32];
    for (double value = axis->least; value <= axis->most * 1.001; value *= 10) {
        const double at = on_axis(axis, value);
        snprintf(text, sizeof text, "%g", value);
        if (across) {
            svg_line(out, "grid", (struct point){at, other_from}, (struct point){at, other_to});
            svg_text(out, "small", "middle", (struct point){at, other_from + 14}, text);
        } else {
            svg_line(out, "grid", (struct point){other_from, at}, (struct point){other_to, at});
            svg_text(out, "small", "end", (struct point){other_from - 6, at + 4}, text);
        }
    }
}

static void draw_series_names(FILE *out, const struct dots *dots)
{
    for (unsigned at = 0; at < dots->series; at++) {
        const double x = LEFT + 130.0 * at;
        svg_dot(out, svg_colour(at), (struct point){x, 50}, 4);
        svg_text(out, "name", "start", (struct point){x + 8, 54}, dots->series_names[at]);
    }
}

int dots_write(const struct dots *dots, FILE *out)
{
    const double bottom = TOP + ROW * (double)dots->rows;
    struct axis axis =
        axis_over(&dots->values[0][0], dots->rows, DOTS_SERIES_MOST, LEFT, LEFT + WIDTH);
    for (unsigned at = 1; at < dots->series; at++)
        axis = axis_joined(axis, axis_over(&dots->values[0][at], dots->rows, DOTS_SERIES_MOST, LEFT,
                                           LEFT + WIDTH));
    svg_begin(out, LEFT + WIDTH + MARGIN, bottom + 46, dots->title);
    svg_text(out, "title", "start", (struct point){LEFT, 26}, dots->title);
    draw_series_names(out, dots);
    draw_axis(out, &axis, bottom, TOP, 1);
    if (dots->mark > 0)
        svg_line(out, "axis", (struct point){on_axis(&axis, dots->mark), TOP},
                 (struct point){on_axis(&axis, dots->mark), bottom});
    for (size_t row = 0; row < dots->rows; row++) {
        const double y = TOP + ROW * ((double)row + .5);
        svg_line(out, "grid", (struct point){LEFT, y}, (struct point){LEFT + WIDTH, y});
        svg_text(out, "name", "end", (struct point){LEFT - 8, y + 4}, dots->row_names[row]);
        for (unsigned at = 0; at < dots->series; at++)
            if (dots->values[row][at] > 0)
                svg_dot(out, svg_colour(at),
                        (struct point){on_axis(&axis, dots->values[row][at]), y}, 4);
    }
    svg_text(out, "name", "middle", (struct point){LEFT + WIDTH / 2.0, bottom + 34}, dots->axis);
    svg_end(out);
    return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}

/* Where the name of a point can stand without covering one before it: beside it, or further down.
 */
static struct point free_spot(struct point wanted, const struct point *taken, size_t count)
{
    for (size_t at = 0; at < count; at++)
        if (fabs(taken[at].x - wanted.x) < NAME_WIDTH &&
            fabs(taken[at].y - wanted.y) < NAME_HEIGHT) {
            wanted.y = taken[at].y + NAME_HEIGHT;
            at = (size_t)-1; /* what was free higher up may be taken here */
        }
    return wanted;
}

int cloud_write(const struct cloud *cloud, FILE *out)
{
    const double bottom = TOP + CLOUD_HEIGHT;
    const struct axis x = axis_over(cloud->x, cloud->count, 1, LEFT, LEFT + WIDTH),
                      y = axis_over(cloud->y, cloud->count, 1, bottom, TOP);
    struct point spots[DOTS_ROWS_MOST];
    svg_begin(out, LEFT + WIDTH + 3 * MARGIN, bottom + 46, cloud->title);
    svg_text(out, "title", "start", (struct point){LEFT, 26}, cloud->title);
    svg_text(out, "name", "start", (struct point){LEFT - 60, TOP - 14}, cloud->y_axis);
    draw_axis(out, &x, bottom, TOP, 1);
    draw_axis(out, &y, LEFT, LEFT + WIDTH, 0);
    for (size_t at = 0; at < cloud->count; at++) {
        const struct point point = {on_axis(&x, cloud->x[at]), on_axis(&y, cloud->y[at])};
        svg_dot(out, svg_colour(cloud->colours[at]), point, 4);
        spots[at] = free_spot((struct point){point.x + 6, point.y - 3}, spots, at);
        svg_text(out, "small", "start", spots[at], cloud->names[at]);
    }
    svg_text(out, "name", "middle", (struct point){LEFT + WIDTH / 2.0, bottom + 34}, cloud->x_axis);
    svg_end(out);
    return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}
