/* SPDX-License-Identifier: MIT */
/* `afteryou audit`: judges a recorded run, and shows the offending pair of states. */
#include "audit/audit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/audit_html.h"
#include "cli/commands.h"
#include "cli/text.h"
#include "common/json.h"

enum { SCHEMA = 1 };

struct audit_request {
    const char *file, *svg, *html;
    uint64_t length;
    bool fair, json;
};

static const struct option_row rows[] = {
    {.names = {"fair"},
     .help = "judge fairness even if the trace does not claim it",
     .kind = OPTION_FLAG,
     OPTION_AT(struct audit_request, fair)},
    {.names = {"svg"},
     .argument = "FILE",
     .help = "draw the space-time diagram around the first violation, or of the beginning",
     .kind = OPTION_TEXT,
     OPTION_AT(struct audit_request, svg),
     .offer = OFFER_FILES},
    {.names = {"html"},
     .argument = "FILE",
     .help = "write a page for browsers, complete in itself: the judgement, who held each region "
             "from when to when, and that diagram",
     .kind = OPTION_TEXT,
     OPTION_AT(struct audit_request, html),
     .offer = OFFER_FILES},
    {.names = {"length"},
     .argument = "K",
     .help = "how many events it shows",
     .standard = "40",
     .kind = OPTION_NUMBER,
     .least = 4,
     .most = 10000,
     OPTION_AT(struct audit_request, length)},
    {.names = {"json"},
     .help = "print the judgement as JSON: docs/json.md",
     .kind = OPTION_FLAG,
     OPTION_AT(struct audit_request, json)},
    {0},
};

static const struct option_place places[] = {{.from = 1, .to = 1, .offer = OFFER_FILES}};

const struct option_table audit_options = {
    .command = "audit",
    .usage =
        "usage: afteryou audit FILE [OPTION…]      '-' reads standard input\n"
        "Judges a recorded run (JSON lines, as simulate --trace and AFTERYOU_TRACE write them) by\n"
        "causality: safety, growing fences, liveness, and fairness where the trace claims it.",
    .remarks =
        "Exit status: 0 all holds; 1 a property was violated; 125 the file is no trace, or the\n"
        "command failed.",
    .rows = rows,
    .wrong = EXIT_USAGE,
    .places = places,
    .places_count = 1,
};

static int parse(int count, char **words, struct audit_request *request)
{
    struct option_reading reading;
    *request = (struct audit_request){.length = 40};
    const int status = options_read(&audit_options, count, words, request, &reading);
    if (status)
        return status;
    if (reading.count != 1)
        return usage_error("audit", reading.count ? "one trace at a time: afteryou audit FILE"
                                                  : "which trace? afteryou audit FILE");
    request->file = reading.words[0];
    return 0;
}

/* The line itself, for the reader's eyes; a trace from a pipe cannot be read again. */
static void print_line(const char *path, uint32_t wanted)
{
    FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "r");
    if (!file)
        return;
    char *text = NULL;
    size_t size = 0;
    for (uint32_t number = 1; getline(&text, &size, file) != -1; number++)
        if (number == wanted) {
            text[strcspn(text, "\n")] = '\0';
            printf("    %u: ", wanted);
            text_print(stdout, text, 0);
            putchar('\n');
            break;
        }
    free(text);
    fclose(file);
}

static const char *remark(const struct audit *audit, enum audit_property property, char *text,
                          size_t room)
{
    text[0] = '\0';
    if (property == PROPERTY_LIVENESS && !audit->liveness_judged)
        snprintf(text, room,
                 "not judged: the trace does not say that all came to rest (%" PRIu64
                 " requests open)",
                 audit->open_requests);
    if (property == PROPERTY_FAIRNESS && !audit->fairness_judged)
        snprintf(text, room,
                 "not claimed: %" PRIu64 " times a request that happened before was overtaken",
                 audit->overtaken);
    return text;
}

