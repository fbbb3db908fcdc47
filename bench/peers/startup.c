/* SPDX-License-Identifier: MIT */
/* Start-up: what a shell script pays for `afteryou run x -- true` beside `flock x true`: start to
 * end of the whole process. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "clock.h"
#include "crew.h"
#include "measure.h"

extern char **environ;

static const char *const names[] = {"flock(1)", "afteryou-run"};

size_t startup_command_count(void)
{
    return sizeof names / sizeof *names;
}

const char *startup_command_name(size_t at)
{
    return names[at];
}

int measure_startup(size_t at, const char *afteryou, struct sample *sample, char *message)
{
    char lock[PATH_ROOM], space[PATH_ROOM];
    const char *const by_flock[] = {"flock", crew_file(FILE_LOCK, lock), "true", NULL};
    const char *const by_ours[] = {afteryou, "run", "-S",   crew_file(FILE_SPACE, space),
                                   "x",      "--",  "true", NULL};
    const char *const *words = at == 0 ? by_flock : by_ours;
    pid_t pid;
    int status;
    const int64_t begin = now_ns();
    const int error = posix_spawnp(&pid, words[0], NULL, NULL, (char *const *)words, environ);
    if (error || waitpid(pid, &status, 0) != pid) {
        snprintf(message, MESSAGE_ROOM, "%s: %s", words[0], strerror(error ? error : errno));
        return -1;
    }
    const int64_t end = now_ns();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        snprintf(message, MESSAGE_ROOM, "%s did not succeed", words[0]);
        return -1;
    }
    *sample = (struct sample){.ns = (double)(end - begin),
                              .fairness = -1,
                              .cpu_ns = -1,
                              .overtaken = -1,
                              .overtaken_in_queue = -1};
    return 0;
}
