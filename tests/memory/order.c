/* SPDX-License-Identifier: MIT */
/* Order: sleepers are served in order of arrival, in 100 of 100 rounds; one that enters again and
 * again overtakes none of them; writers do not starve; precedence is kept. */
#include "harness.h"

enum { SLEEPERS = 8, ROUNDS = 100 };

struct board {
    _Atomic int asleep, next, order[SLEEPERS], stop, passages, writer;
};

/* How many wait in the space now: as an observer sees it. */
static int count_waiting(const ay_place *place, void *waiting)
{
    *(int *)waiting += place->state == AY_WAITING;
    return 0;
}

static int waiting_now(void)
{
    int waiting = 0;
    CHECK_EQUAL(ay_look(test_space, NULL, count_waiting, &waiting), 0);
    return waiting;
}

static void test_arrival(const char *protocol)
{
    struct board *board = shared_memory(sizeof *board);
    ay_space *space = open_space(protocol);
    ay_region *holder = open_region(space, (ay_spec){.name = "x"});
    int asks[SLEEPERS][2];
    pid_t pids[SLEEPERS];
    for (int me = 0; me < SLEEPERS; me++) {
        CHECK_EQUAL(pipe(asks[me]), 0);
        pids[me] = spawn();
        if (pids[me] == 0) {
            char byte;
            ay_region *region = open_region(open_space(protocol), (ay_spec){.name = "x"});
            while (read(asks[me][0], &byte, 1) == 1 && byte != 'q') {
                CHECK_EQUAL(ay_enter(region), 0);
                atomic_store(&board->order[atomic_fetch_add(&board->next, 1)], me);
                CHECK_EQUAL(ay_leave(region), 0);
            }
            _exit(0);
        }
    }
    for (int round = 0; round < ROUNDS; round++) {
        atomic_store(&board->next, 0);
        CHECK_EQUAL(ay_enter(holder), 0);
        for (int at = 0; at < SLEEPERS; at++) {
            const int me = (at * 3 + round) % SLEEPERS; /* not always in order of their places */
            CHECK_EQUAL(write(asks[me][1], "e", 1), 1);
            AWAIT_TRUE(waiting_now() == at + 1);
        }
        CHECK_EQUAL(ay_leave(holder), 0);
        CHECK_EQUAL(ay_enter(holder), 0); /* the re-locker: behind all of them */
        CHECK_EQUAL(atomic_load(&board->next), SLEEPERS);
        for (int at = 0; at < SLEEPERS; at++)
            CHECK_EQUAL(atomic_load(&board->order[at]), (at * 3 + round) % SLEEPERS);
        CHECK_EQUAL(ay_leave(holder), 0);
    }
    for (int me = 0; me < SLEEPERS; me++) {
        CHECK_EQUAL(write(asks[me][1], "q", 1), 1);
        expect_success(pids[me]);
    }
    ay_close(space);
    unlink(test_space);
}

/* Readers that overlap without a gap; the writer gets in all the same. */
static void test_writer_among_readers(void)
{
    struct board *board = shared_memory(sizeof *board);
    pid_t pids[4];
    for (int at = 0; at < 4; at++) {
        pids[at] = spawn();
        if (pids[at] == 0) {
            ay_region *region =
                open_region(open_space(NULL), (ay_spec){.name = "x", .mode = AY_SHARED});
            while (!atomic_load(&board->stop)) {
                CHECK_EQUAL(ay_enter(region), 0);
                CHECK(!atomic_load(&board->writer));
                sleep_ms(3);
                CHECK_EQUAL(ay_leave(region), 0);
                atomic_fetch_add(&board->passages, 1);
            }
            _exit(0);
        }
    }
    AWAIT_TRUE(atomic_load(&board->passages) > 8);
    ay_space *space = open_space(NULL);
    ay_region *writer = open_region(space, (ay_spec){.name = "x"});
    for (int times = 0; times < 50; times++) {
        /* if they could pass it for ever, they would */
        CHECK_EQUAL(ay_enter_for(writer, PATIENCE_MS), 0);
        atomic_store(&board->writer, 1);
        atomic_store(&board->writer, 0);
        CHECK_EQUAL(ay_leave(writer), 0);
    }
    atomic_store(&board->stop, 1);
    for (int at = 0; at < 4; at++)
        expect_success(pids[at]);
    ay_close(space);
    unlink(test_space);
}

/* Asleep behind a holder, they enter by precedence: the order in which the specs are to come is
 * told by `rank`. */
static void test_precedence(ay_precedence precedence, const ay_spec *specs, const int *rank,
                            int count)
{
    struct board *board = shared_memory(sizeof *board);
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.precedence = precedence}, &space), 0);
    ay_region *holder = open_region(space, (ay_spec){.name = "x", .priority = 100});
    CHECK_EQUAL(ay_enter(holder), 0);
    pid_t pids[8];
    for (int me = 0; me < count; me++) {
        pids[me] = spawn();
        if (pids[me] == 0) {
            ay_space *own;
            CHECK_EQUAL(ay_open(test_space, NULL, &own), 0);
            ay_region *region = open_region(own, specs[me]);
            CHECK_EQUAL(ay_enter(region), 0);
            atomic_store(&board->order[atomic_fetch_add(&board->next, 1)], me);
            sleep_ms(5);
            CHECK_EQUAL(ay_leave(region), 0);
            _exit(0);
        }
        AWAIT_TRUE(waiting_now() == me + 1);
    }
    CHECK_EQUAL(ay_leave(holder), 0);
    for (int me = 0; me < count; me++)
        expect_success(pids[me]);
    for (int at = 0; at < count; at++)
        CHECK_EQUAL(atomic_load(&board->order[at]), rank[at]);
    ay_close(space);
    unlink(test_space);
}

int main(void)
{
    begin_test("order");
    test_arrival("courtesy");
    test_arrival("bakery");
    test_writer_among_readers();
    static const ay_spec priorities[] = {{.name = "x", .priority = 1},
                                         {.name = "x", .priority = 5},
                                         {.name = "x", .priority = -3},
                                         {.name = "x", .priority = 5}};
    test_precedence(AY_BY_PRIORITY, priorities, (const int[]){1, 3, 0, 2}, 4);
    static const ay_spec mixed[] = {{.name = "x", .mode = AY_SHARED}, {.name = "x"}, {.name = "x"}};
    test_precedence(AY_WRITERS_FIRST, mixed, (const int[]){1, 2, 0}, 3);
    static const ay_spec other[] = {{.name = "x"}, {.name = "x"}, {.name = "x", .mode = AY_SHARED}};
    test_precedence(AY_READERS_FIRST, other, (const int[]){2, 0, 1}, 3);
    return 0;
}
