/* SPDX-License-Identifier: MIT */
/* Kill storm of conversions: readers and writers enter in every mode and convert, up and down,
 * while a killer kills and restarts them at random.
 *
 *   memory-convert-storm [SECONDS [SEED]]
 *
 * half of the time in strict order, half where those who are awake may pass those who sleep.
 *
 * The witness is memory of the test's own: each worker has a line there, with the mode that it is
 * inside in. It is written after the library has given a mode, and before a lesser one is asked
 * for; so the modes of two lines never conflict while both workers live. Fences are judged, too.
 */
#include <sched.h>

#include "lives.h"

enum { WORKERS = 6, OUTSIDE = -1 };

struct line {
    _Atomic int mode; /* OUTSIDE, or an ay_mode */
    _Atomic int pid;
    _Atomic uint64_t passages, upgrades, downgrades, refused, late;
};

struct witness {
    struct line lines[WORKERS];
    _Atomic uint64_t greatest;  /* fence of all */
    _Atomic uint64_t exclusive; /* of those who were exclusive */
    _Atomic uint64_t told;
};

static struct witness *witness;

static bool conflict(int one, int other)
{
    static const char together[6][7] = {".....+", ".+..++", "....++", "...+++", ".+++++", "++++++"};
    return one >= 0 && other >= 0 && together[one][other] != '+';
}

static void check_lines(unsigned me, int mode)
{
    for (unsigned other = 0; other < WORKERS; other++) {
        struct line *line = &witness->lines[other];
        const int its = atomic_load(&line->mode), pid = atomic_load(&line->pid);
        if (other != me && conflict(mode, its) && process_lives(pid) &&
            atomic_load(&line->mode) == its && atomic_load(&line->pid) == pid)
            FAIL("worker %u is inside in mode %d, together with %u in mode %d", me, mode, other,
                 its);
    }
}

static void raise_to(_Atomic uint64_t *greatest, uint64_t value)
{
    uint64_t seen = atomic_load(greatest);
    while (seen < value && !atomic_compare_exchange_weak(greatest, &seen, value))
        ;
}

/* A new passage, or the end of an upgrade: its fence is above those of all that it excludes. */
static void check_fence(int mode, uint64_t fence)
{
    const uint64_t below = mode == AY_EXCLUSIVE ? atomic_load(&witness->greatest)
                           : mode == AY_NULL    ? 0
                                                : atomic_load(&witness->exclusive);
    if (fence <= below)
        FAIL("fence %llu in mode %d, after %llu", (unsigned long long)fence, mode,
             (unsigned long long)below);
    if (mode != AY_NULL) /* it excludes nobody */
        raise_to(&witness->greatest, fence);
    if (mode == AY_EXCLUSIVE)
        raise_to(&witness->exclusive, fence);
}

static void stay(unsigned me, int mode)
{
    atomic_store(&witness->lines[me].mode, mode);
    check_lines(me, mode);
    if (rand() % 8 == 0)
        sched_yield();
    if (rand() % 64 == 0)
        sleep_ms(1);
    check_lines(me, mode);
}

static int change(unsigned me, ay_region *region, int mode, int wanted)
{
    struct line *line = &witness->lines[me];
    const uint64_t fence = ay_fence(region);
    bool down = true, up = true;
    for (int other = AY_EXCLUSIVE; other <= AY_NULL; other++) {
        down &= !conflict(wanted, other) || conflict(mode, other);
        up &= conflict(wanted, other) || !conflict(mode, other);
    }
    if (down || !up) /* neither: what both have in common */
        atomic_store(&line->mode, down ? wanted : AY_CONCURRENT_READ);
    const int result = ay_convert(region, (ay_mode)wanted, down ? 0 : rand() % 4 ? -1 : rand() % 3);
    if (result == -EDEADLK || result == -ETIMEDOUT) {
        atomic_fetch_add(result == -EDEADLK ? &line->refused : &line->late, 1);
        CHECK(!down && ay_fence(region) == fence);
        return mode;
    }
    if (result != 0 && result != AY_AFTER_DEATH)
        FAIL("%d, %s", result, ay_message());
    atomic_fetch_add(&witness->told, result == AY_AFTER_DEATH);
    if (down)
        CHECK_EQUAL(ay_fence(region), fence);
    else
        check_fence(wanted, ay_fence(region));
    atomic_fetch_add(down ? &line->downgrades : &line->upgrades, 1);
    return wanted;
}

/* Most share, or are exclusive; the others are of all modes. */
static int some_mode(void)
{
    return rand() % 4 ? rand() % 2 : rand() % (AY_NULL + 1);
}

