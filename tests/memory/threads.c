/* SPDX-License-Identifier: MIT */
/* The death of a thread. Whoever is inside is dead when the very thread that is inside has ended,
 * and not before: not while it still works in a system call, though its process was killed; and not
 * only with its process, if it ended by itself. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "harness.h"

static int count_told(ay_region *region, int times)
{
    int told = 0;
    while (times-- > 0) {
        const int result = ay_enter_for(region, PATIENCE_MS);
        CHECK(result >= 0);
        told += result == AY_AFTER_DEATH;
        CHECK_EQUAL(ay_leave(region), 0);
    }
    return told;
}

/* ---- killed in a system call that does not look at signals ---- */

enum { FILE_BYTES = 512 << 20 };

struct stage {
    _Atomic bool begins; /* the system call is next */
    pthread_mutex_t mutex;
};

static void make_robust(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(mutex, &attributes);
}

static int make_large_file(void)
{
    char path[100];
    snprintf(path, sizeof path, "%s-large", test_space);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    unlink(path);
    if (posix_fallocate(fd, 0, FILE_BYTES) != 0) {
        fprintf(stderr, "skipped: no %d MB in /dev/shm\n", FILE_BYTES >> 20);
        exit(SKIP);
    }
    return fd;
}

static blkcnt_t blocks(int fd)
{
    struct stat status;
    CHECK_EQUAL(fstat(fd, &status), 0);
    return status.st_blocks;
}

struct work {
    ay_spec spec;
    struct stage *stage; /* NULL: it needs no mutex */
    const char *protocol;
    int fd;
};

static void *truncate_inside(void *arg)
{
    struct work *work = arg;
    ay_region *region = open_region(open_space(work->protocol), work->spec);
    CHECK_EQUAL(pthread_mutex_lock(&work->stage->mutex), 0);
    CHECK(ay_enter_for(region, PATIENCE_MS) >= 0);
    atomic_store(&work->stage->begins, true);
    (void)!ftruncate(work->fd, 0);
    for (;;)
        pause();
}

/* Kills it as soon as the file shrinks. What it has of blocks left is what was still to be done. */
static void kill_in_the_middle(pid_t pid, int fd)
{
    const blkcnt_t all = blocks(fd);
    const int64_t until = now_ms() + PATIENCE_MS;
    while (blocks(fd) == all)
        CHECK(now_ms() < until);
    CHECK_EQUAL(kill(pid, SIGKILL), 0);
}

static void test_system_call(const char *protocol, ay_spec spec, bool in_thread)
{
    unlink(test_space);
    ay_region *region = open_region(open_space(protocol), spec);
    bool in_time = false;
    for (int tries = 0; tries < 5 && !in_time; tries++) {
        struct stage *stage = shared_memory(sizeof *stage);
        struct work work = {
            .spec = spec, .stage = stage, .protocol = protocol, .fd = make_large_file()};
        make_robust(&stage->mutex);
        const pid_t pid = spawn();
        if (pid == 0) {
            pthread_t thread;
            if (in_thread)
                CHECK_EQUAL(pthread_create(&thread, NULL, truncate_inside, &work), 0);
            else
                truncate_inside(&work);
            for (;;)
                pause();
        }
        AWAIT_TRUE(atomic_load(&stage->begins));
        kill_in_the_middle(pid, work.fd);
        in_time = blocks(work.fd) > 0;
        CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), AY_AFTER_DEATH);
        /* what the dead one did is over */
        CHECK_EQUAL(blocks(work.fd), 0);
        /* for comparison: it has been released by now */
        CHECK_EQUAL(pthread_mutex_lock(&stage->mutex), EOWNERDEAD);
        CHECK_EQUAL(pthread_mutex_consistent(&stage->mutex), 0);
        CHECK_EQUAL(pthread_mutex_unlock(&stage->mutex), 0); /* before its memory goes */
        CHECK_EQUAL(ay_leave(region), 0);
        await_exit(pid);
        close(work.fd);
        munmap(stage, sizeof *stage);
    }
    CHECK(in_time); /* or it was never killed in the middle */
    CHECK_EQUAL(count_told(region, 2), 0);
}

