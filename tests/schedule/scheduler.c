/* SPDX-License-Identifier: MIT */
/* The scheduler: whose turn it is, and what the decisions of a run were. */
#include "scheduler.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    STEPS_MOST = 20000,
    NAPS_MOST = 200,
    NAP_MOST_NS = 20 * 1000 * 1000,
    SLEPT_ON_MOST = 160,
    OPTIONS_MOST = 2 * ACTORS_MOST,
    DIRECTOR = ACTORS_MOST,
    PATIENCE_S = 60,
    FINDING_ROOM = 400,
    FOUND_EXIT = 3
};

enum actor_state { UNBORN, READY, ASLEEP, NAPS, DONE, DEAD };

struct slept_on {
    uint64_t key;
    uint32_t value;
};

struct actor {
    enum actor_state state;
    pid_t pid;
    bool inside;
    bool woken;           /* and not only roused because time passes */
    bool briefly;         /* asleep: for NAP_MOST_NS at most, by intent */
    unsigned by;          /* which word */
    uint64_t slept_since; /* the kernel wakes who came first */
    unsigned count;
    struct slept_on on[SLEPT_ON_MOST];
};

struct decision {
    uint8_t taken, of;
    uint8_t actor; /* who decided */
    bool kills;
    const void *at; /* where it stood */
};

/* What all processes of a run share. Whoever has the turn may touch it. */
struct world {
    _Atomic uint32_t turn; /* an actor, or DIRECTOR */
    _Atomic uint32_t over;
    const struct scene *scene;
    struct actor actor[ACTORS_MOST];
    unsigned preemptions, kills; /* left */
    unsigned deaths_inside, killed, told;
    unsigned naps;
    uint64_t sleeps;
    uint64_t fence;
    uint64_t random; /* 0: decisions are the first that was not tried */
    unsigned usual;  /* at random: how many steps the last run had */
    unsigned position, length;
    char finding[FINDING_ROOM];
    struct decision decisions[STEPS_MOST];
};

static struct world *world;
static unsigned self = DIRECTOR;
static bool offers; /* the turn: that another takes it is no preemption */
static _Thread_local bool enrolled;

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
int __real_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                           struct timespec *left);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                           struct timespec *left);
void ay__access_point(void);

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    __real_syscall(SYS_futex, (long)word, FUTEX_WAIT, value, 0, 0, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
    __real_syscall(SYS_futex, (long)word, FUTEX_WAKE, INT32_MAX, 0, 0, 0);
}

/* ---- the end of a run ---- */

static void end_run(void)
{
    atomic_store(&world->over, 1);
    futex_wake(&world->over);
    atomic_store(&world->turn, DIRECTOR);
    futex_wake(&world->turn);
}

static void note_finding(const char *format, va_list arguments)
{
    if (world->finding[0] == '\0')
        vsnprintf(world->finding, sizeof world->finding, format, arguments);
}

void found(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    note_finding(format, arguments);
    va_end(arguments);
    end_run();
    _exit(FOUND_EXIT);
}

/* ---- who goes on ---- */

static void wait_for_turn(void)
{
    for (;;) {
        const uint32_t turn = atomic_load(&world->turn);
        if (atomic_load(&world->over))
            _exit(0);
        if (turn == self)
            return;
        futex_wait(&world->turn, turn);
    }
}

static void pass_turn(unsigned actor)
{
    atomic_store(&world->turn, actor);
    futex_wake(&world->turn);
}

static uint64_t draw(void)
{
    world->random ^= world->random << 13;
    world->random ^= world->random >> 7;
    world->random ^= world->random << 17;
    return world->random;
}

/* Nobody can go on. Naps end by themselves; else all are done, or a wake-up was lost. True: look again. */
static bool world_stands_still(void)
{
    unsigned asleep = 0;
    bool again = false;
    for (unsigned actor = 0; actor < world->scene->actors; actor++) {
        if (world->actor[actor].state == NAPS ||
            (world->actor[actor].state == ASLEEP && world->actor[actor].briefly)) {
            world->actor[actor].state = READY;
            again = true;
        }
        asleep += world->actor[actor].state == ASLEEP;
    }
    if (again && ++world->naps <= NAPS_MOST)
        return true;
    if (again || asleep)
        snprintf(world->finding, sizeof world->finding, "%s",
                 again ? "naps without end" : "all who are left sleep, and nobody wakes them");
    end_run();
    return false;
}

struct option {
    unsigned actor;
    bool kills;
};

