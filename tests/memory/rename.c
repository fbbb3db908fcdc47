/* SPDX-License-Identifier: MIT */
/* ay_region_rename: from then on the region is one of its new name, for all that others find out:
 * who is inside, whose turn it is, fences, deaths; and none of its old one. */
#include <pthread.h>

#include "harness.h"

static void pass(ay_region *region)
{
    CHECK(ay_enter(region) >= 0);
    CHECK_EQUAL(ay_leave(region), 0);
}

static ay_region *open_named(ay_space *space, const char *name)
{
    return open_region(space, (ay_spec){.name = name});
}

static int find_name(const ay_place *place, void *names)
{
    if (place->alive)
        strcat(strcat(names, place->names[0]), " ");
    return 0;
}

static void test_meets(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *one = open_named(space, "a"), *two = open_named(space, "b"),
              *three = open_named(space, "a");
    char names[64] = "";
    for (int times = 0; times < 100; times++) {
        pass(one);
        pass(two);
    }
    CHECK_EQUAL(ay_enter(two), 0);
    CHECK_EQUAL(ay_try(one), 0); /* of different names */
    CHECK_EQUAL(ay_leave(one), 0);
    CHECK_EQUAL(ay_region_rename(one, "b"), 0);
    CHECK_EQUAL(ay_try(one), -EBUSY);
    CHECK_EQUAL(ay_try(three), 0);
    CHECK_EQUAL(ay_leave(three), 0);
    const uint64_t fence = ay_fence(two);
    CHECK_EQUAL(ay_leave(two), 0);
    CHECK_EQUAL(ay_enter(one), 0);
    CHECK(ay_fence(one) > fence);
    CHECK_EQUAL(ay_try(two), -EBUSY);
    CHECK_EQUAL(ay_leave(one), 0);
    CHECK_EQUAL(ay_look(test_space, NULL, find_name, names), 0);
    CHECK(strcmp(names, "b b a ") == 0);
    /* and back: those that it knew as rivals are rivals again */
    CHECK_EQUAL(ay_region_rename(one, "a"), 0);
    CHECK_EQUAL(ay_enter(three), 0);
    CHECK_EQUAL(ay_try(one), -EBUSY);
    CHECK_EQUAL(ay_try(two), 0);
    CHECK_EQUAL(ay_leave(two), 0);
    CHECK_EQUAL(ay_leave(three), 0);
    pass(one);
    ay_close(space);
}

/* Fences of a name never go back, whichever place draws them. */
static void test_fences(void)
{
    enum { NAMES = 5, ROUNDS = 2000 };
    uint64_t fences[NAMES] = {0};
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *regions[] = {open_named(space, "0"), open_named(space, "1")};
    srand(7);
    for (int round = 0; round < ROUNDS; round++) {
        ay_region *region = regions[round % 2];
        const int which = rand() % NAMES;
        const char name[] = {(char)('0' + which), '\0'};
        CHECK_EQUAL(ay_region_rename(region, name), 0);
        for (int times = rand() % 4; times >= 0; times--) {
            CHECK_EQUAL(ay_enter(region), 0);
            CHECK(ay_fence(region) > fences[which]);
            fences[which] = ay_fence(region);
            CHECK_EQUAL(ay_leave(region), 0);
        }
    }
    ay_close(space);
}

static bool rename_meanwhile(void *region)
{
    CHECK_EQUAL(ay_region_rename(region, "b"), -EBUSY);
    return true;
}

static void *wait_inside(void *region)
{
    CHECK_EQUAL(ay_enter(region), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    return NULL;
}

static int count_waiting(const ay_place *place, void *count)
{
    *(int *)count += place->state == AY_WAITING;
    return 0;
}

static bool somebody_waits(void)
{
    int count = 0;
    CHECK_EQUAL(ay_look(test_space, NULL, count_waiting, &count), 0);
    return count > 0;
}

static void test_refusals(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    char longest[AY_NAME_MOST + 2];
    memset(longest, 'n', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    ay_region *one = open_named(space, "a"), *two = open_named(space, "a"),
              *slots = open_region(space, (ay_spec){.name = "slots", .slots = 2}),
              *several =
                  open_region(space, (ay_spec){.name = "c", .also = (const char *[]){"d", NULL}});
    CHECK_EQUAL(ay_enter(one), 0);
    CHECK_EQUAL(ay_region_rename(one, "b"), -EBUSY);
    CHECK(strstr(ay_message(), "leave"));
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, wait_inside, two), 0);
    AWAIT_TRUE(somebody_waits());
    CHECK_EQUAL(ay_region_rename(two, "b"), -EBUSY);
    CHECK_EQUAL(ay_leave(one), 0);
    pthread_join(thread, NULL);
    CHECK_EQUAL(ay_enter_when(one, rename_meanwhile, one, -1), 0);
    CHECK_EQUAL(ay_leave(one), 0);
    CHECK_EQUAL(ay_region_rename(one, ""), -EINVAL);
    CHECK_EQUAL(ay_region_rename(one, NULL), -EINVAL);
    CHECK_EQUAL(ay_region_rename(one, longest), -EINVAL);
    CHECK_EQUAL(ay_region_rename(one, "slots"), -EINVAL);
    CHECK(strstr(ay_message(), "2 slots"));
    CHECK_EQUAL(ay_region_rename(slots, "a"), -EINVAL);
    CHECK_EQUAL(ay_region_rename(several, "e"), -ENOTSUP);
    CHECK_EQUAL(ay_enter(one), 0); /* still what it was */
    CHECK_EQUAL(ay_try(two), -EBUSY);
    CHECK_EQUAL(ay_leave(one), 0);
    CHECK_EQUAL(ay_region_rename(slots, "more slots"), 0);
    CHECK_EQUAL(ay_region_rename(one, "slots"), 0); /* nobody else has it now */
    const pid_t child = spawn();
    if (child == 0) {
        CHECK_EQUAL(ay_region_rename(one, "b"), -EPERM);
        _exit(0);
    }
    expect_success(child);
    ay_close(space);
    unlink(test_space);
    space = open_space("bakery");
    CHECK_EQUAL(ay_region_rename(open_named(space, "a"), "b"), -ENOTSUP);
    ay_close(space);
}

