/* SPDX-License-Identifier: MIT */
/* The part of the kernel that is played here: who sleeps on which words, and who wakes them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "world.h"

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
int __real_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                           struct timespec *left);
int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __real_nanosleep(const struct timespec *time, struct timespec *left);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                           struct timespec *left);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);

/* Those who wait for the turn do so by a bit each, so that one that gets it wakes no other. */
void turn_wait(uint32_t value, uint32_t bits)
{
    __real_syscall(SYS_futex, (long)&world->turn, FUTEX_WAIT_BITSET, value, 0, 0, bits);
}

void turn_wake(uint32_t bits)
{
    __real_syscall(SYS_futex, (long)&world->turn, FUTEX_WAKE_BITSET, INT32_MAX, 0, 0, bits);
}

/* ---- time: each has its own, which passes when a deadline of it lapses ---- */

static int64_t ns_of(const struct timespec *time)
{
    return time->tv_sec * 1000000000 + time->tv_nsec;
}

int64_t machine_now(void)
{
    struct timespec now;
    __real_clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_of(&now);
}

/* Where naps take time, it is everybody's: one thread of a process naps for another. */
static int64_t own_now(void)
{
    int64_t latest = 0;
    for (unsigned actor = 0; NAPS_TAKE_TIME && actor < world->actors; actor++)
        if (world->actor[actor].clock_ns > latest)
            latest = world->actor[actor].clock_ns;
    if (NAPS_TAKE_TIME)
        return world->began_ns + latest;
    return world->began_ns + world->actor[self].clock_ns;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!enrolled)
        return __real_clock_gettime(clock, now);
    if (clock == CLOCK_MONOTONIC)
        decide_lapse(__builtin_return_address(0));
    const int64_t ns = own_now();
    *now = (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    return 0;
}

/* ---- sleepers ---- */

/* Of a word of no file: no two processes have it in common. */
static uint64_t own_key(const void *address)
{
    return (uintptr_t)address | 1ull << 63 | (uint64_t)world->actor[self].process << 56;
}

#define PAGES (1ull << 61)

static bool is_of_pages(const char *line)
{
    static const char name[] = "/c/agent";
    const size_t length = strcspn(line, "\n");
    return length > sizeof name &&
           strncmp(line + length - (sizeof name - 1), name, sizeof name - 1) == 0;
}

/* Where in its file a word lies: two mappings of one word are one word. There are two files: the
 * agent's pages are the other. */
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
        char mine[8];
        if (sscanf(line, "%lx-%lx %7s %lx %*s %lu", &begin, &end, mine, &offset, &inode) == 5 &&
            (uintptr_t)address >= begin && (uintptr_t)address < end)
            return inode && (mine[3] == 's')
                       ? (offset + ((uintptr_t)address - begin)) | (is_of_pages(line) ? PAGES : 0)
                       : own_key(address);
    }
    return own_key(address);
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

static long fall_asleep(unsigned count, int64_t left_ns, const void *place)
{
    struct actor *actor = &world->actor[self];
    actor->count = count;
    actor->woken = false;
    actor->left_ns = left_ns;
    actor->briefly = left_ns <= (actor->hurried ? NAP_MOST_NS : NAP_BY_INTENT_NS);
    actor->until_deadline = actor->hurried && !actor->briefly && left_ns <= LAPSE_NS;
    actor->slept_since = world->sleeps++;
    actor->state = ASLEEP;
    yield_turn(place);
    if (actor->woken)
        return actor->by;
    errno = ETIMEDOUT;
    return -1;
}

/* As the kernel would: false if nothing is mapped there any more. */
static bool read_own(uint64_t address, uint32_t *value)
{
    const struct iovec from = {.iov_base = (void *)(uintptr_t)address, .iov_len = sizeof *value},
                       into = {.iov_base = value, .iov_len = sizeof *value};
    return process_vm_readv(getpid(), &into, 1, &from, 1, 0) == sizeof *value;
}

static long sleep_on(const struct waitv *words, unsigned count, int64_t left_ns, const void *place)
{
    struct actor *actor = &world->actor[self];
    if (count > SLEPT_ON_MOST)
        found("sleeps on %u words", count);
    for (unsigned at = 0; at < count; at++) {
        uint32_t value;
        if (!read_own(words[at].address, &value)) {
            errno = EFAULT;
            return -1;
        }
        if (value != (uint32_t)words[at].value) {
            errno = EAGAIN;
            return -1;
        }
        actor->on[at] = (struct slept_on){.key = key_of((const void *)(uintptr_t)words[at].address),
                                          .value = (uint32_t)words[at].value};
    }
    return fall_asleep(count, left_ns, place);
}

void sleep_on_own(const void *address)
{
    world->actor[self].on[0] = (struct slept_on){.key = own_key(address)};
    fall_asleep(1, INT64_MAX, __builtin_return_address(0));
}

void wake_own(const void *address)
{
    wake_all(own_key(address));
}

/* ---- an eventfd ---- */

int __real_eventfd_write(int fd, eventfd_t value);
int __wrap_eventfd_write(int fd, eventfd_t value);

/* Its key is no address: none is so small. */
static const void *place_of(int fd)
{
    return (const void *)(uintptr_t)(unsigned)(fd + 1);
}

int __wrap_eventfd_write(int fd, eventfd_t value)
{
    const int result = __real_eventfd_write(fd, value);
    if (enrolled)
        wake_own(place_of(fd));
    return result;
}

/* ---- sockets ---- */

