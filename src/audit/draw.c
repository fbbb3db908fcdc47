/* SPDX-License-Identifier: MIT */
/* Draws the part of a trace around its first violation as a space-time diagram. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "common/draw/spacetime.h"

enum { NOT_SHOWN = -1 };

/* Where each process stands while the window is drawn. */
struct line {
    int number;   /* in the diagram, or NOT_SHOWN */
    double since; /* the column where its wait or its stay began */
    bool waits, inside;
};

struct drawing {
    const struct trace *trace;
    struct spacetime *diagram;
    struct line *lines;
    size_t first, last; /* the records shown: first … last-1 */
};

static const struct audit_finding *first_finding(const struct audit *audit)
{
    const struct audit_finding *first = NULL;
    for (unsigned i = 0; i < PROPERTIES; i++)
        if (audit->findings[i].found && (!first || audit->findings[i].record < first->record))
            first = &audit->findings[i];
    return first;
}

static double column(const struct drawing *drawing, size_t record)
{
    return (double)(record - drawing->first);
}

static void end_bar(struct drawing *drawing, struct line *line, double at)
{
    if (line->waits || line->inside)
        spacetime_bar(drawing->diagram, line->inside ? SPACETIME_INSIDE : SPACETIME_WAITS,
                      (unsigned)line->number, line->since, at);
    line->waits = line->inside = false;
    line->since = at;
}

/* What came before the window decides who waits and who is inside when it opens. */
static void follow(struct line *line, const struct record *record)
{
    switch (record->kind) {
    case RECORD_REQUEST:
        line->waits = true;
        break;
    case RECORD_ENTER:
        line->inside = true;
        line->waits = false;
        break;
    case RECORD_LEAVE:
    case RECORD_ABANDON:
    case RECORD_DIED:
    case RECORD_LOST:
        line->inside = line->waits = false;
        break;
    default:
        break;
    }
}

/* The message's kind, cut short between two characters. */
static void name_message(const struct trace *trace, const struct record *send, char *name,
                         size_t room)
{
    const char *kind = send->name == TRACE_NONE ? "" : trace->kinds.text[send->name];
    size_t length = strnlen(kind, room);
    while (length == room || (length > 0 && ((unsigned char)kind[length] & 0xc0) == 0x80))
        length--;
    memcpy(name, kind, length);
    name[length] = '\0';
}

/* The arrow of a receive starts at its send, if that is shown. */
static void draw_arrow(struct drawing *drawing, const struct record *record, size_t index)
{
    for (size_t i = index; i-- > drawing->first;) {
        const struct record *send = &drawing->trace->records[i];
        if (send->kind == RECORD_SEND && send->message == record->message) {
            char name[13];
            name_message(drawing->trace, send, name, sizeof name);
            spacetime_message(drawing->diagram, (unsigned)drawing->lines[send->process].number,
                              column(drawing, i), (unsigned)drawing->lines[record->process].number,
                              column(drawing, index), name);
            return;
        }
    }
}

static void draw_record(struct drawing *drawing, size_t index)
{
    const struct record *record = &drawing->trace->records[index];
    struct line *line = &drawing->lines[record->process];
    const double at = column(drawing, index);
    char label[64] = "";
    if (record->kind == RECORD_RECEIVE)
        draw_arrow(drawing, record, index);
    if (record->kind != RECORD_SEND && record->kind != RECORD_RECEIVE &&
        record->kind != RECORD_JOINED) {
        end_bar(drawing, line, at);
        follow(line, record);
    }
    if (record->kind != RECORD_SEND && record->kind != RECORD_RECEIVE)
        snprintf(label, sizeof label, "%s", record_name(record->kind));
    if (record->kind == RECORD_DIED || record->kind == RECORD_LOST)
        spacetime_death(drawing->diagram, (unsigned)line->number, at, label);
    else
        spacetime_step(drawing->diagram, (unsigned)line->number, at, *label ? label : NULL);
}

/* Only processes that do something in the window get a line, in the order of their numbers; named
 * without what all have in common. */
static void name_lines(struct drawing *drawing)
{
    const struct trace *trace = drawing->trace;
    const size_t common = trace_common(trace);
    for (size_t i = 0; i < drawing->first; i++)
        follow(&drawing->lines[trace->records[i].process], &trace->records[i]);
    for (size_t i = drawing->first; i < drawing->last; i++)
        drawing->lines[trace->records[i].process].number = 0;
    for (uint32_t process = 0; process < trace->processes.count; process++)
        if (drawing->lines[process].number != NOT_SHOWN)
            drawing->lines[process].number =
                (int)spacetime_process(drawing->diagram, trace->processes.text[process] + common);
}

static void choose_window(struct drawing *drawing, const struct audit_finding *finding,
                          size_t length)
{
    const size_t count = drawing->trace->count;
    if (finding) {
        const size_t earlier = finding->other < finding->record ? finding->other : finding->record;
        const size_t wanted = finding->record + 4 > length ? finding->record + 4 - length : 0;
        /* The earlier of the pair is shown if it is near enough. */
        drawing->first = earlier + 3 * length > finding->record && earlier < wanted
                             ? (earlier > 2 ? earlier - 2 : 0)
                             : wanted;
        drawing->last = finding->record + 4 < count ? finding->record + 4 : count;
    } else {
        drawing->last = length < count ? length : count;
    }
}

int audit_draw(const struct trace *trace, const struct audit *audit, size_t length, FILE *out)
{
    const struct audit_finding *finding = first_finding(audit);
    struct drawing drawing = {.trace = trace};
    choose_window(&drawing, finding, length);
    drawing.diagram = spacetime_open(finding ? "The run around its first violation"
                                             : "The run, from its beginning");
    drawing.lines = calloc(trace->processes.count, sizeof *drawing.lines);
    int error = -ENOMEM;
    if (drawing.diagram && drawing.lines) {
        for (uint32_t process = 0; process < trace->processes.count; process++)
            drawing.lines[process].number = NOT_SHOWN;
        name_lines(&drawing);
        for (size_t i = drawing.first; i < drawing.last; i++)
            draw_record(&drawing, i);
        for (uint32_t process = 0; process < trace->processes.count; process++)
            if (drawing.lines[process].number != NOT_SHOWN)
                end_bar(&drawing, &drawing.lines[process], column(&drawing, drawing.last));
        if (finding) {
            const size_t other = finding->other < drawing.first ? finding->record : finding->other;
            spacetime_violation(
                drawing.diagram,
                (unsigned)drawing.lines[trace->records[finding->record].process].number,
                column(&drawing, finding->record),
                (unsigned)drawing.lines[trace->records[other].process].number,
                column(&drawing, other), finding->words);
        }
        error = spacetime_write(drawing.diagram, out);
    }
    free(drawing.lines);
    spacetime_close(drawing.diagram);
    return error;
}