/* Likewise with one that already sleeps on the one inside, and with more behind it. */
static void test_sleepers(void)
{
    unlink(test_space);
    struct stage *stage = shared_memory(sizeof *stage);
    struct work work = {.spec = {.name = "x"}, .stage = stage, .fd = make_large_file()};
    make_robust(&stage->mutex);
    const pid_t pid = spawn();
    if (pid == 0)
        truncate_inside(&work);
    AWAIT_TRUE(atomic_load(&stage->begins));
    pid_t waiting[4];
    for (int at = 0; at < 4; at++) {
        waiting[at] = spawn();
        if (waiting[at] == 0) {
            ay_region *region = open_region(open_space(NULL), work.spec);
            CHECK(ay_enter_for(region, PATIENCE_MS) >= 0);
            CHECK_EQUAL(blocks(work.fd), 0);
            CHECK_EQUAL(ay_leave(region), 0);
            _exit(0);
        }
    }
    kill_in_the_middle(pid, work.fd);
    for (int at = 0; at < 4; at++)
        expect_success(waiting[at]);
    await_exit(pid);
    close(work.fd);
}

/* ---- a thread that ends inside, of a process that lives ---- */

enum ending { RETURNS, EXITS, IS_CANCELLED, LEAVES_BY_SYSTEM_CALL };

struct passage {
    ay_region *region;
    enum ending ending;
    _Atomic bool inside;
};

static void *end_inside(void *arg)
{
    struct passage *passage = arg;
    CHECK(ay_enter_for(passage->region, PATIENCE_MS) >= 0);
    atomic_store(&passage->inside, true);
    switch (passage->ending) {
    case RETURNS:
        break;
    case EXITS:
        pthread_exit(NULL);
    case IS_CANCELLED:
        for (;;)
            pause();
    case LEAVES_BY_SYSTEM_CALL:
        syscall(SYS_exit, 0);
    }
    return NULL;
}

static void run_to_its_end(ay_region *region, enum ending ending)
{
    struct passage passage = {.region = region, .ending = ending};
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, end_inside, &passage), 0);
    AWAIT_TRUE(atomic_load(&passage.inside));
    if (ending == IS_CANCELLED)
        CHECK_EQUAL(pthread_cancel(thread), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

/* The others go on, and one is told; then the region is used again, by another thread of the same
 * process. */
static void test_ends_inside(const char *protocol, ay_spec spec, enum ending ending)
{
    unlink(test_space);
    ay_space *space = open_space(protocol);
    ay_region *a = open_region(space, spec), *b = open_region(space, spec);
    for (int times = 0; times < 3; times++) {
        CHECK_EQUAL(count_told(b, 2), 0);
        run_to_its_end(a, ending);
        CHECK_EQUAL(ay_try(b), AY_AFTER_DEATH);
        CHECK_EQUAL(ay_try(a), -EBUSY); /* it is b's turn, whoever asks through a */
        CHECK_EQUAL(ay_leave(b), 0);
        CHECK_EQUAL(count_told(a, 3), 0);
        CHECK_EQUAL(count_told(b, 3), 0);
    }
    /* Nobody else enters before its own process uses the place again: then that is told. */
    run_to_its_end(a, ending);
    CHECK_EQUAL(count_told(a, 3), 1);
    CHECK_EQUAL(count_told(b, 3), 0);
    /* It was noticed, so there is nothing to leave; and closing tells of it. */
    run_to_its_end(a, ending);
    ay_region_close(a);
    CHECK_EQUAL(count_told(b, 3), 1);
    ay_close(space);
}

/* Other processes, asleep, are woken by the end of a thread. */
static void test_wakes_others(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *a = open_region(space, (ay_spec){.name = "x"});
    struct passage passage = {.region = a, .ending = IS_CANCELLED};
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, end_inside, &passage), 0);
    AWAIT_TRUE(atomic_load(&passage.inside));
    _Atomic int *told = shared_memory(sizeof *told);
    pid_t waiting[3];
    for (int at = 0; at < 3; at++) {
        waiting[at] = spawn();
        if (waiting[at] == 0) {
            ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
            atomic_fetch_add(told, count_told(region, 1));
            _exit(0);
        }
    }
    sleep_ms(100);
    CHECK_EQUAL(pthread_cancel(thread), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    for (int at = 0; at < 3; at++)
        expect_success(waiting[at]);
    CHECK_EQUAL(atomic_load(told), 1);
    ay_close(space);
}

