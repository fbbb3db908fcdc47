/* SPDX-License-Identifier: MIT */
/* Retained permission: whoever was inside last goes in again by itself; another gets in all the
 * same, whatever the owner does: idle, busy, killed. */
#include "harness.h"

static ay_region *open_retaining(ay_space **space)
{
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = 1}, space), 0);
    return open_region(*space, (ay_spec){.name = "x"});
}

static void pass(ay_region *region, int times)
{
    for (int time = 0; time < times; time++) {
        CHECK_EQUAL(ay_enter(region), 0);
        CHECK_EQUAL(ay_leave(region), 0);
    }
}

struct board {
    _Atomic int ready, go, passages;
    volatile long count; /* not atomic: what is lost was done by two at once */
};

/* An owner with a retained permission, outside, or inside by it. */
static pid_t start_owner(struct board *board, bool inside)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_space *space;
        ay_region *region = open_retaining(&space);
        pass(region, 3);
        if (inside)
            CHECK_EQUAL(ay_enter(region), 0);
        atomic_store(&board->ready, 1);
        for (;;)
            pause();
    }
    AWAIT_TRUE(atomic_load(&board->ready));
    return pid;
}

static void test_options(void)
{
    unlink(test_space);
    ay_space *space, *other;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = 2}, &space), -EINVAL);
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = 1, .protocol = "bakery"}, &space),
                -ENOTSUP);
    CHECK_EQUAL(ay_open(test_space, NULL, &space), 0);
    /* made without */
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = 1}, &other), -EINVAL);
    ay_close(space);
    unlink(test_space);
    ay_view view;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = 1}, &space), 0);
    CHECK_EQUAL(ay_look(test_space, &view, NULL, NULL), 0);
    CHECK_EQUAL(view.retain, 1);
    ay_close(space);
}

/* The owner does nothing at all: its keeper answers. */
static void test_idle_owner(void)
{
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    const pid_t owner = start_owner(board, false);
    ay_space *space;
    ay_region *region = open_retaining(&space);
    CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    CHECK_EQUAL(ay_try(region), 0); /* now it is ours */
    CHECK_EQUAL(ay_enter(region), -EDEADLK);
    CHECK_EQUAL(ay_leave(region), 0);
    kill_and_reap(owner);
    ay_close(space);
}

/* Inside by its retained permission it cannot be recalled; killed there, the next one is told. */
static void test_busy_owner(void)
{
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    const pid_t owner = start_owner(board, true);
    ay_space *space;
    ay_region *region = open_retaining(&space);
    CHECK_EQUAL(ay_try(region), -EBUSY);
    CHECK_EQUAL(ay_enter_for(region, 300), -ETIMEDOUT);
    kill_and_reap(owner);
    CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), AY_AFTER_DEATH);
    CHECK_EQUAL(ay_leave(region), 0);
    ay_close(space);
}

/* Killed outside, it leaves nothing behind; stopped there, it keeps others out until it goes on:
 * this is what retaining costs. */
static void test_stopped_and_killed_owner(void)
{
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    pid_t owner = start_owner(board, false);
    ay_space *space;
    ay_region *region = open_retaining(&space);
    CHECK_EQUAL(kill(owner, SIGSTOP), 0);
    sleep_ms(50);
    CHECK_EQUAL(ay_enter_for(region, 300), -ETIMEDOUT);
    CHECK_EQUAL(kill(owner, SIGCONT), 0);
    CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    kill_and_reap(owner);
    atomic_store(&board->ready, 0);
    ay_close(space);

    owner = start_owner(board, false);
    region = open_retaining(&space);
    kill_and_reap(owner);
    CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    ay_close(space);
}

/* Whatever the owner does, who only tries comes back at once, and a deadline holds: on a busy
 * machine too, where one that gives its processor away gets it back late. The owner is stopped and
 * goes on, again and again. */
static void test_stopped_owner_on_a_busy_machine(void)
{
    enum { LOAD = 4, ROUNDS = 10, TRIES = 3, LIMIT_MS = 20 * 1000 };
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    pid_t load[LOAD];
    const pid_t owner = spawn();
    if (owner == 0) {
        ay_space *space;
        ay_region *region = open_retaining(&space);
        for (;;) {
            pass(region, 3);
            atomic_fetch_add(&board->passages, 3);
            sleep_ms(1);
        }
    }
    AWAIT_TRUE(atomic_load(&board->passages) > 0);
    ay_space *space;
    ay_region *region = open_retaining(&space);
    for (int which = 0; which < LOAD; which++) {
        load[which] = spawn();
        while (load[which] == 0)
            ;
    }
    int64_t spent = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const int before = atomic_load(&board->passages);
        AWAIT_TRUE(atomic_load(&board->passages) > before + 3); /* the permission is its own */
        CHECK_EQUAL(kill(owner, SIGSTOP), 0);
        const int64_t begin = now_ms();
        for (int time = 0; time < TRIES; time++) {
            const int result = time % 2 ? ay_enter_for(region, 5) : ay_try(region);
            CHECK(result == 0 || result == (time % 2 ? -ETIMEDOUT : -EBUSY));
            if (result == 0)
                CHECK_EQUAL(ay_leave(region), 0);
        }
        spent += now_ms() - begin;
        CHECK_EQUAL(kill(owner, SIGCONT), 0);
    }
    CHECK(spent < LIMIT_MS);
    CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    for (int which = 0; which < LOAD; which++)
        kill_and_reap(load[which]);
    kill_and_reap(owner);
    ay_close(space);
}

