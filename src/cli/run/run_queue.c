/* SPDX-License-Identifier: MIT */
/* A line on the terminal for one who waits: the place in the queue, who is inside, how long
 * already. */
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/run/run.h"
#include "cli/text.h"

enum { FIRST_MS = 300, NEXT_MS = 500 };

struct queue_display {
    const struct run_words *asked;
    pid_t group; /* shown only while it has the terminal */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t change;
    bool stop, shown;
    int64_t begun_ns;
    uint64_t order; /* mine, as last seen */
};

static int find_order(const ay_place *place, void *arg)
{
    struct queue_display *display = arg;
    if (place->state == AY_WAITING && place->pid == getpid())
        display->order = place->order;
    return 0;
}

static void draw(struct queue_display *display)
{
    struct winsize size;
    if (tcgetpgrp(STDERR_FILENO) != display->group)
        return;
    display->order = 0;
    ay_look(display->asked->space, NULL, find_order, display);
    char holders[TEXT_ROOM], line[TEXT_ROOM + 512], waited[32];
    holders_describe(display->asked, holders, sizeof holders);
    text_seconds(text_now() - display->begun_ns, waited, sizeof waited);
    snprintf(line, sizeof line, "afteryou: '%s': number %llu in the queue, for %s; %s",
             display->asked->spec.name, (unsigned long long)(display->order ? display->order : 1),
             waited, holders);
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    fputs("\r\033[K", stderr);
    text_print(stderr, line, known ? size.ws_col - 1u : 79);
    fflush(stderr);
    display->shown = true;
}

static void add_ms(struct timespec *when, long ms)
{
    when->tv_sec += ms / 1000;
    when->tv_nsec += ms % 1000 * 1000000;
    if (when->tv_nsec >= 1000000000) {
        when->tv_sec++;
        when->tv_nsec -= 1000000000;
    }
}

static void *show(void *arg)
{
    struct queue_display *display = arg;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    add_ms(&next, FIRST_MS);
    pthread_mutex_lock(&display->mutex);
    while (!display->stop) {
        if (pthread_cond_clockwait(&display->change, &display->mutex, CLOCK_MONOTONIC, &next) == 0)
            continue;
        draw(display);
        clock_gettime(CLOCK_MONOTONIC, &next);
        add_ms(&next, NEXT_MS);
    }
    pthread_mutex_unlock(&display->mutex);
    return NULL;
}

struct queue_display *queue_display_start(const struct run_words *asked, pid_t group)
{
    if (asked->timeout_ms == 0 || asked->quiet || !isatty(STDERR_FILENO))
        return NULL;
    /* for the widths of characters; whatever LANG says, our own words are in UTF-8 */
    setlocale(LC_CTYPE, "C.UTF-8");
    struct queue_display *display = calloc(1, sizeof *display);
    if (!display)
        return NULL;
    display->asked = asked;
    display->group = group;
    display->begun_ns = text_now();
    pthread_mutex_init(&display->mutex, NULL);
    pthread_cond_init(&display->change, NULL);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the thread inherits it */
    const int error = pthread_create(&display->thread, NULL, show, display);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) { /* one waits without it as well */
        free(display);
        return NULL;
    }
    return display;
}

void queue_display_stop(struct queue_display *display)
{
    if (!display)
        return;
    pthread_mutex_lock(&display->mutex);
    display->stop = true;
    pthread_cond_signal(&display->change);
    pthread_mutex_unlock(&display->mutex);
    pthread_join(display->thread, NULL);
    if (display->shown)
        fputs("\r\033[K", stderr);
    free(display);
}