ssize_t __real_sendto(int fd, const void *bytes, size_t length, int flags,
                      const struct sockaddr *to, socklen_t to_length);
ssize_t __wrap_sendto(int fd, const void *bytes, size_t length, int flags,
                      const struct sockaddr *to, socklen_t to_length);

/* Of all sockets one: who was not meant sleeps on. */
#define SOCKETS (1ull << 62)

ssize_t __real_write(int fd, const void *bytes, size_t length);
ssize_t __wrap_write(int fd, const void *bytes, size_t length);

ssize_t __wrap_write(int fd, const void *bytes, size_t length)
{
    struct stat file;
    const ssize_t result = __real_write(fd, bytes, length);
    if (enrolled && fstat(fd, &file) == 0 && S_ISSOCK(file.st_mode))
        wake_all(SOCKETS);
    return result;
}

ssize_t __real_send(int fd, const void *bytes, size_t length, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags);

/* To a cluster's agent. */
ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags)
{
    const void *place = __builtin_return_address(0);
    if (enrolled && !world->preparing)
        yield_turn(place);
    const ssize_t result = __real_send(fd, bytes, length, flags);
    if (enrolled)
        wake_all(SOCKETS);
    return result;
}

/* Whoever waits for it may run before the next step of the sender. */
ssize_t __wrap_sendto(int fd, const void *bytes, size_t length, int flags,
                      const struct sockaddr *to, socklen_t to_length)
{
    const void *place = __builtin_return_address(0);
    if (enrolled && !world->preparing)
        yield_turn(place);
    if (enrolled && world->scene->no_hints) {
        errno = ECONNREFUSED;
        return -1;
    }
    const ssize_t result = __real_sendto(fd, bytes, length, flags, to, to_length);
    if (enrolled)
        wake_all(SOCKETS);
    return result;
}

void await_readable(int fd)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    while (poll(&readable, 1, 0) != 1) {
        world->actor[self].on[0] = (struct slept_on){.key = own_key(place_of(fd))};
        world->actor[self].on[1] = (struct slept_on){.key = SOCKETS};
        fall_asleep(2, INT64_MAX, __builtin_return_address(0));
    }
}

static long wait_on_one(long address, uint32_t value, const struct timespec *time,
                        const void *place)
{
    const struct waitv word = {.address = (uint64_t)address, .value = value};
    return sleep_on(&word, 1, time ? ns_of(time) : INT64_MAX, place) < 0 ? -1 : 0;
}

/* A barrier has nothing to do here: one runs at a time. */
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    const void *place = __builtin_return_address(0);
    if (!enrolled)
        return __real_syscall(number, a, b, c, d, e, f);
    if (number == SYS_membarrier && a == MEMBARRIER_CMD_PRIVATE_EXPEDITED)
        return 0;
    const long operation = number == SYS_futex ? b & ~FUTEX_PRIVATE_FLAG : -1;
    if (number == SYS_futex_waitv && b > 0 && !world->preparing)
        yield_turn(place); /* between what was seen before, and this */
    if (operation == FUTEX_WAKE) {
        const long real = __real_syscall(number, a, b, c, d, e, f);
        return wake_all(key_of((const void *)a)) + real;
    }
    if (operation == FUTEX_WAIT && world->scene->threads)
        return wait_on_one(a, (uint32_t)c, (const struct timespec *)d, place);
    if (number != SYS_futex_waitv || b == 0)
        return __real_syscall(number, a, b, c, d, e, f);
    const struct timespec *until = (const struct timespec *)d;
    return sleep_on((const struct waitv *)a, (unsigned)b,
                    until ? ns_of(until) - own_now() : INT64_MAX, place);
}

static int nap(const void *place)
{
    world->actor[self].state = NAPS;
    yield_turn(place);
    return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                           struct timespec *left)
{
    return enrolled ? nap(__builtin_return_address(0))
                    : __real_clock_nanosleep(clock, flags, time, left);
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    return enrolled ? nap(__builtin_return_address(0)) : __real_nanosleep(time, left);
}

/* What a word of the file is now; that of no file does not change by a death. */
static uint32_t fetch(int file, const struct slept_on *word)
{
    uint32_t value = word->value;
    return pread(file, &value, sizeof value, (off_t)word->key) == sizeof value ? value
                                                                               : word->value;
}

/* Right before a death: whatever differs after it was marked by the kernel. */
void note_words(void)
{
    const int file = open(world->scene->space, O_RDONLY | O_CLOEXEC);
    for (unsigned which = 0; which < world->actors; which++)
        for (unsigned at = 0; world->actor[which].state == ASLEEP && at < world->actor[which].count;
             at++)
            world->actor[which].on[at].value = fetch(file, &world->actor[which].on[at]);
    close(file);
}

/* The kernel wakes one of those who sleep on a word that it marks; the others there sleep on. */
void wake_by_death(void)
{
    const int file = open(world->scene->space, O_RDONLY | O_CLOEXEC);
    for (;;) {
        struct actor *first = NULL;
        unsigned by = 0;
        for (unsigned which = 0; which < world->actors; which++) {
            struct actor *sleeper = &world->actor[which];
            for (unsigned at = 0; sleeper->state == ASLEEP && at < sleeper->count; at++) {
                if (fetch(file, &sleeper->on[at]) == sleeper->on[at].value ||
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
        for (unsigned which = 0; which < world->actors; which++)
            for (unsigned at = 0; at < world->actor[which].count; at++)
                if (world->actor[which].on[at].key == key)
                    world->actor[which].on[at].value = fetch(file, &world->actor[which].on[at]);
    }
    close(file);
}
