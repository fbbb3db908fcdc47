/* SPDX-License-Identifier: MIT */
/* Regions that are to be told that they are wanted: the descriptor of the space becomes readable
 * when somebody begins to wait for what they hold, and each time again. */
#include <dirent.h>
#include <pthread.h>

#include "harness.h"

static bool is_readable(const ay_space *space)
{
    struct pollfd readable = {.fd = ay_fd((ay_space *)(uintptr_t)space), .events = POLLIN};
    CHECK(readable.fd >= 0);
    return poll(&readable, 1, 0) == 1;
}

/* No ask is decided, and the descriptor is not readable any more. */
static void drain(ay_space *space)
{
    int result;
    CHECK(!ay_decided(space, &result));
    CHECK_EQUAL(result, 0);
    CHECK(!is_readable(space));
}

static void expect_told(ay_space *space, const ay_region *region, unsigned wanted)
{
    struct pollfd readable = {.fd = ay_fd(space), .events = POLLIN};
    CHECK(poll(&readable, 1, PATIENCE_MS) == 1);
    drain(space);
    AWAIT_TRUE(ay_wanted(region) == wanted);
}

/* Waits for the region until it is killed, or for so long. */
static pid_t start_waiting(ay_spec spec, int timeout_ms)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region *region = open_region(open_space(NULL), spec);
        if (ay_enter_for(region, timeout_ms) != -ETIMEDOUT)
            pause();
        _exit(0);
    }
    return pid;
}

static ay_region *open_told(ay_space *space, ay_spec spec)
{
    spec.tell_wanted = 1;
    return open_region(space, spec);
}

/* Each that comes, whether or not those before it have gone, and whether or not anybody asked. */
static void test_each_that_comes(void)
{
    ay_space *space = open_space(NULL);
    ay_region *mine = open_told(space, (ay_spec){.name = "x"});
    CHECK(!is_readable(space));
    for (int times = 0; times < 3; times++) {
        CHECK_EQUAL(ay_enter(mine), 0);
        CHECK(!is_readable(space));
        const pid_t first = start_waiting((ay_spec){.name = "x"}, -1);
        expect_told(space, mine, 1);
        const pid_t second = start_waiting((ay_spec){.name = "x"}, -1);
        expect_told(space, mine, 2);
        kill_and_reap(first);
        kill_and_reap(second);
        AWAIT_TRUE(ay_wanted(mine) == 0);
        CHECK(!is_readable(space));
        expect_success(start_waiting((ay_spec){.name = "x"}, 20));
        expect_told(space, mine, 0);
        const pid_t third = start_waiting((ay_spec){.name = "x"}, -1);
        expect_told(space, mine, 1);
        kill_and_reap(third);
        CHECK_EQUAL(ay_leave(mine), 0);
        CHECK(!is_readable(space));
    }
    ay_close(space);
}

/* One that waited before it entered. */
static void test_wanted_already(void)
{
    ay_space *space = open_space(NULL);
    ay_region *other = open_region(space, (ay_spec){.name = "already"}),
              *mine = open_told(space, (ay_spec){.name = "already"});
    CHECK_EQUAL(ay_enter(other), 0);
    CHECK_EQUAL(ay_ask(mine), -EINPROGRESS);
    const pid_t waiter = start_waiting((ay_spec){.name = "already"}, -1);
    AWAIT_TRUE(ay_wanted(other) == 2);
    CHECK(!is_readable(space)); /* it does not hold anything */
    CHECK_EQUAL(ay_leave(other), 0);
    int result;
    ay_region *decided;
    while (!(decided = ay_decided(space, &result)))
        CHECK(poll(&(struct pollfd){.fd = ay_fd(space), .events = POLLIN}, 1, PATIENCE_MS) == 1);
    CHECK(decided == mine && result == 0);
    CHECK(is_readable(space));
    expect_told(space, mine, 1);
    kill_and_reap(waiter);
    ay_close(space);
}

/* Two readers of different processes, and a writer that sleeps on one of them; a third reader is no
 * reason. */
