/* SPDX-License-Identifier: MIT */
/* ay_cancel: another process ends a wait, and nothing else. */
#include <sys/stat.h>

#include "harness.h"

static void expect(int result, int expected, const char *words)
{
    if (result != expected || !strstr(ay_message(), words))
        FAIL("%d '%s', not %d '…%s…'", result, ay_message(), expected, words);
}

static bool is_false(void *unused)
{
    (void)unused;
    return false;
}

enum way { PLAIN, LIMITED, CONDITION, SLOTS, UNITS, UPGRADE };

static const ay_spec specs[] = {
    [PLAIN] = {.name = "x"},
    [LIMITED] = {.name = "x"},
    [CONDITION] = {.name = "when"},
    [SLOTS] = {.name = "slots", .slots = 2},
    [UNITS] = {.name = "units", .take = 2, .of = 3},
    [UPGRADE] = {.name = "x"},
};

static int wait_in_vain(ay_region *region, enum way way)
{
    switch (way) {
    case LIMITED:
        return ay_enter_for(region, PATIENCE_MS);
    case CONDITION:
        return ay_enter_when(region, is_false, NULL, -1);
    case UPGRADE:
        CHECK_EQUAL(ay_enter_as(region, AY_SHARED, PATIENCE_MS), 0);
        return ay_convert(region, AY_EXCLUSIVE, -1);
    default:
        return ay_enter(region);
    }
}

/* The child waits, is cancelled by this process, and says so; then it lives on. */
static pid_t start(const char *protocol, enum way way)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_space *space = open_space(protocol);
        ay_region *region = open_region(space, specs[way]);
        char by[64];
        snprintf(by, sizeof by, "pid %d ", (int)getppid());
        expect(wait_in_vain(region, way), -ECANCELED, by);
        if (way == UPGRADE) { /* it keeps what it had */
            CHECK_EQUAL(ay_convert(region, AY_SHARED, 0), 0);
            CHECK_EQUAL(ay_leave(region), 0);
        }
        expect(ay_leave(region), -EPERM, "not inside");
        if (way == PLAIN) {
            const int result = ay_enter_for(region, 20); /* the next wait is another one */
            CHECK_EQUAL(result, -ETIMEDOUT);
        }
        ay_close(space);
        _exit(0);
    }
    return pid;
}

static int find(const ay_place *place, void *to)
{
    int *by = to;
    if (place->cancelled_by) {
        CHECK(place->cancelled_ns > 0);
        *by = place->cancelled_by;
    }
    return 0;
}

static int cancelled_by(void)
{
    int by = 0;
    CHECK_EQUAL(ay_look(test_space, NULL, find, &by), 0);
    return by;
}

static void test_way(const char *protocol, enum way way)
{
    unlink(test_space);
    ay_space *space = open_space(protocol);
    const char *name = specs[way].name;
    ay_region *holders[2];
    for (int at = 0; at < 2; at++)
        holders[at] = way == SLOTS || at == 0 ? open_region(space, specs[way]) : NULL;
    if (way == UPGRADE)
        CHECK_EQUAL(ay_enter_as(holders[0], AY_SHARED, 0), 0);
    else if (way != CONDITION)
        for (int at = 0; at < 2 && holders[at]; at++)
            CHECK_EQUAL(ay_try(holders[at]), 0);
    const pid_t pid = start(protocol, way);
    int result;
    AWAIT_TRUE((result = ay_cancel(space, name, (int)pid)) != -ESRCH && result != -EBUSY);
    CHECK_EQUAL(result, 1);
    expect_success(pid);
    CHECK_EQUAL(cancelled_by(), (int)getpid());
    if (way != CONDITION)
        CHECK_EQUAL(ay_leave(holders[0]), 0); /* it was left alone */
    if (way != SLOTS)
        CHECK_EQUAL(ay_enter_for(holders[0], PATIENCE_MS), 0);
    ay_close(space);
}

static void test_refusals(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *mine = open_region(space, (ay_spec){.name = "x"});
    expect(ay_cancel(space, "x", (int)getpid()), -ESRCH, "does not wait");
    expect(ay_cancel(space, "nothing", 1), -ESRCH, "does not wait for 'nothing'");
    CHECK_EQUAL(ay_enter(mine), 0);
    expect(ay_cancel(space, "x", (int)getpid()), -EBUSY, "kill");
    const pid_t child = spawn();
    if (child == 0) {
        CHECK_EQUAL(ay_cancel(space, "x", 1), -EPERM);
        _exit(0);
    }
    expect_success(child);
    /* one that is stopped does not answer, and is not cancelled once it goes on */
    const pid_t stopped = spawn();
    if (stopped == 0) {
        ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
        _exit(ay_enter_for(region, PATIENCE_MS) != 0);
    }
    AWAIT_TRUE(ay_wanted(mine) == 1);
    sleep_ms(50);
    CHECK_EQUAL(kill(stopped, SIGSTOP), 0);
    const int result = ay_cancel(space, "x", (int)stopped);
    CHECK(result == -ETIMEDOUT || result == -ESRCH); /* it may have been stopped awake */
    CHECK_EQUAL(kill(stopped, SIGCONT), 0);
    CHECK_EQUAL(ay_leave(mine), 0);
    expect_success(stopped);
    ay_close(space);
}

