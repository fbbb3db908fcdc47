/* SPDX-License-Identifier: MIT */
/* flock(2) with a deadline, and with signals that end the wait instead of the process: who waits
 * may be inside a region, and must leave it. */
#include "cli/flock/file_lock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/time.h>
#include <time.h>

enum { AGAIN_US = 10000, SIGNALS = 5 };

/* The first is the timer's. */
static const int signals[SIGNALS] = {SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

static volatile sig_atomic_t caught; /* the handler sets it, file_lock() clears it */

/* A signal that came just before the system call does not interrupt it; so the timer goes on, until
 * it is heard. */
static void set_timer(int64_t first_us)
{
    const struct itimerval timer = {
        .it_value = {.tv_sec = first_us / 1000000, .tv_usec = first_us % 1000000},
        .it_interval = {.tv_usec = AGAIN_US}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void catch_signal(int number)
{
    if (!caught || number != SIGALRM)
        caught = number;
    if (number != SIGALRM)
        set_timer(AGAIN_US);
}

bool file_is_locked(int fd)
{
    char path[64], line[256];
    bool found = false;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    FILE *info = fopen(path, "re");
    while (info && !found && fgets(line, sizeof line, info))
        found = strncmp(line, "lock:", 5) == 0 && strstr(line, " FLOCK ");
    if (info)
        fclose(info);
    return found;
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int wait_for_lock(int fd, int operation, int64_t deadline_ns)
{
    while (!caught)
        if (flock(fd, operation) == 0)
            return 0;
        else if (errno != EINTR)
            return -errno;
    const bool late = deadline_ns > 0 && now_us() >= deadline_ns / 1000;
    return caught != SIGALRM ? caught : late ? -ETIMEDOUT : SIGALRM; /* somebody else's */
}

int file_lock(int fd, int operation, int64_t deadline_ns)
{
    if (flock(fd, operation | LOCK_NB) == 0)
        return 0;
    if (errno != EWOULDBLOCK || deadline_ns == 0)
        return -errno;
    const struct sigaction action = {.sa_handler = catch_signal}; /* no SA_RESTART */
    struct sigaction before[SIGNALS];
    sigset_t timer, mask;
    caught = 0;
    for (unsigned at = 0; at < SIGNALS; at++) {
        sigaction(signals[at], NULL, &before[at]);
        if (at == 0 || before[at].sa_handler != SIG_IGN)
            sigaction(signals[at], &action, NULL);
    }
    sigemptyset(&timer);
    sigaddset(&timer, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &timer, &mask);
    if (deadline_ns > 0) {
        const int64_t left = deadline_ns / 1000 - now_us();
        set_timer(left > 0 ? left : 1);
    }
    const int result = wait_for_lock(fd, operation, deadline_ns);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    for (unsigned at = 0; at < SIGNALS; at++)
        sigaction(signals[at], &before[at], NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return result;
}
