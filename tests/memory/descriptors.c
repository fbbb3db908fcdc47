/* SPDX-License-Identifier: MIT */
/* Descriptors: 0, 1 and 2 are the program's, open or not; and what it closes may be ours. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "harness.h"

/* What a space begins with does not change once it is made; but for the words at its end, which
 * count. */
enum { WRITTEN_ONCE = 64 };

static void read_beginning(char *bytes)
{
    const int fd = open(test_space, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQUAL(pread(fd, bytes, WRITTEN_ONCE, 0), WRITTEN_ONCE);
    close(fd);
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* The descriptors in `closed`, a bit each, are not open, and stay so: whatever the program writes
 * there goes nowhere. */
static void open_without(unsigned closed, const char *trace)
{
    for (int fd = 0; fd <= 2; fd++)
        if (closed >> fd & 1)
            close(fd);
    if (trace)
        setenv("AFTERYOU_TRACE", trace, 1);
    ay_space *space;
    ay_region *region;
    if (ay_open(test_space, NULL, &space) != 0 ||
        ay_region_open(space, &(ay_spec){.name = "x"}, &region) != 0)
        _exit(2);
    if (ay_lost(region) <= 2 || ay_enter(region) < 0)
        _exit(3);
    for (int fd = 0; fd <= 2; fd++)
        if (closed >> fd & 1 && (is_open(fd) || write(fd, "written by the program", 22) >= 0))
            _exit(10 + fd);
    ay_leave(region);
    ay_close(space);
    _exit(0);
}

static void test_standard_descriptors_stay_closed(void)
{
    char trace[80], before[WRITTEN_ONCE], after[WRITTEN_ONCE];
    snprintf(trace, sizeof trace, "%s-trace", test_space);
    for (unsigned closed = 1; closed < 8; closed++)
        /* the space made or found; with a trace or without */
        for (int turn = 0; turn < 4; turn++) {
            if (turn % 2 == 0)
                unlink(test_space);
            else
                read_beginning(before);
            const pid_t pid = spawn();
            if (pid == 0)
                open_without(closed, turn >= 2 ? trace : NULL);
            expect_success(pid);
            read_beginning(after);
            CHECK(memcmp(after, "afteryou", 8) == 0);
            CHECK(turn % 2 == 0 || memcmp(before, after, WRITTEN_ONCE) == 0);
        }
    unlink(trace);
}

static _Atomic bool enough;

static void *write_to_stderr(void *unused)
{
    (void)unused;
    while (!atomic_load(&enough))
        (void)!write(2, "a message", 9);
    return NULL;
}

/* Another thread writes to the closed stderr all the time: not even for a moment is it the space.
 */
static void test_a_thread_writes_meanwhile(void)
{
    unlink(test_space);
    const pid_t pid = spawn();
    if (pid == 0) {
        pthread_t writer;
        close(2);
        pthread_create(&writer, NULL, write_to_stderr, NULL);
        for (int times = 0; times < 2000; times++) {
            ay_space *space;
            if (ay_open(test_space, NULL, &space) != 0)
                _exit(1);
            ay_close(space);
        }
        atomic_store(&enough, true);
        pthread_join(writer, NULL);
        _exit(0);
    }
    expect_success(pid);
}

/* A file of the program's, at the number that the space had. */
static int make_stranger(const char *path, int number)
{
    int fd;
    do
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    while (fd >= 0 && fd < number);
    CHECK_EQUAL(fd, number);
    CHECK_EQUAL(write(fd, "a stranger's", 12), 12);
    return fd;
}

static int number_of_space(void)
{
    char link[64], path[128];
    for (int fd = 3; fd < 64; fd++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t length = readlink(link, path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
        if (strcmp(path, test_space) == 0)
            return fd;
    }
    FAIL("the space has no descriptor");
}

static void expect_untouched(int fd)
{
    struct stat status;
    CHECK_EQUAL(fstat(fd, &status), 0);
    CHECK_EQUAL(status.st_size, 12);
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    /* another open file description, which would see a lock */
    const int another = open(link, O_RDWR | O_CLOEXEC);
    struct flock lock = {.l_type = F_WRLCK};
    CHECK(another >= 0);
    CHECK_EQUAL(fcntl(another, F_OFD_GETLK, &lock), 0);
    CHECK_EQUAL(lock.l_type, F_UNLCK);
    close(another);
}

/* close_range(), as daemons do it, and the number is a file of the program's: that is not written,
 * locked or closed, and all goes on. */
static void test_closed_and_reused(bool removed)
{
    unlink(test_space);
    char stranger[80], trace[80];
    snprintf(stranger, sizeof stranger, "%s-stranger", test_space);
    snprintf(trace, sizeof trace, "%s-trace", test_space);
    const pid_t pid = spawn();
    if (pid == 0) {
        setenv("AFTERYOU_TRACE", trace, 1); /* its number will be the stranger's, too */
        ay_space *space = open_space(NULL);
        ay_region *first = open_region(space, (ay_spec){.name = "x"}), *second;
        const int number = number_of_space();
        CHECK_EQUAL(close_range(3, ~0u, 0), 0);
        const int fd = make_stranger(stranger, number);
        if (removed)
            unlink(test_space);
        const int result = ay_region_open(space, &(ay_spec){.name = "y"}, &second);
        CHECK_EQUAL(result, removed ? -EBADF : 0);
        CHECK(!removed || strstr(ay_message(), "close_range"));
        if (!removed) {
            CHECK_EQUAL(ay_enter(first), 0);
            CHECK_EQUAL(ay_enter(second), 0);
            ay_region_close(second);
        }
        expect_untouched(fd);
        const pid_t child = spawn();
        if (child == 0) { /* the fork handler closes nothing of a stranger's either */
            expect_untouched(fd);
            _exit(0);
        }
        expect_success(child);
        ay_close(space);
        expect_untouched(fd);
        _exit(0);
    }
    expect_success(pid);
    unlink(stranger);
    unlink(trace);
}

/* The lock that witnesses its life is gone with the descriptor; it lives all the same, and keeps
 * what it has. */
static void test_closed_while_inside(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    _Atomic int *inside = shared_memory(sizeof *inside);
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region *its = open_region(open_space(NULL), (ay_spec){.name = "x"});
        CHECK_EQUAL(ay_enter(its), 0);
        CHECK_EQUAL(close_range(3, ~0u, 0), 0);
        atomic_store(inside, 1);
        for (;;)
            pause();
    }
    AWAIT_TRUE(atomic_load(inside));
    /* longer than the doubt about a life lasts */
    CHECK_EQUAL(ay_enter_for(region, 700), -ETIMEDOUT);
    CHECK_EQUAL(ay_repair(space), 0);
    kill_and_reap(pid);
    CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), AY_AFTER_DEATH);
    ay_close(space);
}

/* The limit was lowered since the space was opened. */
static void test_no_descriptor_allowed(void)
{
    unlink(test_space);
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
        CHECK_EQUAL(ay_enter(region), 0);
        for (rlim_t most = 0; most <= 3; most++) {
            CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &(struct rlimit){most, 64}), 0);
            CHECK_EQUAL(ay_share(region), -EMFILE);
        }
        CHECK_EQUAL(ay_leave(region), 0);
        _exit(0);
    }
    expect_success(pid);
}

int main(void)
{
    begin_test("descriptors");
    test_standard_descriptors_stay_closed();
    test_a_thread_writes_meanwhile();
    test_closed_and_reused(false);
    test_closed_and_reused(true);
    test_closed_while_inside();
    test_no_descriptor_allowed();
    return 0;
}