static void test_readers(void)
{
    int pipes[2];
    CHECK(pipe(pipes) == 0);
    const pid_t reader = spawn();
    ay_space *space = open_space(NULL);
    ay_region *mine = open_told(space, (ay_spec){.name = "read", .mode = AY_SHARED});
    CHECK_EQUAL(ay_enter(mine), 0);
    if (reader == 0) {
        CHECK(write(pipes[1], "i", 1) == 1);
        expect_told(space, mine, 1);
        CHECK(write(pipes[1], "t", 1) == 1);
        _exit(0);
    }
    char said;
    CHECK(read(pipes[0], &said, 1) == 1);
    ay_region *third = open_region(space, (ay_spec){.name = "read", .mode = AY_SHARED});
    CHECK_EQUAL(ay_enter(third), 0);
    CHECK_EQUAL(ay_leave(third), 0);
    CHECK(!is_readable(space));
    const pid_t writer = start_waiting((ay_spec){.name = "read"}, -1);
    expect_told(space, mine, 1);
    CHECK(read(pipes[0], &said, 1) == 1 && said == 't');
    expect_success(reader);
    kill_and_reap(writer);
    ay_close(space);
}

/* Somebody waits for another, and is in its way once it has become stronger. */
static void test_conversion(void)
{
    ay_space *space = open_space(NULL);
    ay_region *mine = open_told(space, (ay_spec){.name = "convert", .mode = AY_CONCURRENT_READ}),
              *reader = open_region(space, (ay_spec){.name = "convert", .mode = AY_SHARED});
    CHECK_EQUAL(ay_enter_as(mine, AY_NULL, -1), 0);
    CHECK_EQUAL(ay_enter(reader), 0);
    const pid_t writer = start_waiting((ay_spec){.name = "convert"}, -1);
    AWAIT_TRUE(ay_wanted(reader) == 1);
    CHECK_EQUAL(ay_wanted(mine), 0);
    CHECK(!is_readable(space));
    CHECK_EQUAL(ay_convert(mine, AY_CONCURRENT_READ, PATIENCE_MS), 0);
    expect_told(space, mine, 1);
    kill_and_reap(writer);
    ay_close(space);
}

/* One that is inside, and waits to become stronger, wants the others to leave. */
static void *upgrade(void *region)
{
    CHECK_EQUAL(ay_enter_as(region, AY_SHARED, -1), 0);
    CHECK_EQUAL(ay_convert(region, AY_EXCLUSIVE, PATIENCE_MS), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    return NULL;
}

static void test_upgrade(void)
{
    ay_space *space = open_space(NULL);
    ay_region *mine = open_told(space, (ay_spec){.name = "up", .mode = AY_SHARED}),
              *other = open_region(space, (ay_spec){.name = "up"});
    pthread_t thread;
    CHECK_EQUAL(ay_enter(mine), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, upgrade, other), 0);
    expect_told(space, mine, 1);
    CHECK_EQUAL(ay_leave(mine), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    ay_close(space);
}

/* Asks of this process and of others; slots, units, several names, a new name, another thread. */
static void *enter(void *region)
{
    CHECK_EQUAL(ay_enter(region), 0);
    return NULL;
}

static void test_ask_wants(void)
{
    ay_space *space = open_space(NULL);
    ay_region *mine = open_told(space, (ay_spec){.name = "a", .reentrant = 1}),
              *asks = open_region(space, (ay_spec){.name = "a"});
    CHECK_EQUAL(ay_enter(mine), 0);
    CHECK_EQUAL(ay_enter(mine), 0);
    CHECK_EQUAL(ay_ask(asks), -EINPROGRESS);
    expect_told(space, mine, 1);
    CHECK_EQUAL(ay_withdraw(asks), 0);
    CHECK_EQUAL(ay_wanted(mine), 0);
    ay_close(space);
}

static void test_kind(ay_spec mine_spec, ay_spec other, const char *name)
{
    ay_space *space = open_space(NULL);
    ay_region *mine = open_told(space, mine_spec);
    if (name)
        CHECK_EQUAL(ay_region_rename(mine, name), 0);
    CHECK_EQUAL(ay_enter(mine), 0);
    CHECK(!is_readable(space));
    const pid_t waiter = start_waiting(other, -1);
    expect_told(space, mine, 1);
    kill_and_reap(waiter);
    ay_close(space);
}

static void test_kinds(void)
{
    ay_space *space = open_space(NULL);
    ay_region *slot = open_region(space, (ay_spec){.name = "slots", .slots = 2});
    CHECK_EQUAL(ay_enter(slot), 0);
    test_kind((ay_spec){.name = "slots", .slots = 2}, (ay_spec){.name = "slots", .slots = 2}, NULL);
    test_kind((ay_spec){.name = "units", .take = 2, .of = 3},
              (ay_spec){.name = "units", .take = 2, .of = 3}, NULL);
    test_kind((ay_spec){.name = "p", .also = (const char *[]){"q", NULL}}, (ay_spec){.name = "q"},
              NULL);
    test_kind((ay_spec){.name = "q"}, (ay_spec){.name = "p", .also = (const char *[]){"q", NULL}},
              NULL);
    test_kind((ay_spec){.name = "old"}, (ay_spec){.name = "new"}, "new");
    ay_close(space);
}

/* Its place is made anew after the end of a thread that was inside. */
static void test_after_thread(void)
{
    ay_space *space = open_space(NULL);
    ay_region *mine = open_told(space, (ay_spec){.name = "thread"});
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, enter, mine), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK(ay_enter(mine) >= 0);
    const pid_t waiter = start_waiting((ay_spec){.name = "thread"}, -1);
    expect_told(space, mine, 1);
    kill_and_reap(waiter);
    ay_close(space);
}

