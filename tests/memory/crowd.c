/* SPDX-License-Identifier: MIT */
/* Crowds: many who wait use no processor while nothing happens, and none of them is forgotten when
 * something does. */
#include <limits.h>

#include "harness.h"

enum { CROWD = 100, IDLE_MS = 2000, IDLE_TIMES = 8 };

struct board {
    _Atomic unsigned entered;
};

static bool never(void *unused)
{
    (void)unused;
    return false;
}

struct crowd {
    pid_t pids[CROWD];
    struct board *board;
};

/* Each enters, says so, and leaves. */
static void start_crowd(struct crowd *crowd, ay_spec spec, bool aside)
{
    crowd->board = shared_memory(sizeof *crowd->board);
    for (unsigned at = 0; at < CROWD; at++) {
        crowd->pids[at] = spawn();
        if (crowd->pids[at] > 0)
            continue;
        ay_region *region = open_region(open_space(NULL), spec);
        CHECK((aside ? ay_enter_when(region, never, NULL, -1) : ay_enter(region)) >= 0);
        atomic_fetch_add(&crowd->board->entered, 1);
        CHECK_EQUAL(ay_leave(region), 0);
        _exit(0);
    }
}

static int count_if_waiting(const ay_place *place, void *count)
{
    *(unsigned *)count += place->alive && place->state == AY_WAITING;
    return 0;
}

static unsigned count_waiting(void)
{
    unsigned count = 0;
    CHECK_EQUAL(ay_look(test_space, NULL, count_if_waiting, &count), 0);
    return count;
}

/* How often it has gone to sleep. */
static unsigned long count_sleeps(pid_t pid)
{
    char path[64], line[256];
    unsigned long count = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    while (!found && fgets(line, sizeof line, file))
        found = sscanf(line, "voluntary_ctxt_switches: %lu", &count) == 1;
    fclose(file);
    CHECK(found);
    return count;
}

static unsigned long count_all_sleeps(const struct crowd *crowd)
{
    unsigned long sum = 0;
    for (unsigned at = 0; at < CROWD; at++)
        sum += count_sleeps(crowd->pids[at]);
    return sum;
}

static void kill_crowd(const struct crowd *crowd)
{
    for (unsigned at = 0; at < CROWD; at++)
        kill_and_reap(crowd->pids[at]);
}

/* While they all wait, one of them may look up now and then; not all of them, though each has more
 * rivals than the kernel watches for it. */
static void test_idle(ay_spec spec, unsigned holders, bool aside)
{
    const unsigned long most = CROWD / 2;
    unlink(test_space);
    struct crowd crowd;
    ay_space *space = open_space(NULL);
    ay_spec held = spec;
    if (held.slots == 0)
        held.mode = AY_EXCLUSIVE;
    for (unsigned at = 0; at < holders; at++)
        CHECK_EQUAL(ay_enter(open_region(space, held)), 0);
    start_crowd(&crowd, spec, aside);
    AWAIT_TRUE(count_waiting() == CROWD);
    /* Those aside look up the less often the longer nothing has changed; on a loaded machine the
     * last of them came late. So it is the quiet in the end that counts. */
    unsigned long sleeps = ULONG_MAX;
    for (unsigned times = 0; sleeps > most && times < IDLE_TIMES; times++) {
        const unsigned long before = count_all_sleeps(&crowd);
        sleep_ms(IDLE_MS);
        sleeps = count_all_sleeps(&crowd) - before;
    }
    if (sleeps > most)
        FAIL("%d waiting (mode %d, %u slots%s) have looked up %lu times in %d ms", CROWD,
             (int)spec.mode, spec.slots, aside ? ", aside" : "", sleeps, IDLE_MS);
    CHECK_EQUAL(atomic_load(&crowd.board->entered), 0);
    kill_crowd(&crowd);
    ay_close(space);
}

static pid_t start_holder(ay_spec spec)
{
    struct board *board = shared_memory(sizeof *board);
    const pid_t pid = spawn();
    if (pid == 0) {
        CHECK(ay_enter(open_region(open_space(NULL), spec)) >= 0);
        atomic_store(&board->entered, 1);
        for (;;)
            pause();
    }
    AWAIT_TRUE(atomic_load(&board->entered) == 1);
    return pid;
}

/* The holder dies with many asleep on its life, one of which the kernel wakes. That one, whichever
 * it is, may be stopped: half of them are. */
