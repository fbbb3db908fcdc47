/* SPDX-License-Identifier: MIT */
/* The loss of a cluster's region rings the guardian's bell. */
#include "cli/run/run.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static void *watch(void *arg)
{
    struct pollfd lost = {.fd = *(const int *)arg, .events = POLLIN};
    while (poll(&lost, 1, -1) < 0 && errno == EINTR)
        continue;
    kill(getpid(), SIGNAL_BELL);
    return NULL;
}

int lost_watch(ay_region *region)
{
    static int fd;
    pthread_t thread;
    sigset_t all, before;
    fd = ay_lost(region);
    if (fd < 0)
        return fd;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the thread inherits it */
    const int error = pthread_create(&thread, NULL, watch, &fd);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error)
        pthread_detach(thread);
    return -error;
}
