/* SPDX-License-Identifier: MIT */
/* Asking without waiting: an ask stands in the queue like any waiter, the descriptor says when to
 * look, and ay_decided() tells what became of it. */
#include <pthread.h>
#include <sys/epoll.h>

#include "harness.h"

/* Whether the descriptor becomes readable, in time. */
static bool becomes_readable(int fd, int ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, ms) == 1;
}

static ay_region *await_decided(ay_space *space, int *result)
{
    const int64_t until = now_ms() + PATIENCE_MS;
    for (;;) {
        ay_region *region = ay_decided(space, result);
        if (region)
            return region;
        CHECK_EQUAL(*result, 0);
        if (now_ms() > until || !becomes_readable(ay_fd(space), PATIENCE_MS))
            FAIL("nothing is decided");
    }
}

static void expect_decided(ay_space *space, ay_region *expected, int result)
{
    int found;
    CHECK(await_decided(space, &found) == expected);
    CHECK_EQUAL(found, result);
}

static void expect_none(ay_space *space)
{
    int result;
    CHECK(ay_decided(space, &result) == NULL);
    CHECK_EQUAL(result, 0);
}

struct holder {
    pid_t pid;
    int commands[2], answers[2];
};

static void tell(struct holder *holder, char what)
{
    char answer;
    CHECK(write(holder->commands[1], &what, 1) == 1);
    CHECK(read(holder->answers[0], &answer, 1) == 1);
}

/* Another process, which enters ('e') and leaves ('l') on command, or begins to enter ('b'). */
static struct holder start_holder(ay_spec spec)
{
    struct holder holder;
    CHECK(pipe(holder.commands) == 0 && pipe(holder.answers) == 0);
    holder.pid = spawn();
    if (holder.pid == 0) {
        ay_region *region = open_region(open_space(NULL), spec);
        char what;
        while (read(holder.commands[0], &what, 1) == 1) {
            if (what == 'b')
                CHECK(write(holder.answers[1], &what, 1) == 1);
            CHECK((what == 'l' ? ay_leave(region) : ay_enter(region)) >= 0);
            if (what != 'b')
                CHECK(write(holder.answers[1], &what, 1) == 1);
        }
        _exit(0);
    }
    return holder;
}

static int count_waiting(const ay_place *place, void *count)
{
    *(int *)count += place->state == AY_WAITING;
    return 0;
}

static int waiting(void)
{
    int count = 0;
    CHECK_EQUAL(ay_look(test_space, NULL, count_waiting, &count), 0);
    return count;
}

static void test_at_once(void)
{
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "once"});
    for (int times = 0; times < 3; times++) {
        CHECK_EQUAL(ay_ask(region), 0);
        CHECK_EQUAL(ay_ask(region), -EDEADLK);
        CHECK_EQUAL(ay_withdraw(region), -EALREADY);
        CHECK_EQUAL(ay_leave(region), 0);
        CHECK_EQUAL(ay_enter(region), 0);
        CHECK_EQUAL(ay_leave(region), 0);
    }
    expect_none(space);
    CHECK(!becomes_readable(ay_fd(space), 0));
    CHECK_EQUAL(ay_withdraw(region), -EPERM);
    ay_close(space);
}

/* Behind another process, in order, with fences that grow; seen by those who look. */
static void test_in_order(void)
{
    struct holder holder = start_holder((ay_spec){.name = "x"});
    tell(&holder, 'e');
    ay_space *space = open_space(NULL);
    const int fd = ay_fd(space);
    ay_region *asks[3];
    for (int which = 0; which < 3; which++) {
        asks[which] = open_region(space, (ay_spec){.name = "x"});
        CHECK_EQUAL(ay_ask(asks[which]), -EINPROGRESS);
    }
    CHECK_EQUAL(waiting(), 3);
    expect_none(space);
    CHECK(!becomes_readable(fd, 20));
    tell(&holder, 'l');
    tell(&holder, 'b'); /* behind them all */
    AWAIT_TRUE(waiting() == 4);
    uint64_t fence = 0;
    for (int which = 0; which < 3; which++) {
        CHECK(becomes_readable(fd, PATIENCE_MS));
        expect_decided(space, asks[which], 0);
        expect_none(space);
        CHECK(ay_fence(asks[which]) > fence);
        fence = ay_fence(asks[which]);
        CHECK_EQUAL(ay_leave(asks[which]), 0);
    }
    char answer;
    CHECK(write(holder.commands[1], "l", 1) == 1 && read(holder.answers[0], &answer, 1) == 1);
    AWAIT_TRUE(waiting() == 0);
    kill_and_reap(holder.pid);
    ay_close(space);
}

