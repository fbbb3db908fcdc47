/* SPDX-License-Identifier: MIT */
/* Conversion: entering in a weaker mode than the spec's, and changing the mode inside. */
#include <pthread.h>

#include "harness.h"

static void expect(int result, int expected, const char *words)
{
    if (result != expected || !strstr(ay_message(), words))
        FAIL("%d '%s', not %d '…%s…'", result, ay_message(), expected, words);
}

static const char together[6][7] = {".....+", ".+..++", "....++", "...+++", ".+++++", "++++++"};

/* The matrix of the header, among regions that may all be exclusive; entered so, and converted. */
static void test_matrix(bool convert)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *a = open_region(space, (ay_spec){.name = "x"}),
              *b = open_region(space, (ay_spec){.name = "x"}),
              *plain = open_region(space, (ay_spec){.name = "x"});
    for (int one = AY_EXCLUSIVE; one <= AY_NULL; one++)
        for (int other = AY_EXCLUSIVE; other <= AY_NULL; other++) {
            CHECK_EQUAL(ay_enter_as(a, convert ? AY_EXCLUSIVE : (ay_mode)one, 0), 0);
            CHECK_EQUAL(ay_convert(a, (ay_mode)one, 0), 0);
            CHECK_EQUAL(ay_enter_as(b, convert ? AY_NULL : (ay_mode)other, 0),
                        convert || together[one][other] == '+' ? 0 : -ETIMEDOUT);
            if (convert)
                CHECK_EQUAL(ay_convert(b, (ay_mode)other, 0),
                            together[one][other] == '+' ? 0 : -ETIMEDOUT);
            CHECK_EQUAL(ay_leave(a), 0);
            if (convert || together[one][other] == '+')
                CHECK_EQUAL(ay_leave(b), 0);
            /* nothing of it is left behind */
            CHECK_EQUAL(ay_try(plain), 0);
            CHECK_EQUAL(ay_try(a), -EBUSY);
            CHECK_EQUAL(ay_leave(plain), 0);
            CHECK_EQUAL(ay_enter(a), 0);
            expect(ay_enter_as(b, AY_SHARED, 0), -ETIMEDOUT, "0 ms");
            CHECK_EQUAL(ay_leave(a), 0);
        }
    ay_close(space);
}

/* A fence stays when the passage becomes weaker, and is a new one once it is stronger. */
static void test_fences(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *a = open_region(space, (ay_spec){.name = "x"}),
              *b = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(a), 0);
    const uint64_t first = ay_fence(a);
    CHECK_EQUAL(ay_convert(a, AY_SHARED, -1), 0);
    CHECK_EQUAL(ay_fence(a), first);
    CHECK_EQUAL(ay_enter_as(b, AY_SHARED, -1), 0);
    const uint64_t second = ay_fence(b);
    CHECK(second > first);
    expect(ay_convert(a, AY_EXCLUSIVE, 20), -ETIMEDOUT, "stays");
    CHECK_EQUAL(ay_fence(a), first);
    CHECK_EQUAL(ay_leave(b), 0);
    CHECK_EQUAL(ay_convert(a, AY_EXCLUSIVE, -1), 0);
    const uint64_t third = ay_fence(a);
    CHECK(third > second);
    CHECK_EQUAL(ay_convert(a, AY_EXCLUSIVE, 0), 0); /* it has it */
    CHECK_EQUAL(ay_fence(a), third);
    CHECK_EQUAL(ay_leave(a), 0);
    CHECK_EQUAL(ay_enter(b), 0);
    CHECK(ay_fence(b) > third);
    ay_close(space);
}

