/* SPDX-License-Identifier: MIT */
/* A plain mutex between processes: eight of them count to 8000 in shared memory. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <afteryou.h>

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, ay_message());
    exit(1);
}

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "example-mutex";
    long *counter =
        mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int child = 0; child < 8; child++)
        if (fork() == 0) {
            ay_space *space;
            ay_region *region;
            if (ay_open(name, NULL, &space) != 0 ||
                ay_region_open(space, &(ay_spec){.name = "counter"}, &region) != 0)
                fail("cannot open");
            for (int times = 0; times < 1000; times++) {
                if (ay_enter(region) < 0)
                    fail("cannot enter");
                ++*counter;
                ay_leave(region);
            }
            ay_close(space);
            exit(0);
        }
    int status, failed = 0;
    while (wait(&status) > 0)
        failed |= status;
    printf("%ld\n", *counter);
    ay_remove(name);
    return failed || *counter != 8000;
}
