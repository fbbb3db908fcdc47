/* SPDX-License-Identifier: MIT */
/* What many open places of different names cost those who do not need them.
 *
 * usage: bench-places AFTERYOU [PLACES]
 *
 *   passage  ten regions are entered and left in turn: with ten open, and with all of them, of this
 *            process and of another
 *   open     one more is opened by a process that has none yet, while another has them all
 *   rename   a region gets another name, beside closing it and opening one of that name: with 64
 *            open, of this process, and with all of another
 *   status   the command shows the space: how long it takes, and how much of the processor
 *   asks     one thread has asked for a thousand regions of a hundred names that are held; for
 *            three thousand; for ten thousand: what memory it has then, and how long it takes until
 *            all of them were inside in turn. The same of one name
 *
 * Figures are never a test; those of one run can be compared with each other.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <afteryou.h>

enum {
    FEW = 10,
    SOME = 64,
    PLACES = 10000,
    ROUNDS = 15,
    PASSAGES = 20000,
    OPENED = 200,
    RENAMED = 1000,
    NAMES = 100
};

static char few_path[64], many_path[64];
static unsigned places = PLACES;

static void require(int result, const char *what)
{
    if (result >= 0)
        return;
    fprintf(stderr, "bench-places: %s: %s\n", what, ay_message());
    exit(1);
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
    const double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static double median(double *figures, unsigned count)
{
    qsort(figures, count, sizeof *figures, compare);
    return figures[count / 2];
}

static ay_space *join(const char *path)
{
    ay_space *space;
    require(ay_open(path, &(ay_options){.places = AY_PLACES_MOST}, &space), "ay_open");
    return space;
}

static ay_region *open_one(ay_space *space, const char *kind, unsigned which)
{
    char name[32];
    ay_region *region;
    snprintf(name, sizeof name, "%s %u", kind, which);
    require(ay_region_open(space, &(ay_spec){.name = name}, &region), "ay_region_open");
    return region;
}

/* A process that has them open until it is ended. */
static pid_t hold(const char *path, unsigned count)
{
    int ready[2];
    char byte;
    require(pipe(ready), "pipe");
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        ay_space *space = join(path);
        for (unsigned which = 0; which < count; which++)
            open_one(space, "held", which);
        require(write(ready[1], "r", 1) == 1 ? 0 : -1, "write");
        for (;;)
            pause();
    }
    close(ready[1]);
    require(read(ready[0], &byte, 1) == 1 ? 0 : -1, "another process");
    close(ready[0]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* In a process of its own, for what it leaves behind is nobody else's. */
static void apart(void (*measure)(void))
{
    int status;
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        measure();
        fflush(stdout);
        _exit(0);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        exit(1);
}

/* ---- a passage ---- */

static double pass(ay_region **regions)
{
    const double before = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (unsigned times = 0; times < PASSAGES; times++) {
        require(ay_enter(regions[times % FEW]), "ay_enter");
        require(ay_leave(regions[times % FEW]), "ay_leave");
    }
    return (seconds(CLOCK_PROCESS_CPUTIME_ID) - before) / PASSAGES * 1e9;
}

static void compare_passages(const char *whose, ay_region **few, ay_region **many)
{
    double with_few[ROUNDS], with_many[ROUNDS], ratio[ROUNDS];
    pass(few);
    pass(many);
    for (unsigned round = 0; round < ROUNDS; round++) {
        with_few[round] = pass(few);
        with_many[round] = pass(many);
        ratio[round] = with_many[round] / with_few[round];
    }
    printf("enter and leave, %u places open, %s: %.1f ns; %d open: %.1f ns; %.2f times that\n",
           places, whose, median(with_many, ROUNDS), FEW, median(with_few, ROUNDS),
           median(ratio, ROUNDS));
}

static void open_ten(const char *path, ay_region **regions)
{
    ay_space *space = join(path);
    for (unsigned which = 0; which < FEW; which++)
        regions[which] = open_one(space, "ten", which);
}

static void measure_passages_of_one(void)
{
    ay_region *few[FEW], *many[FEW];
    ay_space *space = join(many_path);
    for (unsigned which = FEW; which < places; which++)
        open_one(space, "held", which);
    open_ten(few_path, few);
    open_ten(many_path, many);
    compare_passages("of this process", few, many);
}

static void measure_passages_of_two(void)
{
    ay_region *few[FEW], *many[FEW];
    open_ten(few_path, few);
    open_ten(many_path, many);
    compare_passages("of another", few, many);
}

/* ---- opening, and looking ---- */

static void measure_opening(void)
{
    double us[OPENED], first = 0;
    const double begun = seconds(CLOCK_MONOTONIC);
    ay_space *space = join(many_path);
    const double joined = (seconds(CLOCK_MONOTONIC) - begun) * 1e6;
    for (unsigned which = 0; which < OPENED; which++) {
        const double before = seconds(CLOCK_MONOTONIC);
        open_one(space, "new", which);
        us[which] = (seconds(CLOCK_MONOTONIC) - before) * 1e6;
        first += which < FEW ? us[which] : 0;
    }
    printf("opening, %u places open: the space %.0f us, the very first of a process %.0f us, ",
           places, joined, us[0]);
    printf("the first %d %.0f us each, ", FEW, first / FEW);
    printf("the median of %d %.0f us\n", OPENED, median(us, OPENED));
}

/* In turn to names that nobody else has; in ns of the processor. */
static double rename_for_long(ay_region *region)
{
    char names[NAMES][16];
    for (unsigned which = 0; which < NAMES; which++)
        snprintf(names[which], sizeof *names, "renamed %u", which);
    const double before = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (unsigned times = 0; times < RENAMED; times++)
        require(ay_region_rename(region, names[times % NAMES]), "ay_region_rename");
    return (seconds(CLOCK_PROCESS_CPUTIME_ID) - before) / RENAMED * 1e9;
}

static double reopen_for_long(ay_space *space, ay_region **region)
{
    const double before = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (unsigned which = 0; which < OPENED; which++) {
        ay_region_close(*region);
        *region = open_one(space, "reopened", which);
    }
    return (seconds(CLOCK_PROCESS_CPUTIME_ID) - before) / OPENED * 1e9;
}

static void compare_renaming(ay_space *space, unsigned open, const char *whose)
{
    double renamed[ROUNDS], reopened[ROUNDS];
    ay_region *region = open_one(space, "one", 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        renamed[round] = rename_for_long(region);
        reopened[round] = reopen_for_long(space, &region);
    }
    printf("renaming, %u places open, %s: %.2f us; to close and to open: %.1f us\n", open, whose,
           median(renamed, ROUNDS) / 1e3, median(reopened, ROUNDS) / 1e3);
}

static void measure_renaming_among_some(void)
{
    ay_space *space = join(few_path);
    for (unsigned which = 1; which < SOME; which++)
        open_one(space, "held", which);
    compare_renaming(space, SOME, "of this process");
}

static void measure_renaming_among_many(void)
{
    compare_renaming(join(many_path), places, "of another");
}

static void measure_status(const char *afteryou)
{
    double elapsed[ROUNDS], used[ROUNDS];
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct rusage usage;
        int status;
        const double before = seconds(CLOCK_MONOTONIC);
        const pid_t pid = fork();
        if (pid == 0) {
            const int nothing = open("/dev/null", O_WRONLY);
            dup2(nothing, STDOUT_FILENO);
            execl(afteryou, afteryou, "status", "-S", many_path, (char *)NULL);
            _exit(127);
        }
        if (wait4(pid, &status, 0, &usage) != pid || status != 0) {
            fprintf(stderr, "bench-places: %s status -S %s: failed\n", afteryou, many_path);
            exit(1);
        }
        elapsed[round] = (seconds(CLOCK_MONOTONIC) - before) * 1e3;
        used[round] = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
                      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
    }
    printf("status, %u places open: answers in %.0f ms, of which %.0f ms of the processor\n",
           places, median(elapsed, ROUNDS), median(used, ROUNDS));
}

