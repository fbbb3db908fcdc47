/* SPDX-License-Identifier: MIT */
/* The contracts of the header, in one process and its threads: what is returned, and what is said.
 */
#include <pthread.h>

#include "harness.h"

static void expect(int result, int expected, const char *words)
{
    if (result != expected || !strstr(ay_message(), words))
        FAIL("%d '%s', not %d '…%s…'", result, ay_message(), expected, words);
}

static void test_plain_mutex(void)
{
    ay_space *space = open_space(NULL);
    ay_region *a = open_region(space, (ay_spec){.name = "x"}),
              *b = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_fence(a), 0);
    CHECK_EQUAL(ay_enter(a), 0);
    const uint64_t first = ay_fence(a);
    CHECK(first > 0);
    expect(ay_enter(a), -EDEADLK, "already");
    expect(ay_try(b), -EBUSY, "somebody");
    expect(ay_enter_for(b, 0), -ETIMEDOUT, "0 ms");
    const int64_t begin = now_ms();
    expect(ay_enter_for(b, 50), -ETIMEDOUT, "50 ms");
    CHECK(now_ms() - begin >= 50);
    expect(ay_leave(b), -EPERM, "not inside");
    CHECK_EQUAL(ay_leave(a), 0);
    CHECK_EQUAL(ay_fence(a), first);
    CHECK_EQUAL(ay_try(b), 0);
    CHECK(ay_fence(b) > first);
    CHECK_EQUAL(ay_units(b, NULL, 0), 0);
    ay_region_close(b); /* leaves */
    CHECK_EQUAL(ay_enter_for(a, 1), 0);
    ay_close(space); /* leaves, and closes a */
    ay_close(NULL);
    ay_region_close(NULL);
}

/* Which of two modes may be inside together: the matrix of the header. */
static void test_matrix(const char *protocol)
{
    static const char together[6][7] = {".....+", ".+..++", "....++", "...+++", ".+++++", "++++++"};
    unlink(test_space);
    ay_space *space = open_space(protocol);
    for (int one = AY_EXCLUSIVE; one <= AY_NULL; one++)
        for (int other = AY_EXCLUSIVE; other <= AY_NULL; other++) {
            ay_region *a = open_region(space, (ay_spec){.name = "x", .mode = (ay_mode)one});
            ay_region *b = open_region(space, (ay_spec){.name = "x", .mode = (ay_mode)other});
            CHECK_EQUAL(ay_enter(a), 0);
            const int result = ay_try(b);
            if (result != (together[one][other] == '+' ? 0 : -EBUSY))
                FAIL("%s: modes %d and %d: %d", protocol, one, other, result);
            ay_region_close(a);
            ay_region_close(b);
        }
    ay_close(space);
}

/* Whoever opens a place after I have entered is kept out like everybody else. */
static void test_newcomers(const char *protocol)
{
    unlink(test_space);
    ay_space *space = open_space(protocol);
    ay_region *inside = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(inside), 0);
    for (int times = 0; times < 3 && strcmp(protocol, "pair") != 0; times++)
        CHECK_EQUAL(ay_try(open_region(space, (ay_spec){.name = "x"})), -EBUSY);
    CHECK_EQUAL(ay_leave(inside), 0);
    CHECK_EQUAL(ay_try(open_region(space, (ay_spec){.name = "x"})), 0);
    CHECK_EQUAL(ay_try(inside), -EBUSY);
    ay_close(space);
}

static void test_slots_and_units(void)
{
    ay_space *space = open_space(NULL);
    ay_region *regions[4];
    for (int at = 0; at < 4; at++) {
        regions[at] = open_region(space, (ay_spec){.name = "slots", .slots = 3});
        CHECK_EQUAL(ay_try(regions[at]), at < 3 ? 0 : -EBUSY);
    }
    CHECK_EQUAL(ay_leave(regions[1]), 0);
    CHECK_EQUAL(ay_try(regions[3]), 0);
    unsigned units[8];
    ay_region *two = open_region(space, (ay_spec){.name = "units", .take = 2, .of = 5});
    ay_region *three = open_region(space, (ay_spec){.name = "units", .take = 3, .of = 5});
    ay_region *one = open_region(space, (ay_spec){.name = "units", .take = 1, .of = 5});
    CHECK_EQUAL(ay_enter(two), 0);
    CHECK_EQUAL(ay_units(two, units, 8), 2);
    CHECK_EQUAL(units[0] * 10 + units[1], 1);
    CHECK_EQUAL(ay_enter_for(three, PATIENCE_MS), 0);
    CHECK_EQUAL(ay_units(three, units, 8), 3);
    CHECK_EQUAL(units[0] * 100 + units[1] * 10 + units[2], 234);
    expect(ay_try(one), -EBUSY, "");
    expect(ay_enter_for(one, 20), -ETIMEDOUT, "");
    CHECK_EQUAL(ay_leave(two), 0);
    CHECK_EQUAL(ay_units(two, units, 8), 0);
    CHECK_EQUAL(ay_try(one), 0);
    CHECK_EQUAL(ay_units(one, units, 8), 1);
    CHECK_EQUAL(units[0], 0);
    expect(ay_try(two), -EBUSY, "");
    ay_close(space);
}