static void end_thread(int signal_number)
{
    (void)signal_number;
    syscall(SYS_exit, 0);
}

static void *wait_in_vain(void *region)
{
    ay_enter(region);
    FAIL("a thread that has ended goes on");
}

static int count_if_waiting(const ay_place *place, void *count)
{
    *(unsigned *)count += place->alive && place->state == AY_WAITING;
    return 0;
}

static unsigned count_waiting(void)
{
    unsigned count = 0;
    CHECK_EQUAL(ay_look(test_space, NULL, count_if_waiting, &count), 0);
    return count;
}

/* A thread ends in the queue, and its process lives: it keeps nobody waiting, neither who sleeps
 * behind it nor who only tries. */
static void test_ends_in_the_queue(unsigned overtake)
{
    unlink(test_space);
    signal(SIGUSR1, end_thread);
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.overtake = overtake}, &space), 0);
    ay_region *held = open_region(space, (ay_spec){.name = "x"}),
              *left = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(held), 0);
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, wait_in_vain, left), 0);
    AWAIT_TRUE(count_waiting() == 1);
    const pid_t behind = spawn();
    if (behind == 0) {
        ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
        CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), 0);
        CHECK_EQUAL(ay_leave(region), 0);
        CHECK_EQUAL(ay_try(region), 0);
        _exit(ay_leave(region));
    }
    AWAIT_TRUE(count_waiting() == 2);
    CHECK_EQUAL(pthread_kill(thread, SIGUSR1), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(ay_leave(held), 0);
    expect_success(behind);
    const pid_t newcomer = spawn();
    if (newcomer == 0)
        _exit(ay_try(open_region(open_space(NULL), (ay_spec){.name = "x"})));
    expect_success(newcomer);
    ay_close(space);
    signal(SIGUSR1, SIG_DFL);
}

/* Units that an ended thread held are free. */
static void test_units(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    const ay_spec all = {.name = "gpu", .take = 2, .of = 2};
    ay_region *a = open_region(space, all), *b = open_region(space, all);
    run_to_its_end(a, RETURNS);
    CHECK_EQUAL(ay_enter_for(b, PATIENCE_MS), AY_AFTER_DEATH);
    CHECK_EQUAL(ay_units(b, NULL, 0), 2);
    CHECK_EQUAL(ay_leave(b), 0);
    CHECK_EQUAL(count_told(a, 2), 0);
    ay_close(space);
}

/* ---- threads that share a region, by turns ---- */

static void *pass_once(void *region)
{
    CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    return NULL;
}

/* A thread for each passage: nothing is left of those that have ended. */
static void test_many_threads(const char *protocol)
{
    unlink(test_space);
    ay_space *space = open_space(protocol);
    ay_region *a = open_region(space, (ay_spec){.name = "x"}),
              *b = open_region(space, (ay_spec){.name = "x"});
    for (int times = 0; times < 500; times++) {
        pthread_t thread;
        CHECK_EQUAL(pthread_create(&thread, NULL, pass_once, a), 0);
        CHECK_EQUAL(pthread_join(thread, NULL), 0);
        if (times % 7 == 0)
            CHECK_EQUAL(count_told(times % 2 ? a : b, 1), 0);
    }
    CHECK_EQUAL(count_told(b, 1), 0);
    ay_close(space);
}

struct pool {
    ay_space *spaces[4];
    pthread_barrier_t barrier;
};

static void *work_in_pool(void *arg)
{
    struct pool *pool = arg;
    for (int round = 0; round < 20; round++) {
        pthread_barrier_wait(&pool->barrier); /* opened */
        ay_region *region = open_region(pool->spaces[round % 4], (ay_spec){.name = "x"});
        CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), 0);
        CHECK_EQUAL(ay_leave(region), 0);
        pthread_barrier_wait(&pool->barrier); /* used */
        pthread_barrier_wait(&pool->barrier); /* closed, by another thread */
    }
    return NULL;
}