static void test_bad_use(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *any = open_region(space, (ay_spec){.name = "x"}),
              *shared = open_region(space, (ay_spec){.name = "x", .mode = AY_SHARED}),
              *slots = open_region(space, (ay_spec){.name = "slots", .slots = 2}),
              *units = open_region(space, (ay_spec){.name = "units", .take = 1, .of = 2});
    expect(ay_convert(any, AY_SHARED, 0), -EPERM, "not inside");
    expect(ay_enter_as(any, (ay_mode)6, 0), -EINVAL, "mode 6");
    expect(ay_enter_as(shared, AY_EXCLUSIVE, 0), -EINVAL, "opened as shared");
    expect(ay_enter_as(shared, AY_CONCURRENT_WRITE, 0), -EINVAL, "opened as shared");
    CHECK_EQUAL(ay_enter_as(shared, AY_CONCURRENT_READ, 0), 0);
    expect(ay_convert(shared, AY_EXCLUSIVE, 0), -EINVAL, "cannot become exclusive");
    expect(ay_convert(shared, (ay_mode)-1, 0), -EINVAL, "mode -1");
    CHECK_EQUAL(ay_leave(shared), 0);
    expect(ay_enter_as(slots, AY_SHARED, 0), -ENOTSUP, "slots");
    expect(ay_enter_as(units, AY_SHARED, 0), -ENOTSUP, "units");
    CHECK_EQUAL(ay_enter_as(slots, AY_EXCLUSIVE, 0), 0);
    expect(ay_convert(slots, AY_SHARED, 0), -ENOTSUP, "slots");
    CHECK_EQUAL(ay_enter_as(any, AY_SHARED, 0), 0);
    expect(ay_enter_as(any, AY_SHARED, 0), -EDEADLK, "already");
    const pid_t child = spawn();
    if (child == 0) {
        CHECK_EQUAL(ay_convert(any, AY_EXCLUSIVE, 0), -EPERM);
        CHECK_EQUAL(ay_enter_as(any, AY_SHARED, 0), -EPERM);
        _exit(0);
    }
    expect_success(child);
    CHECK_EQUAL(ay_convert(any, AY_EXCLUSIVE, 0), 0);
    ay_close(space);
    static const char *const others[] = {"bakery", "region"};
    for (unsigned at = 0; at < 2; at++) {
        unlink(test_space);
        space = open_space(others[at]);
        any = open_region(space, (ay_spec){.name = "x"});
        expect(ay_enter_as(any, AY_SHARED, 0), -ENOTSUP, others[at]);
        CHECK_EQUAL(ay_enter_as(any, AY_EXCLUSIVE, 0), 0);
        expect(ay_convert(any, AY_SHARED, 0), -ENOTSUP, others[at]);
        ay_close(space);
    }
    unlink(test_space);
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.retain = 1}, &space), 0);
    any = open_region(space, (ay_spec){.name = "x"});
    expect(ay_enter_as(any, AY_SHARED, 0), -ENOTSUP, "retain");
    ay_close(space);
}

/* With ay_spec.reentrant: what the present mode includes is counted, and no more. */
static void test_reentrant(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *counts = open_region(space, (ay_spec){.name = "x", .reentrant = 1});
    CHECK_EQUAL(ay_enter_as(counts, AY_SHARED, -1), 0);
    CHECK_EQUAL(ay_enter_as(counts, AY_CONCURRENT_READ, -1), 0);
    expect(ay_enter(counts), -EDEADLK, "converted");
    CHECK_EQUAL(ay_convert(counts, AY_EXCLUSIVE, -1), 0);
    CHECK_EQUAL(ay_enter(counts), 0);
    for (int times = 0; times < 3; times++)
        CHECK_EQUAL(ay_leave(counts), 0);
    expect(ay_leave(counts), -EPERM, "not inside");
    ay_close(space);
}

static void *convert_too(void *region)
{
    expect(ay_convert(region, AY_SHARED, 0), -EPERM, "another thread");
    return NULL;
}

struct story {
    _Atomic int step[4]; /* of each child, as far as it has come */
    _Atomic uint64_t fence;
};

enum { BEGUN = 1, INSIDE, DONE };

static struct story *story;

static pid_t start(unsigned who, int (*tale)(ay_region *region))
{
    atomic_store(&story->step[who], 0);
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_space *space = open_space(NULL);
        ay_region *region = open_region(space, (ay_spec){.name = "x"});
        atomic_store(&story->step[who], BEGUN);
        const int result = tale(region);
        atomic_store(&story->step[who], DONE);
        _exit(result);
    }
    return pid;
}

static int enter_shared(ay_region *region)
{
    return ay_enter_as(region, AY_SHARED, PATIENCE_MS) != 0;
}

static int enter_and_upgrade(ay_region *region)
{
    CHECK_EQUAL(ay_enter_as(region, AY_SHARED, PATIENCE_MS), 0);
    atomic_store(&story->step[0], INSIDE);
    const int result = ay_convert(region, AY_EXCLUSIVE, PATIENCE_MS);
    if (result < 0)
        FAIL("%d: %s", result, ay_message());
    atomic_store(&story->fence, ay_fence(region));
    return result;
}

