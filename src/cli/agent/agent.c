/* SPDX-License-Identifier: MIT */
/* `afteryou agent`: hands over to the program afteryou-agent, which alone needs Corosync's
 * libraries. It lies beside this one where both were built, or where it was installed. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/agent/agent_words.h"
#include "cli/commands.h"

#define PROGRAM "afteryou-agent"

static bool beside(char *path, size_t room)
{
    const ssize_t length = readlink("/proc/self/exe", path, room - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash + 1 - path) + sizeof PROGRAM > room)
        return false;
    strcpy(slash + 1, PROGRAM);
    return access(path, X_OK) == 0;
}

int command_agent(int count, char **words)
{
    struct service_options asked;
    const int status = agent_words_parse(count, words, &asked);
    if (status)
        return status < 0 ? 0 : status;
    char path[PATH_MAX];
    if (!beside(path, sizeof path))
        snprintf(path, sizeof path, "%s", AFTERYOU_LIBEXEC "/" PROGRAM);
    words[0] = (char[]){PROGRAM};
    execv(path, words);
    return usage_error("agent", "cannot run %s: %s%s", path, strerror(errno),
                       errno == ENOENT ? "; is the package afteryou-cluster installed?" : "");
}
