/* SPDX-License-Identifier: MIT */
/* A lock per record: what it costs to lock one of a million, at random, and to unlock it.
 *
 * usage: bench-records [PROCESSES]
 *
 * Ours by one region that is renamed from record to record, and by stripes: records hashed onto so
 * many regions that are open all the time. Beside them a lock of the record's byte of a file
 * (fcntl, open file description), and an array of robust mutexes. All in the same run, in turn; the
 * figure is the median of the rounds, in nanoseconds of the processor for each locking.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <afteryou.h>

enum { RECORDS = 1000000, STRIPES = 1024, PASSAGES = 20000, ROUNDS = 9, PROCESSES_MOST = 64 };

struct record_lock {
    const char *name;
    void (*begin)(void); /* in each process */
    void (*lock)(unsigned record);
    void (*unlock)(unsigned record);
};

static char renamed_path[64], striped_path[64], file_path[64];
static ay_region *region, *stripes[STRIPES];
static pthread_mutex_t *mutexes;
static int file;

static void require(int result, const char *what)
{
    if (result >= 0)
        return;
    fprintf(stderr, "bench-records: %s: %s\n", what, ay_message());
    exit(1);
}

static ay_space *join(const char *path)
{
    ay_space *space;
    require(ay_open(path, NULL, &space), "ay_open");
    return space;
}

static void begin_renamed(void)
{
    require(ay_region_open(join(renamed_path), &(ay_spec){.name = "none yet"}, &region),
            "ay_region_open");
}

static void lock_renamed(unsigned record)
{
    char name[16];
    snprintf(name, sizeof name, "%u", record);
    require(ay_region_rename(region, name), "ay_region_rename");
    require(ay_enter(region), "ay_enter");
}

static void unlock_renamed(unsigned record)
{
    (void)record;
    require(ay_leave(region), "ay_leave");
}

static void begin_stripes(void)
{
    ay_space *space = join(striped_path);
    for (unsigned which = 0; which < STRIPES; which++) {
        char name[16];
        snprintf(name, sizeof name, "stripe %u", which);
        require(ay_region_open(space, &(ay_spec){.name = name}, &stripes[which]), "ay_region_open");
    }
}

static void lock_stripe(unsigned record)
{
    require(ay_enter(stripes[record % STRIPES]), "ay_enter");
}

static void unlock_stripe(unsigned record)
{
    require(ay_leave(stripes[record % STRIPES]), "ay_leave");
}

static void begin_file(void)
{
    file = open(file_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    require(file, "open");
}

static void change_file(unsigned record, short type)
{
    struct flock lock = {.l_type = type, .l_start = record, .l_len = 1};
    require(fcntl(file, F_OFD_SETLKW, &lock), "fcntl");
}

static void lock_file(unsigned record)
{
    change_file(record, F_WRLCK);
}

static void unlock_file(unsigned record)
{
    change_file(record, F_UNLCK);
}

static void begin_nothing(void) {}

static void lock_mutex(unsigned record)
{
    require(-pthread_mutex_lock(&mutexes[record]), "pthread_mutex_lock");
}

static void unlock_mutex(unsigned record)
{
    pthread_mutex_unlock(&mutexes[record]);
}

static void make_mutexes(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    mutexes = mmap(NULL, RECORDS * sizeof *mutexes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(mutexes == MAP_FAILED ? -1 : 0, "mmap");
    for (unsigned record = 0; record < RECORDS; record++)
        pthread_mutex_init(&mutexes[record], &attributes);
}

static const struct record_lock locks[] = {
    {"renamed region", begin_renamed, lock_renamed, unlock_renamed},
    {"1024 stripes", begin_stripes, lock_stripe, unlock_stripe},
    {"file lock (fcntl)", begin_file, lock_file, unlock_file},
    {"robust mutex", begin_nothing, lock_mutex, unlock_mutex},
};
enum { FILE_LOCK = 2, MUTEX, LOCKS };
_Static_assert(sizeof locks / sizeof *locks == LOCKS, "in the order of their names");

static double processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double measure(const struct record_lock *kind, unsigned seed)
{
    const double before = processor_ns();
    for (unsigned times = 0; times < PASSAGES; times++) {
        const unsigned record = (unsigned)rand_r(&seed) % RECORDS;
        kind->lock(record);
        kind->unlock(record);
    }
    return (processor_ns() - before) / PASSAGES;
}

static int compare(const void *a, const void *b)
{
    const double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

/* All rounds in every process; the first tells. */
static void run_rounds(unsigned self)
{
    double figures[LOCKS][ROUNDS], medians[LOCKS];
    for (unsigned which = 0; which < LOCKS; which++) {
        locks[which].begin();
        measure(&locks[which], self); /* pages and lanes are warm */
    }
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned which = 0; which < LOCKS; which++)
            figures[which][round] = measure(&locks[which], self * ROUNDS + round);
    for (unsigned which = 0; which < LOCKS; which++) {
        qsort(figures[which], ROUNDS, sizeof **figures, compare);
        medians[which] = figures[which][ROUNDS / 2];
    }
    for (unsigned which = 0; self == 0 && which < LOCKS; which++)
        printf("%-18s %7.0f ns, %.2f times the file lock, %.2f times the mutex\n",
               locks[which].name, medians[which], medians[which] / medians[FILE_LOCK],
               medians[which] / medians[MUTEX]);
}

int main(int count, char **words)
{
    const unsigned processes = count > 1 ? (unsigned)atoi(words[1]) : 1;
    if (count > 2 || processes < 1 || processes > PROCESSES_MOST) {
        fprintf(stderr, "usage: bench-records [PROCESSES], 1 to %d\n", PROCESSES_MOST);
        return 2;
    }
    const int pid = (int)getpid();
    snprintf(renamed_path, sizeof renamed_path, "/dev/shm/afteryou-bench-renamed-%d", pid);
    snprintf(striped_path, sizeof striped_path, "/dev/shm/afteryou-bench-striped-%d", pid);
    snprintf(file_path, sizeof file_path, "/dev/shm/afteryou-bench-file-%d", pid);
    make_mutexes();
    printf("one of %d records, %u process%s, busy all the time:\n", RECORDS, processes,
           processes > 1 ? "es" : "");
    fflush(stdout);
    for (unsigned self = 1; self < processes; self++)
        if (fork() == 0) {
            run_rounds(self);
            _exit(0);
        }
    run_rounds(0);
    while (wait(NULL) > 0)
        ;
    unlink(file_path);
    return ay_remove(renamed_path) == 0 && ay_remove(striped_path) == 0 ? 0 : 1;
}