_Noreturn static void work(unsigned me, unsigned seed)
{
    srand(seed);
    ay_space *space = open_space(NULL);
    ay_region *any = open_region(space, (ay_spec){.name = "data"}),
              *reader = open_region(space, (ay_spec){.name = "data", .mode = AY_SHARED});
    for (;;) {
        const bool reads = rand() % 8 == 0; /* a plain one, that never converts */
        ay_region *region = reads ? reader : any;
        int mode = reads ? AY_SHARED : some_mode();
        const int result = ay_enter_as(region, (ay_mode)mode, rand() % 4 ? -1 : rand() % 3);
        if (result == -ETIMEDOUT)
            continue;
        if (result != 0 && result != AY_AFTER_DEATH)
            FAIL("%d, %s", result, ay_message());
        atomic_fetch_add(&witness->told, result == AY_AFTER_DEATH);
        check_fence(mode, ay_fence(region));
        stay(me, mode);
        for (int times = reads ? 0 : rand() % 4; times > 0; times--) {
            const int wanted = some_mode();
            if (wanted != mode)
                mode = change(me, region, mode, wanted);
            stay(me, mode);
        }
        atomic_store(&witness->lines[me].mode, OUTSIDE);
        atomic_fetch_add(&witness->lines[me].passages, 1);
        CHECK_EQUAL(ay_leave(region), 0);
    }
}

static pid_t start(unsigned me, unsigned seed)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        atomic_store(&witness->lines[me].pid, (int)getpid());
        work(me, seed);
    }
    return pid;
}

static void kill_one(pid_t *pids, unsigned victim)
{
    expect_killed(pids[victim]);
    atomic_store(&witness->lines[victim].mode, OUTSIDE);
    atomic_store(&witness->lines[victim].pid, 0);
}

static uint64_t sum(size_t field)
{
    uint64_t all = 0;
    for (unsigned me = 0; me < WORKERS; me++)
        all += atomic_load((_Atomic uint64_t *)(void *)((char *)&witness->lines[me] + field));
    return all;
}

#define SUM(field) sum(offsetof(struct line, field))

/* Everything can be entered after the storm. */
static void check_calm(ay_space *space)
{
    ay_region *region = open_region(space, (ay_spec){.name = "data"});
    int result;
    while ((result = ay_enter_for(region, PATIENCE_MS)) == AY_AFTER_DEATH)
        CHECK_EQUAL(ay_leave(region), 0);
    CHECK_EQUAL(result, 0);
    check_fence(AY_EXCLUSIVE, ay_fence(region));
}

static void storm(unsigned overtake, int64_t lasts_ms, unsigned seed)
{
    pid_t pids[WORKERS];
    unsigned kills = 0;
    uint64_t before = 0;
    unlink(test_space);
    memset(witness, 0, sizeof *witness);
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.overtake = overtake}, &space), 0);
    srand(seed);
    for (unsigned me = 0; me < WORKERS; me++) {
        atomic_store(&witness->lines[me].mode, OUTSIDE);
        pids[me] = start(me, (unsigned)rand());
    }
    int64_t progress = now_ms();
    const int64_t end = now_ms() + lasts_ms;
    while (now_ms() < end) {
        sleep_ms(rand() % 20);
        const unsigned victim = (unsigned)rand() % WORKERS;
        kill_one(pids, victim);
        pids[victim] = start(victim, (unsigned)rand());
        kills++;
        if (SUM(passages) != before)
            progress = now_ms();
        else if (now_ms() - progress > 20000)
            FAIL("nobody has left anything for 20 s (seed %u)", seed);
        before = SUM(passages);
    }
    for (unsigned me = 0; me < WORKERS; me++)
        kill_one(pids, me);
    check_calm(space);
    ay_close(space);
    printf("seed %u, overtake %u: %u kills, %llu passages, %llu upgrades, %llu downgrades, "
           "%llu refused, %llu given up, %llu told of a death\n",
           seed, overtake, kills, (unsigned long long)SUM(passages),
           (unsigned long long)SUM(upgrades), (unsigned long long)SUM(downgrades),
           (unsigned long long)SUM(refused), (unsigned long long)SUM(late),
           (unsigned long long)atomic_load(&witness->told));
    CHECK(SUM(upgrades) > 0 && SUM(downgrades) > 0);
}

int main(int count, char **words)
{
    const int seconds = count > 1 ? atoi(words[1]) : 4;
    const unsigned seed = count > 2 ? (unsigned)atoi(words[2]) : (unsigned)time(NULL);
    begin_test("convert-storm");
    witness = shared_memory(sizeof *witness);
    storm(0, seconds * 500, seed);
    storm(2, seconds * 500, seed + 1);
    return 0;
}
