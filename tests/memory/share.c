/* SPDX-License-Identifier: MIT */
/* ay_share: a region that two processes hold is free when both have gone, or when the last one says
 * so. */
#include "harness.h"

struct pair {
    pid_t holder, second;
    int ready;   /* a byte comes when the holder is inside and the second holds the copy */
    int dismiss; /* closed: the second is to end, and to tell */
};

/* By what the second holds: its copy of the descriptor, or a mapping made through it. */
enum hold { BY_DESCRIPTOR, BY_MAPPING };

/* Keeps its copy until it is dismissed. */
static void be_second(int share, void *mapping, int dismiss)
{
    char byte;
    ay_space *space;
    while (read(dismiss, &byte, 1) < 0)
        continue;
    CHECK_EQUAL(mapping ? munmap(mapping, 1) : close(share), 0);
    CHECK_EQUAL(ay_open(test_space, NULL, &space), 0);
    CHECK(ay_repair(space) >= 0);
    _exit(0);
}

static void be_holder(const int *ready, const int *dismiss, enum hold by, bool unshare)
{
    ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_share(region), -EPERM); /* not inside */
    CHECK(ay_enter(region) >= 0);
    const int share = ay_share(region);
    CHECK(share > STDERR_FILENO);
    void *mapping = by == BY_MAPPING ? mmap(NULL, 1, PROT_NONE, MAP_SHARED, share, 0) : NULL;
    CHECK(mapping != MAP_FAILED);
    if (mapping)
        CHECK_EQUAL(close(share), 0);
    const pid_t second = fork();
    if (second == 0) {
        close(dismiss[1]);
        be_second(share, mapping, dismiss[0]);
    }
    if (!mapping)
        CHECK_EQUAL(close(share), 0);
    if (unshare)
        CHECK_EQUAL(ay_unshare(region), 0);
    CHECK_EQUAL(write(ready[1], &second, sizeof second), (ssize_t)sizeof second);
    for (;;)
        pause();
}

/* The second becomes this process's child when the holder is gone. */
static struct pair start_pair(enum hold by, bool unshare)
{
    int ready[2], dismiss[2];
    struct pair pair;
    CHECK_EQUAL(pipe(ready) | pipe(dismiss), 0);
    pair.holder = fork();
    if (pair.holder == 0)
        be_holder(ready, dismiss, by, unshare);
    close(ready[1]);
    close(dismiss[0]);
    CHECK_EQUAL(read(ready[0], &pair.second, sizeof pair.second), (ssize_t)sizeof pair.second);
    pair.ready = ready[0];
    pair.dismiss = dismiss[1];
    return pair;
}

static void finish(struct pair *pair)
{
    close(pair->ready);
    close(pair->dismiss);
}

/* As ay_look() has it. */
static int count_inside(const ay_place *place, void *arg)
{
    *(unsigned *)arg += place->state == AY_INSIDE;
    return 0;
}

static unsigned inside(void)
{
    unsigned count = 0;
    CHECK_EQUAL(ay_look(test_space, NULL, count_inside, &count), 0);
    return count;
}

static void test_the_second_holds(ay_region *region, enum hold by)
{
    struct pair pair = start_pair(by, false);
    kill_and_reap(pair.holder);
    CHECK_EQUAL(ay_try(region), -EBUSY);
    /* long enough to doubt that somebody holds it */
    CHECK_EQUAL(ay_enter_for(region, 600), -ETIMEDOUT);
    CHECK_EQUAL(inside(), 1);
    close(pair.dismiss);
    CHECK_EQUAL(ay_enter(region), AY_AFTER_DEATH);
    CHECK_EQUAL(ay_leave(region), 0);
    CHECK_EQUAL(waitpid(pair.second, NULL, 0), pair.second);
    close(pair.ready);
}

static void test_the_first_holds(ay_region *region, enum hold by)
{
    struct pair pair = start_pair(by, false);
    kill(pair.second, SIGKILL);
    CHECK_EQUAL(ay_enter_for(region, 600), -ETIMEDOUT);
    kill_and_reap(pair.holder);
    CHECK_EQUAL(waitpid(pair.second, NULL, 0), pair.second);
    CHECK_EQUAL(ay_enter(region), AY_AFTER_DEATH); /* nobody told: whoever waits notices */
    CHECK_EQUAL(ay_leave(region), 0);
    finish(&pair);
}

