/* SPDX-License-Identifier: MIT */
/* A lock per record: clerks move money between accounts of a large bank. Each has two regions, and
 * renames them to the two accounts that it needs; the lesser number is locked first, so that no two
 * wait for each other. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <afteryou.h>

enum { ACCOUNTS = 1000000, BUSY = 50, CLERKS = 4, TRANSFERS = 5000, EACH = 100 };

static void require(int result)
{
    if (result >= 0)
        return;
    fprintf(stderr, "%s\n", ay_message());
    _exit(1);
}

static void lock_account(ay_region *region, int account)
{
    char name[32];
    snprintf(name, sizeof name, "account %d", account);
    require(ay_region_rename(region, name));
    require(ay_enter(region));
}

static void transfer(ay_region **regions, int *balance, unsigned *seed)
{
    /* most of the business is with a few accounts */
    const int from = rand_r(seed) % BUSY, to = rand_r(seed) % (rand_r(seed) % 2 ? BUSY : ACCOUNTS);
    if (from == to)
        return;
    lock_account(regions[0], from < to ? from : to);
    lock_account(regions[1], from < to ? to : from);
    balance[from]--;
    balance[to]++;
    require(ay_leave(regions[1]));
    require(ay_leave(regions[0]));
}

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "example-records";
    int *balance = mmap(NULL, ACCOUNTS * sizeof *balance, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int account = 0; account < BUSY; account++)
        balance[account] = EACH;
    for (unsigned clerk = 0; clerk < CLERKS; clerk++)
        if (fork() == 0) {
            ay_space *space;
            ay_region *regions[2];
            unsigned seed = clerk;
            require(ay_open(name, NULL, &space));
            for (int which = 0; which < 2; which++)
                require(ay_region_open(space, &(ay_spec){.name = "no account"}, &regions[which]));
            for (int times = 0; times < TRANSFERS; times++)
                transfer(regions, balance, &seed);
            _exit(0);
        }
    int status, failed = 0;
    long sum = 0;
    while (wait(&status) > 0)
        failed |= status;
    for (int account = 0; account < ACCOUNTS; account++)
        sum += balance[account];
    printf("%d transfers; %ld of %d are there\n", CLERKS * TRANSFERS, sum, BUSY * EACH);
    ay_remove(name);
    return failed || sum != BUSY * EACH;
}
