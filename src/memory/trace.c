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
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/descriptors.h"
#include "common/printable.h"
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

static void write_quoted(FILE *out, const char *text, size_t most)
{
    char bytes[PATH_MAX];
    snprintf(bytes, sizeof bytes, "%.*s", (int)most, text);
    fputc('"', out);
    for (size_t at = 0, length; bytes[at]; at += length ? length : 1) {
        const unsigned char byte = (unsigned char)bytes[at];
        length = utf8_length(bytes + at);
        if (length == 0 || byte < 0x20 || byte == '"' || byte == '\\')
            fprintf(out, "\\u%04x", length == 0 ? 0xf700u + byte : byte);
        else
            fwrite(bytes + at, 1, length, out);
    }
    fputc('"', out);
}

/* "units":"0,3" for one that holds some. */
static void write_units(FILE *out, const ay_region *region)
{
    const char *before = ",\"units\":\"";
    for (unsigned unit = 0; unit < region->spec.of; unit++)
        if (ay__units_has(&region->at, unit)) {
            fprintf(out, "%s%u", before, unit);
            before = ",";
        }
    if (*before == ',' && before[1] == '\0')
        fputc('"', out);
}

/* What every line begins with: when, where, who. */
static void begin_line(FILE *out, const ay_space *space, unsigned pid, unsigned place,
                       unsigned generation)
{
    fprintf(out, "{\"at\":%lld,\"space\":", (long long)ay__now());
    write_quoted(out, space->path, PATH_MAX - 1);
    fprintf(out, ",\"process\":\"%u/%u/%u\"", pid, place, generation);
}

/* One write, of what was written to `out`, the memory stream of `line`. Without memory there is no
 * line. */
static void end_line(FILE *out, char **line, const size_t *length)
{
    fputs("}\n", out);
    if (fclose(out) == 0 && descriptor_is(ay__trace_file, &trace_identity)) {
        ssize_t written;
        do
            written = write(ay__trace_file, *line, *length);
        while (written < 0 && errno == EINTR);
    }
    free(*line);
}

void ay__trace(const ay_region *region, const char *event)
{
    const struct public_spec *spec = &region->spec;
    const bool enters = strcmp(event, "enter") == 0;
    for (unsigned at = 0; at < spec->names; at++) {
        char *line = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&line, &length);
        if (!out)
            return;
        begin_line(out, region->at.fixed.space, region->at.fixed.own_cold->owner.pid,
                   region->at.fixed.self, life_generation(atomic_load(&region->at.near.own->life)));
        fprintf(out, ",\"event\":\"%s\",\"region\":", event);
        write_quoted(out, spec->name[at].bytes, spec->name[at].length);
        fprintf(out, ",\"mode\":\"%s\"", mode_name(spec->mode));
        if (spec->slots > 1)
            fprintf(out, ",\"slots\":%u", spec->slots);
        if (enters) {
            fprintf(out, ",\"fence\":%llu", (unsigned long long)ay_fence(region));
            write_units(out, region);
        }
        end_line(out, &line, &length);
    }
}

void ay__trace_death(const ay_space *space, unsigned pid, unsigned place, unsigned generation)
{
    char *line = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&line, &length);
    if (!out)
        return;
    begin_line(out, space, pid, place, generation);
    fputs(",\"event\":\"died\"", out);
    end_line(out, &line, &length);
}
