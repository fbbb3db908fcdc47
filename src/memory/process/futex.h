/* SPDX-License-Identifier: MIT */
/* Sleeping on words, and waking who sleeps there. */
#ifndef AFTERYOU_MEMORY_PROCESS_FUTEX_H
#define AFTERYOU_MEMORY_PROCESS_FUTEX_H

#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/passage/access.h"

/* What futex_waitv(2) takes. */
struct ay__waitv {
    uint64_t value;
    uint64_t address;
    uint32_t flags;
    uint32_t reserved;
};
enum { WAITV_32_BITS = 2, WAITV_PRIVATE = 128 };

/* Sleeps until a word differs from its value, or is woken, or until then (INT64_MAX: no end). The
 * word by which it was woken, or -1; whatever the cause, the caller looks again. Where the kernel
 * watches one word only, changes of the others are noticed soon at first, and later after `deaf_ns`
 * at most; and that they are woken, not at all. */
int ay__futex_sleep(struct ay__waitv *words, unsigned count, int64_t deaf_ns, int64_t until);

/* Once in each thread that is to bequeath. */
void ay__futex_begin_thread(void);
/* Until it is called with NULL: should this thread be killed after the kernel has woken it, and
 * nobody else, for the end of this life, then the kernel wakes the next one there. Since Linux
 * 6.2 */
void ay__futex_bequeath(const void *life);

/* Whether wake-ups of every word are heard, as far as is known. */
bool ay__futex_several(void);
void ay__futex_probe(void); /* asks the kernel */

/* All who sleep on a word; how many they were. */
static inline long ay__futex_wake(const void *address)
{
    access_point();
    return syscall(SYS_futex, address, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

#endif
