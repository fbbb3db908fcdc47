/* SPDX-License-Identifier: MIT */
/* Enters and leaves one name after the other, each of its own region:
 *
 *   many SPACE PREFIX COUNT          opens, enters, leaves and closes PREFIX-0, PREFIX-1, …
 *   many SPACE PREFIX COUNT open     leaves them open, says "open", and closes when stdin ends
 *
 * Says "done LEAST GREATEST" of the fences at the end; "failed NAME ERRNO MESSAGE" at the first
 * error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "afteryou.h"

struct fences {
    unsigned long long least, greatest;
};

static void enter_once(ay_space *space, const char *name, bool stays, struct fences *fences)
{
    ay_region *region;
    int result = ay_region_open(space, &(ay_spec){.name = name}, &region);
    if (result == 0)
        result = ay_enter_for(region, 60 * 1000);
    if (result < 0) {
        printf("failed %s %d %s\n", name, -result, ay_message());
        exit(1);
    }
    const unsigned long long fence = ay_fence(region);
    fences->least = fence < fences->least ? fence : fences->least;
    fences->greatest = fence > fences->greatest ? fence : fences->greatest;
    ay_leave(region);
    if (!stays)
        ay_region_close(region);
}

int main(int count, char **words)
{
    ay_space *space;
    char name[128], byte;
    struct fences fences = {.least = ~0ULL};
    if (count < 4)
        return 125;
    const bool stays = count > 4;
    const unsigned names = (unsigned)strtoul(words[3], NULL, 10);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (ay_open(words[1], NULL, &space) < 0) {
        printf("failed %s %s\n", words[1], ay_message());
        return 1;
    }
    for (unsigned at = 0; at < names; at++) {
        snprintf(name, sizeof name, "%s-%u", words[2], at);
        enter_once(space, name, stays, &fences);
    }
    if (stays)
        puts("open");
    while (stays && read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    printf("done %llu %llu\n", fences.least, fences.greatest);
    ay_close(space);
    return 0;
}
