/* SPDX-License-Identifier: MIT */
/* Peers: a POSIX semaphore in shared memory, and a System V semaphore whose operations are undone
 * when a process ends. */
#include <errno.h>
#include <semaphore.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/sem.h>

#include "loops.h"

static int make_posix(const struct peer *peer, struct meeting *meeting)
{
    (void)peer;
    if (sem_init((sem_t *)meeting->room, 1, meeting->slots) != 0)
        return peer_fail(meeting, -errno, "sem_init: %s", strerror(errno));
    return 0;
}

static int join(const struct peer *peer, struct member *member)
{
    (void)peer;
    member->lock = member->meeting->room;
    member->descriptor = member->meeting->semaphore;
    return 0;
}

static inline void enter_posix(struct member *member)
{
    while (__builtin_expect(sem_wait(member->lock) != 0, 0))
        ;
}

static inline void leave_posix(struct member *member)
{
    sem_post(member->lock);
}

static int make_sysv(const struct peer *peer, struct meeting *meeting)
{
    (void)peer;
    union semun {
        int value;
    };
    meeting->semaphore = semget(IPC_PRIVATE, 1, 0600);
    if (meeting->semaphore < 0)
        return peer_fail(meeting, -errno, "semget: %s", strerror(errno));
    if (semctl(meeting->semaphore, 0, SETVAL, (union semun){.value = (int)meeting->slots}) != 0)
        return peer_fail(meeting, -errno, "semctl: %s", strerror(errno));
    return 0;
}

static void unmake_sysv(struct meeting *meeting)
{
    if (meeting->semaphore >= 0)
        semctl(meeting->semaphore, 0, IPC_RMID);
    meeting->semaphore = -1;
}

static inline void change_sysv(struct member *member, short by)
{
    struct sembuf change = {.sem_num = 0, .sem_op = by, .sem_flg = SEM_UNDO};
    while (__builtin_expect(semop(member->descriptor, &change, 1) != 0 && errno == EINTR, 0))
        ;
}

static inline void enter_sysv(struct member *member)
{
    change_sysv(member, -1);
}

static inline void leave_sysv(struct member *member)
{
    change_sysv(member, 1);
}

LOOPS(posix_loops, enter_posix, leave_posix)
LOOPS(sysv_loops, enter_sysv, leave_sysv)

const struct peer peer_posix_semaphore = {
    .name = "semaphore",
    .what = "POSIX semaphore in shared memory",
    .can = PEER_SLOTS,
    .loops = &posix_loops,
    .make = make_posix,
    .join = join,
};

const struct peer peer_sysv_semaphore = {
    .name = "sysv-undo",
    .what = "System V semaphore with SEM_UNDO",
    .can = PEER_SLOTS | PEER_RECOVERS,
    .loops = &sysv_loops,
    .make = make_sysv,
    .join = join,
    .unmake = unmake_sysv,
};
