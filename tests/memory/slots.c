/* SPDX-License-Identifier: MIT */
/* Slots: never more inside than there are; fewer than all of them that stand still stop nobody; a
 * wait with a limit ends there; a departure wakes as many as it has made room for. */
#include <sys/resource.h>

#include "harness.h"

enum { LIMIT_MS = 200 };

struct board {
    _Atomic int inside, most, passages, waiting, stop, begun;
};

static ay_region *open_slots(unsigned slots)
{
    return open_region(open_space(NULL), (ay_spec){.name = "x", .slots = slots});
}

static void come_inside(struct board *board)
{
    const int inside = atomic_fetch_add(&board->inside, 1) + 1;
    if (inside > atomic_load(&board->most))
        atomic_store(&board->most, inside);
}

/* A process that is inside until it is killed. */
static pid_t start_holder(unsigned slots, struct board *board)
{
    const int before = atomic_load(&board->inside);
    const pid_t pid = spawn();
    if (pid == 0) {
        CHECK(ay_enter(open_slots(slots)) >= 0);
        come_inside(board);
        for (;;)
            pause();
    }
    AWAIT_TRUE(atomic_load(&board->inside) > before);
    return pid;
}

/* A process that waits until it is killed, or inside. */
static pid_t start_waiter(unsigned slots, struct board *board)
{
    const int before = atomic_load(&board->waiting);
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region *region = open_slots(slots);
        atomic_fetch_add(&board->waiting, 1);
        CHECK(ay_enter(region) >= 0);
        come_inside(board);
        for (;;)
            pause();
    }
    AWAIT_TRUE(atomic_load(&board->waiting) > before);
    sleep_ms(100); /* by now it sleeps; if not, the test is only weaker */
    return pid;
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Both slots are free, and one that slept in the queue is stopped: it takes one slot, no more. */
static void test_sleeper_stopped(void)
{
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    const pid_t first = start_holder(2, board), second = start_holder(2, board),
                sleeper = start_waiter(2, board);
    ay_region *region = open_slots(2), *other = open_slots(2);
    CHECK_EQUAL(ay_try(region), -EBUSY);
    CHECK_EQUAL(kill(sleeper, SIGSTOP), 0);
    kill_and_reap(first);
    kill_and_reap(second);
    for (int times = 0; times < 3; times++) {
        CHECK(ay_try(region) >= 0);
        CHECK_EQUAL(ay_try(other), -EBUSY); /* the other slot is the sleeper's */
        CHECK_EQUAL(ay_enter_for(other, LIMIT_MS), -ETIMEDOUT);
        CHECK_EQUAL(ay_leave(region), 0);
        CHECK(ay_enter_for(region, PATIENCE_MS) >= 0);
        CHECK_EQUAL(ay_leave(region), 0);
        CHECK(ay_enter(region) >= 0);
        CHECK_EQUAL(ay_leave(region), 0);
    }
    CHECK_EQUAL(kill(sleeper, SIGCONT), 0);
    AWAIT_TRUE(atomic_load(&board->inside) == 3);
    CHECK(ay_enter(other) >= 0);
    CHECK_EQUAL(ay_try(region), -EBUSY);
    kill_and_reap(sleeper);
}

/* Of four slots three are taken by processes that stand still: inside, and in the queue. The others
 * go on. */
static void test_others_go_on(void)
{
    enum { SLOTS = 4, OTHERS = 3, ENOUGH = 200 };
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    pid_t still[SLOTS], others[OTHERS];
    for (int at = 0; at < SLOTS; at++)
        still[at] = start_holder(SLOTS, board);
    const pid_t sleepers[2] = {start_waiter(SLOTS, board), start_waiter(SLOTS, board)};
    for (int at = 0; at < 2; at++)
        CHECK_EQUAL(kill(sleepers[at], SIGSTOP), 0);
    for (int at = 1; at < SLOTS; at++)
        kill_and_reap(still[at]);
    CHECK_EQUAL(kill(still[0], SIGSTOP), 0);
    for (int at = 0; at < OTHERS; at++)
        if ((others[at] = spawn()) == 0) {
            ay_region *region = open_slots(SLOTS);
            while (!atomic_load(&board->stop)) {
                CHECK(ay_enter(region) >= 0);
                atomic_fetch_add(&board->passages, 1);
                CHECK_EQUAL(ay_leave(region), 0);
            }
            _exit(0);
        }
    AWAIT_TRUE(atomic_load(&board->passages) > ENOUGH);
    atomic_store(&board->stop, 1);
    for (int at = 0; at < OTHERS; at++)
        expect_success(others[at]);
    kill_and_reap(still[0]);
    for (int at = 0; at < 2; at++)
        kill_and_reap(sleepers[at]);
}

