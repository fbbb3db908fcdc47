/* SPDX-License-Identifier: MIT */
/* Peers: the kernel's locks of files: flock(2), and record locks of an open file description
 * (fcntl, F_OFD_SETLKW). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "loops.h"

static int make(const struct peer *peer, struct meeting *meeting)
{
    (void)peer;
    const int descriptor = open(meeting->file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return peer_fail(meeting, -errno, "open %s: %s", meeting->file, strerror(errno));
    close(descriptor);
    return 0;
}

static void unmake(struct meeting *meeting)
{
    unlink(meeting->file);
}

/* Each member has an open file description of its own, or they would not exclude each other. */
static int join(const struct peer *peer, struct member *member)
{
    (void)peer;
    member->descriptor = open(member->meeting->file, O_RDWR | O_CLOEXEC);
    if (member->descriptor < 0)
        return peer_fail(member->meeting, -errno, "open %s: %s", member->meeting->file,
                         strerror(errno));
    return 0;
}

static inline void change_flock(struct member *member, int operation)
{
    while (__builtin_expect(flock(member->descriptor, operation) != 0 && errno == EINTR, 0))
        ;
}

static inline void enter_flock(struct member *member)
{
    change_flock(member, LOCK_EX);
}

static inline void enter_flock_shared(struct member *member)
{
    change_flock(member, LOCK_SH);
}

static inline void leave_flock(struct member *member)
{
    change_flock(member, LOCK_UN);
}

static inline void change_record(struct member *member, short type)
{
    struct flock record = {.l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    while (__builtin_expect(fcntl(member->descriptor, F_OFD_SETLKW, &record) != 0 && errno == EINTR,
                            0))
        ;
}

static inline void enter_record(struct member *member)
{
    change_record(member, F_WRLCK);
}

static inline void enter_record_shared(struct member *member)
{
    change_record(member, F_RDLCK);
}

static inline void leave_record(struct member *member)
{
    change_record(member, F_UNLCK);
}

LOOPS(flock_loops, enter_flock, leave_flock)
LOOPS(flock_shared_loops, enter_flock_shared, leave_flock)
LOOPS(record_loops, enter_record, leave_record)
LOOPS(record_shared_loops, enter_record_shared, leave_record)

const struct peer peer_flock = {
    .name = "flock",
    .what = "flock(2), a descriptor for each",
    .can = PEER_READERS | PEER_RECOVERS,
    .loops = &flock_loops,
    .shared_loops = &flock_shared_loops,
    .make = make,
    .join = join,
    .unmake = unmake,
};

const struct peer peer_record_lock = {
    .name = "ofd",
    .what = "fcntl(2) with F_OFD_SETLKW, a descriptor for each",
    .can = PEER_READERS | PEER_RECOVERS,
    .loops = &record_loops,
    .shared_loops = &record_shared_loops,
    .make = make,
    .join = join,
    .unmake = unmake,
};
