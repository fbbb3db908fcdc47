/* SPDX-License-Identifier: MIT */
/* Fuzzing the auditor: whatever bytes a trace has, it is read, judged and drawn, or refused with a
 * line that says why; without a crash, a leak or a hang. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit/audit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge_and_draw(const struct trace *trace)
{
    static struct audit audit;
    if (audit_judge(trace, trace->count % 2 == 0, &audit) != 0)
        abort(); /* there is memory enough for so little */
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out || audit_draw(trace, &audit, 16, out) != 0)
        abort();
    fclose(out);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32], complaint[256] = "";
    const int file = memfd_create("trace", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct trace trace;
    const int error = trace_read(&trace, path, complaint, sizeof complaint);
    if (error == 0)
        judge_and_draw(&trace);
    else if (!strstr(complaint, "line ") && !strstr(complaint, "the "))
        abort(); /* what is refused is told */
    trace_close(&trace);
    close(file);
    return 0;
}
