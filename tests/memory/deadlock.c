/* SPDX-License-Identifier: MIT */
/* Deadlock: a cycle of waiting processes is found, one of them is told, and the others get on; what
 * only looks like one is left alone. */
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
    ay_region *a = open_region(space, (ay_spec){.name = "x"}),
              *b = open_region(space, (ay_spec){.name = "x"});
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
    ay_region *a = open_region(space, (ay_spec){.name = "x"}),
              *b = open_region(space, (ay_spec){.name = "x"});
    pthread_t one, two;
    CHECK_EQUAL(pthread_create(&one, NULL, enter_it, a), 0);
    sleep_ms(50);
    CHECK_EQUAL(pthread_create(&two, NULL, wait_for_other, b), 0);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    ay_close(space);
}

struct queue_board {
    _Atomic bool second_goes_on;
    _Atomic int told;
};

static void note_result(struct queue_board *board, int result)
{
    if (result == -EDEADLK)
        atomic_fetch_add(&board->told, 1);
    else
        CHECK_EQUAL(result, 0);
}

static int has_waiting(const ay_place *place, void *count)
{
    *(int *)count += place->alive && place->state == AY_WAITING;
    return 0;
}

static int count_waiting(void)
{
    int count = 0;
    CHECK_EQUAL(ay_look(test_space, NULL, has_waiting, &count), 0);
    return count;
}

/* The first is inside x; the second waits for it; `between` others wait, who hold nothing; the last
 * has y, and waits for x behind them. The second gets in, and wants y: a cycle, which goes through
 * those that hold nothing, and through sleeps that began when it was not there yet. */
static void test_queue(unsigned overtake, int between)
{
    unlink(test_space);
    struct queue_board *board = shared_memory(sizeof *board);
    const ay_options options = {.overtake = overtake};
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &options, &space), 0);
    ay_region *x = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(x), 0);
    pid_t pids[2 + MOST];
    for (int me = 0; me < between + 2; me++) {
        pids[me] = spawn();
        if (pids[me] == 0) {
            ay_space *mine = open_space(NULL);
            ay_region *want = open_region(mine, (ay_spec){.name = "x"});
            ay_region *other = open_region(mine, (ay_spec){.name = "y"});
            if (me == between + 1)
                CHECK_EQUAL(ay_enter(other), 0);
            const int result = ay_enter(want);
            note_result(board, result);
            if (me == 0) {
                AWAIT_TRUE(atomic_load(&board->second_goes_on));
                note_result(board, ay_enter(other));
            }
            ay_close(mine);
            _exit(0);
        }
        AWAIT_TRUE(count_waiting() == me + 1);
    }
    sleep_ms(100); /* so that they are asleep indeed */
    CHECK_EQUAL(ay_leave(x), 0);
    AWAIT_TRUE(count_waiting() == between + 1);
    atomic_store(&board->second_goes_on, true);
    for (int me = 0; me < between + 2; me++)
        expect_success(pids[me]);
    CHECK(atomic_load(&board->told) >= 1);
    ay_close(space);
}

/* A permission that is retained holds nobody up for ever: its owner waits for me, and I for the
 * permission, but its keeper will give it back. It is stopped for a while. */
static void test_retained(void)
{
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    ay_space *space;
    const ay_options retains = {.retain = 1};
    if (ay_open(test_space, &retains, &space) == -ENOTSUP)
        return;
    ay_region *own = open_region(space, (ay_spec){.name = "a"}),
              *other = open_region(space, (ay_spec){.name = "b"});
    CHECK_EQUAL(ay_enter(own), 0);
    const pid_t owner = spawn();
    if (owner == 0) {
        CHECK_EQUAL(ay_open(test_space, &retains, &space), 0);
        ay_region *a = open_region(space, (ay_spec){.name = "a"}),
                  *b = open_region(space, (ay_spec){.name = "b"});
        for (int time = 0; time < 3; time++) {
            CHECK_EQUAL(ay_enter(b), 0);
            CHECK_EQUAL(ay_leave(b), 0);
        }
        atomic_store(&board->inside, 1);
        CHECK_EQUAL(ay_enter(a), 0);
        CHECK_EQUAL(ay_leave(a), 0);
        _exit(0);
    }
    AWAIT_TRUE(atomic_load(&board->inside));
    sleep_ms(50);
    CHECK_EQUAL(kill(owner, SIGSTOP), 0);
    const pid_t waker = spawn();
    if (waker == 0) {
        sleep_ms(700); /* longer than any patience with a cycle */
        _exit(kill(owner, SIGCONT));
    }
    CHECK_EQUAL(ay_enter(other), 0);
    CHECK_EQUAL(ay_leave(own), 0);
    expect_success(waker);
    expect_success(owner);
    ay_close(space);
}

static int find_thread(const ay_place *place, void *arg)
{
    if (place->pid == getpid() && place->state == AY_INSIDE)
        *(uint64_t *)arg = place->thread;
    return 0;
}

/* Each of two is inside, and waits for a child that wants the other's. */
static void test_on_behalf(void)
{
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    pid_t pids[2];
    for (int me = 0; me < 2; me++) {
        pids[me] = spawn();
        if (pids[me] != 0)
            continue;
        uint64_t thread = 0;
        ay_space *space = open_space(NULL);
        ay_region *own = open_region(space, (ay_spec){.name = names[me]});
        CHECK_EQUAL(ay_enter(own), 0);
        CHECK_EQUAL(ay_look(test_space, NULL, find_thread, &thread), 0);
        CHECK(thread != 0);
        CHECK_EQUAL(ay_on_behalf(own, thread), -EPERM); /* inside */
        atomic_fetch_add(&board->inside, 1);
        AWAIT_TRUE(atomic_load(&board->inside) == 2);
        const pid_t child = spawn();
        if (child == 0) {
            ay_region *other = open_region(open_space(NULL), (ay_spec){.name = names[1 - me]});
            CHECK_EQUAL(ay_on_behalf(other, thread), 0);
            const int result = ay_enter(other);
            CHECK(result == 0 || result == -EDEADLK);
            atomic_fetch_add(result ? &board->told : &board->entered, 1);
            ay_region_close(other);
            _exit(0);
        }
        expect_success(child);
        ay_close(space);
        _exit(0);
    }
    for (int me = 0; me < 2; me++)
        expect_success(pids[me]);
    CHECK_EQUAL(atomic_load(&board->told), 1);
    CHECK_EQUAL(atomic_load(&board->entered), 1);
}

int main(void)
{
    begin_test("deadlock");
    test_on_behalf();
    test_retained();
    test_ring(2, false);
    test_ring(3, false);
    test_ring(3, true);
    test_oneself();
    test_no_cycle();
    for (int between = 0; between <= MOST; between += MOST) {
        test_queue(0, between);
        test_queue(64, between);
    }
    return 0;
}
