/* SPDX-License-Identifier: MIT */
/* The kernel's lock of an open file, flock(2): what flock(1) takes, and what a descriptor keeps for
 * as long as it is open anywhere. */
#ifndef AFTERYOU_CLI_FLOCK_FILE_LOCK_H
#define AFTERYOU_CLI_FLOCK_FILE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the open file has such a lock already. */
bool file_is_locked(int fd);

/* Locks: `operation` is LOCK_SH or LOCK_EX. `deadline_ns` of CLOCK_MONOTONIC; negative: none; 0:
 * without waiting. 0, -EWOULDBLOCK, -ETIMEDOUT, or another negative errno; or the number of a
 * signal that came while it waited, and that would have ended the process. */
int file_lock(int fd, int operation, int64_t deadline_ns);

#endif