static void test_also(void)
{
    static const char *const b[] = {"b", NULL}, *const c[] = {"c", NULL};
    ay_space *space = open_space(NULL);
    ay_region *ab = open_region(space, (ay_spec){.name = "a", .also = b});
    ay_region *bc = open_region(space, (ay_spec){.name = "b", .also = c});
    ay_region *d = open_region(space, (ay_spec){.name = "d", .also = c});
    CHECK_EQUAL(ay_enter(ab), 0);
    CHECK_EQUAL(ay_try(bc), -EBUSY);
    CHECK_EQUAL(ay_try(d), 0);
    CHECK_EQUAL(ay_leave(ab), 0);
    CHECK_EQUAL(ay_try(bc), -EBUSY);
    CHECK_EQUAL(ay_leave(d), 0);
    CHECK_EQUAL(ay_try(bc), 0);
    ay_close(space);
}

static bool is_set(void *flag)
{
    return atomic_load((_Atomic int *)flag);
}

static _Atomic int flag;

static void *set_flag(void *region)
{
    sleep_ms(30);
    CHECK_EQUAL(ay_enter(region), 0);
    atomic_store(&flag, 1);
    CHECK_EQUAL(ay_leave(region), 0);
    return NULL;
}

static void test_when(void)
{
    ay_space *space = open_space(NULL);
    ay_region *a = open_region(space, (ay_spec){.name = "when"}),
              *b = open_region(space, (ay_spec){.name = "when"});
    expect(ay_enter_when(a, is_set, &flag, 0), -ETIMEDOUT, "");
    expect(ay_enter_when(a, is_set, &flag, 20), -ETIMEDOUT, "");
    CHECK_EQUAL(ay_try(b), 0); /* who waits for its condition is in nobody's way */
    CHECK_EQUAL(ay_leave(b), 0);
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, set_flag, b), 0);
    CHECK_EQUAL(ay_enter_when(a, is_set, &flag, -1), 0);
    CHECK_EQUAL(atomic_load(&flag), 1);
    pthread_join(thread, NULL);
    ay_close(space);
}

/* It is asked in the middle of a passage through that very region. */
static bool enter_itself(void *region)
{
    expect(ay_try(region), -EDEADLK, "being entered");
    expect(ay_enter_for(region, 10), -EDEADLK, "being entered");
    expect(ay_enter_when(region, enter_itself, region, 10), -EDEADLK, "being entered");
    expect(ay_enter_unless(region, NULL, NULL, NULL, 10), -EDEADLK, "being entered");
    CHECK_EQUAL(ay_leave(region), -EPERM);
    return true;
}

static void test_when_enters(void)
{
    ay_space *space = open_space(NULL);
    ay_region *a = open_region(space, (ay_spec){.name = "itself"});
    for (int times = 0; times < 2; times++) {
        CHECK_EQUAL(ay_enter_when(a, enter_itself, a, 1000), 0);
        CHECK_EQUAL(ay_leave(a), 0);
    }
    CHECK_EQUAL(ay_enter(a), 0);
    CHECK_EQUAL(ay_leave(a), 0);
    ay_close(space);
}

