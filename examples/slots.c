/* SPDX-License-Identifier: MIT */
/* At most three jobs at a time. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <afteryou.h>

enum { SLOTS = 3, JOBS = 9 };

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "example-slots";
    _Atomic int *running =
        mmap(NULL, 2 * sizeof *running, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int job = 0; job < JOBS; job++)
        if (fork() == 0) {
            ay_space *space;
            ay_region *region;
            if (ay_open(name, NULL, &space) != 0 ||
                ay_region_open(space, &(ay_spec){.name = "jobs", .slots = SLOTS}, &region) != 0 ||
                ay_enter(region) < 0) {
                fprintf(stderr, "%s\n", ay_message());
                exit(1);
            }
            const int now = atomic_fetch_add(&running[0], 1) + 1;
            if (now > atomic_load(&running[1]))
                atomic_store(&running[1], now);
            usleep(5000);
            atomic_fetch_sub(&running[0], 1);
            ay_leave(region);
            exit(0);
        }
    int status, failed = 0;
    while (wait(&status) > 0)
        failed |= status;
    printf("%d jobs, at most %d at a time\n", JOBS, atomic_load(&running[1]));
    ay_remove(name);
    return failed || atomic_load(&running[1]) > SLOTS;
}
