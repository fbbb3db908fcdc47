/* SPDX-License-Identifier: MIT */
/* Descriptors 0, 1 and 2 are the program's, open or not: what it writes there must never reach a
 * file of ours. */
#ifndef AFTERYOU_COMMON_DESCRIPTORS_H
#define AFTERYOU_COMMON_DESCRIPTORS_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/* A copy above stderr, or -1 and errno: EMFILE also if the limit allows none there at all. */
static inline int descriptor_copy(int fd)
{
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (copy < 0 && errno == EINVAL)
        errno = EMFILE;
    return copy;
}

/* Takes a descriptor as a system call returned it, or -1 and errno. Moves it above stderr if it is
 * not there yet. */
static inline int descriptor_above_standard(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    const int moved = descriptor_copy(fd);
    const int error = errno;
    close(fd);
    errno = error;
    return moved;
}

/* While a file is opened that must not even for a moment be one of the three, for another thread
 * may write there just then: what is not open of them is taken, by what can be neither read nor
 * written. */
struct standard_held {
    int fd[STDERR_FILENO + 1];
    unsigned count;
};

static inline void descriptors_hold_standard(struct standard_held *held)
{
    held->count = 0;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        const int taken = open("/", O_PATH | O_CLOEXEC);
        if (taken > STDERR_FILENO)
            close(taken);
        else if (taken >= 0)
            held->fd[held->count++] = taken;
    }
}

static inline void descriptors_let_go(const struct standard_held *held)
{
    for (unsigned which = 0; which < held->count; which++)
        close(held->fd[which]);
}

/* What a descriptor stands for. A program may close what it did not open (close_range(2)), and the
 * number be another's by the next use. */
struct descriptor_identity {
    dev_t device;
    ino_t inode;
    int signal; /* of an eventfd; 0: of something else */
};

static inline bool descriptor_identify(int fd, struct descriptor_identity *identity)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return false;
    *identity = (struct descriptor_identity){.device = status.st_dev, .inode = status.st_ino};
    return true;
}

/* All eventfds have one inode. Ours is told from others by the signal that it would send if it were
 * asked to (O_ASYNC), which nobody does; that of any other is 0. It is open: only this can fail,
 * for want of memory, and then it is taken for what it was by its inode alone. */
static inline void descriptor_identify_event(int fd, struct descriptor_identity *identity)
{
    descriptor_identify(fd, identity);
    if (fcntl(fd, F_SETSIG, SIGRTMAX) == 0)
        identity->signal = SIGRTMAX;
}

static inline bool descriptor_is(int fd, const struct descriptor_identity *identity)
{
    struct descriptor_identity now;
    return descriptor_identify(fd, &now) && now.device == identity->device &&
           now.inode == identity->inode &&
           (identity->signal == 0 || fcntl(fd, F_GETSIG) == identity->signal);
}

/* A program of ours, first of all: /dev/null for those of 0, 1 and 2 that are not open. Nobody can
 * write to that stdout: what is printed there is lost, and that is told. What the program executes
 * has them closed again. False if it cannot be opened. */
static inline bool descriptors_fill_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        const int way = fd == STDOUT_FILENO ? O_RDONLY : O_RDWR;
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", way | O_CLOEXEC) != fd)
            return false;
    }
    return true;
}

#endif
