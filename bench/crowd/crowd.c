/* SPDX-License-Identifier: MIT */
/* The crowd: what many who wait cost, and how fast they get through, beside flock(2), flock(1) and
 * a robust mutex.
 *
 *   idle   a holder, and N processes that wait for it: how much processor they use in a second
 *          while nothing happens
 *   death  the holder is killed: until all N have been inside
 *   run    N commands of one name at once, `afteryou run X -- true` beside `flock F true`: until
 *          the last has ended, and what they cost in all; five rounds, in turn
 *
 * Figures are never a test; those of one run can be compared with each other.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "afteryou.h"

extern char **environ;

enum { PATH_ROOM = 64, SETTLE_MS = 1500, IDLE_MS = 3000, CROWD_MOST = 4090, ROUNDS = 5 };

/* What all processes of one run share. */
struct shared {
    pthread_mutex_t mutex;
    _Atomic unsigned ready, passed;
};

static struct shared *shared;
static char space_path[PATH_ROOM], lock_path[PATH_ROOM];
static const char *afteryou;

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench-crowd: %s: %s\n", what, why);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

static void rest_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

/* ---- who waits, and for what ---- */

struct way {
    const char *name;
    void (*enter)(const struct way *way, bool holder); /* holder: is in before the crowd comes */
    void (*leave)(void);
    ay_spec spec; /* ours */
    bool aside;   /* ours: the crowd waits for what never becomes true */
    unsigned holders;
};

static ay_region *region;
static int descriptor;

static bool never(void *unused)
{
    (void)unused;
    return false;
}

static void enter_ours(const struct way *way, bool holder)
{
    ay_space *space;
    ay_spec spec = way->spec;
    if (holder && spec.slots == 0)
        spec.mode = AY_EXCLUSIVE;
    if (ay_open(space_path, NULL, &space) != 0 || ay_region_open(space, &spec, &region) != 0)
        fail("afteryou", ay_message());
    if (!holder)
        atomic_fetch_add(&shared->ready, 1);
    if ((way->aside && !holder ? ay_enter_when(region, never, NULL, -1) : ay_enter(region)) < 0)
        fail("afteryou", ay_message());
}

static void leave_ours(void)
{
    ay_leave(region);
}

static void enter_flock(const struct way *way, bool holder)
{
    (void)way;
    descriptor = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (!holder)
        atomic_fetch_add(&shared->ready, 1);
    if (descriptor < 0 || flock(descriptor, LOCK_EX) != 0)
        fail("flock", strerror(errno));
}

static void leave_flock(void)
{
    flock(descriptor, LOCK_UN);
}

static void enter_robust(const struct way *way, bool holder)
{
    (void)way;
    if (!holder)
        atomic_fetch_add(&shared->ready, 1);
    const int error = pthread_mutex_lock(&shared->mutex);
    if (error == EOWNERDEAD)
        pthread_mutex_consistent(&shared->mutex);
    else if (error)
        fail("mutex", strerror(error));
}

static void leave_robust(void)
{
    pthread_mutex_unlock(&shared->mutex);
}

/* Of each kind the peers come first: what follows is compared with the first. */
static const struct way ways[] = {
    {"flock(2)", enter_flock, leave_flock, .holders = 1},
    {"robust", enter_robust, leave_robust, .holders = 1},
    {"afteryou", enter_ours, leave_ours, .spec = {.name = "crowd"}, .holders = 1},
    {"readers", enter_ours, leave_ours, .spec = {.name = "crowd", .mode = AY_SHARED}, .holders = 1},
    {"slots-8", enter_ours, leave_ours, .spec = {.name = "crowd", .slots = 8}, .holders = 8},
    {"aside", enter_ours, leave_ours, .spec = {.name = "crowd"}, .aside = true, .holders = 0},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* ---- the crowd ---- */

static pid_t begin_child(void)
{
    const pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        fail("fork", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
    }
    return pid;
}

static pid_t begin_holder(const struct way *way)
{
    const unsigned before = atomic_load(&shared->passed);
    const pid_t pid = begin_child();
    if (pid == 0) {
        way->enter(way, true);
        atomic_fetch_add(&shared->passed, 1);
        for (;;)
            pause();
    }
    while (atomic_load(&shared->passed) == before)
        rest_ms(1);
    return pid;
}

static pid_t begin_waiter(const struct way *way)
{
    const pid_t pid = begin_child();
    if (pid == 0) {
        way->enter(way, false);
        atomic_fetch_add(&shared->passed, 1);
        way->leave();
        for (;;)
            pause(); /* so that its end is not measured */
    }
    return pid;
}

static int64_t cpu_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
        fail("clock of a process", strerror(errno));
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t cpu_of_all(const pid_t *pids, unsigned count)
{
    int64_t sum = 0;
    for (unsigned at = 0; at < count; at++)
        sum += cpu_ns(pids[at]);
    return sum;
}

static void make_shared(void)
{
    pthread_mutexattr_t attributes;
    memset(shared, 0, sizeof *shared);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shared->mutex, &attributes);
    unlink(space_path);
}

/* Times in ns; -1: not measured. */
struct result {
    int64_t idle, death, arrival;
};