static void print_text(const struct audit_request *request, const struct trace *trace,
                       const struct audit *audit)
{
    const bool colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    const bool holds = audit_holds(audit);
    text_print(stdout, request->file, 0);
    printf(": %s%s%s (%zu events, %u processes, %" PRIu64 " entries%s",
           colour ? (holds ? "\033[32m" : "\033[31m") : "", holds ? "holds" : "violated",
           colour ? "\033[0m" : "", trace->count, trace->processes.count, audit->entries,
           *trace->protocol ? ", " : "");
    text_print(stdout, trace->protocol, 0);
    puts(")");
    for (enum audit_property property = 0; property < PROPERTIES; property++) {
        const struct audit_finding *finding = &audit->findings[property];
        char text[160];
        remark(audit, property, text, sizeof text);
        printf("  %-9s ", audit_property_name(property));
        text_print(stdout, finding->found ? finding->words : *text ? text : "holds", 0);
        putchar('\n');
        if (!finding->found)
            continue;
        const uint32_t line = trace->records[finding->record].line,
                       other = trace->records[finding->other].line;
        print_line(request->file, other < line ? other : line);
        if (other != line)
            print_line(request->file, other < line ? line : other);
    }
}

static void print_json(const struct trace *trace, const struct audit *audit)
{
    struct json json = json_begin(stdout);
    json_object(&json, NULL);
    json_number(&json, "schema", SCHEMA);
    json_flag(&json, "holds", audit_holds(audit));
    json_number(&json, "events", trace->count);
    json_number(&json, "processes", trace->processes.count);
    json_number(&json, "entries", audit->entries);
    json_number(&json, "overtaken", audit->overtaken);
    json_flag(&json, "liveness_judged", audit->liveness_judged);
    json_flag(&json, "fairness_judged", audit->fairness_judged);
    json_list(&json, "violations");
    for (enum audit_property property = 0; property < PROPERTIES; property++) {
        const struct audit_finding *finding = &audit->findings[property];
        if (!finding->found)
            continue;
        json_object(&json, NULL);
        json_text(&json, "property", audit_property_name(property));
        json_number(&json, "line", trace->records[finding->record].line);
        json_number(&json, "other_line", trace->records[finding->other].line);
        json_text(&json, "words", finding->words);
        json_close(&json);
    }
    json_close(&json);
    json_close(&json);
    json_end(&json);
}

/* Writes the picture, or the page, to a file of that name. */
static int draw(const struct audit_request *request, const struct trace *trace,
                const struct audit *audit, bool page)
{
    const char *path = page ? request->html : request->svg;
    const size_t length = (size_t)request->length;
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!path)
        return 0;
    if (!out)
        return usage_error("audit", "cannot write %s: %s", path, strerror(errno));
    const int error = page ? audit_write_html(trace, audit, request->file, length, out)
                           : audit_draw(trace, audit, length, out);
    if (fclose(out) != 0 || error)
        return usage_error("audit", "cannot write %s: %s", path, strerror(error ? -error : errno));
    return 0;
}

static int judge(const struct audit_request *request, const struct trace *trace)
{
    struct audit audit;
    const int error = audit_judge(trace, request->fair, &audit);
    if (error)
        return usage_error(
            "audit",
            "%s: %u processes and %u regions need more memory than there is: audit a shorter trace",
            request->file, trace->processes.count, trace->regions.count);
    if (request->json)
        print_json(trace, &audit);
    else
        print_text(request, trace, &audit);
    int status = draw(request, trace, &audit, false);
    if (!status)
        status = draw(request, trace, &audit, true);
    return status ? status : audit_holds(&audit) ? EXIT_HOLDS : EXIT_VIOLATED;
}

int command_audit(int count, char **words)
{
    struct audit_request request;
    int status = parse(count, words, &request);
    if (status)
        return status < 0 ? EXIT_HOLDS : status;
    struct trace trace;
    char complaint[256];
    const int error = trace_read(&trace, request.file, complaint, sizeof complaint);
    if (error == -EBADMSG)
        status = usage_error("audit", "%s: %s", request.file, complaint);
    else if (error)
        status = usage_error("audit", "cannot read %s: %s", request.file, strerror(-error));
    else
        status = judge(&request, &trace);
    trace_close(&trace);
    return status;
}
