/* SPDX-License-Identifier: MIT */
/* One of two that hand a lock to each other: prints how long it took, from the other's release until it was inside itself, in nanoseconds.
 *
 *   bench-handover space SPACE BOARD COUNT
 *   bench-handover etcd PORT BOARD COUNT
 *
 * BOARD is a file of a page that both have mapped: the moment of the last release, by whom, and how often it changed hands. All machines of the bench share one clock. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "afteryou.h"
#include "peers.h"

/* So long inside, the other stands in the queue, and etcd, which looks after new watchers every 100 ms, has noticed that it waits. */
enum { BOARD_BYTES = 4096, INSIDE_US = 120000 };

struct board {
    _Atomic int64_t released_ns, by, done;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

static ay_region *region;
static struct etcd_lock etcd;

static bool open_space(const char *name)
{
    ay_space *space;
    return ay_open(name, NULL, &space) == 0 && ay_region_open(space, &(ay_spec){.name = "handover"}, &region) == 0;
}

static bool enter_space(void)
{
    return ay_enter(region) >= 0;
}

static bool leave_space(void)
{
    return ay_leave(region) == 0;
}

static bool open_etcd(const char *port)
{
    return etcd_open(&etcd, (unsigned)strtoul(port, NULL, 10));
}

static bool enter_etcd(void)
{
    return etcd_enter(&etcd);
}

static bool leave_etcd(void)
{
    return etcd_leave(&etcd);
}

static const struct kind {
    const char *name;
    bool (*open)(const char *where), (*enter)(void), (*leave)(void);
} kinds[] = {{"space", open_space, enter_space, leave_space}, {"etcd", open_etcd, enter_etcd, leave_etcd}};

static bool exchange(const struct kind *kind, struct board *board, long count)
{
    const int64_t me = getpid() + (now_ns() << 22); /* pids of two machines may be the same */
    while (board->done < count) {
        if (!kind->enter())
            return false;
        const int64_t inside = now_ns();
        if (board->by && board->by != me) {
            printf("%lld\n", (long long)(inside - board->released_ns));
            board->done++;
        }
        usleep(INSIDE_US);
        board->by = me;
        board->released_ns = now_ns();
        if (!kind->leave())
            return false;
    }
    return true;
}

int main(int count, char **words)
{
    const int file = count == 5 ? open(words[3], O_RDWR) : -1;
    struct board *board = file < 0 ? MAP_FAILED : mmap(NULL, BOARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    for (size_t at = 0; board != MAP_FAILED && at < sizeof kinds / sizeof *kinds; at++) {
        if (strcmp(words[1], kinds[at].name) != 0)
            continue;
        if (kinds[at].open(words[2]) && exchange(&kinds[at], board, strtol(words[4], NULL, 10)))
            return 0;
        fprintf(stderr, "bench-handover: %s: failed: %s\n", words[1], at == 0 ? ay_message() : "no such answer");
        return 1;
    }
    fprintf(stderr, "usage: bench-handover space|etcd WHERE BOARD COUNT\n");
    return 125;
}
