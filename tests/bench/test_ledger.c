/* SPDX-License-Identifier: MIT */
/* The ledger of the bench: what counts as an overtaking, played by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ledger.h"

enum { P, Q, R, MEMBERS };

static struct meeting meeting = {.members = MEMBERS};
static struct ledger ledger;
static bool in_queue[MEMBERS];

static bool queued(const struct member *self, unsigned other)
{
    (void)self;
    return in_queue[other];
}

static int begin(void **state)
{
    (void)state;
    memset(&ledger, 0, sizeof ledger);
    memset(in_queue, 0, sizeof in_queue);
    ledger.queued = queued;
    return 0;
}

/* The clock is fine, but two calls may fall on one tick of it. */
static void ask(unsigned member)
{
    for (const int64_t before = now_ns(); now_ns() == before;)
        ;
    ledger_ask(&ledger, member);
}

static void enter(unsigned member)
{
    ledger_leave(&ledger,
                 ledger_enter(&ledger, &(struct member){.meeting = &meeting, .self = member}));
}

static void test_in_order(void **state)
{
    (void)state;
    for (int times = 0; times < 3; times++) {
        ask(P);
        ask(Q);
        ask(R);
        enter(P);
        enter(Q);
        enter(R);
    }
    assert_int_equal(ledger.entries, 9);
    assert_int_equal(ledger.overtaken_most, 0);
    assert_int_equal(ledger.overtaken_in_queue_most, 0);
}

static void test_overtaken(void **state)
{
    (void)state;
    ask(Q);
    ask(P);
    enter(Q); /* asked before P: no overtaking */
    for (int times = 0; times < 4; times++) {
        ask(Q);
        enter(Q);
    }
    ask(R);
    enter(R);
    assert_int_equal(ledger.overtaken_most, 0); /* counted when P is inside at last */
    enter(P);
    assert_int_equal(ledger.overtaken_most, 5);
    assert_int_equal(ledger.overtaken_in_queue_most, 0);
}

/* Each wait is counted by itself, and the greatest is kept. */
static void test_greatest_wait(void **state)
{
    (void)state;
    static const int overtakings[] = {2, 3, 1};
    for (size_t at = 0; at < sizeof overtakings / sizeof *overtakings; at++) {
        ask(P);
        for (int times = 0; times < overtakings[at]; times++) {
            ask(Q);
            enter(Q);
        }
        enter(P);
    }
    assert_int_equal(ledger.overtaken_most, 3);
}

/* In the queue: only who asked after P was seen there by somebody inside. */
static void test_in_queue(void **state)
{
    (void)state;
    ask(P);
    ask(Q);
    enter(Q); /* P has not passed its doorway */
    in_queue[P] = true;
    ask(R);
    ask(Q);
    enter(R); /* sees P in the queue */
    enter(Q); /* overtakes P, but asked before that */
    ask(R);
    enter(R);
    ask(Q);
    enter(Q);
    in_queue[P] = false;
    enter(P);
    assert_int_equal(ledger.overtaken_most, 5);
    assert_int_equal(ledger.overtaken_in_queue_most, 2);
}

static void test_two_inside(void **state)
{
    (void)state;
    const struct member p = {.meeting = &meeting, .self = P}, q = {.meeting = &meeting, .self = Q};
    ask(P);
    ask(Q);
    const uint64_t first = ledger_enter(&ledger, &p), second = ledger_enter(&ledger, &q);
    ledger_leave(&ledger, first);
    ledger_leave(&ledger, second);
    assert_int_equal(ledger.entries, 1); /* of two passages */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_in_order, begin),
        cmocka_unit_test_setup(test_overtaken, begin),
        cmocka_unit_test_setup(test_greatest_wait, begin),
        cmocka_unit_test_setup(test_in_queue, begin),
        cmocka_unit_test_setup(test_two_inside, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
