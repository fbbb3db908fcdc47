/* SPDX-License-Identifier: MIT */
/* Sleeping on several words at once, by futex_waitv(2); and what is done where that is refused.
 *
 * Then the kernel watches the first word alone: callers put there what changes in the ordinary
 * course of things. The others (a life that ends, say) are looked at between naps, which grow: who
 * waits for long looks up seldom, and is late by a part of its wait.
 *
 * The kernel wakes one sleeper of a life that ends. Where threads of a process sleep on the life of
 * another thread of it, that may be one of them; and kill -9 ends them all at once: the others hear
 * nothing. For that the kernel knows, of each thread, the robust mutex that it is about to lock.
 * When the thread dies, and nobody has that mutex, it wakes another sleeper. So a thread that
 * sleeps on a life says that it is about to lock it. The life may bear the number that the thread
 * has itself, in another PID namespace: but the kernel cannot mark it then, for the address is one
 * of the file as it is mapped to read.
 */
#include "memory/process/futex.h"

#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include "common/waitv.h"
#include "memory/memory.h"

enum { NAP_LEAST_NS = 1000 * 1000, NAP_FIRST = 16, NAP_GROWTH = 4 };

static _Atomic bool refused; /* set by the first refusal; never cleared */

bool ay__futex_several(void)
{
    return !atomic_load_explicit(&refused, memory_order_relaxed);
}

void ay__futex_probe(void)
{
    if (waitv_refusal())
        atomic_store_explicit(&refused, true, memory_order_relaxed);
}

/* The C library's, for its robust mutexes; NULL: there is none, or the kernel does not say. */
static _Thread_local struct robust_list_head *robust __attribute__((tls_model("initial-exec")));

void ay__futex_begin_thread(void)
{
    size_t length;
    if (syscall(SYS_get_robust_list, 0, &robust, &length) != 0)
        robust = NULL;
}

/* As the kernel finds the word of a mutex: by what links it. Where this links nothing, only its
 * address counts. */
void ay__futex_bequeath(const void *life)
{
    if (robust)
        __atomic_store_n(
            &robust->list_op_pending,
            life ? (struct robust_list *)((uintptr_t)life - (uintptr_t)robust->futex_offset) : NULL,
            __ATOMIC_RELEASE);
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

/* The word that differs from its value, or -1. */
static int find_changed(const struct ay__waitv *words, unsigned count)
{
    for (unsigned at = 0; at < count; at++) {
        const _Atomic uint32_t *word = (const _Atomic uint32_t *)(uintptr_t)words[at].address;
        if (atomic_load(word) != (uint32_t)words[at].value)
            return (int)at;
    }
    return -1;
}

/* A nap on the first word. True: woken. */
static bool nap(const struct ay__waitv *word, int64_t ns)
{
    const int operation = FUTEX_WAIT | (word->flags & WAITV_PRIVATE ? FUTEX_PRIVATE_FLAG : 0);
    const struct timespec time = timespec_of(ns);
    if (syscall(SYS_futex, (void *)(uintptr_t)word->address, operation, (uint32_t)word->value,
                &time, NULL, 0) == 0)
        return true;
    if (errno != EAGAIN && errno != EINTR && errno != ETIMEDOUT)
        /* whatever is wrong: it is not waited for by spinning */
        clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
    return false;
}

static int sleep_in_naps(const struct ay__waitv *words, unsigned count, int64_t deaf_ns,
                         int64_t until)
{
    if (deaf_ns < NAP_LEAST_NS)
        deaf_ns = NAP_LEAST_NS;
    for (int64_t nap_ns = deaf_ns / NAP_FIRST;; nap_ns += nap_ns / NAP_GROWTH) {
        if (nap_ns < NAP_LEAST_NS)
            nap_ns = NAP_LEAST_NS;
        if (nap_ns > deaf_ns)
            nap_ns = deaf_ns;
        const int changed = find_changed(words, count);
        const int64_t now = ay__now();
        if (changed >= 0 || now >= until)
            return changed;
        const int64_t left = until - now;
        if (nap(&words[0], count == 1 || left < nap_ns ? left : nap_ns))
            return 0;
    }
}

static void rest_a_moment(void)
{
    const struct timespec time = timespec_of(NAP_LEAST_NS);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

int ay__futex_sleep(struct ay__waitv *words, unsigned count, int64_t deaf_ns, int64_t until)
{
    if (!ay__futex_several())
        return sleep_in_naps(words, count, deaf_ns, until);
    const struct timespec time = timespec_of(until);
    const long woken = syscall(SYS_futex_waitv, words, count, 0, until == INT64_MAX ? NULL : &time,
                               CLOCK_MONOTONIC);
    if (woken >= 0)
        return (int)woken;
    switch (errno) {
    case EAGAIN:
    case EINTR:
    case ETIMEDOUT:
        return -1;
    case ENOMEM: /* of this sleep, not of the call */
        return sleep_in_naps(words, count, deaf_ns, until);
    case EFAULT: /* a word is not mapped any more: the caller looks what there is to sleep on */
        rest_a_moment();
        return -1;
    default:
        atomic_store_explicit(&refused, true, memory_order_relaxed);
        return -1; /* for the caller may wait otherwise now */
    }
}