/* Where permissions are retained it goes in and out like any other. */
static void test_retained(void)
{
    ay_space *space;
    unlink(test_space);
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = 1}, &space), 0);
    ay_region *mine = open_told(space, (ay_spec){.name = "x"});
    for (int times = 0; times < 3; times++) {
        CHECK_EQUAL(ay_enter(mine), 0);
        CHECK_EQUAL(ay_leave(mine), 0);
    }
    CHECK_EQUAL(ay_enter(mine), 0);
    const pid_t waiter = start_waiting((ay_spec){.name = "x"}, -1);
    expect_told(space, mine, 1);
    kill_and_reap(waiter);
    ay_close(space);
    unlink(test_space);
}

/* How often the threads of this process have slept, all together. */
static long count_sleeps(void)
{
    long sum = 0;
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks);
    for (const struct dirent *task; (task = readdir(tasks));) {
        char path[300], line[200];
        snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
        FILE *file = task->d_name[0] != '.' ? fopen(path, "r") : NULL;
        long count;
        while (file && fgets(line, sizeof line, file))
            if (sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1)
                sum += count;
        if (file)
            fclose(file);
    }
    closedir(tasks);
    return sum;
}

/* While nothing happens nobody looks up: no thread sleeps anew. One that waits does, four times a
 * second at first. */
static void test_stands_still(void)
{
    ay_space *space = open_space(NULL);
    ay_region *mine = open_told(space, (ay_spec){.name = "still"});
    CHECK_EQUAL(ay_enter(mine), 0);
    const pid_t waiter = start_waiting((ay_spec){.name = "still"}, -1);
    expect_told(space, mine, 1);
    sleep_ms(50); /* whoever is on its way to sleep */
    const long before = count_sleeps();
    sleep_ms(500);
    CHECK(count_sleeps() - before <= 2); /* this one's own */
    kill_and_reap(waiter);
    ay_close(space);
}

static void expect(int result, int expected, const char *words)
{
    if (result != expected || !strstr(ay_message(), words))
        FAIL("%d '%s', not %d '…%s…'", result, ay_message(), expected, words);
}

static void test_misuse(void)
{
    ay_space *space = open_space(NULL);
    ay_region *region;
    expect(ay_region_open(space, &(ay_spec){.name = "x", .tell_wanted = 2}, &region), -EINVAL,
           "tell_wanted");
    expect(ay_region_open(space, &(ay_spec){.name = "x", .reserved = {1}}, &region), -EINVAL,
           "reserved");
    region = open_told(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(region), 0);
    const pid_t child = spawn();
    if (child == 0) {
        CHECK_EQUAL(ay_wanted(region), 0);
        CHECK_EQUAL(ay_fd(space), -EPERM);
        ay_close(space);
        /* its own are told */
        ay_space *own = open_space(NULL);
        ay_region *mine = open_told(own, (ay_spec){.name = "y"});
        CHECK_EQUAL(ay_enter(mine), 0);
        const pid_t waiter = start_waiting((ay_spec){.name = "y"}, 20);
        CHECK(poll(&(struct pollfd){.fd = ay_fd(own), .events = POLLIN}, 1, PATIENCE_MS) == 1);
        expect_success(waiter);
        _exit(0);
    }
    expect_success(child);
    CHECK(!is_readable(space));
    ay_close(space);
    unlink(test_space);
    space = open_space("bakery");
    expect(ay_region_open(space, &(ay_spec){.name = "x", .tell_wanted = 1}, &region), -ENOTSUP,
           "bakery");
    ay_close(space);
    unlink(test_space);
}

int main(void)
{
    begin_test("tell-wanted");
    test_each_that_comes();
    test_wanted_already();
    test_readers();
    test_conversion();
    test_upgrade();
    test_ask_wants();
    test_kinds();
    test_after_thread();
    test_stands_still();
    test_retained();
    test_misuse();
    return 0;
}