/* All slots taken by processes that stand still: a wait ends at its limit, and uses next to no
 * processor. */
static void test_limit(void)
{
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    const pid_t holder = start_holder(2, board), second = start_holder(2, board),
                sleeper = start_waiter(2, board);
    CHECK_EQUAL(kill(holder, SIGSTOP), 0);
    CHECK_EQUAL(kill(sleeper, SIGSTOP), 0);
    ay_region *region = open_slots(2);
    CHECK_EQUAL(ay_try(region), -EBUSY);
    const double before = cpu_seconds();
    const int64_t begin = now_ms();
    CHECK_EQUAL(ay_enter_for(region, 3 * LIMIT_MS), -ETIMEDOUT);
    CHECK(now_ms() - begin >= 3 * LIMIT_MS);
    CHECK(cpu_seconds() - before < 0.1);
    kill_and_reap(holder);
    kill_and_reap(second);
    kill_and_reap(sleeper);
}

/* Many, with limits, deaths and departures: never more inside than there are slots, and in the end
 * nobody is left waiting. */
static void test_crowd(unsigned slots, int members)
{
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    pid_t pids[64];
    CHECK(members <= 64);
    for (int at = 0; at < members; at++)
        if ((pids[at] = spawn()) == 0) {
            ay_region *region = open_slots(slots);
            for (int times = 0; times < 100; times++) {
                const int result = at % 3 ? ay_enter(region) : ay_enter_for(region, 1);
                if (result == -ETIMEDOUT)
                    continue;
                CHECK(result >= 0);
                come_inside(board);
                if (times % 10 == 0)
                    sleep_ms(1);
                atomic_fetch_add(&board->passages, 1);
                atomic_fetch_sub(&board->inside, 1);
                CHECK_EQUAL(ay_leave(region), 0);
            }
            _exit(0);
        }
    for (int at = 0; at < members; at++)
        expect_success(pids[at]);
    CHECK(atomic_load(&board->most) <= (int)slots);
    CHECK(atomic_load(&board->passages) >= 100 * (members - (members + 2) / 3));
}

/* How often each member has slept is public: a departure that woke them all would let those at the
 * end of the queue sleep again and again. */
static void test_wakes_no_more_than_it_makes_room_for(void)
{
    enum { SLOTS = 2, MEMBERS = 12 };
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    const pid_t first = start_holder(SLOTS, board), second = start_holder(SLOTS, board);
    pid_t pids[MEMBERS];
    for (int at = 0; at < MEMBERS; at++)
        if ((pids[at] = spawn()) == 0) {
            struct rusage before, after;
            ay_region *region = open_slots(SLOTS);
            atomic_fetch_add(&board->waiting, 1);
            getrusage(RUSAGE_SELF, &before);
            CHECK(ay_enter(region) >= 0);
            getrusage(RUSAGE_SELF, &after);
            atomic_fetch_add(&board->begun, (int)(after.ru_nvcsw - before.ru_nvcsw));
            sleep_ms(5);
            CHECK_EQUAL(ay_leave(region), 0);
            _exit(0);
        }
    AWAIT_TRUE(atomic_load(&board->waiting) == MEMBERS);
    sleep_ms(200);
    kill_and_reap(first);
    kill_and_reap(second);
    for (int at = 0; at < MEMBERS; at++)
        expect_success(pids[at]);
    /* One sleep each, and some more for the two deaths, which everybody looks at; all at every
     * departure would be 66 and more. */
    CHECK(atomic_load(&board->begun) < 4 * MEMBERS);
}

/* Precedence decides between two; a slot is the next one's by ticket. */
static void test_no_precedence(void)
{
    unlink(test_space);
    ay_space *space;
    ay_region *region;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.precedence = AY_BY_PRIORITY}, &space), 0);
    CHECK_EQUAL(ay_region_open(space, &(ay_spec){.name = "x", .slots = 2}, &region), -ENOTSUP);
    CHECK(strstr(ay_message(), "slots"));
    CHECK_EQUAL(ay_region_open(space, &(ay_spec){.name = "x"}, &region), 0);
    ay_close(space);
}

int main(void)
{
    begin_test("slots");
    test_sleeper_stopped();
    test_others_go_on();
    test_limit();
    test_crowd(2, 8);
    test_crowd(5, 40);
    test_crowd(100, 64); /* more than a sleeper can watch */
    test_wakes_no_more_than_it_makes_room_for();
    test_no_precedence();
    return 0;
}