/* ---- asks ---- */

/* A line of /proc/self/status, in MB. */
static double memory(const char *of)
{
    char line[128];
    double kb = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, of, strlen(of)) == 0)
            kb = strtod(line + strlen(of), NULL);
    if (file)
        fclose(file);
    return kb / 1024;
}

static unsigned asks, names;

/* One after the other, until all were inside. */
static double serve(ay_space *space, ay_region **held)
{
    const double before = seconds(CLOCK_MONOTONIC);
    for (unsigned which = 0; which < names; which++)
        require(ay_leave(held[which]), "ay_leave");
    for (unsigned served = 0; served < asks;) {
        int result;
        ay_region *region = ay_decided(space, &result);
        require(result, "ay_decided");
        struct pollfd readable = {.fd = ay_fd(space), .events = POLLIN};
        if (region)
            require(ay_leave(region), "ay_leave");
        else
            require(poll(&readable, 1, -1), "poll");
        served += region != NULL;
    }
    return seconds(CLOCK_MONOTONIC) - before;
}

static void measure_asks(void)
{
    ay_space *space = join(few_path);
    ay_region *held[NAMES];
    for (unsigned which = 0; which < names; which++) {
        held[which] = open_one(space, "asked", which);
        require(ay_enter(held[which]), "ay_enter");
    }
    const double own = memory("RssAnon:"), before = seconds(CLOCK_MONOTONIC);
    for (unsigned which = 0; which < asks; which++) {
        const int result = ay_ask(open_one(space, "asked", which % names));
        require(result == -EINPROGRESS ? 0 : -1, "ay_ask");
    }
    const double took = seconds(CLOCK_MONOTONIC) - before, has = memory("RssAnon:") - own;
    printf("%u asks of one thread, on %u name%s: %.1f MB of memory of its own, %.1f KB an ask, and "
           "%.1f MB of the space; %.0f us each, to open and to ask; ",
           asks, names, names == 1 ? "" : "s", has, has * 1024 / asks, memory("RssShmem:"),
           took / asks * 1e6);
    printf("%.0f us each, until all were inside in turn\n", serve(space, held) / asks * 1e6);
}

