/* SPDX-License-Identifier: MIT */
/* Kill at every access: a process is killed before its k-th access to shared memory, for every k of
 * a passage, with one who waits before it and one behind it; each time the others go on. For every
 * protocol, and for every kind of region that it has.
 *
 * Beyond 400 accesses (rounds of busy waiting, one like the other) it is every tenth. Built with a
 * library whose accessors count (MEMORY_ACCESS_POINTS).
 */
#include <pthread.h>

#include "harness.h"

static long kill_at; /* SIGKILL at this access from now; 0: at none */
void ay__access_point(const char *file);

void ay__access_point(const char *file)
{
    (void)file;
    if (kill_at > 0 && --kill_at == 0)
        raise(SIGKILL);
}

struct round {
    _Atomic int opened, entered_before, victim_begins, go, done;
};

struct kind {
    const char *name, *protocol;
    ay_spec spec;
    bool when;
    unsigned overtake, retain;
    enum {
        IN_FIRST_THREAD,
        IN_ANOTHER_THREAD,
        AFTER_THREAD
    } thread; /* which has no pulse yet; after one that ended inside */
    /* the victim has been through before: the express lane is open to it, or its permission
     * retained */
    bool warm;
};

static const char *const two[] = {"y", NULL};

static const struct kind kinds[] = {
    {.name = "pair", .protocol = "pair", .spec = {.name = "x"}},
    {.name = "races", .protocol = "races", .spec = {.name = "x"}},
    {.name = "clock", .protocol = "clock", .spec = {.name = "x"}},
    {.name = "bakery", .protocol = "bakery", .spec = {.name = "x"}},
    {.name = "bakery, shared", .protocol = "bakery", .spec = {.name = "x", .mode = AY_SHARED}},
    {.name = "region", .protocol = "region", .spec = {.name = "x"}},
    {.name = "region, shared", .protocol = "region", .spec = {.name = "x", .mode = AY_SHARED}},
    {.name = "region, when", .protocol = "region", .spec = {.name = "x"}, .when = true},
    {.name = "forks", .protocol = "forks", .spec = {.name = "x"}},
    {.name = "forks, two slots", .protocol = "forks", .spec = {.name = "x", .slots = 2}},
    {.name = "courtesy", .protocol = "courtesy", .spec = {.name = "x"}},
    {.name = "courtesy, shared", .protocol = "courtesy", .spec = {.name = "x", .mode = AY_SHARED}},
    {.name = "courtesy, two slots", .protocol = "courtesy", .spec = {.name = "x", .slots = 2}},
    {.name = "courtesy, units", .protocol = "courtesy", .spec = {.name = "x", .take = 1, .of = 1}},
    {.name = "courtesy, also", .protocol = "courtesy", .spec = {.name = "x", .also = two}},
    {.name = "courtesy, when", .protocol = "courtesy", .spec = {.name = "x"}, .when = true},
    {.name = "courtesy, express lane", .protocol = "courtesy", .spec = {.name = "x"}, .warm = true},
    {.name = "courtesy, overtaking",
     .protocol = "courtesy",
     .spec = {.name = "x"},
     .overtake = 4,
     .warm = true},
    {.name = "courtesy, another thread",
     .protocol = "courtesy",
     .spec = {.name = "x"},
     .thread = IN_ANOTHER_THREAD},
    {.name = "bakery, another thread",
     .protocol = "bakery",
     .spec = {.name = "x"},
     .thread = IN_ANOTHER_THREAD},
    {.name = "courtesy, after a thread's end",
     .protocol = "courtesy",
     .spec = {.name = "x"},
     .thread = AFTER_THREAD},
    {.name = "courtesy, retained",
     .protocol = "courtesy",
     .spec = {.name = "x"},
     .retain = 1,
     .warm = true},
};

static bool is_true(void *unused)
{
    (void)unused;
    return true;
}

static ay_space *open_kind(const struct kind *kind)
{
    ay_space *space;
    const bool small = !strchr("pbc", kind->protocol[0]) || strcmp(kind->protocol, "clock") == 0;
    const ay_options options = {.protocol = kind->protocol,
                                .places = small ? 4 : 0,
                                .overtake = kind->overtake,
                                .retain = kind->retain};
    CHECK_EQUAL(ay_open(test_space, &options, &space), 0);
    return space;
}

static int enter(const struct kind *kind, ay_region *region)
{
    return kind->when ? ay_enter_when(region, is_true, NULL, PATIENCE_MS)
                      : ay_enter_for(region, PATIENCE_MS);
}

static void pass(const struct kind *kind, ay_region *region, const char *who, long k)
{
    const int result = enter(kind, region);
    if (result != 0 && result != AY_AFTER_DEATH)
        FAIL("%s, killed at access %ld: the one %s got %d, %s", kind->name, k, who, result,
             ay_message());
}

