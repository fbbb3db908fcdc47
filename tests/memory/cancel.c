/* SPDX-License-Identifier: MIT */
/* pthread_cancel, at any moment, of a thread in any function of the library: no call is a
 * cancellation point, so what it holds for a moment (a mutex, a lock of the file, a place in the
 * queue) is never left behind, neither for its own process nor for others. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include "harness.h"

enum { ROUNDS = 150 };

static ay_space *space;
static ay_region *held; /* of the main thread: "held" is never free */

static bool is_false(void *unused)
{
    (void)unused;
    pthread_testcancel(); /* does nothing here */
    return false;
}

static bool is_true(void *unused)
{
    (void)unused;
    pthread_testcancel();
    return true;
}

static int look_at(const ay_place *place, void *unused)
{
    (void)place;
    (void)unused;
    return 0;
}

static void open_and_close_a_space(void)
{
    ay_space *other;
    CHECK_EQUAL(ay_open(test_space, NULL, &other), 0);
    ay_close(other);
}

static void open_and_close_a_region(void)
{
    ay_region_close(open_region(space, (ay_spec){.name = "region"}));
}

static void close_a_space_with_regions(void)
{
    ay_space *other;
    CHECK_EQUAL(ay_open(test_space, NULL, &other), 0);
    open_region(other, (ay_spec){.name = "one"});
    CHECK_EQUAL(ay_enter(open_region(other, (ay_spec){.name = "two", .mode = AY_SHARED})), 0);
    ay_close(other);
}

static void wait_in_vain(void)
{
    ay_region *region = open_region(space, (ay_spec){.name = "held"});
    CHECK_EQUAL(ay_try(region), -EBUSY);
    CHECK_EQUAL(ay_enter_for(region, 2), -ETIMEDOUT);
    ay_region_close(region);
}

static void wait_for_a_condition(void)
{
    ay_region *region = open_region(space, (ay_spec){.name = "condition"});
    CHECK_EQUAL(ay_enter_when(region, is_false, NULL, 2), -ETIMEDOUT);
    ay_region_close(region);
}

static void pass_when_it_is_true(void)
{
    ay_region *region = open_region(space, (ay_spec){.name = "condition"});
    for (int times = 0; times < 3; times++) {
        CHECK(ay_enter_when(region, is_true, NULL, PATIENCE_MS) >= 0);
        CHECK_EQUAL(ay_leave(region), 0);
    }
    ay_region_close(region);
}

static void pass(void)
{
    ay_region *region = open_region(space, (ay_spec){.name = "passed", .mode = AY_SHARED});
    for (int times = 0; times < 3; times++) {
        CHECK(ay_enter(region) >= 0);
        CHECK(ay_fence(region) > 0);
        CHECK_EQUAL(ay_leave(region), 0);
    }
    ay_region_close(region);
}

static void look_on(void)
{
    char path[256];
    CHECK_EQUAL(ay_look(test_space, NULL, look_at, NULL), 0);
    CHECK_EQUAL(ay_path("name", path, sizeof path), 0);
    CHECK(ay_repair(space) >= 0);
    CHECK_EQUAL(ay_remove(test_space), -EBUSY);
}

static void ask_for_losses(void)
{
    ay_region *region = open_region(space, (ay_spec){.name = "lost"});
    CHECK(ay_lost(region) >= 0);
    CHECK(!ay_valid(region));
    ay_region_close(region);
}

struct victim {
    void (*job)(void);
    int type; /* PTHREAD_CANCEL_… */
    _Atomic bool begun;
};

/* For ever; it is cancelled in pthread_testcancel(), for nothing in between is a cancellation
 * point. */
static void *work(void *arg)
{
    struct victim *victim = arg;
    atomic_store(&victim->begun, true);
    for (;;) {
        victim->job();
        pthread_testcancel();
    }
    return NULL;
}

/* As above, but a cancellation need not wait for that. What is then lost in this process (memory, a
 * place) is its own; others must not notice. */
static void *work_recklessly(void *arg)
{
    struct victim *victim = arg;
    int before;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    atomic_store(&victim->begun, true);
    for (;;)
        victim->job();
    return NULL;
}

static void cancel_at_some_moment(struct victim *victim, int round)
{
    pthread_t thread;
    void *result;
    atomic_store(&victim->begun, false);
    CHECK_EQUAL(pthread_create(&thread, NULL,
                               victim->type == PTHREAD_CANCEL_DEFERRED ? work : work_recklessly,
                               victim),
                0);
    AWAIT_TRUE(atomic_load(&victim->begun));
    nanosleep(&(struct timespec){.tv_nsec = 1 + round * 7919L % 400000}, NULL);
    CHECK_EQUAL(pthread_cancel(thread), 0);
    CHECK_EQUAL(pthread_join(thread, &result), 0);
    CHECK(result == PTHREAD_CANCELED);
}