/* Two regions of one thread: it may leave the one that the other waits for. */
static void test_own_region(void)
{
    ay_space *space = open_space(NULL);
    ay_region *inside = open_region(space, (ay_spec){.name = "own"}),
              *asks = open_region(space, (ay_spec){.name = "own"});
    CHECK_EQUAL(ay_enter(inside), 0);
    CHECK_EQUAL(ay_ask(asks), -EINPROGRESS);
    CHECK(!becomes_readable(ay_fd(space), 100)); /* nor does it close a cycle */
    CHECK_EQUAL(ay_leave(inside), 0);
    expect_decided(space, asks, 0);
    CHECK_EQUAL(ay_leave(asks), 0);
    ay_close(space);
}

static void test_death(void)
{
    struct holder holder = start_holder((ay_spec){.name = "death"});
    tell(&holder, 'e');
    ay_space *space = open_space(NULL);
    ay_region *first = open_region(space, (ay_spec){.name = "death"}),
              *second = open_region(space, (ay_spec){.name = "death"});
    CHECK_EQUAL(ay_ask(first), -EINPROGRESS);
    CHECK_EQUAL(ay_ask(second), -EINPROGRESS);
    kill_and_reap(holder.pid);
    expect_decided(space, first, AY_AFTER_DEATH);
    CHECK_EQUAL(ay_leave(first), 0);
    expect_decided(space, second, 0);
    CHECK_EQUAL(ay_leave(second), 0);
    ay_close(space);
}

/* The asker is one who has left, once it is killed, has executed something, or closed. */
static void test_asker_goes(void)
{
    for (char how = 'a'; how <= 'd'; how++) {
        ay_space *space = open_space(NULL);
        ay_region *inside = open_region(space, (ay_spec){.name = "gone"}),
                  *behind = open_region(space, (ay_spec){.name = "gone"});
        CHECK_EQUAL(ay_enter(inside), 0);
        const pid_t asker = spawn();
        if (asker == 0) {
            ay_space *own = open_space(NULL);
            ay_region *asks = open_region(own, (ay_spec){.name = "gone"});
            CHECK_EQUAL(ay_ask(asks), -EINPROGRESS);
            while (waiting() < 2)
                sleep_ms(1);
            if (how == 'b')
                execl("/bin/sleep", "sleep", "60", (char *)NULL);
            else if (how == 'c')
                ay_region_close(asks);
            else if (how == 'd')
                ay_close(own);
            for (;;)
                pause();
        }
        AWAIT_TRUE(waiting() == 1);
        CHECK_EQUAL(ay_ask(behind), -EINPROGRESS);
        if (how == 'a')
            kill_and_reap(asker);
        CHECK_EQUAL(ay_leave(inside), 0);
        expect_decided(space, behind, 0);
        CHECK_EQUAL(ay_leave(behind), 0);
        if (how != 'a')
            kill_and_reap(asker);
        ay_close(space);
    }
}

static void test_withdraw(void)
{
    ay_space *space = open_space(NULL);
    ay_region *inside = open_region(space, (ay_spec){.name = "withdraw"}),
              *first = open_region(space, (ay_spec){.name = "withdraw"}),
              *second = open_region(space, (ay_spec){.name = "withdraw"});
    CHECK_EQUAL(ay_enter(inside), 0);
    CHECK_EQUAL(ay_ask(first), -EINPROGRESS);
    CHECK_EQUAL(ay_ask(second), -EINPROGRESS);
    CHECK_EQUAL(ay_withdraw(first), 0);
    CHECK_EQUAL(ay_withdraw(first), -EPERM);
    CHECK_EQUAL(ay_leave(inside), 0);
    expect_decided(space, second, 0);
    CHECK_EQUAL(ay_withdraw(second), -EALREADY);
    CHECK_EQUAL(ay_try(first), -EBUSY);
    CHECK_EQUAL(ay_leave(second), 0);
    /* when it is its turn already */
    CHECK_EQUAL(ay_enter(inside), 0);
    CHECK_EQUAL(ay_ask(first), -EINPROGRESS);
    CHECK_EQUAL(ay_ask(second), -EINPROGRESS);
    CHECK_EQUAL(ay_leave(inside), 0);
    CHECK(becomes_readable(ay_fd(space), PATIENCE_MS));
    CHECK_EQUAL(ay_withdraw(first), 0);
    expect_decided(space, second, 0);
    CHECK_EQUAL(ay_leave(second), 0);
    expect_none(space);
    ay_close(space);
}