/* Many wait, and one of them is meant. */
static void test_one_of_many(void)
{
    enum { MANY = 5 };
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *mine = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(mine), 0);
    pid_t pids[MANY];
    for (unsigned at = 0; at < MANY; at++) {
        pids[at] = spawn();
        if (pids[at] == 0) {
            ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
            const int result = ay_enter(region);
            if (result >= 0)
                CHECK_EQUAL(ay_leave(region), 0);
            _exit(result == -ECANCELED ? 3 : result != 0);
        }
        AWAIT_TRUE(ay_wanted(mine) == at + 1);
    }
    int result;
    AWAIT_TRUE((result = ay_cancel(space, "x", (int)pids[2])) != -ESRCH);
    CHECK_EQUAL(result, 1);
    AWAIT_TRUE(ay_wanted(mine) == MANY - 1);
    CHECK_EQUAL(ay_leave(mine), 0);
    for (unsigned at = 0; at < MANY; at++) {
        const int status = await_exit(pids[at]);
        CHECK(WIFEXITED(status));
        CHECK_EQUAL(WEXITSTATUS(status), at == 2 ? 3 : 0);
    }
    ay_close(space);
}

/* Another user's waits are not for everybody. */
static void test_users(void)
{
    enum { NOBODY = 65534 };
    if (geteuid() != 0)
        return;
    unlink(test_space);
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.mode = 0666}, &space), 0);
    ay_region *mine = open_region(space, (ay_spec){.name = "x"}),
              *waits = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(mine), 0);
    const pid_t waiting = getpid();
    const pid_t stranger = spawn();
    if (stranger == 0) {
        if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
            FAIL("cannot be another user: %s", strerror(errno));
        ay_space *same = open_space(NULL);
        int result;
        AWAIT_TRUE((result = ay_cancel(same, "x", (int)waiting)) != -ESRCH && result != -EBUSY);
        expect(result, -EPERM, "another user's");
        _exit(0);
    }
    CHECK_EQUAL(ay_enter_for(waits, 1000), -ETIMEDOUT);
    expect_success(stranger);
    ay_close(space);
}

/* Asks, one behind the other, in a process that holds the region by an ask itself: they sleep on
 * its own words alone. */
static void test_asks(void)
{
    enum { ASKS = 3 };
    const pid_t me = getpid();
    ay_space *space = open_space(NULL);
    ay_region *inside = open_region(space, (ay_spec){.name = "asks"}), *asks[ASKS];
    CHECK_EQUAL(ay_ask(inside), 0);
    for (int which = 0; which < ASKS; which++) {
        asks[which] = open_region(space, (ay_spec){.name = "asks"});
        CHECK_EQUAL(ay_ask(asks[which]), -EINPROGRESS);
    }
    const pid_t child = spawn();
    if (child == 0) {
        CHECK_EQUAL(ay_cancel(open_space(NULL), "asks", me), ASKS);
        _exit(0);
    }
    for (int found = 0; found < ASKS;) {
        int result;
        struct pollfd readable = {.fd = ay_fd(space), .events = POLLIN};
        CHECK(poll(&readable, 1, PATIENCE_MS) == 1);
        for (ay_region *decided; (decided = ay_decided(space, &result)); found++) {
            expect(result, -ECANCELED, "cancelled by pid");
            CHECK(decided != inside);
        }
        CHECK_EQUAL(result, 0);
    }
    expect_success(child);
    CHECK_EQUAL(ay_leave(inside), 0);
    CHECK_EQUAL(ay_ask(asks[1]), 0);
    ay_close(space);
}

int main(void)
{
    begin_test("cancelled");
    for (enum way way = PLAIN; way <= UPGRADE; way++)
        test_way("courtesy", way);
    test_way("bakery", PLAIN);
    test_way("races", LIMITED);
    test_way("region", PLAIN);
    test_refusals();
    test_one_of_many();
    test_asks();
    test_users();
    return 0;
}
