/* SPDX-License-Identifier: MIT */
/* Descriptors: 0, 1 and 2 are the program's, open or not. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "harness.h"

/* What a space begins with does not change once it is made; but for the words at its end, which count. */
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

/* The descriptors in `closed`, a bit each, are not open, and stay so: whatever the program writes there goes nowhere. */
static void open_without(unsigned closed, const char *trace)
{
    for (int fd = 0; fd <= 2; fd++)
        if (closed >> fd & 1)
            close(fd);
    if (trace)
        setenv("AFTERYOU_TRACE", trace, 1);
    ay_space *space;
    ay_region *region;
    if (ay_open(test_space, NULL, &space) != 0 || ay_region_open(space, &(ay_spec){.name = "x"}, &region) != 0)
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
        for (int turn = 0; turn < 4; turn++) { /* the space made or found; with a trace or without */
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

/* Another thread writes to the closed stderr all the time: not even for a moment is it the space. */
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

int main(void)
{
    begin_test("descriptors");
    test_standard_descriptors_stay_closed();
    test_a_thread_writes_meanwhile();
    return 0;
}
