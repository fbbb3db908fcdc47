/* SPDX-License-Identifier: MIT */
/* One of two that hand a lock to each other: prints how long it took, from the other's release
 * until it was inside itself, in nanoseconds.
 *
 *   bench-handover space|etcd WHERE BOARD COUNT
 *
 * BOARD is a file of a page that both have mapped: the moment of the last release, by whom, and how
 * often it changed hands. All machines of the bench share one clock. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "locks.h"

/* So long inside, the other stands in the queue, and etcd, which looks after new watchers every 100
 * ms, has noticed that it waits. */
enum { BOARD_BYTES = 4096, INSIDE_US = 120000 };

struct board {
    _Atomic int64_t released_ns, by, done;
};

static bool exchange(const struct lock_kind *kind, struct board *board, long count)
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
    const struct lock_kind *kind = count == 5 ? lock_kind(words[1]) : NULL;
    const int file = kind ? open(words[3], O_RDWR) : -1;
    struct board *board =
        file < 0 ? MAP_FAILED
                 : mmap(NULL, BOARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (board == MAP_FAILED) {
        fprintf(stderr, "usage: bench-handover space|etcd WHERE BOARD COUNT\n");
        return 125;
    }
    if (kind->open(words[2]) && exchange(kind, board, strtol(words[4], NULL, 10)))
        return 0;
    fprintf(stderr, "bench-handover: %s: %s\n", words[1], kind->message());
    return 1;
}
