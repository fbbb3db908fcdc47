/* SPDX-License-Identifier: MIT */
/* Many names that all machines want at once: a thread for each enters and leaves, again and again,
 * for so long.
 * Prints how often it was inside, and how often a name came from another machine.
 *
 *   bench-many WHERE BOARD NAMES SECONDS ME
 *
 * BOARD is a file with a word for each name, which all have mapped: who was inside last. ME is a
 * number of this machine, from 1. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "afteryou.h"
#include "locks.h"

/* So long away, a thread does not pass again and again while nobody else has asked. */
enum { NAMES_MOST = 1024, STACK = 128 * 1024, AWAY_US = 1000 };

static ay_space *space;
static _Atomic uint32_t *last; /* inside, by name */
static uint32_t me;
static int64_t end_ns;
static _Atomic uint64_t passages, handovers;
static _Atomic bool failed;

static void *contend(void *argument)
{
    const uintptr_t name = (uintptr_t)argument;
    char text[32];
    ay_region *region;
    snprintf(text, sizeof text, "many-%u", (unsigned)name);
    if (ay_region_open(space, &(ay_spec){.name = text}, &region) < 0) {
        failed = true;
        return NULL;
    }
    while (now_ns() < end_ns && !failed) {
        const int result = ay_enter_for(region, 1000);
        if (result < 0)
            continue;
        passages++;
        if (last[name] != me)
            handovers++;
        last[name] = me;
        ay_leave(region);
        usleep(AWAY_US);
    }
    return NULL;
}

static bool start_all(pthread_t *threads, long names)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    for (long name = 0; name < names; name++)
        if (pthread_create(&threads[name], &attributes, contend, (void *)(uintptr_t)name) != 0)
            return false;
    return true;
}

int main(int count, char **words)
{
    static pthread_t threads[NAMES_MOST];
    const long names = count == 6 ? strtol(words[3], NULL, 10) : 0;
    const int file = names > 0 && names <= NAMES_MOST ? open(words[2], O_RDWR | O_CLOEXEC) : -1;
    void *map = file < 0 ? MAP_FAILED
                         : mmap(NULL, (size_t)names * sizeof *last, PROT_READ | PROT_WRITE,
                                MAP_SHARED, file, 0);
    if (map == MAP_FAILED) {
        fprintf(stderr, "usage: bench-many WHERE BOARD NAMES SECONDS ME\n");
        return 125;
    }
    last = map;
    me = (uint32_t)strtoul(words[5], NULL, 10);
    end_ns = now_ns() + strtol(words[4], NULL, 10) * 1000000000;
    if (ay_open(words[1], NULL, &space) < 0 || !start_all(threads, names))
        failed = true;
    for (long name = 0; name < names && !failed; name++)
        pthread_join(threads[name], NULL);
    if (failed) {
        fprintf(stderr, "bench-many: %s\n", ay_message());
        return 1;
    }
    printf("%llu %llu\n", (unsigned long long)passages, (unsigned long long)handovers);
    return 0;
}
