/* SPDX-License-Identifier: MIT */
/* Asking at the wrong moment, or in the wrong place: each gets the error that the header states,
 * and leaves everything as it was. And threads that ask: one that ends, one that waits. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "harness.h"

static void expect_decided(ay_space *space, ay_region *expected, int result)
{
    struct pollfd readable = {.fd = ay_fd(space), .events = POLLIN};
    const int64_t until = now_ms() + PATIENCE_MS;
    ay_region *region;
    int found;
    while (!(region = ay_decided(space, &found))) {
        CHECK(now_ms() < until && poll(&readable, 1, PATIENCE_MS) == 1);
        CHECK_EQUAL(found, 0);
    }
    CHECK(region == expected);
    CHECK_EQUAL(found, result);
}

static void test_while_asked(void)
{
    ay_space *space = open_space(NULL);
    ay_region *inside = open_region(space, (ay_spec){.name = "x"}),
              *asks = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(inside), 0);
    CHECK_EQUAL(ay_ask(asks), -EINPROGRESS);
    CHECK_EQUAL(ay_ask(asks), -EALREADY);
    CHECK_EQUAL(ay_enter(asks), -EDEADLK);
    CHECK_EQUAL(ay_try(asks), -EDEADLK);
    CHECK_EQUAL(ay_leave(asks), -EPERM);
    CHECK_EQUAL(ay_on_behalf(asks, 1), -EPERM);
    CHECK_EQUAL(ay_ask(inside), -EDEADLK);
    CHECK_EQUAL(ay_leave(inside), 0);
    expect_decided(space, asks, 0);
    /* closed: nobody hears of it any more */
    CHECK_EQUAL(ay_ask(inside), -EINPROGRESS);
    ay_region_close(inside);
    CHECK_EQUAL(ay_leave(asks), 0);
    int result;
    CHECK(!ay_decided(space, &result));
    CHECK_EQUAL(result, 0);
    ay_close(space);
}

static bool calls_back(void *argument)
{
    ay_region *region = argument;
    CHECK_EQUAL(ay_ask(region), -EDEADLK);
    CHECK_EQUAL(ay_withdraw(region), -EDEADLK);
    return true;
}

static void test_in_when(void)
{
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "when"});
    CHECK_EQUAL(ay_ask_when(region, calls_back, region, -1), 0);
    ay_close(space);
}

static void test_fork(void)
{
    ay_space *space = open_space(NULL);
    ay_region *inside = open_region(space, (ay_spec){.name = "fork"}),
              *asks = open_region(space, (ay_spec){.name = "fork"});
    CHECK_EQUAL(ay_enter(inside), 0);
    CHECK_EQUAL(ay_ask(asks), -EINPROGRESS);
    const int fd = ay_fd(space);
    const pid_t child = spawn();
    if (child == 0) {
        int result;
        CHECK(!ay_decided(space, &result));
        CHECK_EQUAL(result, -EPERM);
        CHECK_EQUAL(ay_withdraw(asks), -EPERM);
        CHECK_EQUAL(ay_ask(asks), -EPERM);
        CHECK_EQUAL(ay_fd(space), -EPERM);
        CHECK(fcntl(fd, F_GETFD) == -1);
        ay_close(space);
        /* its own are as good as any */
        ay_space *own = open_space(NULL);
        ay_region *region = open_region(own, (ay_spec){.name = "fork"});
        CHECK_EQUAL(ay_ask(region), -EINPROGRESS);
        _exit(0);
    }
    expect_success(child);
    CHECK_EQUAL(ay_leave(inside), 0);
    expect_decided(space, asks, 0);
    ay_close(space);
}

static _Atomic bool forked;

static void *ask_and_withdraw(void *space)
{
    ay_region *inside = open_region(space, (ay_spec){.name = "busy"}),
              *asks = open_region(space, (ay_spec){.name = "busy"});
    CHECK_EQUAL(ay_enter(inside), 0);
    while (!atomic_load(&forked)) {
        CHECK_EQUAL(ay_ask(asks), -EINPROGRESS);
        CHECK_EQUAL(ay_withdraw(asks), 0);
    }
    return NULL;
}

/* Whatever another thread, or a helper, is about in the moment of the fork: the child can ask. */
static void test_fork_any_time(void)
{
    ay_space *space = open_space(NULL);
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, ask_and_withdraw, space), 0);
    for (int times = 0; times < 200; times++) {
        const pid_t child = spawn();
        if (child == 0) {
            alarm(PATIENCE_MS / 1000);
            ay_close(space);
            ay_space *own = open_space(NULL);
            ay_region *region = open_region(own, (ay_spec){.name = "fork"});
            CHECK(ay_fd(own) >= 0);
            CHECK_EQUAL(ay_ask(region), 0);
            ay_close(own);
            _exit(0);
        }
        expect_success(child);
    }
    atomic_store(&forked, true);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    ay_close(space);
}

