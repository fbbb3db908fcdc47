/* SPDX-License-Identifier: MIT */
/* Dining philosophers with `also`: each takes both forks at once, or neither; no order of forks to
 * think about, no deadlock. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <afteryou.h>

enum { PHILOSOPHERS = 5, MEALS = 100 };

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "example-philosophers";
    int *in_use = mmap(NULL, PHILOSOPHERS * sizeof *in_use, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int me = 0; me < PHILOSOPHERS; me++)
        if (fork() == 0) {
            const int right = (me + 1) % PHILOSOPHERS;
            char forks[2][16];
            snprintf(forks[0], sizeof forks[0], "fork %d", me);
            snprintf(forks[1], sizeof forks[1], "fork %d", right);
            const char *const also[] = {forks[1], NULL};
            ay_space *space;
            ay_region *both;
            if (ay_open(name, NULL, &space) != 0 ||
                ay_region_open(space, &(ay_spec){.name = forks[0], .also = also}, &both) != 0) {
                fprintf(stderr, "%s\n", ay_message());
                exit(1);
            }
            for (int meal = 0; meal < MEALS; meal++) {
                if (ay_enter(both) < 0 || in_use[me]++ || in_use[right]++)
                    exit(1);
                usleep(20);
                in_use[me]--;
                in_use[right]--;
                ay_leave(both);
            }
            exit(0);
        }
    int status, failed = 0;
    while (wait(&status) > 0)
        failed |= status;
    printf("%d philosophers had %d meals each\n", PHILOSOPHERS, MEALS);
    ay_remove(name);
    return failed;
}
