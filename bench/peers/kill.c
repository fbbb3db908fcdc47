/* SPDX-License-Identifier: MIT */
/* Kill: one is inside, another waits, asleep; kill -9 of the first, until the second is inside. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "crew.h"
#include "measure.h"

enum { ASLEEP_TRIES = 20000, SETTLE_US = 2000 };

static void body_holder(struct crew *crew, struct member *member)
{
    const size_t size = (size_t)crew->of->megabytes << 20;
    if (size > 0 && mmap(NULL, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) == MAP_FAILED) {
        atomic_store(&crew->failed, peer_fail(&crew->meeting, -errno, "mmap: %s", strerror(errno)));
        return;
    }
    crew->peer->loops->enter(member);
    atomic_fetch_add(&crew->ready, 1);
    for (;;)
        pause();
}

static void body_waiter(struct crew *crew, struct member *member)
{
    atomic_fetch_add(&crew->ready, 1);
    crew->peer->loops->enter(member);
    atomic_store(&crew->entered_ns, now_ns());
}

/* As /proc tells it, of the first thread: the one that waits. */
static bool is_asleep(pid_t pid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *in = fopen(path, "r");
    if (!in)
        return false;
    const char *state = fgets(text, sizeof text, in) ? strrchr(text, ')') : NULL;
    fclose(in);
    return state && state[1] == ' ' && state[2] == 'S';
}

static int await_asleep(struct crew *crew, pid_t pid)
{
    for (int times = 0; times < ASLEEP_TRIES; times++) {
        if (is_asleep(pid)) {
            rest_us(SETTLE_US);
            if (is_asleep(pid))
                return 0;
        }
        rest_us(500);
    }
    return peer_fail(&crew->meeting, -ETIMEDOUT, "the one that waits does not sleep");
}

static int prepare(struct crew *crew)
{
    int result = crew_fork(crew, body_holder);
    if (result == 0)
        result = crew_await_ready(crew, 1);
    if (result == 0)
        result = crew_fork(crew, body_waiter);
    if (result == 0)
        result = crew_await_ready(crew, 2);
    return result ? result : await_asleep(crew, crew->pids[1]);
}

int measure_kill(const struct bench_case *of, const struct peer *peer, const struct effort *effort,
                 struct sample *sample, char *message)
{
    (void)effort;
    struct crew *crew = crew_make(peer, of, message);
    if (!crew)
        return -1;
    int result = prepare(crew);
    if (result == 0) {
        const int64_t begin = now_ns();
        kill(crew->pids[0], SIGKILL);
        result = crew_await_end(crew);
        *sample = (struct sample){.ns = (double)(atomic_load(&crew->entered_ns) - begin),
                                  .fairness = -1,
                                  .cpu_ns = -1,
                                  .overtaken = -1,
                                  .overtaken_in_queue = -1};
    }
    crew_end(crew, message);
    return result;
}
