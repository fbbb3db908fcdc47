/* SPDX-License-Identifier: MIT */
/* The banker's problem: each process acquires its units one by one, and nobody is ever stuck.
 * region bank when (a unit is free, and all can still get what they need) do take it od */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <afteryou.h>

enum { UNITS = 5, CLIENTS = 4, NEEDS = 3, TIMES = 50 };

/* What the condition reads changes only inside the region. */
struct bank {
    int held[CLIENTS];
};

struct client {
    struct bank *bank;
    int me;
};

static int units_free(const struct bank *bank)
{
    int available = UNITS;
    for (int client = 0; client < CLIENTS; client++)
        available -= bank->held[client];
    return available;
}

/* Dijkstra's algorithm: if I get one more unit, there is an order in which all can get the rest,
 * each giving back what it has when it is done. */
static bool is_safe(void *arg)
{
    const struct client *client = arg;
    struct bank bank = *client->bank;
    bool done[CLIENTS] = {false};
    int left = CLIENTS, available = units_free(&bank) - 1;
    bank.held[client->me]++;
    for (bool found = true; found && available >= 0;) {
        found = false;
        for (int other = 0; other < CLIENTS; other++)
            if (!done[other] && NEEDS - bank.held[other] <= available) {
                available += bank.held[other];
                done[other] = found = true;
                left--;
            }
    }
    return left == 0;
}

static void run_client(const char *name, struct bank *bank, int me)
{
    struct client client = {bank, me};
    ay_space *space;
    ay_region *region;
    if (ay_open(name, NULL, &space) != 0 ||
        ay_region_open(space, &(ay_spec){.name = "bank"}, &region) != 0) {
        fprintf(stderr, "%s\n", ay_message());
        exit(1);
    }
    for (int times = 0; times < TIMES; times++) {
        for (int unit = 0; unit < NEEDS; unit++) {
            if (ay_enter_when(region, is_safe, &client, -1) < 0)
                exit(1);
            bank->held[me]++;
            if (units_free(bank) < 0)
                exit(1); /* more units are out than there are */
            ay_leave(region);
        }
        if (ay_enter(region) < 0)
            exit(1);
        bank->held[me] = 0;
        ay_leave(region);
    }
    exit(0);
}

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "example-banker";
    struct bank *bank =
        mmap(NULL, sizeof *bank, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int me = 0; me < CLIENTS; me++)
        if (fork() == 0)
            run_client(name, bank, me);
    int status, failed = 0;
    while (wait(&status) > 0)
        failed |= status;
    printf("%d clients shared %d units, %d each, one after another\n", CLIENTS, UNITS, NEEDS);
    ay_remove(name);
    return failed || units_free(bank) != UNITS;
}