struct victim {
    const struct kind *kind;
    ay_region *region;
    struct round *round;
    long k;
};

static void *pass_to_be_killed(void *arg)
{
    const struct victim *victim = arg;
    kill_at = victim->k;
    atomic_store(&victim->round->victim_begins, 1);
    pass(victim->kind, victim->region, "to be killed", victim->k);
    ay_leave(victim->region);
    kill_at = 0;
    return NULL;
}

static void *enter_and_end(void *arg)
{
    const struct victim *victim = arg;
    pass(victim->kind, victim->region, "to end inside", 0);
    return NULL;
}

static void in_thread(void *(*job)(void *), struct victim *victim)
{
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, job, victim), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

_Noreturn static void be_victim(const struct kind *kind, struct round *round, long k)
{
    ay_region *region = open_region(open_kind(kind), kind->spec);
    for (int times = 0; kind->warm && times < 2; times++) {
        pass(kind, region, "to be killed later", 0);
        ay_leave(region);
    }
    struct victim victim = {.kind = kind, .region = region, .round = round, .k = k};
    if (kind->thread == AFTER_THREAD)
        in_thread(enter_and_end, &victim);
    atomic_fetch_add(&round->opened, 1);
    AWAIT_TRUE(atomic_load(&round->entered_before));
    if (kind->thread == IN_ANOTHER_THREAD)
        in_thread(pass_to_be_killed, &victim);
    else
        pass_to_be_killed(&victim);
    _exit(0); /* the passage is over: k was beyond it */
}

_Noreturn static void be_behind(const struct kind *kind, struct round *round, long k)
{
    ay_region *region = open_region(open_kind(kind), kind->spec);
    atomic_fetch_add(&round->opened, 1);
    AWAIT_TRUE(atomic_load(&round->victim_begins));
    for (int times = 0; times < 3; times++) {
        pass(kind, region, "behind", k);
        ay_leave(region);
    }
    _exit(0);
}

/* from a death until all the others had been through: told, not judged, for it depends on the load
 */
static int64_t slowest_ms;

/* True: the victim was killed. `alone`: nobody before it and nobody behind. */
static bool run(const struct kind *kind, long k, bool alone)
{
    struct round *round = shared_memory(sizeof *round);
    const bool pair = strcmp(kind->protocol, "pair") == 0;
    ay_space *space = open_kind(kind);
    ay_region *region = open_region(space, kind->spec);
    const pid_t victim = spawn();
    if (victim == 0)
        be_victim(kind, round, k);
    pid_t behind = 0;
    if (!alone && !pair) {
        behind = spawn();
        if (behind == 0)
            be_behind(kind, round, k);
    }
    AWAIT_TRUE(atomic_load(&round->opened) == (behind ? 2 : 1));
    if (!alone)
        pass(kind, region, "before", k);
    atomic_store(&round->entered_before, 1);
    AWAIT_TRUE(atomic_load(&round->victim_begins));
    if (!alone) {
        sleep_ms(2); /* let them queue up */
        CHECK_EQUAL(ay_leave(region), 0);
    }
    const int status = await_exit(victim);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!killed && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
        FAIL("%s, access %ld: the victim ended with %x", kind->name, k, (unsigned)status);
    const int64_t died = now_ms();
    if (behind)
        expect_success(behind);
    for (int times = 0; times < 3; times++) {
        pass(kind, region, "before", k);
        CHECK_EQUAL(ay_leave(region), 0);
    }
    if (killed && now_ms() - died > slowest_ms)
        slowest_ms = now_ms() - died;
    ay_close(space);
    munmap(round, sizeof *round);
    return killed;
}

int main(int count, char **words)
{
    const int step = count > 1 ? atoi(words[1]) : 1;
    begin_test("every-access");
    for (size_t which = 0; which < sizeof kinds / sizeof *kinds; which++)
        for (int alone = 0; alone < 2; alone++) {
            unlink(test_space);
            long k = 1, beyond = 0;
            const int64_t begin = now_ms();
            /* A passage that waits may take more accesses than another of its kind: three rounds
             * without a death end it. */
            while (beyond < 3 && now_ms() - begin < 20000) {
                beyond = run(&kinds[which], k, alone) ? 0 : beyond + 1;
                k += k < 400 ? step : 10 * step;
            }
            printf("%s, %s: killed at every access up to %ld; the others were through within %lld "
                   "ms\n",
                   kinds[which].name, alone ? "alone" : "with others", k, (long long)slowest_ms);
            slowest_ms = 0;
            fflush(stdout);
        }
    return 0;
}