static void test_refusals(void)
{
    ay_space *space, *other;
    ay_region *region, *refused;
    char name[300];
    memset(name, 'n', sizeof name);
    name[256] = '\0';
    CHECK_EQUAL(ay_open(test_space, NULL, &space), 0);
    expect(ay_open(name, NULL, &other), -EINVAL, "255");
    expect(ay_open(".hidden", NULL, &other), -EINVAL, "dot");
    expect(ay_open(test_space, &(ay_options){.protocol = "none"}, &other), -EINVAL, "'none'");
    expect(ay_open(test_space, &(ay_options){.places = 65537}, &other), -EINVAL, "65536");
    expect(ay_open(test_space, &(ay_options){.reserved = {1}}, &other), -EINVAL, "reserved");
    expect(ay_open(test_space, &(ay_options){.protocol = "races"}, &other), -EINVAL,
           "'courtesy', not 'races'");
    expect(ay_open(test_space, &(ay_options){.places = 7}, &other), -EINVAL, "65536 places, not 7");
    expect(ay_open(test_space, &(ay_options){.precedence = AY_BY_PRIORITY}, &other), -EINVAL,
           "in order, not by priority");
    expect(ay_open(test_space, &(ay_options){.overtake = 3}, &other), -EINVAL, "up to 0, not 3");
    expect(ay_open(test_space, &(ay_options){.protocol = "clock", .overtake = 3}, &other), -ENOTSUP,
           "'clock'");
    expect(ay_region_open(space, &(ay_spec){.name = ""}, &refused), -EINVAL, "1 to 255");
    expect(ay_region_open(space, &(ay_spec){.name = NULL}, &refused), -EINVAL, "1 to 255");
    expect(ay_region_open(space, &(ay_spec){.name = name}, &refused), -EINVAL, "256");
    expect(ay_region_open(space, &(ay_spec){.name = "x", .mode = (ay_mode)6}, &refused), -EINVAL,
           "mode 6");
    expect(ay_region_open(space, &(ay_spec){.name = "x", .take = 9, .of = 8}, &refused), -EINVAL,
           "9 of 8");
    expect(ay_region_open(space, &(ay_spec){.name = "x", .take = 1}, &refused), -EINVAL, "both");
    expect(ay_region_open(space, &(ay_spec){.name = "x", .reserved = {1}}, &refused), -EINVAL,
           "reserved");
    expect(ay_region_open(space, &(ay_spec){.name = "x", .slots = 2, .mode = AY_SHARED}, &refused),
           -EINVAL, "exclusive");
    static const char *const twice[] = {"x", NULL};
    expect(ay_region_open(space, &(ay_spec){.name = "x", .also = twice}, &refused), -EINVAL,
           "twice");
    CHECK_EQUAL(ay_region_open(space, &(ay_spec){.name = "x", .slots = 2}, &region), 0);
    char pid[32];
    snprintf(pid, sizeof pid, "pid %d", (int)getpid());
    expect(ay_region_open(space, &(ay_spec){.name = "x", .slots = 3}, &refused), -EINVAL, pid);
    expect(ay_region_open(space, &(ay_spec){.name = "x", .take = 1, .of = 3}, &refused), -EINVAL,
           pid);
    ay_region_close(region); /* with nobody left there is nobody to disagree with */
    CHECK_EQUAL(ay_region_open(space, &(ay_spec){.name = "x", .slots = 3}, &region), 0);
    ay_close(space);
}

static void test_small_protocols(void)
{
    ay_space *space;
    ay_region *one, *two, *refused;
    unlink(test_space);
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.protocol = "pair"}, &space), 0);
    expect(ay_region_open(space, &(ay_spec){.name = "x", .mode = AY_SHARED}, &refused), -ENOTSUP,
           "modes");
    expect(ay_region_open(space, &(ay_spec){.name = "x", .slots = 2}, &refused), -ENOTSUP, "slots");
    expect(ay_region_open(space, &(ay_spec){.name = "x", .priority = 2}, &refused), -ENOTSUP,
           "priorities");
    one = open_region(space, (ay_spec){.name = "x"});
    expect(ay_region_open(space, &(ay_spec){.name = "y"}, &refused), -ENOTSUP, "'x' open, not 'y'");
    two = open_region(space, (ay_spec){.name = "x"});
    expect(ay_region_open(space, &(ay_spec){.name = "x"}, &refused), -EUSERS, "2 places");
    expect(ay_enter_when(one, is_set, &flag, 0), -ENOTSUP, "conditions");
    CHECK_EQUAL(ay_enter(one), 0);
    CHECK_EQUAL(ay_try(two), -EBUSY);
    ay_close(space);
}

enum { THREADS = 4, TIMES = 300 };
static long counter; /* not atomic: the region protects it */

static void *count_up(void *space)
{
    ay_region *region = open_region(space, (ay_spec){.name = "counter"});
    for (int times = 0; times < TIMES; times++) {
        CHECK_EQUAL(ay_enter(region), 0);
        counter++;
        CHECK_EQUAL(ay_leave(region), 0);
    }
    ay_region_close(region);
    return NULL;
}

static void test_threads(const char *protocol)
{
    unlink(test_space);
    pthread_t threads[THREADS];
    ay_space *space = open_space(protocol);
    counter = 0;
    for (int at = 0; at < THREADS; at++)
        CHECK_EQUAL(pthread_create(&threads[at], NULL, count_up, space), 0);
    for (int at = 0; at < THREADS; at++)
        pthread_join(threads[at], NULL);
    CHECK_EQUAL(counter, THREADS * TIMES);
    ay_close(space);
}

