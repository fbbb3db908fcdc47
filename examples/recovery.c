/* SPDX-License-Identifier: MIT */
/* Recovery after a death: the holder is killed between two stores; the next one is told, and puts
 * it right. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <afteryou.h>

struct account {
    long mine, yours; /* together 100, whenever nobody is inside */
};

static ay_region *open_region(const char *name)
{
    ay_space *space;
    ay_region *region;
    if (ay_open(name, NULL, &space) != 0 ||
        ay_region_open(space, &(ay_spec){.name = "account"}, &region) != 0) {
        fprintf(stderr, "%s\n", ay_message());
        exit(1);
    }
    return region;
}

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "example-recovery";
    struct account *account =
        mmap(NULL, sizeof *account, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *account = (struct account){.mine = 100};
    if (fork() == 0) {
        ay_enter(open_region(name));
        account->mine -= 30;
        raise(SIGKILL); /* in the middle of a transfer */
    }
    wait(NULL);
    ay_region *region = open_region(name);
    const int result = ay_enter(region);
    if (result == AY_AFTER_DEATH) {
        printf("somebody died inside; fence %llu\n", (unsigned long long)ay_fence(region));
        account->yours = 100 - account->mine; /* finish what it began */
    }
    ay_leave(region);
    const bool again = ay_enter(region) == 0; /* told once */
    printf("%ld and %ld\n", account->mine, account->yours);
    ay_region_close(region);
    ay_remove(name);
    return result != AY_AFTER_DEATH || !again || account->mine + account->yours != 100;
}