static bool is_set(void *flag)
{
    return *(const int *)flag != 0;
}

static void test_when(void)
{
    struct holder holder = start_holder((ay_spec){.name = "when"});
    ay_space *space = open_space(NULL);
    ay_region *asks = open_region(space, (ay_spec){.name = "when"}),
              *other = open_region(space, (ay_spec){.name = "when"});
    int set = 0;
    CHECK_EQUAL(ay_ask_when(asks, is_set, &set, -1), -EINPROGRESS);
    tell(&holder, 'e'); /* who waits for its condition is in nobody's way */
    tell(&holder, 'l');
    expect_none(space);
    CHECK_EQUAL(ay_ask(other), 0);
    set = 1;
    CHECK_EQUAL(ay_leave(other), 0);
    expect_decided(space, asks, 0);
    CHECK_EQUAL(ay_leave(asks), 0);
    set = 0;
    CHECK_EQUAL(ay_ask_when(asks, is_set, &set, 0), -ETIMEDOUT);
    CHECK_EQUAL(ay_ask_when(asks, is_set, &set, 50), -EINPROGRESS);
    expect_decided(space, asks, -ETIMEDOUT);
    CHECK_EQUAL(ay_ask_when(asks, is_set, &set, -1), -EINPROGRESS);
    tell(&holder, 'e');
    set = 1;
    tell(&holder, 'l'); /* a stranger that leaves rouses it as well */
    expect_decided(space, asks, 0);
    CHECK_EQUAL(ay_leave(asks), 0);
    kill_and_reap(holder.pid);
    ay_close(space);
}

static void test_deadline(void)
{
    ay_space *space = open_space(NULL);
    ay_region *inside = open_region(space, (ay_spec){.name = "late"}),
              *asks = open_region(space, (ay_spec){.name = "late"});
    CHECK_EQUAL(ay_enter(inside), 0);
    CHECK_EQUAL(ay_ask_when(asks, NULL, NULL, 0), -ETIMEDOUT);
    const int64_t before = now_ms();
    CHECK_EQUAL(ay_ask_when(asks, NULL, NULL, 50), -EINPROGRESS);
    expect_decided(space, asks, -ETIMEDOUT);
    CHECK(now_ms() - before >= 50);
    CHECK_EQUAL(waiting(), 0);
    CHECK_EQUAL(ay_ask(asks), -EINPROGRESS);
    CHECK_EQUAL(ay_leave(inside), 0);
    expect_decided(space, asks, 0);
    ay_close(space);
}

/* Slots and units are given to asks as to others; modes decide who waits for whom. */
static void test_kinds(void)
{
    ay_space *space = open_space(NULL);
    ay_region *slot[4], *reader[2];
    for (int which = 0; which < 4; which++) {
        slot[which] = open_region(space, (ay_spec){.name = "slots", .slots = 2});
        CHECK_EQUAL(ay_ask(slot[which]), which < 2 ? 0 : -EINPROGRESS);
    }
    CHECK_EQUAL(ay_leave(slot[1]), 0);
    expect_decided(space, slot[2], 0);
    CHECK_EQUAL(ay_leave(slot[0]), 0);
    expect_decided(space, slot[3], 0);
    ay_region *two = open_region(space, (ay_spec){.name = "units", .take = 2, .of = 3}),
              *more = open_region(space, (ay_spec){.name = "units", .take = 2, .of = 3});
    CHECK_EQUAL(ay_ask(two), 0);
    CHECK_EQUAL(ay_ask(more), -EINPROGRESS);
    CHECK_EQUAL(ay_leave(two), 0);
    expect_decided(space, more, 0);
    CHECK_EQUAL(ay_units(more, NULL, 0), 2);
    ay_region *writer = open_region(space, (ay_spec){.name = "modes"});
    CHECK_EQUAL(ay_ask(writer), 0);
    for (int which = 0; which < 2; which++) {
        reader[which] = open_region(space, (ay_spec){.name = "modes", .mode = AY_SHARED});
        CHECK_EQUAL(ay_ask(reader[which]), -EINPROGRESS);
    }
    CHECK_EQUAL(ay_leave(writer), 0);
    expect_decided(space, reader[0], 0);
    expect_decided(space, reader[1], 0);
    ay_close(space);
}

