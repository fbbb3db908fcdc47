/* SPDX-License-Identifier: MIT */
/* What the tests of the memory engine share: a space of their own, children, and words for what
 * failed. */
#ifndef AFTERYOU_TESTS_MEMORY_HARNESS_H
#define AFTERYOU_TESTS_MEMORY_HARNESS_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "afteryou.h"

enum { SKIP = 77, PATIENCE_MS = 60 * 1000 };

#define FAIL(...)                                                                                  \
    do {                                                                                           \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                            \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fputc('\n', stderr);                                                                       \
        _exit(1);                                                                                  \
    } while (0)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            FAIL("%s (last message: %s)", #condition, ay_message());                               \
    } while (0)

#define CHECK_EQUAL(value, expected)                                                               \
    do {                                                                                           \
        const long long value_ = (long long)(value), expected_ = (long long)(expected);            \
        if (value_ != expected_)                                                                   \
            FAIL("%s is %lld, not %lld (last message: %s)", #value, value_, expected_,             \
                 ay_message());                                                                    \
    } while (0)

static char test_space[64];

static inline void remove_test_space(void)
{
    unlink(test_space);
}

/* A space of this test's own; removed at the end, and at the beginning of the next run if this one
 * is killed. */
static inline void begin_test(const char *name)
{
    snprintf(test_space, sizeof test_space, "/dev/shm/afteryou-test-%s-%d", name, (int)getpid());
    unlink(test_space);
    atexit(remove_test_space);
}

static inline ay_space *open_space(const char *protocol)
{
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.protocol = protocol}, &space), 0);
    return space;
}

static inline ay_region *open_region(ay_space *space, ay_spec spec)
{
    ay_region *region;
    CHECK_EQUAL(ay_region_open(space, &spec, &region), 0);
    return region;
}

/* Of a space that is made here: a page of this machine. */
static inline size_t granule(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static inline int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

/* Memory shared with children: the witness outside the lock. */
static inline void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        FAIL("no shared memory");
    return memory;
}

/* Waits, with more patience than any machine needs, until the condition holds. */
#define AWAIT_TRUE(condition)                                                                      \
    do {                                                                                           \
        const int64_t until_ = now_ms() + PATIENCE_MS;                                             \
        while (!(condition)) {                                                                     \
            if (now_ms() > until_)                                                                 \
                FAIL("waited in vain for %s", #condition);                                         \
            sleep_ms(1);                                                                           \
        }                                                                                          \
    } while (0)

/* A child that dies with its parent. 0 in the child. */
static inline pid_t spawn(void)
{
    fflush(NULL);
    const pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        FAIL("fork: %s", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
    }
    return pid;
}

static inline int await_exit(pid_t pid)
{
    int status;
    if (waitpid(pid, &status, 0) != pid)
        FAIL("waitpid: %s", strerror(errno));
    return status;
}

static inline void expect_success(pid_t pid)
{
    const int status = await_exit(pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        FAIL("child %d ended with status %x", (int)pid, (unsigned)status);
}

static inline void kill_and_reap(pid_t pid)
{
    kill(pid, SIGKILL);
    await_exit(pid);
}

/* Kills one that works until then: if it ended before, it has found something. */
static inline void expect_killed(pid_t pid)
{
    kill(pid, SIGKILL);
    const int status = await_exit(pid);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        FAIL("process %d ended by itself, with status %x", (int)pid, (unsigned)status);
}

#endif
