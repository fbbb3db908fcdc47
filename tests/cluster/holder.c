/* SPDX-License-Identifier: MIT */
/* Enters a region of a cluster once, stays, and tells on stdout what happens to it and when
 * (CLOCK_MONOTONIC, which all machines of a test share):
 *
 *   entered FENCE NS [after-death]      lost NS invalid      left NS      failed ERRNO NS MESSAGE
 *   wanted COUNT NS
 *
 *   holder SPACE REGION [MODE] [ignore] [tell] [also=REGION…]
 *
 * It leaves when stdin ends, and when the region is lost; with `ignore` it stays on after a loss,
 * as a program does that does not look. With `tell` it says when it is wanted. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
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

static bool has_word(int count, char **words, const char *word)
{
    for (int at = 3; at < count; at++)
        if (strcmp(words[at], word) == 0)
            return true;
    return false;
}

static ay_mode mode_of(int count, char **words)
{
    static const char *const names[] = {"exclusive",        "shared",          "protected-write",
                                        "concurrent-write", "concurrent-read", "null"};
    for (unsigned mode = 0; mode < sizeof names / sizeof *names; mode++)
        if (has_word(count, words, names[mode]))
            return (ay_mode)mode;
    return AY_EXCLUSIVE;
}

static const char *const *also_of(int count, char **words)
{
    static const char *also[AY_ALSO_MOST + 1];
    unsigned found = 0;
    for (int at = 3; at < count && found < AY_ALSO_MOST; at++)
        if (strncmp(words[at], "also=", 5) == 0)
            also[found++] = words[at] + 5;
    return also;
}

static void tell_wanted(ay_space *space, const ay_region *region)
{
    int result;
    while (ay_decided(space, &result))
        ;
    if (ay_wanted(region) > 0)
        printf("wanted %u %lld\n", ay_wanted(region), now_ns());
}

static void stay(ay_space *space, ay_region *region, bool ignore, bool tells)
{
    struct pollfd events[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                              {.fd = ay_lost(region), .events = POLLIN},
                              {.fd = tells ? ay_fd(space) : -1, .events = POLLIN}};
    for (bool told = false;;) {
        char byte;
        events[1].fd = told ? -1 : events[1].fd;
        if (poll(events, 3, -1) < 0)
            return;
        if (events[2].revents)
            tell_wanted(space, region);
        if (!told && events[1].revents) {
            told = true;
            printf("lost %lld %s\n", now_ns(), ay_valid(region) ? "valid" : "invalid");
            if (!ignore)
                return;
        }
        if (events[0].revents && read(STDIN_FILENO, &byte, 1) <= 0)
            return;
    }
}

int main(int count, char **words)
{
    ay_space *space;
    ay_region *region;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count < 3)
        return 125;
    const ay_spec spec = {.name = words[2],
                          .also = also_of(count, words),
                          .mode = mode_of(count, words),
                          .tell_wanted = has_word(count, words, "tell")};
    int result = ay_open(words[1], NULL, &space);
    if (result == 0)
        result = ay_region_open(space, &spec, &region);
    if (result == 0)
        result = ay_enter(region);
    if (result < 0) {
        printf("failed %d %lld %s\n", -result, now_ns(), ay_message());
        return 1;
    }
    printf("entered %llu %lld%s\n", (unsigned long long)ay_fence(region), now_ns(),
           result == AY_AFTER_DEATH ? " after-death" : "");
    stay(space, region, has_word(count, words, "ignore"), has_word(count, words, "tell"));
    ay_leave(region);
    printf("left %lld\n", now_ns());
    ay_close(space);
    return 0;
}
