/* SPDX-License-Identifier: MIT */
/* The memory engine beside the robust, process-shared pthread mutex, in one run, alternating: the cost of a passage alone, and the time from
 * kill -9 of the holder until the next one is inside. Prints medians and ratios; asserts nothing.
 *
 *   bench-memory [alone | kill]
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "afteryou.h"

enum { REPEATS = 31, PASSAGES = 20000, KILLS = 120, LARGE = 256 << 20, PLACES_MOST = 256 };

static char space_path[64];

static void fail(const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", what, ay_message());
    unlink(space_path);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *values, int count, double q)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[(int)(q * (count - 1))];
}

struct shared {
    pthread_mutex_t mutex;
    _Atomic int64_t entered_ns;
    _Atomic int ready;
};

static struct shared *share(void)
{
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        exit(1);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shared->mutex, &attributes);
    return shared;
}

static double time_mutex(struct shared *shared)
{
    const int64_t begin = now_ns();
    for (int times = 0; times < PASSAGES; times++) {
        pthread_mutex_lock(&shared->mutex);
        pthread_mutex_unlock(&shared->mutex);
    }
    return (double)(now_ns() - begin) / PASSAGES;
}

static double time_region(ay_region *region)
{
    const int64_t begin = now_ns();
    for (int times = 0; times < PASSAGES; times++) {
        ay_enter(region);
        ay_leave(region);
    }
    return (double)(now_ns() - begin) / PASSAGES;
}

static void bench_alone(struct shared *shared, unsigned places, const char *protocol)
{
    ay_space *space;
    ay_region *regions[PLACES_MOST];
    double mutex[REPEATS], region[REPEATS];
    unlink(space_path);
    if (ay_open(space_path, &(ay_options){.protocol = protocol}, &space) != 0)
        fail("open");
    for (unsigned at = 0; at < places; at++)
        if (ay_region_open(space, &(ay_spec){.name = "x"}, &regions[at]) != 0)
            fail("region");
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        mutex[repeat] = time_mutex(shared);
        region[repeat] = time_region(regions[0]);
    }
    const double m = quantile(mutex, REPEATS, .5), r = quantile(region, REPEATS, .5);
    printf("alone, %-9s %3u places open: %7.1f ns; robust mutex %5.1f ns; ratio %.2f\n", protocol, places, r, m, r / m);
    ay_close(space);
}

/* One kill: a holder (with so much memory mapped) is killed while another waits; µs until that one is inside. */
static double time_kill(struct shared *shared, bool ours, size_t memory)
{
    atomic_store(&shared->ready, 0);
    const pid_t holder = fork();
    if (holder == 0) {
        if (memory) {
            char *mapped = mmap(NULL, memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            for (size_t at = 0; at < memory; at += 4096)
                mapped[at] = 1;
        }
        ay_space *space;
        ay_region *region = NULL;
        if (ours) {
            if (ay_open(space_path, NULL, &space) || ay_region_open(space, &(ay_spec){.name = "x"}, &region) ||
                ay_enter(region) < 0)
                fail("holder");
        } else if (pthread_mutex_lock(&shared->mutex) == EOWNERDEAD) {
            pthread_mutex_consistent(&shared->mutex);
        }
        atomic_store(&shared->ready, 1);
        for (;;)
            pause();
    }
    while (!atomic_load(&shared->ready))
        usleep(200);
    const pid_t waiter = fork();
    if (waiter == 0) {
        ay_space *space;
        ay_region *region = NULL;
        if (ours) {
            if (ay_open(space_path, NULL, &space) || ay_region_open(space, &(ay_spec){.name = "x"}, &region))
                fail("waiter");
            atomic_store(&shared->ready, 2);
            if (ay_enter(region) != AY_AFTER_DEATH)
                fail("not told");
            atomic_store(&shared->entered_ns, now_ns());
            ay_leave(region);
        } else {
            atomic_store(&shared->ready, 2);
            const int result = pthread_mutex_lock(&shared->mutex);
            atomic_store(&shared->entered_ns, now_ns());
            if (result == EOWNERDEAD)
                pthread_mutex_consistent(&shared->mutex);
            pthread_mutex_unlock(&shared->mutex);
        }
        _exit(0);
    }
    while (atomic_load(&shared->ready) != 2)
        usleep(200);
    usleep(5000); /* it is asleep by now */
    const int64_t begin = now_ns();
    kill(holder, SIGKILL);
    waitpid(waiter, NULL, 0);
    waitpid(holder, NULL, 0);
    return (double)(atomic_load(&shared->entered_ns) - begin) / 1000;
}

static void bench_kill(struct shared *shared, size_t memory)
{
    double mutex[KILLS], region[KILLS];
    unlink(space_path);
    for (int times = 0; times < KILLS; times++) {
        mutex[times] = time_kill(shared, false, memory);
        region[times] = time_kill(shared, true, memory);
    }
    const double m = quantile(mutex, KILLS, .5), r = quantile(region, KILLS, .5);
    printf("kill -9, holder with %3zu MB, %d kills: p50 %6.0f µs, p99 %6.0f; robust mutex p50 %6.0f µs, p99 %6.0f; "
           "ratio of p50 %.2f\n",
           memory >> 20, KILLS, r, quantile(region, KILLS, .99), m, quantile(mutex, KILLS, .99), r / m);
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    struct shared *shared = share();
    snprintf(space_path, sizeof space_path, "/dev/shm/afteryou-bench-%d", (int)getpid());
    if (strcmp(what, "kill") != 0) {
        static const unsigned places[] = {2, 8, 16, 64, 256};
        for (size_t at = 0; at < sizeof places / sizeof *places; at++)
            bench_alone(shared, places[at], "courtesy");
        bench_alone(shared, 2, "bakery");
        bench_alone(shared, 64, "bakery");
        bench_alone(shared, 2, "pair");
    }
    if (strcmp(what, "alone") != 0) {
        bench_kill(shared, 0);
        bench_kill(shared, LARGE);
    }
    unlink(space_path);
    return 0;
}
