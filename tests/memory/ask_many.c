/* SPDX-License-Identifier: MIT */
/* Thousands of asks of one thread, on a hundred names and on one: each takes memory for itself, and
 * not for all whom it stands in a queue with; and each is decided, in order of arrival. Who dies
 * inside before one of them is told to that one. */
#include "harness.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const bool counts_memory = false; /* what is freed stays in quarantine */
enum { NAMES = 100, ASKS = 1000, ALIKE = 1500 };
#else
static const bool counts_memory = true;
enum { NAMES = 100, ASKS = 3000, ALIKE = 10000 };
#endif

enum { MOST_KB = 16, KILLED = 5 };

static long own_memory_kb(void)
{
    char line[128];
    long kb = -1;
    FILE *status = fopen("/proc/self/status", "r");
    CHECK(status);
    while (fgets(line, sizeof line, status))
        if (strncmp(line, "RssAnon:", 8) == 0)
            kb = strtol(line + 8, NULL, 10);
    fclose(status);
    CHECK(kb > 0);
    return kb;
}

static ay_region *open_named(ay_space *space, unsigned which)
{
    char name[32];
    snprintf(name, sizeof name, "name %u", which);
    return open_region(space, (ay_spec){.name = name});
}

static ay_region *await_decided(ay_space *space, int *result)
{
    for (;;) {
        ay_region *region = ay_decided(space, result);
        CHECK(*result >= 0);
        if (region)
            return region;
        struct pollfd readable = {.fd = ay_fd(space), .events = POLLIN};
        if (poll(&readable, 1, PATIENCE_MS) != 1)
            FAIL("nothing is decided");
    }
}

/* A process that waits in the queue, and is killed inside. */
static pid_t queue_up_to_die(void)
{
    int waits[2];
    char byte;
    CHECK_EQUAL(pipe(waits), 0);
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_space *space;
        CHECK_EQUAL(ay_open(test_space, NULL, &space), 0);
        ay_region *region = open_named(space, 0);
        CHECK_EQUAL(ay_ask(region), -EINPROGRESS);
        CHECK_EQUAL(write(waits[1], "w", 1), 1);
        int result;
        CHECK(await_decided(space, &result) == region);
        CHECK_EQUAL(result, 0);
        raise(SIGKILL);
    }
    close(waits[1]);
    CHECK_EQUAL(read(waits[0], &byte, 1), 1);
    close(waits[0]);
    return pid;
}

/* Who asked next on each name, and whether one was killed before it. */
struct expectation {
    unsigned next[NAMES];
    bool after_death[ASKS > ALIKE ? ASKS : ALIKE];
};

static ay_region *expect_one(ay_space *space, struct expectation *expected, ay_region **asked,
                             unsigned names, unsigned asks)
{
    int result;
    ay_region *region = await_decided(space, &result);
    unsigned name = 0;
    while (name < names && (expected->next[name] >= asks || asked[expected->next[name]] != region))
        name++;
    if (name == names)
        FAIL("an ask was decided before one that was there first");
    const unsigned which = expected->next[name];
    expected->next[name] += names;
    CHECK_EQUAL(result, expected->after_death[which] ? AY_AFTER_DEATH : 0);
    return region;
}

/* Another ask finds the death first, and is withdrawn: what it knows, it hands on. */
static void notice(ay_region *bystander, pid_t dies)
{
    await_exit(dies);
    CHECK_EQUAL(ay_ask(bystander), -EINPROGRESS);
    CHECK_EQUAL(ay_withdraw(bystander), 0);
}

static void check_memory(long before, unsigned asks, unsigned names)
{
    const long each = (own_memory_kb() - before) / (long)asks;
    if (counts_memory && each > MOST_KB)
        FAIL("%u asks on %u names take %ld KB each", asks, names, each);
}

static void test_many(unsigned names, unsigned asks, unsigned killed)
{
    static struct expectation expected;
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.places = 2 * ALIKE}, &space), 0);
    ay_region *held[NAMES], **asked = calloc(asks, sizeof *asked);
    pid_t dies[KILLED];
    CHECK(asked);
    for (unsigned name = 0; name < names; name++) {
        held[name] = open_named(space, name);
        CHECK_EQUAL(ay_enter(held[name]), 0);
        expected.next[name] = name;
    }
    const long before = own_memory_kb();
    for (unsigned which = 0, dead = 0; which < asks; which++) {
        expected.after_death[which] = dead < killed && which == (dead + 1) * asks / (killed + 1);
        if (expected.after_death[which])
            dies[dead++] = queue_up_to_die();
        asked[which] = open_named(space, which % names);
        CHECK_EQUAL(ay_ask(asked[which]), -EINPROGRESS);
    }
    check_memory(before, asks, names);
    for (unsigned name = 0; name < names; name++)
        CHECK_EQUAL(ay_leave(held[name]), 0);
    ay_region *bystander = open_named(space, 0);
    for (unsigned decided = 0, dead = 0; decided < asks; decided++) {
        if (killed > 0 && expected.after_death[decided])
            notice(bystander, dies[dead++]);
        CHECK_EQUAL(ay_leave(expect_one(space, &expected, asked, names, asks)), 0);
    }
    check_memory(before, asks, names);
    free(asked);
    ay_close(space);
}

int main(void)
{
    begin_test("ask-many");
    test_many(NAMES, ASKS, 0);
    test_many(1, ALIKE, KILLED);
    return 0;
}
