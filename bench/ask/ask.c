/* SPDX-License-Identifier: MIT */
/* From the departure of one process to the next: how long until a thread asleep in ay_enter() is
 * inside, and how long until the descriptor of one that has asked is readable, and until its ask is
 * decided. All three in turn, in one run.
 *
 *   bench-ask [ROUNDS] */
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "afteryou.h"

enum { ROUNDS = 500, ASLEEP_US = 2000 };

struct meeting {
    _Atomic int round;  /* the other is inside for this one */
    _Atomic int waits;  /* the waiter is about to wait in this one */
    _Atomic int64_t ns; /* when the other began to leave */
};

static const char *path;

static void fail(const char *what)
{
    fprintf(stderr, "bench-ask: %s: %s\n", what, ay_message());
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

static ay_region *open_region(ay_space **space)
{
    ay_region *region = NULL;
    if (ay_open(path, NULL, space) != 0 ||
        ay_region_open(*space, &(ay_spec){.name = "x"}, &region) != 0)
        fail("opening");
    return region;
}

/* Enters, and leaves once the waiter is surely asleep. */
static void be_other(struct meeting *meeting, int rounds)
{
    ay_space *space;
    ay_region *region = open_region(&space);
    for (int round = 1; round <= rounds; round++) {
        if (ay_enter(region) < 0)
            fail("ay_enter");
        atomic_store(&meeting->round, round);
        while (atomic_load(&meeting->waits) < round)
            usleep(100);
        usleep(ASLEEP_US);
        atomic_store(&meeting->ns, now_ns());
        ay_leave(region);
        while (atomic_load(&meeting->round) == round)
            usleep(100);
    }
    _exit(0);
}

static void await_round(struct meeting *meeting, int round)
{
    while (atomic_load(&meeting->round) < round)
        usleep(100);
    atomic_store(&meeting->waits, round);
}

static int64_t enter(ay_region *region, const struct meeting *meeting)
{
    if (ay_enter(region) < 0)
        fail("ay_enter");
    return now_ns() - atomic_load(&meeting->ns);
}

/* What becomes readable while the other is inside still (a sleeper looks up now and then) does not
 * count. */
static int64_t ask(ay_space *space, ay_region *region, struct meeting *meeting, int64_t *decided_ns)
{
    struct pollfd readable = {.fd = ay_fd(space), .events = POLLIN};
    ay_region *decided;
    int64_t ns = 0;
    int result = ay_ask(region);
    if (result >= 0)
        fail("ay_ask");
    while (poll(&readable, 1, -1) == 1) {
        ns = now_ns() - atomic_load(&meeting->ns);
        decided = ay_decided(space, &result);
        if (decided)
            break;
    }
    *decided_ns = now_ns() - atomic_load(&meeting->ns);
    return ns;
}

static int compare(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static double median_us(int64_t *ns, int count)
{
    qsort(ns, (size_t)count, sizeof *ns, compare);
    return (double)ns[count / 2] / 1000;
}

int main(int count, char **words)
{
    const int rounds = count > 1 ? atoi(words[1]) : ROUNDS;
    char name[64];
    snprintf(name, sizeof name, "/dev/shm/afteryou-bench-ask-%d", (int)getpid());
    path = name;
    struct meeting *meeting =
        mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int64_t *entered = calloc((size_t)rounds, sizeof *entered),
            *readable = calloc((size_t)rounds, sizeof *readable),
            *decided = calloc((size_t)rounds, sizeof *decided);
    if (meeting == MAP_FAILED || !entered || !readable || !decided || rounds < 1)
        return 1;
    const pid_t other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        be_other(meeting, 2 * rounds);
    }
    ay_space *space;
    ay_region *region = open_region(&space);
    for (int round = 1; round <= 2 * rounds; round++) {
        const int which = (round - 1) / 2;
        await_round(meeting, round);
        if (round % 2)
            entered[which] = enter(region, meeting);
        else
            readable[which] = ask(space, region, meeting, &decided[which]);
        ay_leave(region);
        atomic_store(&meeting->round, -round);
    }
    waitpid(other, NULL, 0);
    const double enter_us = median_us(entered, rounds), readable_us = median_us(readable, rounds),
                 decided_us = median_us(decided, rounds);
    printf("from a departure, the median of %d: a thread asleep in ay_enter() is inside after "
           "%.1f us; the descriptor of an ask is readable after %.1f us (%.2f times that), and the "
           "ask decided after %.1f us (%.2f)\n",
           rounds, enter_us, readable_us, readable_us / enter_us, decided_us,
           decided_us / enter_us);
    ay_close(space);
    ay_remove(path);
    return 0;
}
