/* SPDX-License-Identifier: MIT */
/* kill -9 of a holder on one machine, until the next is inside on another, in nanoseconds: a line
 * for each, and if the agents' pages are given, what it is made of, as bench-handover prints it.
 *
 *   bench-kill space|units holder|waiter WHERE BOARD COUNT [PAGES]
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "board.h"
#include "locks.h"

/* How often the board is looked at; and how long the waiter is given to stand in the queue, or in
 * those of all units. */
enum { LOOK_US = 200, STAND_US = 20000, STAND_AT_UNITS_US = 200000 };

static void await(const _Atomic int64_t *word, int64_t turn)
{
    while (*word < turn)
        usleep(LOOK_US);
}

static void hold(const struct lock_kind *kind, const char *where, struct board *board, int64_t turn)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!kind->open(where) || !kind->enter()) {
        fprintf(stderr, "bench-kill: %s\n", kind->message());
        _exit(1);
    }
    board->holding = turn;
    for (;;)
        pause();
}

/* Until the next holder asks, the pages tell of this hand-over. */
static void print(struct board *board)
{
    const struct permission *mine = board_permission();
    if (mine) {
        board->woken_ns = mine->changed_ns - mine->woken_before_ns;
        board->given_ns = mine->changed_ns;
        board_print(board);
    } else {
        printf("%lld\n", (long long)(board->inside_ns - board->released_ns));
    }
}

static bool be_holder(const struct lock_kind *kind, const char *where, struct board *board,
                      long count)
{
    for (int64_t turn = 1; turn <= count; turn++) {
        const pid_t child = fork();
        if (child == 0)
            hold(kind, where, board, turn);
        if (child < 0)
            return false;
        await(&board->waiting, turn);
        usleep(strcmp(kind->name, "units") == 0 ? STAND_AT_UNITS_US : STAND_US);
        board->released_ns = now_ns();
        if (kill(child, SIGKILL) != 0 || waitpid(child, NULL, 0) != child)
            return false;
        await(&board->entered, turn);
        print(board);
    }
    return true;
}

static bool be_waiter(const struct lock_kind *kind, const char *where, struct board *board,
                      long count)
{
    if (!kind->open(where))
        return false;
    for (int64_t turn = 1; turn <= count; turn++) {
        await(&board->holding, turn);
        board->waiting = turn;
        if (!kind->enter())
            return false;
        board->inside_ns = now_ns();
        if (board_permission())
            board->granted_ns = board_permission()->changed_ns;
        if (!kind->leave())
            return false;
        board->entered = turn;
    }
    return true;
}

int main(int count, char **words)
{
    const struct lock_kind *kind = count == 6 || count == 7 ? lock_kind(words[1]) : NULL;
    struct board *board = kind ? board_open(words[4]) : NULL;
    if (!board || (count == 7 && !board_map_pages(words[6]))) {
        fprintf(stderr, "usage: bench-kill space|units holder|waiter WHERE BOARD COUNT [PAGES]\n");
        return 125;
    }
    const long times = strtol(words[5], NULL, 10);
    if (strcmp(words[2], "holder") == 0 ? be_holder(kind, words[3], board, times)
                                        : be_waiter(kind, words[3], board, times))
        return 0;
    fprintf(stderr, "bench-kill: %s\n", kind->message());
    return 1;
}
