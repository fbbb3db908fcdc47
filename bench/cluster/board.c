/* SPDX-License-Identifier: MIT */
/* A page that two programs of the bench have mapped: see board.h. */
#include "board.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "locks.h"

struct board *board_open(const char *path)
{
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return NULL;
    struct board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return board == MAP_FAILED ? NULL : board;
}

void board_print(const struct board *board)
{
    const int64_t at[] = {board->released_ns, board->woken_ns, board->given_ns, board->granted_ns,
                          board->inside_ns};
    printf("%lld", (long long)(at[4] - at[0]));
    for (int part = 0; part < 4; part++)
        printf(" %lld", (long long)(at[part + 1] - at[part]));
    printf("\n");
}

static const struct permissions *pages; /* of this machine's agent; NULL: not asked for */

bool board_map_pages(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    void *map = file < 0 ? MAP_FAILED
                         : mmap(NULL, sizeof(struct permissions), PROT_READ, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    pages = map == MAP_FAILED ? NULL : map;
    return pages;
}

const struct permission *board_permission(void)
{
    return pages ? permissions_find(pages, LOCK_NAME, strlen(LOCK_NAME)) : NULL;
}
