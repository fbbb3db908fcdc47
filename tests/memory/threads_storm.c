/* SPDX-License-Identifier: MIT */
/* A storm of threads: processes whose threads share regions by turns, end inside now and then, and
 * are killed with all the others. Nobody is inside with another; and whoever left something half
 * done there has died, and the next one was told. */
#include <pthread.h>

#include "harness.h"

enum { PROCESSES = 4, THREADS = 3, REGIONS = 2, SECONDS = 4, ENDS_ONE_IN = 300 };

/* Outside the lock. */
static struct board {
    /* whose turn it is; 0: nobody is, or one that died had not come so far */
    _Atomic uint64_t inside;
    _Atomic long passages, ended, told;
} * board;

static ay_region *regions[REGIONS];
static pthread_mutex_t turns[REGIONS]; /* a region object is for one thread at a time */

static void *pass(void *arg);

static void start(unsigned seed)
{
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, pass, (void *)(uintptr_t)seed), 0);
    CHECK_EQUAL(pthread_detach(thread), 0);
}

static void enter(ay_region *region, uint64_t me)
{
    int result;
    do /* the one that ends inside gave its turn away, but is not quite at its end */
        result = ay_enter_for(region, PATIENCE_MS);
    while (result == -EDEADLK);
    CHECK(result >= 0);
    const uint64_t found = atomic_exchange(&board->inside, me);
    if (result == AY_AFTER_DEATH)
        atomic_fetch_add(&board->told, 1);
    else if (found != 0)
        FAIL("%llx is inside, or died there untold", (unsigned long long)found);
}

static void *pass(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg ^ (unsigned)getpid() << 12;
    const uint64_t me = (uint64_t)getpid() << 32 | (unsigned)(uintptr_t)arg;
    for (;;) {
        const int which = rand_r(&seed) % REGIONS;
        CHECK_EQUAL(pthread_mutex_lock(&turns[which]), 0);
        enter(regions[which], me);
        for (int times = rand_r(&seed) % 50; times >= 0; times--)
            CHECK(atomic_load(&board->inside) == me);
        if (rand_r(&seed) % ENDS_ONE_IN == 0) {
            atomic_fetch_add(&board->ended, 1);
            CHECK_EQUAL(pthread_mutex_unlock(&turns[which]), 0);
            start((unsigned)rand_r(&seed) | 1);
            return NULL; /* inside */
        }
        atomic_store(&board->inside, 0);
        CHECK_EQUAL(ay_leave(regions[which]), 0);
        atomic_fetch_add(&board->passages, 1);
        CHECK_EQUAL(pthread_mutex_unlock(&turns[which]), 0);
    }
}

static pid_t start_process(void)
{
    const pid_t pid = spawn();
    if (pid != 0)
        return pid;
    ay_space *space = open_space(NULL);
    for (int which = 0; which < REGIONS; which++) {
        regions[which] = open_region(space, (ay_spec){.name = "x"});
        pthread_mutex_init(&turns[which], NULL);
    }
    for (unsigned thread = 1; thread <= THREADS; thread++)
        start(thread);
    for (;;)
        pause();
}

int main(void)
{
    begin_test("threads-storm");
    board = shared_memory(sizeof *board);
    pid_t pids[PROCESSES];
    unsigned seed = 1;
    long kills = 0;
    for (int at = 0; at < PROCESSES; at++)
        pids[at] = start_process();
    for (const int64_t end = now_ms() + SECONDS * 1000; now_ms() < end; kills++) {
        const int at = rand_r(&seed) % PROCESSES;
        sleep_ms(5 + rand_r(&seed) % 40);
        expect_killed(pids[at]);
        pids[at] = start_process();
    }
    for (int at = 0; at < PROCESSES; at++)
        expect_killed(pids[at]);
    const long ended = atomic_load(&board->ended), told = atomic_load(&board->told);
    printf("%ld passages, %ld kills, %ld threads ended inside, %ld told\n",
           atomic_load(&board->passages), kills, ended, told);
    CHECK(atomic_load(&board->passages) > 0 && ended > 0);
    return 0;
}