/* Both die, and nobody waits: whoever tries notices, and whoever looks. */
static void test_nobody_holds(ay_region *region, enum hold by)
{
    struct pair pair = start_pair(by, false);
    kill_and_reap(pair.holder);
    kill_and_reap(pair.second);
    CHECK_EQUAL(inside(), 0);
    CHECK_EQUAL(ay_try(region), AY_AFTER_DEATH);
    CHECK_EQUAL(ay_leave(region), 0);
    finish(&pair);
}

static void test_unshared(ay_region *region)
{
    struct pair pair = start_pair(BY_DESCRIPTOR, true);
    CHECK_EQUAL(ay_try(region), -EBUSY);
    kill_and_reap(pair.holder);
    CHECK_EQUAL(ay_enter(region), AY_AFTER_DEATH);
    CHECK_EQUAL(ay_leave(region), 0);
    kill_and_reap(pair.second);
    finish(&pair);
}

/* What one prepares with: a second process that has a copy before the region is entered. */
struct early {
    ay_region *region;
    const int *dismiss;
    pid_t second;
};

static void prepare_second(void *arg)
{
    struct early *early = arg;
    const int share = ay_share(early->region);
    CHECK(share > STDERR_FILENO);
    early->second = fork();
    if (early->second == 0) {
        close(early->dismiss[1]);
        be_second(share, NULL, early->dismiss[0]);
    }
    CHECK_EQUAL(close(share), 0);
}

static void be_early(const int *ready, const int *dismiss, bool share)
{
    struct early early = {.region = open_region(open_space(NULL), (ay_spec){.name = "x"}),
                          .dismiss = dismiss};
    CHECK_EQUAL(ay_prepare(early.region, prepare_second, &early), 0);
    CHECK(ay_enter(early.region) >= 0);
    if (share)
        CHECK_EQUAL(close(ay_share(early.region)), 0);
    CHECK_EQUAL(write(ready[1], &early.second, sizeof early.second), (ssize_t)sizeof early.second);
    for (;;)
        pause();
}

/* A copy that was made before shares nothing by itself: the kernel tells of the death at once.
 * Shared, it counts as any other. */
static void test_a_copy_before(ay_region *region, bool share)
{
    int ready[2], dismiss[2];
    struct pair pair;
    CHECK_EQUAL(pipe(ready) | pipe(dismiss), 0);
    CHECK(ay_enter(region) >= 0);
    pair.holder = fork();
    if (pair.holder == 0)
        be_early(ready, dismiss, share);
    close(dismiss[0]);
    AWAIT_TRUE(ay_wanted(region) == 1);
    sleep_ms(50); /* until it sleeps: it prepares before */
    CHECK_EQUAL(ay_leave(region), 0);
    CHECK_EQUAL(read(ready[0], &pair.second, sizeof pair.second), (ssize_t)sizeof pair.second);
    CHECK(pair.second > 0);
    kill_and_reap(pair.holder);
    if (share)
        CHECK_EQUAL(ay_enter_for(region, 600), -ETIMEDOUT);
    else
        CHECK_EQUAL(ay_try(region), AY_AFTER_DEATH);
    close(dismiss[1]);
    if (share)
        CHECK_EQUAL(ay_enter(region), AY_AFTER_DEATH);
    CHECK_EQUAL(ay_leave(region), 0);
    CHECK_EQUAL(waitpid(pair.second, NULL, 0), pair.second);
    close(ready[0]);
    close(ready[1]);
}

int main(void)
{
    begin_test("share");
    CHECK_EQUAL(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    for (enum hold by = BY_DESCRIPTOR; by <= BY_MAPPING; by++) {
        test_the_second_holds(region, by);
        test_the_first_holds(region, by);
        test_nobody_holds(region, by);
    }
    test_unshared(region);
    test_a_copy_before(region, false);
    test_a_copy_before(region, true);
    CHECK_EQUAL(ay_try(region), 0);
    ay_close(space);
    return 0;
}
