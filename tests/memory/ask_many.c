/* SPDX-License-Identifier: MIT */
/* Thousands of asks of one thread: each takes memory for those that it stands in a queue with, and
 * for nobody else; and each is decided, in order of arrival. */
#include "harness.h"

enum { NAMES = 100, ASKS = 3000, ALIKE = 600, MOST_KB = 16 };

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const bool counts_memory = false; /* what is freed stays in quarantine */
#else
static const bool counts_memory = true;
#endif

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

static ay_region *await_decided(ay_space *space)
{
    for (;;) {
        int result;
        ay_region *region = ay_decided(space, &result);
        CHECK_EQUAL(result, 0);
        if (region)
            return region;
        struct pollfd readable = {.fd = ay_fd(space), .events = POLLIN};
        if (poll(&readable, 1, PATIENCE_MS) != 1)
            FAIL("nothing is decided");
    }
}

/* Of several queues, each of which has its next one asked after `names` others. */
static void leave_one_by_one(ay_space *space, ay_region **held, ay_region **asked, unsigned names,
                             unsigned asks)
{
    unsigned next[NAMES];
    for (unsigned name = 0; name < names; name++) {
        next[name] = name;
        CHECK_EQUAL(ay_leave(held[name]), 0);
    }
    for (unsigned decided = 0; decided < asks; decided++) {
        ay_region *region = await_decided(space);
        unsigned name = 0;
        while (name < names && (next[name] >= asks || asked[next[name]] != region))
            name++;
        if (name == names)
            FAIL("an ask was decided before one that was there first");
        next[name] += names;
        CHECK_EQUAL(ay_leave(region), 0);
    }
}

static void test_many(unsigned names, unsigned asks)
{
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.places = 2 * ASKS}, &space), 0);
    ay_region *held[NAMES], **asked = calloc(asks, sizeof *asked);
    CHECK(asked);
    for (unsigned name = 0; name < names; name++) {
        held[name] = open_named(space, name);
        CHECK_EQUAL(ay_enter(held[name]), 0);
    }
    const long before = own_memory_kb();
    for (unsigned which = 0; which < asks; which++) {
        asked[which] = open_named(space, which % names);
        CHECK_EQUAL(ay_ask(asked[which]), -EINPROGRESS);
    }
    const long each = (own_memory_kb() - before) / (long)asks;
    if (counts_memory && names == NAMES && each > MOST_KB)
        FAIL("%u asks on %u names take %ld KB each", asks, names, each);
    leave_one_by_one(space, held, asked, names, asks);
    free(asked);
    ay_close(space);
}

int main(void)
{
    begin_test("ask-many");
    test_many(NAMES, ASKS);
    test_many(1, ALIKE);
    return 0;
}
