/* SPDX-License-Identifier: MIT */
/* `afteryou audit --html`: the page that web/live.py made, with the run in it: its events as JSON,
 * and the space-time diagram as a picture. Nothing of the run becomes markup. */
#include "cli/audit_html.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"

/* Made of web/ when it is built. */
extern const unsigned char audit_page_head[], audit_page_middle[], audit_page_tail[];
extern const size_t audit_page_head_length, audit_page_middle_length, audit_page_tail_length;

enum { EVENTS_MOST = 100000 };

static bool is_told(const struct record *record)
{
    return record->kind == RECORD_DIED || record->kind == RECORD_LOST ||
           (record->region != TRACE_NONE &&
            (record->kind == RECORD_REQUEST || record->kind == RECORD_ENTER ||
             record->kind == RECORD_LEAVE || record->kind == RECORD_ABANDON));
}

static void print_event(struct json *json, const struct record *record)
{
    json_object(json, NULL);
    json_number(json, "at", record->at);
    json_text(json, "event", record_name(record->kind));
    json_number(json, "process", record->process);
    if (record->region != TRACE_NONE)
        json_number(json, "region", record->region);
    if (record->kind == RECORD_ENTER) {
        json_text(json, "mode",
                  trace_mode_name(record->mode == TRACE_MODE_NOT_GIVEN ? 0 : record->mode));
        if (record->fenced)
            json_number(json, "fence", record->fence);
        else
            json_null(json, "fence");
    }
    json_close(json);
}

static void print_events(struct json *json, const struct trace *trace)
{
    size_t told = 0;
    json_list(json, "events");
    for (size_t at = 0; at < trace->count; at++)
        if (is_told(&trace->records[at]) && told++ < EVENTS_MOST)
            print_event(json, &trace->records[at]);
    json_close(json);
    json_number(json, "told", told);
}

static void print_names(struct json *json, const char *what, const struct names *names)
{
    json_list(json, what);
    for (uint32_t at = 0; at < names->count; at++)
        json_text(json, NULL, names->text[at]);
    json_close(json);
}

static void print_run(FILE *out, const struct trace *trace, const struct audit *audit,
                      const char *file)
{
    struct json json = json_begin(out);
    json_object(&json, NULL);
    json_text(&json, "file", file);
    json_text(&json, "protocol", trace->protocol);
    json_flag(&json, "holds", audit_holds(audit));
    json_number(&json, "count", trace->count);
    print_names(&json, "processes", &trace->processes);
    char *common =
        strndup(trace->processes.count ? trace->processes.text[0] : "", trace_common(trace));
    json_text(&json, "common", common ? common : "");
    free(common);
    print_names(&json, "regions", &trace->regions);
    json_list(&json, "violations");
    for (enum audit_property property = 0; property < PROPERTIES; property++)
        if (audit->findings[property].found) {
            json_object(&json, NULL);
            json_text(&json, "property", audit_property_name(property));
            json_number(&json, "line", trace->records[audit->findings[property].record].line);
            json_text(&json, "words", audit->findings[property].words);
            json_close(&json);
        }
    json_close(&json);
    print_events(&json, trace);
    json_close(&json);
    json_end(&json);
}

/* '<' stands only in texts, where JSON can say it by its number: so nothing ends the element. */
static void write_for_element(FILE *out, const char *text, size_t length)
{
    for (size_t at = 0; at < length; at++)
        if (text[at] == '<')
            fputs("\\u003c", out);
        else
            fputc(text[at], out);
}

static void write_for_url(FILE *out, const char *text, size_t length)
{
    for (size_t at = 0; at < length; at++)
        if (isalnum((unsigned char)text[at]))
            fputc(text[at], out);
        else
            fprintf(out, "%%%02X", (unsigned char)text[at]);
}

static int write_picture(FILE *out, const struct trace *trace, const struct audit *audit,
                         size_t length)
{
    char *text = NULL;
    size_t size = 0;
    FILE *picture = open_memstream(&text, &size);
    if (!picture)
        return -ENOMEM;
    int error = audit_draw(trace, audit, length, picture);
    if (fclose(picture) != 0 && !error)
        error = -ENOMEM;
    if (!error)
        write_for_url(out, text, size);
    free(text);
    return error;
}

static int write_run(FILE *out, const struct trace *trace, const struct audit *audit,
                     const char *file)
{
    char *text = NULL;
    size_t size = 0;
    FILE *run = open_memstream(&text, &size);
    if (!run)
        return -ENOMEM;
    print_run(run, trace, audit, file);
    const bool done = fclose(run) == 0;
    if (done)
        write_for_element(out, text, size);
    free(text);
    return done ? 0 : -ENOMEM;
}

int audit_write_html(const struct trace *trace, const struct audit *audit, const char *file,
                     size_t length, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *page = open_memstream(&text, &size);
    if (!page)
        return -ENOMEM;
    fwrite(audit_page_head, 1, audit_page_head_length, page);
    int error = write_picture(page, trace, audit, length);
    fwrite(audit_page_middle, 1, audit_page_middle_length, page);
    if (!error)
        error = write_run(page, trace, audit, file);
    fwrite(audit_page_tail, 1, audit_page_tail_length, page);
    if (fclose(page) != 0 && !error)
        error = -ENOMEM;
    errno = 0; /* written at once, so that the reason of a failure does not go by */
    if (!error && (fwrite(text, 1, size, out) != size || fflush(out) != 0))
        error = errno ? -errno : -EIO;
    free(text);
    return error;
}