struct counts {
    unsigned waiting, inside, upgrading;
    bool exclusive; /* somebody is so */
};

static int count(const ay_place *place, void *to)
{
    struct counts *counts = to;
    counts->waiting += place->state == AY_WAITING;
    counts->inside += place->state == AY_INSIDE;
    counts->upgrading += place->state == AY_INSIDE && place->wants != place->mode;
    counts->exclusive |= place->state == AY_INSIDE && place->mode == AY_EXCLUSIVE;
    if (place->state == AY_INSIDE && place->wants != place->mode)
        CHECK(place->wants == AY_EXCLUSIVE && place->mode == AY_SHARED);
    return 0;
}

static struct counts look(void)
{
    struct counts counts = {0};
    CHECK_EQUAL(ay_look(test_space, NULL, count, &counts), 0);
    return counts;
}

/* One waits for a stronger mode, behind which newcomers wait; another that wants the same is
 * refused at once, and keeps what it has. */
static void test_upgrade(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *mine = open_region(space, (ay_spec){.name = "x"}),
              *newcomer = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter_as(mine, AY_SHARED, -1), 0);
    CHECK_EQUAL(ay_wanted(mine), 0);
    const pid_t first = start(0, enter_and_upgrade);
    AWAIT_TRUE(look().upgrading == 1);
    AWAIT_TRUE(ay_wanted(mine) == 1);
    CHECK(look().inside == 2 && !look().exclusive);
    expect(ay_enter_as(newcomer, AY_SHARED, 0), -ETIMEDOUT, "0 ms");
    const pid_t second = start(1, enter_shared);
    AWAIT_TRUE(look().waiting == 1);
    expect(ay_convert(mine, AY_EXCLUSIVE, -1), -EDEADLK, "goes first");
    expect(ay_convert(mine, AY_EXCLUSIVE, 0), -EDEADLK, "goes first");
    const uint64_t fence = ay_fence(mine);
    CHECK_EQUAL(ay_convert(mine, AY_CONCURRENT_READ, 0), 0); /* it still excludes the other */
    CHECK(look().upgrading == 1);
    CHECK_EQUAL(ay_convert(mine, AY_NULL, 0), 0); /* it no longer does */
    expect_success(first);
    CHECK(atomic_load(&story->fence) > fence);
    const int status = await_exit(second); /* the first has ended inside */
    CHECK(WIFEXITED(status));
    ay_close(space);
}

/* Those who wait for the exclusive one are let in, together, when it becomes weaker; one behind
 * another too. */
static int share_until_all_are_inside(ay_region *region)
{
    CHECK_EQUAL(ay_enter_as(region, AY_SHARED, PATIENCE_MS), 0);
    atomic_fetch_add(&story->step[3], 1);
    AWAIT_TRUE(atomic_load(&story->step[3]) == 3);
    return ay_leave(region);
}

static void test_downgrade(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *mine = open_region(space, (ay_spec){.name = "x"});
    pid_t readers[3];
    CHECK_EQUAL(ay_enter(mine), 0);
    atomic_store(&story->step[3], 0);
    for (unsigned at = 0; at < 3; at++) {
        readers[at] = start(at, share_until_all_are_inside);
        AWAIT_TRUE(look().waiting == at + 1);
    }
    CHECK_EQUAL(ay_wanted(mine), 3);
    CHECK_EQUAL(ay_convert(mine, AY_SHARED, 0), 0);
    CHECK_EQUAL(ay_wanted(mine), 0);
    for (unsigned at = 0; at < 3; at++)
        expect_success(readers[at]);
    CHECK_EQUAL(ay_convert(mine, AY_EXCLUSIVE, PATIENCE_MS), 0);
    ay_close(space);
}

