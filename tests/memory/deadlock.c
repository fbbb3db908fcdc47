/* SPDX-License-Identifier: MIT */
/* Deadlock: a cycle of waiting processes is found, one of them is told, and the others get on; what only looks like one is left alone. */
#include <pthread.h>

#include "harness.h"

enum { MOST = 3 };

struct board {
    _Atomic int inside, told, entered;
};

static const char *const names[MOST] = {"a", "b", "c"};

/* A ring of processes: each is inside its own resource, and wants the next one's. */
static void test_ring(int count, bool with_limit)
{
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    pid_t pids[MOST];
    for (int me = 0; me < count; me++) {
        pids[me] = spawn();
        if (pids[me] == 0) {
            ay_space *space = open_space(NULL);
            ay_region *own = open_region(space, (ay_spec){.name = names[me]});
            ay_region *next = open_region(space, (ay_spec){.name = names[(me + 1) % count]});
            CHECK_EQUAL(ay_enter(own), 0);
            atomic_fetch_add(&board->inside, 1);
            AWAIT_TRUE(atomic_load(&board->inside) == count);
            const int result = with_limit ? ay_enter_for(next, PATIENCE_MS) : ay_enter(next);
            if (result == -EDEADLK)
                atomic_fetch_add(&board->told, 1);
            else if (result == 0)
                atomic_fetch_add(&board->entered, 1);
            else
                FAIL("%d, %s", result, ay_message());
            ay_close(space);
            _exit(0);
        }
    }
    for (int me = 0; me < count; me++)
        expect_success(pids[me]);
    CHECK(atomic_load(&board->told) >= 1);
    if (!with_limit)
        CHECK_EQUAL(atomic_load(&board->told), 1);
    CHECK_EQUAL(atomic_load(&board->told) + atomic_load(&board->entered), count);
}

/* One thread that waits for itself, by two objects. */
static void test_oneself(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *a = open_region(space, (ay_spec){.name = "x"}), *b = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(a), 0);
    CHECK_EQUAL(ay_enter(b), -EDEADLK);
    CHECK_EQUAL(ay_enter_for(b, 100), -ETIMEDOUT);
    CHECK_EQUAL(ay_leave(a), 0);
    CHECK_EQUAL(ay_enter(b), 0);
    ay_close(space);
}

static void *hold_and_leave(void *region)
{
    sleep_ms(700);
    CHECK_EQUAL(ay_leave(region), 0);
    return NULL;
}

/* Another thread of the same process will leave: no deadlock, however long it takes. */
static void *wait_for_other(void *region)
{
    CHECK_EQUAL(ay_enter(region), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    return NULL;
}

static void *enter_it(void *region)
{
    CHECK_EQUAL(ay_enter(region), 0);
    hold_and_leave(region);
    return NULL;
}

static void test_no_cycle(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *a = open_region(space, (ay_spec){.name = "x"}), *b = open_region(space, (ay_spec){.name = "x"});
    pthread_t one, two;
    CHECK_EQUAL(pthread_create(&one, NULL, enter_it, a), 0);
    sleep_ms(50);
    CHECK_EQUAL(pthread_create(&two, NULL, wait_for_other, b), 0);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    ay_close(space);
}

int main(void)
{
    begin_test("deadlock");
    test_ring(2, false);
    test_ring(3, false);
    test_ring(3, true);
    test_oneself();
    test_no_cycle();
    return 0;
}