/* What can be done now. The first is what needs no decision. */
static unsigned list_options(struct option *options)
{
    unsigned count = 0;
    const bool goes_on = self != DIRECTOR && world->actor[self].state == READY;
    if (goes_on)
        options[count++] = (struct option){.actor = self};
    for (unsigned step = 1; step <= ACTORS_MOST; step++) {
        const unsigned actor = (self + step) % ACTORS_MOST;
        if (actor != self && world->actor[actor].state == READY &&
            (!goes_on || offers || world->preemptions > 0))
            options[count++] = (struct option){.actor = actor};
    }
    if (count == 0 || world->kills == 0)
        return count;
    for (unsigned actor = 0; actor < ACTORS_MOST; actor++)
        if ((actor == self && goes_on) || world->actor[actor].state == ASLEEP)
            options[count++] = (struct option){.actor = actor, .kills = true};
    return count;
}

/* At random: where the turn is given away, anybody; else so seldom that the few preemptions and
 * kills there may be lie anywhere in the run. */
static unsigned draw_option(const struct option *options, unsigned count)
{
    unsigned living = 0;
    while (living < count && !options[living].kills)
        living++;
    const bool goes_on = self != DIRECTOR && world->actor[self].state == READY && !offers;
    const unsigned left = world->usual > world->position ? world->usual - world->position : 1;
    if (draw() % (left + 1) < world->preemptions + world->kills)
        return (unsigned)(draw() % count);
    return goes_on ? 0 : (unsigned)(draw() % living);
}

static unsigned choose(const struct option *options, unsigned count)
{
    if (world->position < world->length)
        return world->decisions[world->position].taken;
    return world->random ? draw_option(options, count) : 0;
}

static struct option decide(const void *place)
{
    struct option options[OPTIONS_MOST];
    unsigned count = list_options(options);
    while (count == 0) {
        if (!world_stands_still())
            return (struct option){.actor = DIRECTOR};
        count = list_options(options);
    }
    if (world->position == STEPS_MOST)
        found("more than %d steps: somebody goes round and round", STEPS_MOST);
    const unsigned taken = choose(options, count);
    if (taken >= count)
        found("the run went otherwise than before at step %u", world->position);
    const struct option option = options[taken];
    world->decisions[world->position++] = (struct decision){.taken = (uint8_t)taken,
                                                            .of = (uint8_t)count,
                                                            .actor = (uint8_t)self,
                                                            .kills = option.kills,
                                                            .at = place};
    if (option.kills)
        world->kills--;
    else if (option.actor != self && self != DIRECTOR && !offers &&
             world->actor[self].state == READY)
        world->preemptions--;
    return option;
}

/* Gives the turn to whoever is chosen, and returns when it is back. The director does what remains
 * to be done for one that is killed. */
static void yield_turn(const void *place)
{
    const struct option option = decide(place);
    if (option.kills) {
        if (option.actor != self)
            atomic_store(&world->turn, DIRECTOR);
        kill(world->actor[option.actor].pid, SIGKILL);
    } else if (option.actor == self) {
        return;
    } else if (!atomic_load(&world->over)) {
        pass_turn(option.actor);
    }
    wait_for_turn();
}

__attribute__((noinline)) void ay__access_point(void)
{
    if (enrolled)
        yield_turn(__builtin_return_address(0));
}

__attribute__((noinline)) void point(void)
{
    offers = true;
    const void *place = __builtin_return_address(0);
    yield_turn(place);
    offers = false;
}

/* ---- sleeping and waking ---- */

/* Where in its file a word lies: two mappings of one word are one word. A word of no file is its
 * address. */
static uint64_t key_of(const void *address)
{
    static char maps[64 * 1024];
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    for (ssize_t got; file >= 0 && length < sizeof maps - 1 &&
                      (got = read(file, maps + length, sizeof maps - 1 - length)) > 0;)
        length += (size_t)got;
    close(file);
    maps[length] = '\0';
    for (const char *line = maps; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        unsigned long begin, end, offset, inode;
        if (sscanf(line, "%lx-%lx %*s %lx %*s %lu", &begin, &end, &offset, &inode) == 4 &&
            (uintptr_t)address >= begin && (uintptr_t)address < end)
            return inode ? offset + ((uintptr_t)address - begin) : (uintptr_t)address | 1ull << 63;
    }
    return (uintptr_t)address | 1ull << 63;
}

static void rouse(struct actor *actor, unsigned by)
{
    actor->state = READY;
    actor->woken = true;
    actor->by = by;
}

static long wake_all(uint64_t key)
{
    long count = 0;
    for (unsigned actor = 0; actor < ACTORS_MOST; actor++)
        for (unsigned at = 0; world->actor[actor].state == ASLEEP && at < world->actor[actor].count;
             at++)
            if (world->actor[actor].on[at].key == key) {
                rouse(&world->actor[actor], at);
                count++;
            }
    return count;
}

struct waitv {
    uint64_t value, address;
    uint32_t flags, reserved;
};

static bool ends_soon(const struct timespec *until)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return until &&
           (until->tv_sec - now.tv_sec) * 1000000000 + until->tv_nsec - now.tv_nsec <= NAP_MOST_NS;
}

