/* SPDX-License-Identifier: MIT */
/* One of two that hand a lock to each other. Prints for each time that it is inside after the other
 * how long that took, from the other's release, in nanoseconds: and after it, if the agent's pages
 * are given, what of it is the wake-up of the agent, its taking back, the way to the other agent,
 * and the wake-up of the waiter.
 *
 *   bench-handover space|etcd WHERE BOARD COUNT INSIDE_US [PAGES]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board.h"
#include "locks.h"

/* So long after a release the agent is given to note when it gave the permission up. */
enum { NOTE_US = 500, NOTES = 40 };

/* Outside, and without a demand: what the pages tell is of the release. */
static void note_release(struct board *board)
{
    const struct permission *mine = board_permission();
    for (int note = 0; note < NOTES && mine; note++) {
        usleep(NOTE_US);
        if (mine->changed_ns < board->released_ns)
            continue;
        board->woken_ns = mine->changed_ns - mine->woken_before_ns;
        board->given_ns = mine->changed_ns;
        return;
    }
}

/* The other has noted its part by the end of my time inside. */
static void print(const struct board *board)
{
    if (!board_permission())
        printf("%lld\n", (long long)(board->inside_ns - board->released_ns));
    else if (board->woken_ns >= board->released_ns)
        board_print(board);
}

static bool exchange(const struct lock_kind *kind, struct board *board, long count,
                     useconds_t inside_us)
{
    const int64_t me = getpid() + (now_ns() << 22); /* pids of two machines may be the same */
    while (board->done < count) {
        if (!kind->enter())
            return false;
        board->inside_ns = now_ns();
        const bool handed_over = board->by && board->by != me;
        if (handed_over && board_permission())
            board->granted_ns = board_permission()->changed_ns;
        usleep(inside_us);
        if (handed_over) {
            print(board);
            board->done++;
        }
        board->by = me;
        board->released_ns = now_ns();
        if (!kind->leave())
            return false;
        note_release(board);
    }
    return true;
}

int main(int count, char **words)
{
    const struct lock_kind *kind = count == 6 || count == 7 ? lock_kind(words[1]) : NULL;
    struct board *board = kind ? board_open(words[3]) : NULL;
    if (!board || (count == 7 && !board_map_pages(words[6]))) {
        fprintf(stderr, "usage: bench-handover space|etcd WHERE BOARD COUNT INSIDE_US [PAGES]\n");
        return 125;
    }
    if (kind->open(words[2]) &&
        exchange(kind, board, strtol(words[4], NULL, 10), (useconds_t)strtoul(words[5], NULL, 10)))
        return 0;
    fprintf(stderr, "bench-handover: %s: %s\n", words[1], kind->message());
    return 1;
}
