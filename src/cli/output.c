/* SPDX-License-Identifier: MIT */
/* What was printed has been written, or its loss is told. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

/* Set by output_flush(), for stdio does not keep it; never cleared. */
static int failed_with;

bool output_flush(void)
{
    if (fflush(stdout) != 0 && !failed_with)
        failed_with = errno;
    return !failed_with && !ferror(stdout);
}

int output_end(const char *command, int status)
{
    if (output_flush())
        return status;
    /* stdio wrote in between, and failed, and had nothing left: the reason went by */
    return usage_error(command, "cannot write to standard output: %s",
                       failed_with ? strerror(failed_with) : "some of it is lost");
}