/* Permissions go back and forth all the time: nothing is lost, and fences grow. */
static void test_exclusion(void)
{
    enum { MEMBERS = 3, PASSAGES = 20000 };
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    _Atomic uint64_t *fence = shared_memory(sizeof *fence);
    pid_t members[MEMBERS];
    for (int which = 0; which < MEMBERS; which++) {
        members[which] = spawn();
        if (members[which] != 0)
            continue;
        ay_space *space;
        ay_region *region = open_retaining(&space);
        atomic_fetch_add(&board->ready, 1);
        AWAIT_TRUE(atomic_load(&board->ready) == MEMBERS);
        for (int time = 0; time < PASSAGES; time++) {
            CHECK(ay_enter(region) >= 0);
            board->count++;
            CHECK(ay_fence(region) > atomic_load(fence));
            atomic_store(fence, ay_fence(region));
            CHECK_EQUAL(ay_leave(region), 0);
            if (time % 4000 == 1000 * which) /* now and then one has it for itself */
                sleep_ms(2);
        }
        ay_close(space);
        _exit(0);
    }
    for (int which = 0; which < MEMBERS; which++)
        expect_success(members[which]);
    CHECK_EQUAL(board->count, MEMBERS * PASSAGES);
}

/* A process retains no more than its keeper can watch: what is beyond it is a plain region, and
 * nobody waits for it. */
static void test_many(void)
{
    enum { MANY = 103 };
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    static char names[MANY][8];
    for (int which = 0; which < MANY; which++)
        snprintf(names[which], sizeof names[which], "%d", which);
    const pid_t owner = spawn();
    if (owner == 0) {
        ay_space *space;
        CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = 1}, &space), 0);
        for (int which = 0; which < MANY; which++)
            pass(open_region(space, (ay_spec){.name = names[which]}), 3);
        atomic_store(&board->ready, 1);
        for (;;)
            pause();
    }
    AWAIT_TRUE(atomic_load(&board->ready));
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = 1}, &space), 0);
    for (int which = 0; which < MANY; which++) {
        ay_region *region = open_region(space, (ay_spec){.name = names[which]});
        CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS / 4), 0);
        ay_region_close(region);
    }
    kill_and_reap(owner);
    ay_close(space);
}

/* A condition, a child, and a second thread's handle: the short way is for plain passages of its
 * own process only. */
static bool is_set(void *flag)
{
    return atomic_load((_Atomic int *)flag) != 0;
}

static void test_other_ways(void)
{
    unlink(test_space);
    _Atomic int flag = 0;
    ay_space *space;
    ay_region *region = open_retaining(&space);
    pass(region, 3);
    CHECK_EQUAL(ay_enter_when(region, is_set, &flag, 50), -ETIMEDOUT);
    flag = 1;
    CHECK_EQUAL(ay_enter_when(region, is_set, &flag, 50), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    pass(region, 3);
    const pid_t child = spawn();
    if (child == 0) {
        CHECK_EQUAL(ay_enter(region), -EPERM);
        _exit(0);
    }
    expect_success(child);
    pass(region, 3);
    ay_close(space);
}

static bool is_never(void *unused)
{
    (void)unused;
    return false;
}

static int count_aside(const ay_place *place, void *count)
{
    *(unsigned *)count += place->alive && place->state == AY_WAITING;
    return 0;
}

/* Its permission was recalled by one that then stepped aside: whoever closes rouses that one, which
 * it has never done before. */
static void test_closes_beside_one_aside(void)
{
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    const pid_t owner = spawn();
    if (owner == 0) {
        ay_space *space;
        ay_region *region = open_retaining(&space);
        pass(region, 3);
        atomic_store(&board->ready, 1);
        AWAIT_TRUE(atomic_load(&board->go));
        ay_region_close(region);
        ay_close(space);
        _exit(0);
    }
    AWAIT_TRUE(atomic_load(&board->ready));
    const pid_t aside = spawn();
    if (aside == 0) {
        ay_space *space;
        ay_region *region = open_retaining(&space);
        ay_enter_when(region, is_never, NULL, -1);
        _exit(1);
    }
    for (unsigned waiting = 0; waiting == 0;) {
        sleep_ms(50);
        ay_look(test_space, NULL, count_aside, &waiting);
    }
    sleep_ms(200);
    atomic_store(&board->go, 1);
    expect_success(owner);
    kill_and_reap(aside);
}

int main(void)
{
    begin_test("retain");
    ay_space *space;
    if (ay_open(test_space, &(ay_options){.retain = 1}, &space) == -ENOTSUP) {
        fprintf(stderr, "SKIP: %s\n", ay_message());
        return SKIP;
    }
    ay_close(space);
    test_options();
    test_idle_owner();
    test_busy_owner();
    test_stopped_and_killed_owner();
    test_stopped_owner_on_a_busy_machine();
    test_exclusion();
    test_many();
    test_other_ways();
    test_closes_beside_one_aside();
    return 0;
}