/* Spaces that are closed while threads live that were inside: their robust mutexes, and the
 * program's own, stay whole. */
static void test_closed_by_others(void)
{
    enum { WORKERS = 6 };
    unlink(test_space);
    struct pool pool;
    pthread_t workers[WORKERS];
    pthread_mutex_t own;
    make_robust(&own);
    pthread_barrier_init(&pool.barrier, NULL, WORKERS + 1);
    for (int at = 0; at < WORKERS; at++)
        CHECK_EQUAL(pthread_create(&workers[at], NULL, work_in_pool, &pool), 0);
    for (int round = 0; round < 20; round++) {
        pool.spaces[round % 4] = open_space(NULL);
        pthread_barrier_wait(&pool.barrier);
        CHECK_EQUAL(pthread_mutex_lock(&own), 0);
        pthread_barrier_wait(&pool.barrier);
        ay_close(pool.spaces[round % 4]);
        CHECK_EQUAL(pthread_mutex_unlock(&own), 0);
        pthread_barrier_wait(&pool.barrier);
    }
    for (int at = 0; at < WORKERS; at++)
        CHECK_EQUAL(pthread_join(workers[at], NULL), 0);
}

/* ---- a program of threads that executes another ---- */

static void *enter_and_execute(void *arg)
{
    ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(region), 0);
    CHECK_EQUAL(write(*(int *)arg, "x", 1), 1);
    execl("/bin/sleep", "sleep", "1000", NULL);
    _exit(1);
}

/* The kernel does not mark the robust mutexes of a thread that is not the first and calls exec: the
 * second witness does. */
static void test_exec_by_thread(void)
{
    unlink(test_space);
    ay_region *a = open_region(open_space(NULL), (ay_spec){.name = "x"});
    int pipes[2];
    char byte;
    CHECK_EQUAL(pipe2(pipes, O_CLOEXEC), 0);
    const pid_t pid = spawn();
    if (pid == 0) {
        pthread_t thread;
        CHECK_EQUAL(pthread_create(&thread, NULL, enter_and_execute, &pipes[1]), 0);
        for (;;)
            pause();
    }
    CHECK_EQUAL(read(pipes[0], &byte, 1), 1);
    CHECK_EQUAL(ay_enter_for(a, PATIENCE_MS), AY_AFTER_DEATH);
    CHECK_EQUAL(ay_leave(a), 0);
    CHECK_EQUAL(kill(pid, 0), 0);
    kill_and_reap(pid);
}

int main(void)
{
    static const char *const protocols[] = {"pair",   "races", "clock",   "bakery",
                                            "region", "forks", "courtesy"};
    begin_test("threads");
    test_system_call(NULL, (ay_spec){.name = "x"}, false);
    test_system_call(NULL, (ay_spec){.name = "x"}, true);
    test_system_call("bakery", (ay_spec){.name = "x"}, false);
    test_sleepers();
    for (size_t at = 0; at < sizeof protocols / sizeof *protocols; at++)
        test_ends_inside(protocols[at], (ay_spec){.name = "x"}, RETURNS);
    test_ends_inside(NULL, (ay_spec){.name = "x"}, EXITS);
    test_ends_inside(NULL, (ay_spec){.name = "x"}, IS_CANCELLED);
#if !defined(__SANITIZE_ADDRESS__) &&                                                              \
    !defined(__SANITIZE_THREAD__) /* they keep account of threads */
    test_ends_inside(NULL, (ay_spec){.name = "x"}, LEAVES_BY_SYSTEM_CALL);
    test_ends_in_the_queue(0);
    test_ends_in_the_queue(2);
#else
    (void)test_ends_in_the_queue;
#endif
    test_wakes_others();
    test_units();
    test_many_threads(NULL);
    test_many_threads("bakery");
    test_closed_by_others();
    test_exec_by_thread();
    return 0;
}
