/* SPDX-License-Identifier: MIT */
/* The programs that `afteryou` consists of: itself; afteryou-agent, which alone needs Corosync's
 * libraries; and afteryou-tools, for all that is not started once for every passage. They lie
 * beside each other where they were built, and in bin and libexec where they were installed, also
 * if all that was moved. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"

/* Seen from the folder of the running program. */
static const char *const places[] = {".", "../libexec/afteryou", "../../bin"};

void program_path(const char *program, const char *installed, char *path, size_t room)
{
    char folder[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    for (size_t at = 0; slash && at < sizeof places / sizeof *places; at++) {
        const int needed = snprintf(path, room, "%s/%s/%s", folder, places[at], program);
        if (needed > 0 && (size_t)needed < room && access(path, X_OK) == 0)
            return;
    }
    snprintf(path, room, "%s/%s", installed, program);
}

int hand_over(const char *command, const char *program, const char *package, char **words)
{
    char path[PATH_MAX];
    program_path(program, AFTERYOU_LIBEXEC, path, sizeof path);
    execv(path, words);
    return errno == ENOENT ? usage_error(command, "cannot run %s: %s; is the package %s installed?",
                                         path, strerror(errno), package)
                           : usage_error(command, "cannot run %s: %s", path, strerror(errno));
}
