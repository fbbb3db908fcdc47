/* SPDX-License-Identifier: MIT */
/* The programs that `afteryou` consists of: itself; afteryou-agent, which alone needs Corosync's
 * libraries; and afteryou-tools, for all that is not started once for every passage. They lie
 * beside each other where they were built, or where each was installed. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"

static bool is_beside(const char *program, char *path, size_t room)
{
    const ssize_t length = readlink("/proc/self/exe", path, room - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash + 1 - path) + strlen(program) >= room)
        return false;
    strcpy(slash + 1, program);
    return access(path, X_OK) == 0;
}

void program_path(const char *program, const char *installed, char *path, size_t room)
{
    if (!is_beside(program, path, room))
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
