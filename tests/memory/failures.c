/* SPDX-License-Identifier: MIT */
/* Failure injection by countdown: the k-th fallible call of opening and closing fails, for every k
 * and every way in which it may; each time a clear negative errno comes back, nothing leaks, and a
 * living space goes on.
 *
 * Linked with the library's own objects, its calls wrapped (--wrap).
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "harness.h"

static long countdown; /* 0: nothing fails */
static int failure;
static long calls;
static bool no_memory; /* malloc() and calloc() have none. Set and cleared by test_no_memory() */

static bool fails(void)
{
    calls++;
    if (countdown == 0 || --countdown > 0)
        return false;
    errno = failure;
    return true;
}

/* Each wrapped function in one line: its result when it fails, then itself. */
#define WRAP(type, name, parameters, arguments, failed)                                            \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fails() ? (failed) : __real_##name arguments;                                       \
    }

WRAP(void *, mmap, (void *at, size_t size, int rights, int flags, int fd, off_t from),
     (at, size, rights, flags, fd, from), MAP_FAILED)
WRAP(int, madvise, (void *at, size_t size, int advice), (at, size, advice), -1)
WRAP(int, ftruncate, (int fd, off_t size), (fd, size), -1)
WRAP(int, posix_fallocate, (int fd, off_t from, off_t size), (fd, from, size), failure)
WRAP(int, posix_memalign, (void **room, size_t alignment, size_t size), (room, alignment, size),
     failure)
WRAP(ssize_t, pwrite, (int fd, const void *bytes, size_t size, off_t to), (fd, bytes, size, to), -1)
WRAP(ssize_t, pread, (int fd, void *bytes, size_t size, off_t from), (fd, bytes, size, from), -1)
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode), -1)
WRAP(int, fstat, (int fd, struct stat *status), (fd, status), -1)
WRAP(int, linkat, (int from, const char *old, int to, const char *new, int flags),
     (from, old, to, new, flags), -1)
WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
     (thread, attributes, run, argument), failure)

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return fails() || no_memory ? NULL : __real_calloc(count, size);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return fails() || no_memory ? NULL : __real_malloc(size);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, unsigned) : 0;
    va_end(arguments);
    return fails() ? -1 : __real_open(path, flags, mode);
}

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    const bool unlock = argument && ((struct flock *)argument)->l_type == F_UNLCK;
    return !unlock && fails() ? -1 : __real_fcntl(fd, command, argument);
}

static unsigned count_files(void)
{
    unsigned count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static unsigned count_maps(void)
{
    unsigned count = 0;
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        count += strstr(line, test_space) != NULL;
    fclose(maps);
    return count;
}

/* Opens, enters, leaves, closes: 0, or the first error. */
static int go_through(void)
{
    ay_space *space = NULL;
    ay_region *region = NULL;
    int result = ay_open(test_space, NULL, &space);
    if (!result)
        result = ay_region_open(space, &(ay_spec){.name = "x"}, &region);
    if (!result)
        result = ay_enter(region);
    if (!result)
        result = ay_leave(region);
    ay_close(space);
    return result;
}

static void test_every_call(int error, bool fresh)
{
    for (long k = 1;; k++) {
        if (fresh)
            unlink(test_space);
        const unsigned files = count_files(), maps = count_maps();
        failure = error;
        countdown = k;
        const int result = go_through();
        const bool reached = countdown == 0;
        countdown = 0;
        if (!reached) {
            CHECK_EQUAL(result, 0);
            CHECK(k > 5);
            return;
        }
        if (result > 0)
            FAIL("call %ld fails with %s: %d", k, strerror(error), result);
        if (result < 0)
            CHECK(ay_message()[0]);
        CHECK_EQUAL(count_files(), files);
        CHECK_EQUAL(count_maps(), maps);
        CHECK_EQUAL(go_through(), 0); /* and afterwards all is well */
    }
}

#define FULL "/dev/shm/afteryou-test-full"

/* In a mount namespace of its own, so that nothing is left behind, however the test ends. */
static bool mount_small_file_system(void)
{
    return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           (mkdir(FULL, 0700) == 0 || errno == EEXIST) &&
           mount("tmpfs", FULL, "tmpfs", 0, "size=64k") == 0;
}

/* For real: a file system that is full. */
static void test_full(void)
{
    if (!mount_small_file_system()) {
        fputs("not tried: a full file system, for only root can mount one\n", stderr);
        return;
    }
    ay_space *space;
    ay_region *region[64];
    unsigned opened = 0;
    int result = ay_open(FULL "/space", NULL, &space);
    CHECK_EQUAL(result, 0);
    while (opened < 64 &&
           (result = ay_region_open(space, &(ay_spec){.name = "x"}, &region[opened])) == 0)
        opened++;
    CHECK_EQUAL(result, -ENOSPC);
    CHECK(opened >= 1);
    /* those that live go on, and no access ends in SIGBUS */
    for (unsigned at = 0; at < opened; at++) {
        CHECK_EQUAL(ay_enter(region[at]), 0);
        CHECK_EQUAL(ay_leave(region[at]), 0);
    }
    ay_space *second;
    CHECK_EQUAL(ay_open(FULL "/second", NULL, &second), -ENOSPC);
    ay_close(space);
    CHECK_EQUAL(umount(FULL), 0);
    CHECK_EQUAL(rmdir(FULL), 0);
}

/* How often the kernel took this thread off its processor. */
static long count_breaks(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* Alone, a passage allocates nothing and makes none of these calls; but after a break it asks,
 * once, whether the file still has a name. */
static void test_alone(void)
{
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(region), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    const long before = calls, breaks = count_breaks();
    for (int times = 0; times < 1000; times++) {
        CHECK_EQUAL(ay_enter(region), 0);
        CHECK_EQUAL(ay_leave(region), 0);
    }
    CHECK(calls - before <= count_breaks() - breaks);
    ay_close(space);
}

/* A space is larger than files may be: it is not made, and nobody is killed. One that is there is
 * used: it does not grow. */
static void test_limited(void)
{
    enum { REGIONS = 100 };
    unlink(test_space);
    const pid_t pid = spawn();
    if (pid == 0) {
        static const rlim_t limits[] = {0, 1, 65536};
        ay_space *space;
        for (size_t at = 0; at < sizeof limits / sizeof *limits; at++) {
            CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &(struct rlimit){limits[at], RLIM_INFINITY}), 0);
            CHECK_EQUAL(ay_open(test_space, NULL, &space), -EFBIG);
            CHECK(strstr(ay_message(), "RLIMIT_FSIZE"));
            CHECK_EQUAL(access(test_space, F_OK), -1);
        }
        CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}), 0);
        ay_close(open_space(NULL));
        CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, RLIM_INFINITY}), 0);
        space = open_space(NULL);
        for (int which = 0; which < REGIONS; which++) {
            ay_region *region = open_region(space, (ay_spec){.name = "x"});
            CHECK_EQUAL(ay_enter(region), 0);
            CHECK_EQUAL(ay_leave(region), 0);
        }
        ay_close(space);
        _exit(0);
    }
    expect_success(pid);
}

