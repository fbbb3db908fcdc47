/* SPDX-License-Identifier: MIT */
/* The part of the kernel that is played here: who sleeps on which words, and who wakes them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "world.h"

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
int __real_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                           struct timespec *left);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                           struct timespec *left);

void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    __real_syscall(SYS_futex, (long)word, FUTEX_WAIT, value, 0, 0, 0);
}

void futex_wake(_Atomic uint32_t *word)
{
    __real_syscall(SYS_futex, (long)word, FUTEX_WAKE, INT32_MAX, 0, 0, 0);
}

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
void wake_by_death(void)
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
