/* SPDX-License-Identifier: MIT */
/* Leader election: who is inside leads; when it dies, the next in the queue takes over, with a
 * greater fence. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <afteryou.h>

enum { CANDIDATES = 3 };

struct news {
    pid_t leader;
    unsigned long long term;
};

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "example-leader";
    int pipes[2], failed = 0;
    if (pipe(pipes) != 0)
        return 1;
    for (int candidate = 0; candidate < CANDIDATES; candidate++)
        if (fork() == 0) {
            ay_space *space;
            ay_region *office;
            if (ay_open(name, NULL, &space) != 0 ||
                ay_region_open(space, &(ay_spec){.name = "office"}, &office) != 0 ||
                ay_enter(office) < 0) {
                fprintf(stderr, "%s\n", ay_message());
                exit(1);
            }
            const struct news news = {getpid(), ay_fence(office)};
            if (write(pipes[1], &news, sizeof news) != (ssize_t)sizeof news)
                exit(1);
            pause(); /* leads, until it is killed */
        }
    struct news last = {0};
    for (int term = 0; term < CANDIDATES; term++) {
        struct news news;
        if (read(pipes[0], &news, sizeof news) != (ssize_t)sizeof news)
            return 1;
        printf("term %d: a new leader, %s fence\n", term + 1,
               news.term > last.term ? "with a greater" : "WITH A LESSER");
        failed |= news.term <= last.term;
        last = news;
        kill(news.leader, SIGKILL);
    }
    while (wait(NULL) > 0)
        ;
    ay_remove(name);
    return failed;
}
