/* SPDX-License-Identifier: MIT */
/* Unit allocation (Lamport's disk tracks): each process takes some of eight tracks, is told which,
 * and gives them back. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <afteryou.h>

enum { TRACKS = 8, USERS = 6, TIMES = 100 };

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "example-disk-tracks";
    int *owner = mmap(NULL, TRACKS * sizeof *owner, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int me = 1; me <= USERS; me++)
        if (fork() == 0) {
            ay_space *space;
            ay_region *region;
            const unsigned take = 1 + (unsigned)me % 3;
            if (ay_open(name, NULL, &space) != 0 ||
                ay_region_open(space, &(ay_spec){.name = "tracks", .take = take, .of = TRACKS},
                               &region) != 0) {
                fprintf(stderr, "%s\n", ay_message());
                exit(1);
            }
            for (int times = 0; times < TIMES; times++) {
                unsigned tracks[TRACKS];
                if (ay_enter(region) < 0 || ay_units(region, tracks, TRACKS) != take)
                    exit(1);
                for (unsigned at = 0; at < take; at++) {
                    if (owner[tracks[at]])
                        exit(1); /* somebody else's */
                    owner[tracks[at]] = me;
                }
                usleep(20);
                for (unsigned at = 0; at < take; at++)
                    owner[tracks[at]] = 0;
                ay_leave(region);
            }
            exit(0);
        }
    int status, failed = 0;
    while (wait(&status) > 0)
        failed |= status;
    printf("%d users shared %d tracks\n", USERS, TRACKS);
    ay_remove(name);
    return failed;
}
