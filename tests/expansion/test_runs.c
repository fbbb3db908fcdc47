/* SPDX-License-Identifier: MIT */
/* The expansion and the lock written by hand both exclude: threads count together, and lose
 * nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>

#include "bare.h"

enum { THREADS_MOST = 3, PASSAGES = 3000 };

struct lock {
    void (*enter)(_Atomic uint64_t *words, unsigned self, unsigned places);
    void (*leave)(_Atomic uint64_t *words, unsigned self);
    unsigned threads;
    _Atomic uint64_t words[THREADS_MOST];
    volatile unsigned inside, count, collisions; /* not atomic: the lock is what keeps them right */
};

struct caller {
    struct lock *lock;
    unsigned self;
};

static void pair_enter_2(_Atomic uint64_t *words, unsigned self, unsigned places)
{
    (void)places;
    pair_enter_bare(words, self);
}

static void pair_enter_2_by_hand(_Atomic uint64_t *words, unsigned self, unsigned places)
{
    (void)places;
    pair_enter_by_hand(words, self);
}

static void *pass(void *argument)
{
    const struct caller *caller = argument;
    struct lock *lock = caller->lock;
    for (unsigned at = 0; at < PASSAGES; at++) {
        lock->enter(lock->words, caller->self, lock->threads);
        if (lock->inside++)
            lock->collisions++;
        lock->count++;
        if (at % 16 == 0)
            sched_yield(); /* others look in while it is held, even on one core */
        lock->inside--;
        lock->leave(lock->words, caller->self);
        if (at % 4 == 0)
            sched_yield();
    }
    return NULL;
}

static void expect_exclusion(struct lock lock)
{
    pthread_t threads[THREADS_MOST];
    struct caller callers[THREADS_MOST];
    for (unsigned self = 0; self < lock.threads; self++) {
        callers[self] = (struct caller){&lock, self};
        assert_int_equal(pthread_create(&threads[self], NULL, pass, &callers[self]), 0);
    }
    for (unsigned self = 0; self < lock.threads; self++)
        pthread_join(threads[self], NULL);
    assert_int_equal(lock.collisions, 0);
    assert_int_equal(lock.count, lock.threads * PASSAGES);
}

static void expanded(void **unused)
{
    (void)unused;
    expect_exclusion((struct lock){.enter = pair_enter_2, .leave = pair_leave_bare, .threads = 2});
    expect_exclusion(
        (struct lock){.enter = bakery_enter_bare, .leave = bakery_leave_bare, .threads = 3});
}

static void by_hand(void **unused)
{
    (void)unused;
    expect_exclusion(
        (struct lock){.enter = pair_enter_2_by_hand, .leave = pair_leave_by_hand, .threads = 2});
    expect_exclusion(
        (struct lock){.enter = bakery_enter_by_hand, .leave = bakery_leave_by_hand, .threads = 3});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(expanded), cmocka_unit_test(by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