static _Atomic bool next_is_inside;

static void *be_next(void *region)
{
    CHECK_EQUAL(ay_enter(region), 0);
    next_is_inside = true;
    CHECK_EQUAL(ay_leave(region), 0);
    return NULL;
}

/* Who was woken while another is inside waits on. */
static void test_wake_next(const char *protocol)
{
    unlink(test_space);
    ay_space *space = open_space(protocol);
    ay_region *a = open_region(space, (ay_spec){.name = "x"}),
              *b = open_region(space, (ay_spec){.name = "x"});
    pthread_t next;
    expect(ay_wake_next(a), -EPERM, "not inside");
    CHECK_EQUAL(ay_enter(a), 0);
    CHECK_EQUAL(ay_wake_next(a), 0); /* nobody waits */
    next_is_inside = false;
    CHECK_EQUAL(pthread_create(&next, NULL, be_next, b), 0);
    AWAIT_TRUE(ay_wanted(a) == 1);
    for (int times = 0; times < 50; times++) {
        CHECK_EQUAL(ay_wake_next(a), 0);
        sleep_ms(1);
        CHECK(!next_is_inside);
    }
    CHECK_EQUAL(ay_leave(a), 0);
    pthread_join(next, NULL);
    CHECK(next_is_inside);
    ay_close(space);
}

struct readiness {
    ay_region *region;
    pthread_t waits;
    unsigned times;
    int entered, shared; /* what ay_try() and ay_share() said */
};

static void get_ready(void *arg)
{
    struct readiness *ready = arg;
    CHECK(pthread_equal(ready->waits, pthread_self()));
    ready->times++;
    ready->entered = ay_try(ready->region);
    ready->shared = ay_share(ready->region);
    CHECK_EQUAL(close(ready->shared), 0);
}

static void *be_ready(void *arg)
{
    struct readiness *ready = arg;
    ready->waits = pthread_self();
    return be_next(ready->region);
}

/* Once, and only by who waits for one that is inside. */
static void test_prepare(void)
{
    unlink(test_space);
    ay_space *space = open_space("courtesy");
    ay_region *a = open_region(space, (ay_spec){.name = "x"}),
              *b = open_region(space, (ay_spec){.name = "x"});
    struct readiness ready = {.region = b, .waits = pthread_self()};
    pthread_t next;
    CHECK_EQUAL(ay_prepare(b, get_ready, &ready), 0);
    CHECK_EQUAL(ay_enter(b), 0);
    expect(ay_prepare(b, get_ready, &ready), -EPERM, "inside");
    CHECK_EQUAL(ay_leave(b), 0);
    CHECK_EQUAL(ready.times, 0);
    for (unsigned passage = 1; passage <= 3; passage++) {
        if (passage == 3)
            CHECK_EQUAL(ay_prepare(b, NULL, NULL), 0);
        CHECK_EQUAL(ay_enter(a), 0);
        next_is_inside = false;
        CHECK_EQUAL(pthread_create(&next, NULL, be_ready, &ready), 0);
        AWAIT_TRUE(ay_wanted(a) == 1);
        for (int times = 0; times < 20; times++) {
            CHECK_EQUAL(ay_wake_next(a), 0);
            sleep_ms(1);
        }
        CHECK_EQUAL(ay_leave(a), 0);
        pthread_join(next, NULL);
        CHECK_EQUAL(ready.times, passage < 3 ? passage : 2);
        CHECK_EQUAL(ready.entered, -EDEADLK); /* being entered */
        CHECK(ready.shared > STDERR_FILENO);
    }
    ay_close(space);
}

int main(void)
{
    begin_test("basics");
    test_plain_mutex();
    test_matrix("bakery");
    test_matrix("region");
    test_matrix("courtesy");
    static const char *const protocols[] = {"pair",   "races", "clock",   "bakery",
                                            "region", "forks", "courtesy"};
    for (size_t at = 0; at < sizeof protocols / sizeof *protocols; at++) {
        test_newcomers(protocols[at]);
        test_wake_next(protocols[at]);
    }
    test_prepare();
    unlink(test_space);
    test_slots_and_units();
    test_also();
    test_when();
    test_when_enters();
    test_refusals();
    test_small_protocols();
    test_threads("races");
    test_threads("bakery");
    test_threads("region");
    test_threads("forks");
    test_threads("courtesy");
    return 0;
}