static void test_stopped_among_readers(void)
{
    unlink(test_space);
    struct crowd crowd;
    ay_space *space = open_space(NULL);
    const pid_t holder = start_holder((ay_spec){.name = "x"});
    start_crowd(&crowd, (ay_spec){.name = "x", .mode = AY_SHARED}, false);
    AWAIT_TRUE(count_waiting() == CROWD);
    for (unsigned at = 0; at < CROWD / 2; at++)
        kill(crowd.pids[at], SIGSTOP);
    kill_and_reap(holder);
    AWAIT_TRUE(atomic_load(&crowd.board->entered) == CROWD - CROWD / 2);
    for (unsigned at = 0; at < CROWD / 2; at++)
        kill(crowd.pids[at], SIGCONT);
    for (unsigned at = 0; at < CROWD; at++)
        expect_success(crowd.pids[at]);
    ay_close(space);
}

/* The same, and half of them are killed along with the holder. */
static void test_killed_among_readers(void)
{
    unlink(test_space);
    struct crowd crowd;
    ay_space *space = open_space(NULL);
    const pid_t holder = start_holder((ay_spec){.name = "x"});
    start_crowd(&crowd, (ay_spec){.name = "x", .mode = AY_SHARED}, false);
    AWAIT_TRUE(count_waiting() == CROWD);
    kill(holder, SIGKILL);
    for (unsigned at = 0; at < CROWD; at += 2)
        kill(crowd.pids[at], SIGKILL);
    for (unsigned at = 0; at < CROWD; at++)
        if (at % 2)
            expect_success(crowd.pids[at]);
        else
            await_exit(crowd.pids[at]);
    await_exit(holder);
    ay_close(space);
}

static bool is_set(void *flag)
{
    return atomic_load((_Atomic unsigned *)flag) != 0;
}

/* All are aside. One that nobody can have watched makes what they wait for true, and dies inside:
 * no departure tells them, and the kernel nobody. */
static void test_death_unwatched(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    struct board *flag = shared_memory(sizeof *flag), *through = shared_memory(sizeof *through);
    pid_t pids[CROWD];
    for (unsigned at = 0; at < CROWD; at++) {
        pids[at] = spawn();
        if (pids[at] > 0)
            continue;
        ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
        CHECK(ay_enter_when(region, is_set, &flag->entered, -1) >= 0);
        atomic_fetch_add(&through->entered, 1);
        _exit(0); /* inside: nobody leaves and tells the next */
    }
    AWAIT_TRUE(count_waiting() == CROWD);
    const pid_t last = spawn();
    if (last == 0) {
        CHECK(ay_enter(open_region(open_space(NULL), (ay_spec){.name = "x"})) >= 0);
        atomic_store(&flag->entered, 1);
        raise(SIGKILL);
    }
    await_exit(last);
    AWAIT_TRUE(atomic_load(&through->entered) == CROWD);
    for (unsigned at = 0; at < CROWD; at++)
        expect_success(pids[at]);
    ay_close(space);
}

/* Pages of the space that a process has mapped, its own among them. */
static unsigned count_pages(pid_t pid)
{
    char path[64], line[512];
    unsigned long kilobytes, pages = 0;
    bool ours = false;
    snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file)) {
        if (strchr(line, '-') && strchr(line, ' ') > strchr(line, '-'))
            ours = strstr(line, test_space) != NULL;
        if (ours && sscanf(line, "Rss: %lu kB", &kilobytes) == 1)
            pages += kilobytes * 1024 / granule();
    }
    fclose(file);
    return (unsigned)pages;
}

/* Each waits behind all that came before, and has looked at them all. It has mapped the pages in
 * which all that is looked at lies: not two or three for each rival. */
static void test_pages(ay_spec spec)
{
    unlink(test_space);
    struct crowd crowd;
    ay_space *space = open_space(NULL);
    CHECK_EQUAL(ay_enter(open_region(space, (ay_spec){.name = "x"})), 0);
    start_crowd(&crowd, spec, false);
    AWAIT_TRUE(count_waiting() == CROWD);
    unsigned most = 0;
    for (unsigned at = 0; at < CROWD; at++) {
        const unsigned pages = count_pages(crowd.pids[at]);
        most = pages > most ? pages : most;
    }
    CHECK(most > 0);
    if (most > 2 * CROWD)
        FAIL("one of %d waiting (mode %d) has mapped %u pages of the space", CROWD, (int)spec.mode,
             most);
    kill_crowd(&crowd);
    ay_close(space);
}

int main(void)
{
    begin_test("crowd");
    test_pages((ay_spec){.name = "x"});
    test_pages((ay_spec){.name = "x", .mode = AY_SHARED});
    test_idle((ay_spec){.name = "x"}, 1, false);
    test_idle((ay_spec){.name = "x", .mode = AY_SHARED}, 1, false);
    test_idle((ay_spec){.name = "x", .slots = 8}, 8, false);
    test_idle((ay_spec){.name = "x"}, 0, true);
    test_stopped_among_readers();
    test_killed_among_readers();
    test_death_unwatched();
    return 0;
}