/* The program has closed the descriptor, and an eventfd of its own has that number now: it is left
 * alone, and there is another to be had. */
static void test_descriptor_taken(void)
{
    ay_space *space = open_space(NULL);
    ay_region *inside = open_region(space, (ay_spec){.name = "taken"}),
              *asks = open_region(space, (ay_spec){.name = "taken"});
    const int fd = ay_fd(space);
    CHECK(close(fd) == 0);
    CHECK_EQUAL(eventfd(0, EFD_NONBLOCK), fd);
    CHECK_EQUAL(ay_enter(inside), 0);
    CHECK_EQUAL(ay_ask(asks), -EINPROGRESS);
    CHECK_EQUAL(ay_leave(inside), 0);
    CHECK(ay_fd(space) != fd);
    expect_decided(space, asks, 0);
    eventfd_t count;
    CHECK(eventfd_read(fd, &count) == -1 && errno == EAGAIN);
    CHECK(eventfd_write(fd, 7) == 0);
    ay_close(space);
    CHECK(eventfd_read(fd, &count) == 0 && count == 7);
    CHECK(close(fd) == 0);
}

static void test_other_protocols(void)
{
    unlink(test_space);
    ay_space *space = open_space("bakery");
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    int result;
    CHECK_EQUAL(ay_ask(region), -ENOTSUP);
    CHECK_EQUAL(ay_fd(space), -ENOTSUP);
    CHECK(!ay_decided(space, &result));
    CHECK_EQUAL(result, -ENOTSUP);
    CHECK_EQUAL(ay_withdraw(region), -EPERM);
    ay_close(space);
    unlink(test_space);
}

static void *ask_and_end(void *region)
{
    CHECK_EQUAL(ay_ask(region), -EINPROGRESS);
    return NULL;
}

/* The thread that asked has ended: as one who has left, and that is told. Its region is as good as
 * new. */
static void test_thread_ends(void)
{
    ay_space *space = open_space(NULL);
    ay_region *inside = open_region(space, (ay_spec){.name = "ends"}),
              *first = open_region(space, (ay_spec){.name = "ends"}),
              *second = open_region(space, (ay_spec){.name = "ends"});
    pthread_t thread;
    CHECK_EQUAL(ay_enter(inside), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, ask_and_end, first), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(ay_ask(second), -EINPROGRESS);
    expect_decided(space, first, -EPERM);
    CHECK_EQUAL(ay_leave(inside), 0);
    expect_decided(space, second, 0);
    CHECK_EQUAL(ay_ask(first), -EINPROGRESS);
    CHECK_EQUAL(ay_leave(second), 0);
    expect_decided(space, first, 0);
    ay_close(space);
}

struct collector {
    ay_space *space;
    ay_region *expected;
};

static void *collect(void *argument)
{
    const struct collector *collector = argument;
    expect_decided(collector->space, collector->expected, 0);
    CHECK_EQUAL(ay_leave(collector->expected), 0);
    return NULL;
}

/* Another thread may see to it, and leave. */
static void test_other_thread(void)
{
    ay_space *space = open_space(NULL);
    ay_region *inside = open_region(space, (ay_spec){.name = "other"}),
              *asks = open_region(space, (ay_spec){.name = "other"});
    struct collector collector = {space, asks};
    for (int times = 0; times < 20; times++) {
        pthread_t thread;
        CHECK_EQUAL(ay_enter(inside), 0);
        CHECK_EQUAL(ay_ask(asks), -EINPROGRESS);
        CHECK_EQUAL(pthread_create(&thread, NULL, collect, &collector), 0);
        CHECK_EQUAL(ay_leave(inside), 0);
        CHECK_EQUAL(pthread_join(thread, NULL), 0);
        CHECK_EQUAL(ay_enter(asks), 0);
        CHECK_EQUAL(ay_leave(asks), 0);
    }
    ay_close(space);
}

struct visitor {
    ay_space *space;
    ay_region *decided;
    int result;
};

static void *visit(void *argument)
{
    struct visitor *visitor = argument;
    struct pollfd readable = {.fd = ay_fd(visitor->space), .events = POLLIN};
    CHECK(poll(&readable, 1, PATIENCE_MS) == 1);
    visitor->decided = ay_decided(visitor->space, &visitor->result);
    return NULL;
}