/* Another process finds all of it usable, and so does this one. */
static void expect_nothing_left_behind(void)
{
    static const char *const names[] = {"region", "passed", "condition"};
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_space *mine = open_space(NULL);
        for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
            ay_region *region = open_region(mine, (ay_spec){.name = names[at]});
            CHECK(ay_enter_for(region, PATIENCE_MS) >= 0);
        }
        CHECK_EQUAL(ay_try(open_region(mine, (ay_spec){.name = "held"})), -EBUSY);
        ay_close(mine);
        _exit(0);
    }
    expect_success(pid);
    open_and_close_a_space();
    open_and_close_a_region();
    wait_in_vain();
}

static void test(const char *what, void (*job)(void), int type)
{
    struct victim victim = {.job = job, .type = type};
    for (int round = 0; round < ROUNDS; round++)
        cancel_at_some_moment(&victim, round);
    expect_nothing_left_behind();
    printf("%s%s: cancelled %d times\n", what,
           type == PTHREAD_CANCEL_DEFERRED ? "" : ", asynchronously", ROUNDS);
    fflush(stdout);
}

/* What a thread needs that is to be cancelled while it leaves. */
struct leaver {
    ay_region *region;
    bool long_way;
    _Atomic bool inside, asked;
};

static void *leave_when_asked(void *arg)
{
    struct leaver *leaver = arg;
    for (int times = 0; times < 3; times++) { /* the first opens the express lane */
        CHECK(ay_enter(leaver->region) >= 0);
        CHECK_EQUAL(ay_leave(leaver->region), 0);
    }
    CHECK(leaver->long_way ? ay_enter_when(leaver->region, is_true, NULL, -1) >= 0
                           : ay_enter(leaver->region) >= 0);
    atomic_store(&leaver->inside, true);
    while (!atomic_load(&leaver->asked))
        sched_yield();
    CHECK_EQUAL(ay_leave(leaver->region), 0);
    pthread_testcancel();
    return NULL;
}

/* An ask of the same process is told by who leaves, and so is its descriptor: no moment to end. */
static void test_leaves_while_asked(bool long_way)
{
    struct leaver leaver = {.region = open_region(space, (ay_spec){.name = "asked"}),
                            .long_way = long_way};
    ay_region *asking = open_region(space, (ay_spec){.name = "asked"});
    struct pollfd readable = {.fd = ay_fd(space), .events = POLLIN};
    pthread_t thread;
    void *end;
    int result;
    CHECK(readable.fd >= 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, leave_when_asked, &leaver), 0);
    AWAIT_TRUE(atomic_load(&leaver.inside));
    CHECK_EQUAL(ay_ask(asking), -EINPROGRESS);
    CHECK_EQUAL(pthread_cancel(thread), 0);
    atomic_store(&leaver.asked, true);
    CHECK_EQUAL(pthread_join(thread, &end), 0);
    CHECK(end == PTHREAD_CANCELED);
    CHECK_EQUAL(poll(&readable, 1, PATIENCE_MS), 1);
    CHECK(ay_decided(space, &result) == asking);
    CHECK_EQUAL(result, 0);
    CHECK_EQUAL(ay_leave(asking), 0);
    ay_region_close(asking);
    ay_region_close(leaver.region);
    printf("who leaves by the %s way while it is asked for\n", long_way ? "long" : "short");
}

int main(void)
{
    begin_test("cancel");
    space = open_space(NULL);
    held = open_region(space, (ay_spec){.name = "held"});
    CHECK_EQUAL(ay_enter(held), 0);
    test("a space, opened and closed", open_and_close_a_space, PTHREAD_CANCEL_DEFERRED);
    test("a space, closed with its regions", close_a_space_with_regions, PTHREAD_CANCEL_DEFERRED);
    test("a region, opened and closed", open_and_close_a_region, PTHREAD_CANCEL_DEFERRED);
    test("a wait with a limit", wait_in_vain, PTHREAD_CANCEL_DEFERRED);
    test("a condition that stays false", wait_for_a_condition, PTHREAD_CANCEL_DEFERRED);
    test("passages", pass, PTHREAD_CANCEL_DEFERRED);
    test("a condition that is true", pass_when_it_is_true, PTHREAD_CANCEL_DEFERRED);
    test("looking on", look_on, PTHREAD_CANCEL_DEFERRED);
    test("losses", ask_for_losses, PTHREAD_CANCEL_DEFERRED);
    test("a region, opened and closed", open_and_close_a_region, PTHREAD_CANCEL_ASYNCHRONOUS);
    test("looking on", look_on, PTHREAD_CANCEL_ASYNCHRONOUS);
    test("a wait with a limit", wait_in_vain, PTHREAD_CANCEL_ASYNCHRONOUS);
    test("a condition that stays false", wait_for_a_condition, PTHREAD_CANCEL_ASYNCHRONOUS);
    /* in the middle of one, it has died there */
    test("passages", pass, PTHREAD_CANCEL_ASYNCHRONOUS);
    test("a condition that is true", pass_when_it_is_true, PTHREAD_CANCEL_ASYNCHRONOUS);
    test_leaves_while_asked(false);
    test_leaves_while_asked(true);
    CHECK_EQUAL(ay_leave(held), 0);
    ay_close(space);
    return 0;
}