/* Whoever dies while it upgrades was inside; and who waits for one that dies goes on. */
static void test_deaths(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *mine = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter_as(mine, AY_SHARED, -1), 0);
    pid_t other = start(0, enter_and_upgrade);
    AWAIT_TRUE(look().upgrading == 1);
    kill_and_reap(other);
    CHECK_EQUAL(ay_convert(mine, AY_EXCLUSIVE, PATIENCE_MS), AY_AFTER_DEATH);
    CHECK_EQUAL(ay_convert(mine, AY_SHARED, 0), 0);
    CHECK_EQUAL(ay_leave(mine), 0);
    const pid_t holder = spawn();
    if (holder == 0) {
        ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
        CHECK_EQUAL(ay_enter_as(region, AY_SHARED, -1), 0);
        atomic_store(&story->step[1], INSIDE);
        for (;;)
            pause();
    }
    AWAIT_TRUE(atomic_load(&story->step[1]) == INSIDE);
    other = start(0, enter_and_upgrade);
    AWAIT_TRUE(look().upgrading == 1);
    kill_and_reap(holder);
    const int status = await_exit(other);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == AY_AFTER_DEATH);
    ay_close(space);
}

static int enter_both(ay_region *region)
{
    ay_region *other = open_region(open_space(NULL), (ay_spec){.name = "y"});
    CHECK_EQUAL(ay_enter_as(region, AY_SHARED, -1), 0);
    atomic_store(&story->step[0], INSIDE);
    const int result = ay_enter(other); /* which the one that upgrades is inside of */
    CHECK(result == 0 || result == -EDEADLK);
    return result == 0 ? 0 : 1;
}

/* A cycle through one that upgrades is found: one of the two is told. Likewise if what it upgrades
 * was asked for: it is the thread that waits now. */
static void test_deadlock(bool asks)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *mine = open_region(space, (ay_spec){.name = "x"}),
              *other = open_region(space, (ay_spec){.name = "y"});
    CHECK_EQUAL(ay_enter(other), 0);
    if (asks) {
        CHECK_EQUAL(ay_ask(mine), 0);
        CHECK_EQUAL(ay_convert(mine, AY_SHARED, 0), 0);
    } else {
        CHECK_EQUAL(ay_enter_as(mine, AY_SHARED, -1), 0);
    }
    const pid_t pid = start(0, enter_both);
    AWAIT_TRUE(atomic_load(&story->step[0]) == INSIDE);
    AWAIT_TRUE(look().waiting == 1);
    const int result = ay_convert(mine, AY_EXCLUSIVE, -1);
    CHECK(result >= 0 || result == -EDEADLK);
    ay_close(space);
    const int status = await_exit(pid);
    CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0) == (result == -EDEADLK));
}

static int note_thread(const ay_place *place, void *thread)
{
    if (strcmp(place->names[0], "x") == 0)
        *(uint64_t *)thread = place->thread;
    return 0;
}

static uint64_t thread_of_x(void)
{
    uint64_t thread = 0;
    CHECK_EQUAL(ay_look(test_space, NULL, note_thread, &thread), 0);
    return thread;
}

/* What was entered by an ask is held by no thread that might wait elsewhere, whatever mode it has
 * meanwhile; once it is entered without one, it is again. */
static void test_ask(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *mine = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(mine), 0);
    const uint64_t thread = thread_of_x();
    CHECK_EQUAL(ay_leave(mine), 0);
    CHECK_EQUAL(ay_ask(mine), 0);
    const uint64_t ask = thread_of_x();
    CHECK(ask != thread);
    CHECK_EQUAL(ay_convert(mine, AY_SHARED, 0), 0);
    CHECK_EQUAL(ay_convert(mine, AY_EXCLUSIVE, 0), 0);
    CHECK(thread_of_x() == ask);
    CHECK_EQUAL(ay_leave(mine), 0);
    CHECK_EQUAL(ay_enter(mine), 0);
    CHECK(thread_of_x() == thread);
    ay_close(space);
}

int main(void)
{
    begin_test("convert");
    story = shared_memory(sizeof *story);
    test_matrix(false);
    test_matrix(true);
    test_fences();
    test_bad_use();
    test_reentrant();
    {
        unlink(test_space);
        ay_space *space = open_space(NULL);
        ay_region *region = open_region(space, (ay_spec){.name = "x"});
        pthread_t thread;
        CHECK_EQUAL(ay_enter(region), 0);
        CHECK_EQUAL(pthread_create(&thread, NULL, convert_too, region), 0);
        CHECK_EQUAL(pthread_join(thread, NULL), 0);
        ay_close(space);
    }
    test_upgrade();
    test_downgrade();
    test_deaths();
    test_ask();
    test_deadlock(false);
    test_deadlock(true);
    return 0;
}