static long sleep_on(const struct waitv *words, unsigned count, const struct timespec *until,
                     const void *place)
{
    struct actor *actor = &world->actor[self];
    if (count > SLEPT_ON_MOST)
        found("sleeps on %u words", count);
    for (unsigned at = 0; at < count; at++) {
        const _Atomic uint32_t *word = (const _Atomic uint32_t *)(uintptr_t)words[at].address;
        if (atomic_load(word) != (uint32_t)words[at].value) {
            errno = EAGAIN;
            return -1;
        }
        actor->on[at] = (struct slept_on){.key = key_of((const void *)(uintptr_t)words[at].address),
                                          .value = (uint32_t)words[at].value};
    }
    actor->count = count;
    actor->woken = false;
    actor->briefly = ends_soon(until);
    actor->slept_since = world->sleeps++;
    actor->state = ASLEEP;
    yield_turn(place);
    if (actor->woken)
        return actor->by;
    errno = ETIMEDOUT;
    return -1;
}

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (!enrolled)
        return __real_syscall(number, a, b, c, d, e, f);
    if (number == SYS_futex && b == FUTEX_WAKE) {
        const long real = __real_syscall(number, a, b, c, d, e, f);
        return wake_all(key_of((const void *)a)) + real;
    }
    if (number == SYS_futex_waitv)
        return sleep_on((const struct waitv *)a, (unsigned)b, (const struct timespec *)d,
                        __builtin_return_address(0));
    return __real_syscall(number, a, b, c, d, e, f);
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                           struct timespec *left)
{
    if (!enrolled)
        return __real_clock_nanosleep(clock, flags, time, left);
    world->actor[self].state = NAPS;
    yield_turn(__builtin_return_address(0));
    return 0;
}

/* The kernel wakes one of those who sleep on a word that it marks. */
static void wake_by_death(void)
{
    const int file = open(world->scene->space, O_RDONLY | O_CLOEXEC);
    for (;;) {
        struct actor *first = NULL;
        unsigned by = 0;
        for (unsigned actor = 0; actor < ACTORS_MOST; actor++) {
            struct actor *sleeper = &world->actor[actor];
            for (unsigned at = 0; sleeper->state == ASLEEP && at < sleeper->count; at++) {
                uint32_t value = sleeper->on[at].value;
                if (pread(file, &value, sizeof value, (off_t)sleeper->on[at].key) != sizeof value ||
                    value == sleeper->on[at].value ||
                    (first && first->slept_since < sleeper->slept_since))
                    continue;
                first = sleeper;
                by = at;
            }
        }
        if (!first)
            break;
        const uint64_t key = first->on[by].key;
        rouse(first, by);
        /* the others on that word sleep on: they are not woken by this death */
        for (unsigned actor = 0; actor < ACTORS_MOST; actor++)
            for (unsigned at = 0; at < world->actor[actor].count; at++)
                if (world->actor[actor].state == ASLEEP && world->actor[actor].on[at].key == key)
                    pread(file, &world->actor[actor].on[at].value, sizeof(uint32_t), (off_t)key);
    }
    close(file);
}

/* ---- what actors say ---- */

void say_inside(unsigned room)
{
    unsigned others = 0;
    for (unsigned actor = 0; actor < ACTORS_MOST; actor++)
        others += world->actor[actor].inside;
    if (others >= room)
        found("%u is inside, and %u others, with room for %u", self, others, room);
    world->actor[self].inside = true;
}

void say_outside(void)
{
    world->actor[self].inside = false;
}

void say_fence(uint64_t fence)
{
    if (fence <= world->fence)
        found("fence %llu after %llu", (unsigned long long)fence, (unsigned long long)world->fence);
    world->fence = fence;
}

void say_told(void)
{
    world->told++;
}

unsigned told_so_far(void)
{
    return world->told;
}

/* ---- a run ---- */

_Noreturn static void be_actor(unsigned actor)
{
    self = actor;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    wait_for_turn();
    world->scene->prepare(actor);
    world->actor[actor].state = READY;
    pass_turn(DIRECTOR);
    wait_for_turn();
    enrolled = true;
    world->scene->act(actor);
    enrolled = false;
    world->actor[actor].state = DONE;
    yield_turn(NULL); /* it stays until all is over: its end would be one more event */
    _exit(0);
}

static void wait_until_mine(void)
{
    for (;;) {
        const uint32_t turn = atomic_load(&world->turn);
        if (turn == DIRECTOR || atomic_load(&world->over))
            return;
        futex_wait(&world->turn, turn);
    }
}

