/* SPDX-License-Identifier: MIT */
/* A bounded buffer with conditions: region buffer when (not full) do put od; region buffer when
 * (not empty) do get od. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <afteryou.h>

enum { ROOM = 4, ITEMS = 500, PRODUCERS = 2 };

struct buffer {
    int item[ROOM];
    unsigned put, got;
};

static bool not_full(void *buffer)
{
    const struct buffer *b = buffer;
    return b->put - b->got < ROOM;
}

static bool not_empty(void *buffer)
{
    const struct buffer *b = buffer;
    return b->put != b->got;
}

static ay_region *open_region(const char *name)
{
    ay_space *space;
    ay_region *region;
    if (ay_open(name, NULL, &space) != 0 ||
        ay_region_open(space, &(ay_spec){.name = "buffer"}, &region) != 0) {
        fprintf(stderr, "%s\n", ay_message());
        exit(1);
    }
    return region;
}

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "example-bounded-buffer";
    struct buffer *buffer =
        mmap(NULL, sizeof *buffer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int producer = 0; producer < PRODUCERS; producer++)
        if (fork() == 0) {
            ay_region *region = open_region(name);
            for (int item = 1; item <= ITEMS; item++) {
                if (ay_enter_when(region, not_full, buffer, -1) < 0)
                    exit(1);
                buffer->item[buffer->put++ % ROOM] = item;
                ay_leave(region);
            }
            exit(0);
        }
    ay_region *region = open_region(name);
    long sum = 0;
    for (int times = 0; times < PRODUCERS * ITEMS; times++) {
        if (ay_enter_when(region, not_empty, buffer, -1) < 0)
            return 1;
        sum += buffer->item[buffer->got++ % ROOM];
        ay_leave(region);
    }
    int status, failed = 0;
    while (wait(&status) > 0)
        failed |= status;
    printf("%ld\n", sum);
    ay_region_close(region);
    ay_remove(name);
    return failed || sum != (long)PRODUCERS * ITEMS * (ITEMS + 1) / 2;
}