/* One is renamed to and fro while another opens its name, with other slots: it is refused for its
 * slots, or not at all. */
static void test_disagreement_meanwhile(void)
{
    enum { OPENINGS = 4000 };
    unlink(test_space);
    ay_space *space = open_space(NULL);
    const pid_t child = spawn();
    if (child == 0) {
        ay_region *region = open_named(open_space(NULL), "free");
        for (;;) {
            const int there = ay_region_rename(region, "n");
            CHECK(there == 0 || there == -EINVAL);
            const int back = ay_region_rename(region, "free");
            CHECK(back == 0 || back == -EINVAL);
        }
    }
    for (int times = 0; times < OPENINGS; times++) {
        ay_region *region;
        const int result = ay_region_open(space, &(ay_spec){.name = "n", .slots = 2}, &region);
        CHECK(result == 0 || result == -EINVAL);
        if (result == 0)
            ay_region_close(region);
        else
            CHECK(strstr(ay_message(), "slots"));
    }
    CHECK_EQUAL(kill(child, SIGKILL), 0);
    CHECK_EQUAL(waitpid(child, NULL, 0), child);
    ay_close(space);
}

/* What is retained is given back: others of the old name need not recall it. */
static void test_retained(void)
{
    unlink(test_space);
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = 1}, &space), 0);
    ay_region *one = open_named(space, "a"), *two = open_named(space, "a");
    for (int times = 0; times < 3000; times++)
        pass(one);
    CHECK_EQUAL(ay_region_rename(one, "b"), 0);
    CHECK_EQUAL(ay_try(two), 0);
    CHECK_EQUAL(ay_try(one), 0);
    CHECK_EQUAL(ay_leave(one), 0);
    CHECK_EQUAL(ay_leave(two), 0);
    for (int times = 0; times < 3000; times++)
        pass(one);
    CHECK_EQUAL(ay_region_rename(one, "a"), 0);
    CHECK_EQUAL(ay_enter(one), 0);
    CHECK_EQUAL(ay_try(two), -EBUSY);
    CHECK_EQUAL(ay_leave(one), 0);
    ay_close(space);
}

/* ---- many that lock now this record, now that, and are killed ---- */

enum { ACTORS = 4, RECORDS = 3, KILLS = 150 };

struct ledger {
    _Atomic int inside[RECORDS];
    _Atomic uint64_t passages, fence[RECORDS];
};

static _Noreturn void lock_records(struct ledger *ledger, unsigned seed)
{
    ay_region *region = open_named(open_space(NULL), "0");
    for (;;) {
        const unsigned record = (unsigned)rand_r(&seed) % RECORDS;
        const char name[] = {(char)('0' + record), '\0'};
        CHECK_EQUAL(ay_region_rename(region, name), 0);
        const int result = ay_enter_for(region, PATIENCE_MS);
        CHECK(result >= 0);
        /* who died inside has left its pid there */
        const int before = atomic_exchange(&ledger->inside[record], (int)getpid());
        CHECK(before == 0 || result == AY_AFTER_DEATH);
        CHECK(ay_fence(region) > atomic_load(&ledger->fence[record]));
        atomic_store(&ledger->fence[record], ay_fence(region));
        CHECK_EQUAL(atomic_exchange(&ledger->inside[record], 0), (int)getpid());
        CHECK_EQUAL(ay_leave(region), 0);
        atomic_fetch_add(&ledger->passages, 1);
    }
}

static void test_storm(void)
{
    struct ledger *ledger = shared_memory(sizeof *ledger);
    pid_t actors[ACTORS];
    unlink(test_space);
    ay_close(open_space(NULL));
    for (unsigned at = 0; at < ACTORS; at++)
        if ((actors[at] = spawn()) == 0)
            lock_records(ledger, at);
    for (unsigned kills = 0; kills < KILLS; kills++) {
        const uint64_t passages = atomic_load(&ledger->passages);
        const unsigned at = kills % ACTORS;
        AWAIT_TRUE(atomic_load(&ledger->passages) > passages + 100);
        kill(actors[at], SIGKILL);
        CHECK(WIFSIGNALED(await_exit(actors[at])));
        if ((actors[at] = spawn()) == 0)
            lock_records(ledger, ACTORS + kills);
    }
    for (unsigned at = 0; at < ACTORS; at++)
        kill_and_reap(actors[at]);
}

int main(void)
{
    begin_test("rename");
    test_meets();
    test_fences();
    test_refusals();
    test_disagreement_meanwhile();
    test_retained();
    test_storm();
    return 0;
}
