/* SPDX-License-Identifier: MIT */
/* The few words of SVG that our drawings need, with all text escaped.
 *
 * Drawings carry their style inside, so that they look the same in a browser, in a document and on
 * paper: on white. A page that is dark gives the root the class "dark".
 */
#include "common/draw/svg.h"

#include "common/printable.h"

static const char style[] =
    "text{font-family:'DejaVu Sans',Helvetica,sans-serif;font-size:12px;fill:#222}"
    ".title{font-size:15px;font-weight:bold}.small{font-size:10px;fill:#555}.wrong{fill:#c00;font-weight:"
    "bold}"
    ".life{stroke:#999;stroke-width:1.5}.axis{stroke:#222;stroke-width:1}.grid{stroke:#ddd;stroke-width:1}"
    ".value{paint-order:stroke;stroke:#fff;stroke-width:3px}.number{font-size:9px}.store,.fetch{fill:#fff;stroke:#222;stroke-width:1.5}"
    ".act{fill:#fff;stroke:#999;stroke-width:1.5}.gone{fill:none;stroke:#777;stroke-dasharray:4 3}"
    ".step{fill:#222}.dead{fill:#fff;stroke:#c00;stroke-width:2}"
    ".message{stroke:#0072b2;stroke-width:1.2}"
    ".lost{stroke:#c00;stroke-width:1.2;stroke-dasharray:4 3}"
    ".wait{fill:#f0e442;fill-opacity:.75}.inside{fill:#009e73;fill-opacity:.8}.clash{fill:#c00;fill-opacity:."
    "12}"
    ".mark{stroke:#c00;stroke-width:2;fill:none}"
    ".c0{stroke:#0072b2;fill:#0072b2}.c1{stroke:#d55e00;fill:#d55e00}.c2{stroke:#009e73;fill:#009e73}"
    ".c3{stroke:#cc79a7;fill:#cc79a7}.c4{stroke:#56b4e9;fill:#56b4e9}.c5{stroke:#e69f00;fill:#e69f00}"
    "polyline{fill:none!important;stroke-width:2}"
    ".paper{fill:#fff}.head{fill:#0072b2}"
    ".dark .paper,.dark .store,.dark .fetch,.dark .act,.dark .dead{fill:#18212b}"
    ".dark text,.dark .step{fill:#e8edf2}.dark .small{fill:#a7b4c0}"
    ".dark .wrong{fill:#ff9d94}.dark .value{stroke:#18212b}"
    ".dark .axis,.dark .store,.dark .fetch{stroke:#e8edf2}.dark .grid{stroke:#33404d}"
    ".dark .message{stroke:#56b4e9}.dark .head{fill:#56b4e9}"
    ".dark .dead,.dark .lost,.dark .mark{stroke:#ff9d94}"
    ".dark .clash{fill:#ff9d94;fill-opacity:.2}.dark .wait{fill-opacity:.5}";

const char *svg_colour(unsigned i)
{
    static const char *const colours[] = {"c0", "c1", "c2", "c3", "c4", "c5"};
    return colours[i % (sizeof colours / sizeof *colours)];
}

/* What XML cannot carry (controls, bytes that are no UTF-8: a text may have been cut) becomes '?'.
 */
void svg_escape(FILE *out, const char *text)
{
    for (size_t length; *text; text += length ? length : 1) {
        length = utf8_length(text);
        if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else if (length && is_printable(utf8_character(text, length)))
            fwrite(text, 1, length, out);
        else
            fputc('?', out);
    }
}

void svg_begin(FILE *out, double width, double height, const char *title)
{
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 "
        "%.0f %.0f\" "
        "role=\"img\">\n<title>",
        width, height, width, height);
    svg_escape(out, title);
    fprintf(out,
            "</title>\n<style>%s</style>\n"
            "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
            "markerHeight=\"7\" "
            "orient=\"auto\"><path class=\"head\" d=\"M0 1 L8 4 L0 7 z\"/></marker></defs>\n"
            "<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n",
            style);
}

void svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

static void line(FILE *out, const char *class, struct point from, struct point to, const char *more)
{
    fprintf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"%s/>\n", class,
            from.x, from.y, to.x, to.y, more);
}

void svg_line(FILE *out, const char *class, struct point from, struct point to)
{
    line(out, class, from, to, "");
}

void svg_arrow(FILE *out, const char *class, struct point from, struct point to)
{
    line(out, class, from, to, " marker-end=\"url(#head)\"");
}

void svg_dot(FILE *out, const char *class, struct point at, double radius)
{
    fprintf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", class, at.x, at.y,
            radius);
}

void svg_box(FILE *out, const char *class, struct point corner, double width, double height)
{
    fprintf(out,
            "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\"/>\n",
            class, corner.x, corner.y, width, height);
}

void svg_text(FILE *out, const char *class, const char *anchor, struct point at, const char *text)
{
    fprintf(out, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, anchor,
            at.x, at.y);
    svg_escape(out, text);
    fputs("</text>\n", out);
}

void svg_path(FILE *out, const char *class, const struct point *points, size_t count)
{
    fprintf(out, "<polyline class=\"%s\" points=\"", class);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%.1f,%.1f", i ? " " : "", points[i].x, points[i].y);
    fputs("\"/>\n", out);
}
