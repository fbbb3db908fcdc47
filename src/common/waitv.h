/* SPDX-License-Identifier: MIT */
/* futex_waitv(2), Linux 5.16: a sleep on several words at once. Old kernels have no such call, and
 * profiles of containers that do not know it forbid it, with whatever answer they like. */
#ifndef AFTERYOU_COMMON_WAITV_H
#define AFTERYOU_COMMON_WAITV_H

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/* How it is refused here: an errno, or 0 if it is there, and finds fault with a sleep on
 * nothing. */
static inline int waitv_refusal(void)
{
    return syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0) < 0 && errno != EINVAL ? errno : 0;
}

#endif
