/* SPDX-License-Identifier: MIT */
/* Passes through a region of a cluster again and again, and keeps a book of it outside the lock: a
 * file that all machines of a test have mapped. The book is written without any atomic step of its
 * own, so that two inside at once would spoil it.
 *
 *   witness SPACE REGION BOOK SLOT TARGET
 *
 * It enters by turns, as chance has it: waits, asks, or comes as a reader and becomes a writer; and
 * now and then its region has another name for a moment.
 *
 * The test (witness.py knows the same layout) says in `killed` whom it kills, before it does. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "afteryou.h"

enum { SLOTS = 4096, DWELL_ONE_IN = 4, DWELL_US = 20000, RETRY_US = 10000, RENAMES_ONE_IN = 8 };

struct record {
    _Atomic uint64_t slot, fence;
};

struct book {
    _Atomic uint64_t counter, owner; /* owner: the slot inside, plus 1 */
    _Atomic uint64_t overlaps, lost_increments, deaths_inside, invalid, failures;
    _Atomic uint64_t stop; /* set by the test: enough */
    _Atomic uint64_t killed[SLOTS], made[SLOTS];
    struct record records[]; /* by the counter's value */
};

static struct book *map_book(const char *path)
{
    const int file = open(path, O_RDWR);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0)
        return NULL;
    struct book *book =
        mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return book == MAP_FAILED ? NULL : book;
}

static uint64_t get(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void set(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static void take(struct book *book, uint64_t slot)
{
    const uint64_t before = atomic_exchange(&book->owner, slot + 1);
    if (before)
        atomic_fetch_add(book->killed[before - 1] ? &book->deaths_inside : &book->overlaps, 1);
}

static void give(struct book *book, uint64_t slot)
{
    uint64_t me = slot + 1;
    if (!atomic_compare_exchange_strong(&book->owner, &me, 0))
        atomic_fetch_add(&book->overlaps, 1);
}

static void write_record(struct book *book, uint64_t slot, uint64_t fence)
{
    uint64_t at = get(&book->counter);
    struct record *record = &book->records[at];
    if (get(&record->fence)) {
        /* Written, but not counted: by one that was killed in between, or it is an increment that
         * somebody lost. */
        if (!get(&book->killed[get(&record->slot)]))
            atomic_fetch_add(&book->lost_increments, 1);
        record = &book->records[++at];
    }
    set(&record->slot, slot);
    set(&record->fence, fence);
    if (rand() % DWELL_ONE_IN == 0)
        usleep((useconds_t)(rand() % DWELL_US));
    set(&book->counter, at + 1);
    set(&book->made[slot], get(&book->made[slot]) + 1);
}

/* As a server does. */
static int ask(ay_space *space, ay_region *region)
{
    struct pollfd readable = {.fd = ay_fd(space), .events = POLLIN};
    int result = ay_ask(region);
    while (result == -EINPROGRESS) {
        if (poll(&readable, 1, -1) < 0)
            return -errno;
        if (!ay_decided(space, &result) && result == 0)
            result = -EINPROGRESS;
    }
    return result;
}

/* As a reader does that finds something to write. */
static int enter_and_convert(ay_region *region)
{
    int result = ay_enter_as(region, AY_SHARED, -1);
    if (result < 0)
        return result;
    result = ay_convert(region, AY_EXCLUSIVE, -1);
    if (result < 0)
        ay_leave(region);
    return result;
}

static int enter(ay_space *space, ay_region *region)
{
    switch (rand() % 3) {
    case 0:
        return ask(space, region);
    case 1:
        return enter_and_convert(region);
    default:
        return ay_enter(region);
    }
}

static bool rename_to_and_fro(ay_region *region, const char *name)
{
    return rand() % RENAMES_ONE_IN ||
           (ay_region_rename(region, "elsewhere") == 0 && ay_region_rename(region, name) == 0);
}

int main(int count, char **words)
{
    if (count != 6) {
        fprintf(stderr, "usage: witness SPACE REGION BOOK SLOT TARGET\n");
        return 125;
    }
    struct book *book = map_book(words[3]);
    const uint64_t slot = strtoull(words[4], NULL, 10), target = strtoull(words[5], NULL, 10);
    ay_space *space;
    ay_region *region;
    if (!book || slot >= SLOTS) {
        fprintf(stderr, "witness: no book: %s\n", strerror(errno));
        return 1;
    }
    if (ay_open(words[1], NULL, &space) < 0 ||
        ay_region_open(space, &(ay_spec){.name = words[2]}, &region) < 0) {
        fprintf(stderr, "witness: %s\n", ay_message());
        return 1;
    }
    srand((unsigned)slot + 1);
    for (bool more = true; more;) {
        if (!rename_to_and_fro(region, words[2])) {
            fprintf(stderr, "witness: %s\n", ay_message());
            return 1;
        }
        const int result = enter(space, region);
        if (result == -EDEADLK) /* another becomes a writer too */
            continue;
        if (result < 0) { /* the agent is away; it comes back */
            atomic_fetch_add(&book->failures, 1);
            fprintf(stderr, "witness: %s\n", ay_message());
            usleep(RETRY_US);
            continue;
        }
        take(book, slot);
        more = get(&book->counter) < target && !get(&book->stop);
        if (more)
            write_record(book, slot, ay_fence(region));
        if (!ay_valid(region))
            atomic_fetch_add(&book->invalid, 1);
        give(book, slot);
        ay_leave(region);
    }
    ay_region_close(region);
    ay_close(space);
    return 0;
}