static struct result measure(const struct way *way, unsigned count, bool deaths)
{
    static pid_t pids[CROWD_MOST];
    pid_t holders[8];
    struct result result = {.death = -1};
    make_shared();
    for (unsigned at = 0; at < way->holders; at++)
        holders[at] = begin_holder(way);
    const int64_t arrived = now_ns();
    for (unsigned at = 0; at < count; at++)
        pids[at] = begin_waiter(way);
    while (atomic_load(&shared->ready) < count)
        rest_ms(1);
    result.arrival = now_ns() - arrived;
    rest_ms(SETTLE_MS);
    const int64_t before = cpu_of_all(pids, count), began = now_ns();
    rest_ms(IDLE_MS);
    result.idle = (cpu_of_all(pids, count) - before) * 1000000000 / (now_ns() - began);
    if (deaths && !way->aside) {
        const unsigned target = atomic_load(&shared->passed) + count;
        const int64_t killed = now_ns();
        for (unsigned at = 0; at < way->holders; at++)
            kill(holders[at], SIGKILL);
        while (atomic_load(&shared->passed) < target)
            rest_ms(1);
        result.death = now_ns() - killed;
    }
    for (unsigned at = 0; at < way->holders; at++)
        kill(holders[at], SIGKILL);
    for (unsigned at = 0; at < count; at++)
        kill(pids[at], SIGKILL);
    while (wait(NULL) > 0)
        ;
    return result;
}

struct cost {
    double wall_s, cpu_s;
};

static double cpu_of_children(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static struct cost measure_commands(const char *const *words, unsigned count)
{
    const int64_t began = now_ns();
    const double before = cpu_of_children();
    for (unsigned at = 0; at < count; at++) {
        pid_t pid;
        const int error = posix_spawnp(&pid, words[0], NULL, NULL, (char *const *)words, environ);
        if (error)
            fail(words[0], strerror(error));
    }
    int status;
    while (wait(&status) > 0)
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            fail(words[0], "did not succeed");
    return (struct cost){.wall_s = (double)(now_ns() - began) / 1e9,
                         .cpu_s = cpu_of_children() - before};
}

static int by_value(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* Of the rounds: they are sorted. */
static double median(double *of)
{
    qsort(of, ROUNDS, sizeof *of, by_value);
    return of[ROUNDS / 2];
}

/* In turn: what disturbs a while of the machine disturbs both. */
static void compare_commands(unsigned count)
{
    const char *const by_flock[] = {"flock", lock_path, "true", NULL};
    const char *const by_ours[] = {afteryou, "run", "-S", space_path, "x", "--", "true", NULL};
    double times[ROUNDS], processor[ROUNDS], theirs_s[ROUNDS], ours_s[ROUNDS], theirs_ms[ROUNDS],
        ours_ms[ROUNDS];
    for (unsigned round = 0; round < ROUNDS; round++) {
        unlink(space_path);
        const struct cost theirs = measure_commands(by_flock, count),
                          ours = measure_commands(by_ours, count);
        theirs_s[round] = theirs.wall_s;
        ours_s[round] = ours.wall_s;
        times[round] = ours.wall_s / theirs.wall_s;
        theirs_ms[round] = theirs.cpu_s * 1e3 / count;
        ours_ms[round] = ours.cpu_s * 1e3 / count;
        processor[round] = ours.cpu_s / theirs.cpu_s;
    }
    const double middle = median(times);
    printf(
        "%u at once, medians of %d rounds: flock(1) %.2f s, afteryou run %.2f s: %.2f times (%.2f "
        "to %.2f); processor a command %.2f ms and %.2f ms: %.2f times\n",
        count, ROUNDS, median(theirs_s), median(ours_s), middle, times[0], times[ROUNDS - 1],
        median(theirs_ms), median(ours_ms), median(processor));
}

static void compare_waiters(unsigned count, const char *only)
{
    printf("%u waiting            idle cpu/s    arrive    holder killed, all through\n", count);
    int64_t reference = -1;
    for (unsigned at = 0; at < WAYS; at++) {
        if (only && strcmp(only, ways[at].name) != 0)
            continue;
        const struct result result = measure(&ways[at], count, true);
        printf("%-20s %8.4f s %8.3f s", ways[at].name, (double)result.idle / 1e9,
               (double)result.arrival / 1e9);
        if (result.death >= 0) {
            if (reference < 0)
                reference = result.death;
            printf(" %8.3f s  %5.2f times", (double)result.death / 1e9,
                   (double)result.death / (double)reference);
        }
        putchar('\n');
        fflush(stdout);
    }
}

static void remove_files(void)
{
    unlink(space_path);
    unlink(lock_path);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: bench-crowd AFTERYOU wait|run N [NAME]\n");
        return 125;
    }
    const long count = strtol(argv[3], NULL, 10);
    if (count < 1 || count > CROWD_MOST)
        fail("N", "is 1 to 4090");
    afteryou = argv[1];
    snprintf(space_path, sizeof space_path, "/dev/shm/bench-crowd-%d", (int)getpid());
    snprintf(lock_path, sizeof lock_path, "/dev/shm/bench-crowd-%d.lock", (int)getpid());
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        fail("memory", strerror(errno));
    const pid_t self = getpid();
    if (strcmp(argv[2], "run") == 0)
        compare_commands((unsigned)count);
    else
        compare_waiters((unsigned)count, argc > 4 ? argv[4] : NULL);
    if (getpid() == self)
        remove_files();
    return 0;
}
