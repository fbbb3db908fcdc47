/* SPDX-License-Identifier: MIT */
/* AFTERYOU_TRACE: what happens, as JSON lines, for `afteryou audit` to judge.
 *
 * A line is one write to a file opened for appending, so that processes may share it. `enter` and `leave` are written from
 * inside, so their order in the file is the order in which they happened. Where others may be inside at once for want of neither
 * mode (slots, units), the mode is given as null: the auditor knows nothing of slots.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/descriptors.h"
#include "memory/region.h"

enum { LINE_ROOM = 6 * AY_NAME_MOST + 256 };

int ay__trace_file = -1;

void ay__trace_begin(void)
{
    static bool begun; /* under the mutex */
    const char *path = begun ? NULL : secure_getenv("AFTERYOU_TRACE");
    begun = true;
    if (path && *path) /* a trace that cannot be written is no reason not to run */
        ay__trace_file =
            descriptor_above_standard(open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
}

static void escape(const struct name *name, char *text)
{
    for (unsigned at = 0; at < name->length; at++) {
        const unsigned char byte = (unsigned char)name->bytes[at];
        if (byte < 0x20 || byte == '"' || byte == '\\')
            text += sprintf(text, "\\u%04x", byte);
        else
            *text++ = (char)byte;
    }
    *text = '\0';
}

static void write_line(const char *line, int length)
{
    ssize_t written;
    do
        written = write(ay__trace_file, line, (size_t)length);
    while (written < 0 && errno == EINTR);
}

void ay__trace(const ay_region *region, const char *event)
{
    const struct public_spec *spec = &region->spec;
    const bool several = spec->slots > 1 || spec->of > 0;
    for (unsigned at = 0; at < spec->names; at++) {
        char name[6 * AY_NAME_MOST + 1], line[LINE_ROOM], fence[40] = "";
        escape(&spec->name[at], name);
        if (strcmp(event, "enter") == 0)
            snprintf(fence, sizeof fence, ",\"fence\":%llu", (unsigned long long)ay_fence(region));
        const int length =
            snprintf(line, sizeof line,
                     "{\"at\":%lld,\"process\":\"%u/%u/%u\",\"event\":\"%s\",\"region\":\"%s\",\"mode\":\"%s\"%s}\n",
                     (long long)ay__now(), region->at.own_cold->owner.pid, region->at.self,
                     life_generation(atomic_load(&region->at.own->life)), event, name,
                     mode_name(several ? MODE_NULL : spec->mode), fence);
        write_line(line, length);
    }
}

void ay__trace_death(unsigned pid, unsigned place, unsigned generation)
{
    char line[LINE_ROOM];
    const int length = snprintf(line, sizeof line, "{\"at\":%lld,\"process\":\"%u/%u/%u\",\"event\":\"died\"}\n",
                                (long long)ay__now(), pid, place, generation);
    write_line(line, length);
}
