/* SPDX-License-Identifier: MIT */
/* The processes that a subreaper is the parent of: those it started, and those whose parents have gone. */
#include "cli/run.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"

/* Field 4 of /proc/PID/stat; the name before it may hold anything, a closing bracket too. */
static pid_t parent_of(const char *pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *after = strrchr(text, ')');
    int parent = 0;
    return after && sscanf(after, ") %*c %d", &parent) == 1 ? parent : 0;
}

int tree_signal(int signal)
{
    DIR *processes = opendir("/proc");
    if (!processes) {
        say("run", "cannot list processes: %s", strerror(errno));
        return 0;
    }
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(processes));)
        if (isdigit((unsigned char)entry->d_name[0]) && parent_of(entry->d_name) == getpid()) {
            kill((pid_t)atol(entry->d_name), signal);
            count++;
        }
    closedir(processes);
    return count;
}

void tree_end(void)
{
    do {
        tree_signal(SIGKILL);
    } while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}