static void bury(unsigned actor)
{
    struct actor *dead = &world->actor[actor];
    dead->state = DEAD;
    world->deaths_inside += dead->inside;
    dead->inside = false;
    world->killed++;
    wake_by_death();
    const struct option option = decide(NULL);
    if (option.kills) {
        kill(world->actor[option.actor].pid, SIGKILL);
    } else if (!atomic_load(&world->over)) {
        pass_turn(option.actor);
    }
}

static void on_alarm(int signal)
{
    (void)signal;
    static const char text[] = "schedule: no end for a minute\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(1);
}

static void reap(unsigned left)
{
    while (left > 0) {
        int status;
        const pid_t pid = waitpid(-1, &status, 0);
        if (pid < 0)
            abort();
        left--;
        unsigned actor = 0;
        while (actor < ACTORS_MOST && world->actor[actor].pid != pid)
            actor++;
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !atomic_load(&world->over)) {
            self = DIRECTOR;
            bury(actor);
        } else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
            snprintf(world->finding, sizeof world->finding, "%u ended by signal %d", actor,
                     WTERMSIG(status));
            end_run();
        }
    }
}

static void audit(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        world->scene->audit(world->deaths_inside, world->killed);
        _exit(0);
    }
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        abort();
    if (status != 0 && world->finding[0] == '\0')
        snprintf(world->finding, sizeof world->finding, "the audit ended with status %d", status);
}

static void run_once(const struct scene *scene)
{
    const unsigned length = world->length;
    const uint64_t random = world->random;
    const unsigned usual = world->position;
    memset(world, 0, offsetof(struct world, decisions));
    world->length = length;
    world->random = random;
    world->usual = usual;
    world->scene = scene;
    world->preemptions = scene->preemptions;
    world->kills = scene->kills;
    atomic_store(&world->turn, DIRECTOR);
    unlink(scene->space);
    alarm(PATIENCE_S);
    for (unsigned actor = 0; actor < scene->actors; actor++) {
        const pid_t pid = fork();
        if (pid == 0)
            be_actor(actor);
        if (pid < 0)
            abort();
        world->actor[actor].pid = pid;
        pass_turn(actor);
        wait_until_mine();
    }
    if (!atomic_load(&world->over)) {
        self = DIRECTOR;
        pass_turn(decide(NULL).actor);
    }
    reap(scene->actors);
    if (world->finding[0] == '\0')
        audit();
    alarm(0);
}

/* ---- all runs ---- */

static void tell_place(const void *place)
{
    extern const char __executable_start;
    char command[128];
    snprintf(command, sizeof command, "addr2line -s -f -p -e /proc/%d/exe %#lx >&2", (int)getpid(),
             (unsigned long)((const char *)place - &__executable_start - 1));
    if (!place || system(command) != 0)
        fprintf(stderr, "-\n");
}

/* Only where something was decided. */
static void tell_run(const struct scene *scene)
{
    fprintf(stderr, "%s: %s, after %u steps. Decisions:\n", scene->name, world->finding,
            world->position);
    for (unsigned at = 0; at < world->position; at++) {
        const struct decision *decision = &world->decisions[at];
        if (decision->taken == 0 && at + 1 < world->position &&
            world->decisions[at + 1].actor == decision->actor)
            continue;
        fprintf(stderr, "  step %4u: %u%s at ", at, decision->actor,
                decision->kills ? " (somebody is killed)" : "");
        tell_place(decision->at);
    }
}

static void open_world(void)
{
    signal(SIGALRM, on_alarm);
    if (!world)
        world =
            mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (world == MAP_FAILED)
        abort();
    world->length = world->position = 0;
    world->random = 0;
}

/* The last decision that has another way is changed, and what came after it forgotten. */
static bool next_run(void)
{
    unsigned at = world->position;
    while (at > 0 && world->decisions[at - 1].taken + 1 >= world->decisions[at - 1].of)
        at--;
    if (at == 0)
        return false;
    world->decisions[at - 1].taken++;
    world->length = at;
    return true;
}

bool scene_explore(const struct scene *scene, uint64_t runs_most, struct tally *tally)
{
    open_world();
    *tally = (struct tally){0};
    do {
        run_once(scene);
        tally->runs++;
        tally->steps += world->position;
        if (world->finding[0] != '\0') {
            tell_run(scene);
            return false;
        }
        tally->exhausted = !next_run();
    } while (!tally->exhausted && tally->runs < runs_most);
    return true;
}

bool scene_sample(const struct scene *scene, uint64_t runs, uint64_t seed, struct tally *tally)
{
    open_world();
    *tally = (struct tally){0};
    world->random = seed * 0x9e3779b97f4a7c15 | 1;
    for (; tally->runs < runs; tally->runs++) {
        world->length = 0;
        run_once(scene);
        tally->steps += world->position;
        if (world->finding[0] != '\0') {
            tell_run(scene);
            return false;
        }
    }
    return true;
}