static void measure_asks_of(unsigned of_names)
{
    static const unsigned counts[] = {1000, 3000, 10000};
    names = of_names;
    for (size_t which = 0; which < sizeof counts / sizeof *counts; which++) {
        asks = counts[which];
        if (asks > places)
            break;
        ay_remove(few_path);
        apart(measure_asks);
    }
}

int main(int count, char **words)
{
    if (count > 2)
        places = (unsigned)atoi(words[2]);
    if (count < 2 || count > 3 || places <= FEW || places > AY_PLACES_MOST - OPENED) {
        fprintf(stderr, "usage: bench-places AFTERYOU [PLACES], more than %d\n", FEW);
        return 2;
    }
    snprintf(few_path, sizeof few_path, "/dev/shm/afteryou-bench-few-%d", (int)getpid());
    snprintf(many_path, sizeof many_path, "/dev/shm/afteryou-bench-many-%d", (int)getpid());
    apart(measure_passages_of_one);
    ay_remove(many_path);
    const pid_t holder = hold(many_path, places);
    apart(measure_passages_of_two);
    apart(measure_opening);
    apart(measure_renaming_among_many);
    measure_status(words[1]);
    end(holder);
    ay_remove(few_path);
    apart(measure_renaming_among_some);
    measure_asks_of(NAMES);
    measure_asks_of(1);
    return ay_remove(few_path) == 0 && ay_remove(many_path) == 0 ? 0 : 1;
}
