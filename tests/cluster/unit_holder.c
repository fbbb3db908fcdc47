/* SPDX-License-Identifier: MIT */
/* Takes units of a cluster, and tells on stdout when it has them (CLOCK_MONOTONIC, which all
 * machines of a test share), and which:
 *
 *   entered FENCE NS RESULT [UNIT …]      leaves NS      lost NS invalid      failed ERRNO MESSAGE
 *
 *   unit_holder SPACE REGION TAKE OF [ROUNDS MS | thread]
 *
 * TAKE 0: one of so many slots. It stays until stdin ends or the units are lost; or enters and
 * leaves ROUNDS times, and stays MS each time. `thread`: one of its threads takes them first, says
 * so as "thread …" instead of "entered …", and ends inside; the first byte on stdin lets the
 * process take them. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "afteryou.h"

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* The line is whole when it is written: whoever is killed has said it, or not. */
static void tell_entered(const char *word, const ay_region *region, int result)
{
    unsigned units[256];
    char line[2048];
    const size_t count = ay_units(region, units, 256);
    int used = snprintf(line, sizeof line, "%s %llu %lld %d", word,
                        (unsigned long long)ay_fence(region), now_ns(), result);
    for (size_t at = 0; at < count && at < 256; at++)
        used += snprintf(line + used, sizeof line - (size_t)used, " %u", units[at]);
    puts(line);
}

static void stay(ay_region *region, int ms)
{
    struct pollfd events[] = {{.fd = ms < 0 ? STDIN_FILENO : -1, .events = POLLIN},
                              {.fd = ay_lost(region), .events = POLLIN}};
    if (poll(events, 2, ms) > 0 && events[1].revents)
        printf("lost %lld %s\n", now_ns(), ay_valid(region) ? "valid" : "invalid");
}

static void *end_inside(void *region)
{
    const int result = ay_enter(region);
    tell_entered("thread", region, result);
    return NULL;
}

static void let_thread_end_inside(ay_region *region)
{
    pthread_t thread;
    char byte;
    if (pthread_create(&thread, NULL, end_inside, region) != 0 || pthread_join(thread, NULL) != 0 ||
        read(STDIN_FILENO, &byte, 1) != 1)
        exit(125);
}

int main(int count, char **words)
{
    ay_space *space;
    ay_region *region;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count < 5)
        return 125;
    const unsigned take = (unsigned)atoi(words[3]), of = (unsigned)atoi(words[4]);
    const int rounds = count > 6 ? atoi(words[5]) : 1, ms = count > 6 ? atoi(words[6]) : -1;
    const ay_spec spec = {
        .name = words[2], .slots = take ? 0 : of, .take = take, .of = take ? of : 0};
    int result = ay_open(words[1], NULL, &space);
    if (result == 0)
        result = ay_region_open(space, &spec, &region);
    if (result == 0 && count == 6 && strcmp(words[5], "thread") == 0)
        let_thread_end_inside(region);
    for (int round = 0; result >= 0 && round < rounds; round++) {
        result = ay_enter(region);
        if (result < 0)
            break;
        tell_entered("entered", region, result);
        stay(region, ms);
        printf("leaves %lld\n", now_ns());
        ay_leave(region);
    }
    if (result < 0) {
        printf("failed %d %s\n", -result, ay_message());
        return 1;
    }
    ay_close(space);
    puts("left");
    return 0;
}
