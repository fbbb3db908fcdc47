/* SPDX-License-Identifier: MIT */
/* Writes a trace of a real run of the memory engine: processes that read and write one resource,
 * one of which dies inside.
 *
 * usage: recorded TRACE SPACE. Entering and leaving are written from inside the region, as
 * docs/messages.md asks.
 *
 * recorded SPACE: processes that share, become exclusive and share again, one of which dies inside;
 * what AFTERYOU_TRACE names is written by the library.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "afteryou.h"

enum { PROCESSES = 4, PASSAGES = 100, DIES_AT = 50 };

static void fail(const char *what)
{
    fprintf(stderr, "recorded: %s: %s\n", what, ay_message());
    _exit(1);
}

static void record(int trace, unsigned process, const char *event, const char *mode, uint64_t fence)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    char line[256], more[32] = "";
    if (fence)
        snprintf(more, sizeof more, ",\"fence\":%" PRIu64, fence);
    const int length = snprintf(
        line, sizeof line,
        "{\"at\":%lld%09ld,\"process\":\"p%u\",\"event\":\"%s\",\"region\":\"db\",\"mode\":\"%s\"%s}\n",
        (long long)now.tv_sec, now.tv_nsec, process, event, mode, more);
    if (write(trace, line, (size_t)length) != length)
        fail("writing the trace");
}

static void work(int trace, const char *name, unsigned process)
{
    ay_space *space;
    ay_region *regions[2];
    if (ay_open(name, NULL, &space) < 0)
        fail("opening the space");
    for (unsigned shared = 0; shared < 2; shared++)
        if (ay_region_open(space,
                           &(ay_spec){.name = "db", .mode = shared ? AY_SHARED : AY_EXCLUSIVE},
                           &regions[shared]) < 0)
            fail("opening the region");
    for (unsigned i = 0; i < PASSAGES; i++) {
        const bool shared = (process + i) % 3 == 0;
        const char *mode = shared ? "shared" : "exclusive";
        record(trace, process, "request", mode, 0);
        if (ay_enter(regions[shared]) < 0)
            fail("entering");
        record(trace, process, "enter", mode, ay_fence(regions[shared]));
        if (process == 1 && i == DIES_AT) {
            record(trace, process, "died", mode, 0);
            raise(SIGKILL);
        }
        record(trace, process, "leave", mode, 0);
        if (ay_leave(regions[shared]) < 0)
            fail("leaving");
    }
    ay_close(space);
    _exit(0);
}

static void convert(const char *name, unsigned process)
{
    ay_space *space;
    ay_region *region;
    if (ay_open(name, NULL, &space) < 0 ||
        ay_region_open(space, &(ay_spec){.name = "db"}, &region) < 0)
        fail("opening");
    for (unsigned i = 0; i < PASSAGES; i++) {
        if (ay_enter_as(region, AY_SHARED, -1) < 0)
            fail("entering");
        const int stronger = ay_convert(region, AY_EXCLUSIVE, -1);
        if (stronger < 0 && stronger != -EDEADLK) /* another was before it */
            fail("becoming exclusive");
        if (process == 1 && i == DIES_AT)
            raise(SIGKILL);
        if (stronger >= 0 && ay_convert(region, AY_SHARED, -1) < 0)
            fail("sharing again");
        if (ay_leave(region) < 0)
            fail("leaving");
    }
    ay_close(space);
    _exit(0);
}

int main(int count, char **words)
{
    const int trace =
        count == 3 ? open(words[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (count != 2 && trace < 0) {
        fputs("usage: recorded [TRACE] SPACE\n", stderr);
        return 125;
    }
    for (unsigned process = 0; process < PROCESSES; process++) {
        const pid_t child = fork();
        if (child < 0) {
            perror("recorded: fork");
            return 1;
        }
        if (child == 0 && count == 2)
            convert(words[1], process);
        else if (child == 0)
            work(trace, words[2], process);
    }
    int status, failed = 0, killed = 0;
    while (wait(&status) > 0) {
        killed += WIFSIGNALED(status);
        failed += WIFEXITED(status) && WEXITSTATUS(status) != 0;
    }
    return failed || killed != 1;
}