/* Another thread goes on with what is asked for; and then it is gone, with all its memory. */
static ay_region *visit_and_vanish(ay_space *space, int *result)
{
    const size_t room = 256 * granule();
    struct visitor visitor = {.space = space};
    pthread_attr_t attributes;
    pthread_t thread;
    void *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    CHECK_EQUAL(pthread_attr_init(&attributes), 0);
    CHECK_EQUAL(pthread_attr_setstack(&attributes, memory, room), 0);
    CHECK_EQUAL(pthread_create(&thread, &attributes, visit, &visitor), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(mprotect(memory, room, PROT_NONE), 0); /* nor is there anything else in its place */
    *result = visitor.result;
    return visitor.decided;
}

static bool look(void *looks)
{
    return --*(int *)looks < 0;
}

/* It asked in vain, and rests again; or time was over: nothing of it is looked at any more, neither
 * by the thread that asked, which goes on, withdraws or enters, nor by another. */
static void test_visitor_is_gone(void)
{
    ay_space *space = open_space(NULL);
    ay_region *other = open_region(space, (ay_spec){.name = "gone"}),
              *asks = open_region(space, (ay_spec){.name = "gone"});
    for (int withdraws = 0; withdraws < 2; withdraws++) {
        int looks = 2, result;
        CHECK_EQUAL(ay_ask_when(asks, look, &looks, -1), -EINPROGRESS);
        CHECK_EQUAL(ay_enter(other), 0);
        CHECK_EQUAL(ay_leave(other), 0);
        do { /* the descriptor may be readable for what was before, too */
            CHECK(visit_and_vanish(space, &result) == NULL);
            CHECK_EQUAL(result, 0);
        } while (looks > 0);
        CHECK_EQUAL(looks, 0);
        if (withdraws) {
            CHECK_EQUAL(ay_withdraw(asks), 0);
            CHECK_EQUAL(ay_enter(asks), 0);
        } else {
            CHECK_EQUAL(ay_enter(other), 0);
            CHECK_EQUAL(ay_leave(other), 0);
            expect_decided(space, asks, 0);
        }
        CHECK_EQUAL(ay_leave(asks), 0);
    }
    int result;
    CHECK_EQUAL(ay_enter(other), 0);
    CHECK_EQUAL(ay_ask_when(asks, NULL, NULL, 1), -EINPROGRESS);
    while (!visit_and_vanish(space, &result))
        CHECK_EQUAL(result, 0);
    CHECK_EQUAL(result, -ETIMEDOUT);
    CHECK_EQUAL(ay_leave(other), 0);
    CHECK_EQUAL(ay_enter(asks), 0);
    CHECK_EQUAL(ay_leave(asks), 0);
    ay_close(space);
}

/* One is inside a and asks for b, another is inside b and enters a: one of them is told. */
static void test_deadlock(void)
{
    int ready[2];
    char byte;
    CHECK(pipe(ready) == 0);
    ay_space *space = open_space(NULL);
    ay_region *a = open_region(space, (ay_spec){.name = "a"}),
              *b = open_region(space, (ay_spec){.name = "b"});
    CHECK_EQUAL(ay_enter(a), 0);
    const pid_t other = spawn();
    if (other == 0) {
        ay_space *own = open_space(NULL);
        ay_region *first = open_region(own, (ay_spec){.name = "b"}),
                  *then = open_region(own, (ay_spec){.name = "a"});
        CHECK_EQUAL(ay_enter(first), 0);
        CHECK(write(ready[1], "!", 1) == 1);
        const int result = ay_enter(then);
        CHECK(result == 0 || result == -EDEADLK);
        _exit(0);
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    CHECK_EQUAL(ay_ask(b), -EINPROGRESS);
    struct pollfd readable = {.fd = ay_fd(space), .events = POLLIN};
    ay_region *decided;
    int result;
    while (!(decided = ay_decided(space, &result)))
        CHECK(poll(&readable, 1, PATIENCE_MS) == 1);
    CHECK(decided == b);
    if (result == -EDEADLK)
        CHECK_EQUAL(ay_leave(a), 0);
    else
        CHECK(result >= 0);
    expect_success(other);
    ay_close(space);
}

int main(void)
{
    begin_test("ask_misuse");
    test_while_asked();
    test_in_when();
    test_fork();
    test_fork_any_time();
    test_descriptor_taken();
    test_thread_ends();
    test_other_thread();
    test_visitor_is_gone();
    test_deadlock();
    test_other_protocols();
    return 0;
}
