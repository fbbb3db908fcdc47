/* SPDX-License-Identifier: MIT */
/* AFTERYOU_TRACE: what happens, as JSON lines, for `afteryou audit` to judge.
 *
 * A line is one write to a file opened for appending, so that processes may share it. `enter` and
 * `leave` are written from inside, so their order in the file is the order in which they happened.
 * A name means nothing without its space, so each line names that too. Names are bytes, and JSON is
 * UTF-8: a byte that is none is written as U+F700 and the byte, so that names that differ differ in
 * the trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/descriptors.h"
#include "common/json.h"
#include "memory/passage/region.h"

int ay__trace_file = -1;
/* the program may close it, and the number be a stranger's */
static struct descriptor_identity trace_identity;

void ay__trace_begin(void)
{
    static bool begun; /* under the mutex */
    const char *path = begun ? NULL : secure_getenv("AFTERYOU_TRACE");
    begun = true;
    if (!path || !*path)
        return;
    /* A trace that cannot be written is no reason not to run, nor one that nobody reads (a FIFO) a
     * reason to wait. */
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    ay__trace_file = descriptor_above_standard(open(path, flags, 0600));
    if (ay__trace_file >= 0)
        descriptor_identify(ay__trace_file, &trace_identity);
}

/* A line that is being written, to memory. */
struct trace_line {
    FILE *out;
    char *text;
    size_t length;
    struct json json;
};

/* What every line begins with: when, where, who. False: there is no memory, and so no line. */
static bool begin_line(struct trace_line *line, const ay_space *space, unsigned pid, unsigned place,
                       unsigned generation)
{
    *line = (struct trace_line){0};
    line->out = open_memstream(&line->text, &line->length);
    if (!line->out)
        return false;
    char process[64];
    snprintf(process, sizeof process, "%u/%u/%u", pid, place, generation);
    line->json = json_begin(line->out);
    line->json.keep_bytes = true;
    json_object(&line->json, NULL);
    json_signed(&line->json, "at", ay__now());
    json_text(&line->json, "space", space->path);
    json_text(&line->json, "process", process);
    return true;
}

/* One write of all of it. */
static void end_line(struct trace_line *line)
{
    json_close(&line->json);
    json_end(&line->json);
    if (fclose(line->out) == 0 && descriptor_is(ay__trace_file, &trace_identity)) {
        ssize_t written;
        do
            written = write(ay__trace_file, line->text, line->length);
        while (written < 0 && errno == EINTR);
    }
    free(line->text);
}

/* "units":"0,3" for one that holds some. */
static void write_units(struct json *json, const ay_region *region)
{
    bool some = false;
    for (unsigned unit = 0; unit < region->spec.of; unit++) {
        if (!ay__units_has(&region->at, unit))
            continue;
        char number[16];
        snprintf(number, sizeof number, "%s%u", some ? "," : "", unit);
        if (!some)
            json_open_text(json, "units");
        json_part(json, number);
        some = true;
    }
    if (some)
        json_close_text(json);
}

static void write_passage(const ay_region *region, const char *event, bool enters, bool fenced)
{
    AY__UNCANCELLED;
    const struct public_spec *spec = &region->spec;
    for (unsigned at = 0; at < spec->names; at++) {
        struct trace_line line;
        if (!begin_line(&line, region->at.fixed.space, region->at.fixed.own_cold->owner.pid,
                        region->at.fixed.self,
                        life_generation(atomic_load(&region->at.near.own->life))))
            return;
        char name[AY_NAME_MOST + 1];
        snprintf(name, sizeof name, "%.*s", (int)spec->name[at].length, spec->name[at].bytes);
        json_text(&line.json, "event", event);
        json_text(&line.json, "region", name);
        json_text(&line.json, "mode", mode_name(region->at.near.mode));
        if (spec->slots > 1)
            json_number(&line.json, "slots", spec->slots);
        if (fenced && ay_fence(region)) /* not every protocol has fences */
            json_number(&line.json, "fence", ay_fence(region));
        if (enters)
            write_units(&line.json, region);
        end_line(&line);
    }
}

void ay__trace(const ay_region *region, const char *event)
{
    const bool enters = strcmp(event, "enter") == 0;
    write_passage(region, event, enters, enters);
}

/* Who becomes weaker keeps its fence, which is no new one. */
void ay__trace_converted(const ay_region *region, bool weaker)
{
    write_passage(region, "request", false, false);
    write_passage(region, "enter", true, !weaker);
}

void ay__trace_death(const ay_space *space, unsigned pid, unsigned place, unsigned generation)
{
    struct trace_line line;
    if (!begin_line(&line, space, pid, place, generation))
        return;
    json_text(&line.json, "event", "died");
    end_line(&line);
}