/* Whoever meets others in the middle of a passage needs room for what it then knows of them; and
 * goes on without malloc(), which has none. */
static void test_no_memory(void)
{
    enum { REGIONS = 600 };
    static ay_region *reader[REGIONS];
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *first = open_region(space, (ay_spec){.name = "x"});
    ay_region *second = open_region(space, (ay_spec){.name = "x"});
    ay_region *beside = open_region(space, (ay_spec){.name = "x", .mode = AY_SHARED});
    for (unsigned which = 0; which < REGIONS; which++) {
        reader[which] = open_region(space, (ay_spec){.name = "x", .mode = AY_SHARED});
        CHECK_EQUAL(ay_enter(reader[which]), 0);
        CHECK_EQUAL(ay_leave(reader[which]), 0);
    }
    no_memory = true;
    CHECK_EQUAL(ay_enter(beside), 0);
    CHECK_EQUAL(ay_try(first), -EBUSY);
    CHECK_EQUAL(ay_leave(beside), 0);
    for (unsigned times = 0; times < 2; times++) {
        CHECK_EQUAL(ay_enter(first), 0);
        CHECK_EQUAL(ay_try(second), -EBUSY);
        CHECK_EQUAL(ay_try(reader[REGIONS - 1]), -EBUSY);
        CHECK_EQUAL(ay_leave(first), 0);
        CHECK_EQUAL(ay_enter(second), 0);
        CHECK_EQUAL(ay_try(first), -EBUSY);
        CHECK_EQUAL(ay_leave(second), 0);
    }
    no_memory = false;
    ay_close(space);
}

static void die_inside(void)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        CHECK(ay_enter_for(open_region(open_space(NULL), (ay_spec){.name = "x"}), PATIENCE_MS) >=
              0);
        raise(SIGKILL);
    }
    CHECK_EQUAL(waitpid(pid, NULL, 0), pid);
}

/* Whatever fails while one enters after a death: it is told, or the next passage is. */
static void test_death_is_told(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    bool failed = true;
    failure = ENOMEM;
    for (long k = 1; failed; k++) {
        die_inside();
        countdown = k;
        int told = ay_enter(region) == AY_AFTER_DEATH;
        failed = countdown == 0;
        countdown = 0;
        CHECK_EQUAL(ay_leave(region), 0);
        for (unsigned times = 0; times < 2; times++) {
            told += ay_enter(region) == AY_AFTER_DEATH;
            CHECK_EQUAL(ay_leave(region), 0);
        }
        CHECK_EQUAL(told, 1);
    }
    ay_close(space);
}

int main(void)
{
    static const int errors[] = {ENOMEM, EMFILE, ENOSPC, EACCES};
    begin_test("failures");
    for (size_t at = 0; at < sizeof errors / sizeof *errors; at++) {
        test_every_call(errors[at], true);
        test_every_call(errors[at], false);
    }
    test_alone();
    test_full();
    test_limited();
    test_no_memory();
    test_death_is_told();
    return 0;
}