/* The descriptor in an epoll set that only tells of changes: nothing is missed. */
static void test_edges(void)
{
    ay_space *space = open_space(NULL);
    const int set = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    CHECK(set >= 0 && epoll_ctl(set, EPOLL_CTL_ADD, ay_fd(space), &event) == 0);
    ay_region *inside = open_region(space, (ay_spec){.name = "edges"}),
              *asks = open_region(space, (ay_spec){.name = "edges"});
    for (int times = 0; times < 100; times++) {
        CHECK_EQUAL(ay_enter(inside), 0);
        CHECK_EQUAL(ay_ask(asks), -EINPROGRESS);
        CHECK_EQUAL(ay_leave(inside), 0);
        int result;
        ay_region *decided = NULL;
        while (!decided) {
            CHECK_EQUAL(epoll_wait(set, &event, 1, PATIENCE_MS), 1);
            while ((decided = ay_decided(space, &result)) == NULL && result)
                FAIL("%d", result);
        }
        expect_none(space);
        CHECK(decided == asks && result == 0);
        CHECK_EQUAL(ay_leave(asks), 0);
    }
    close(set);
    ay_close(space);
}

struct calls {
    ay_space *space;
    _Atomic int count, result;
    ay_region *_Atomic decided;
};

static void take_call(void *argument)
{
    struct calls *calls = argument;
    int result;
    ay_region *region;
    while ((region = ay_decided(calls->space, &result)) != NULL) {
        calls->result = result;
        calls->decided = region;
    }
    calls->count++;
}

/* By a thread of the library's, and the descriptor stays as it is; when a holder leaves, and when
 * one dies. */
static void test_called(void)
{
    ay_space *space = open_space(NULL);
    const int fd = ay_fd(space);
    struct calls calls = {.space = space};
    ay_region *region = open_region(space, (ay_spec){.name = "called"});
    CHECK_EQUAL(ay_on_decided(space, take_call, &calls), 0);
    for (int dies = 0; dies < 2; dies++) {
        struct holder holder = start_holder((ay_spec){.name = "called"});
        tell(&holder, 'e');
        calls.decided = NULL;
        CHECK_EQUAL(ay_ask(region), -EINPROGRESS);
        if (!dies)
            tell(&holder, 'l');
        kill_and_reap(holder.pid);
        AWAIT_TRUE(calls.decided == region);
        CHECK_EQUAL(calls.result, dies ? AY_AFTER_DEATH : 0);
        CHECK(!becomes_readable(fd, 0));
        CHECK_EQUAL(ay_leave(region), 0);
    }
    CHECK_EQUAL(ay_on_decided(space, NULL, NULL), 0);
    const int count = calls.count;
    struct holder holder = start_holder((ay_spec){.name = "called"});
    tell(&holder, 'e');
    CHECK_EQUAL(ay_ask(region), -EINPROGRESS);
    tell(&holder, 'l');
    expect_decided(space, region, 0);
    CHECK_EQUAL(calls.count, count);
    kill_and_reap(holder.pid);
    ay_close(space);
}

int main(void)
{
    begin_test("ask");
    test_at_once();
    test_in_order();
    test_own_region();
    test_death();
    test_asker_goes();
    test_withdraw();
    test_when();
    test_deadline();
    test_kinds();
    test_edges();
    test_called();
    return 0;
}
