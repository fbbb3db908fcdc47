/* SPDX-License-Identifier: MIT */
/* Directories that nobody but root and one user can change, opened without following a link.
 *
 * Every directory from the root on is looked at by its descriptor: it must belong to root or to the
 * user, and others must not be able to write in it; one that all may write in, as /tmp, passes on
 * the way if it is sticky, for there nobody can replace what is another's. So a path that was
 * opened so names the same file ever after, whatever others do.
 */
#ifndef AFTERYOU_COMMON_TRUSTED_H
#define AFTERYOU_COMMON_TRUSTED_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/descriptors.h"

enum { WRITABLE_BY_OTHERS = S_IWGRP | S_IWOTH };

struct trust {
    uid_t user;    /* besides root */
    bool beside;   /* others may add to the last directory as well, if it is sticky */
    char *trouble; /* what is wrong */
    size_t room;
};

/* False, and `trouble` says why: it is another's, or others can write to it; `sticky` if they may
 * add to it, and no more. */
static inline bool trusted_status(const struct trust *trust, const struct stat *status,
                                  const char *path, bool sticky)
{
    if (status->st_uid != 0 && status->st_uid != trust->user)
        snprintf(trust->trouble, trust->room,
                 "%s belongs to user %u, and only root and user %u are trusted", path,
                 status->st_uid, trust->user);
    else if (status->st_mode & WRITABLE_BY_OTHERS && !(sticky && status->st_mode & S_ISVTX))
        snprintf(trust->trouble, trust->room, "%s can be changed by other users (mode %o)", path,
                 status->st_mode & 07777);
    else
        return true;
    return false;
}

/* The directory `name` in `at`, whose path is `path`: a descriptor to search it by (O_PATH), or a
 * negative errno. */
static inline int trusted_directory_at(const struct trust *trust, int at, const char *name,
                                       const char *path, bool last)
{
    struct stat status;
    const int fd =
        descriptor_above_standard(openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    int error = fd < 0 || fstat(fd, &status) != 0 ? errno : 0;
    if (error)
        snprintf(trust->trouble, trust->room, "cannot open %s as a directory: %s%s", path,
                 strerror(error),
                 error == ENOTDIR ? "; no part of its path may be a symbolic link" : "");
    else if (!trusted_status(trust, &status, path, !last || trust->beside))
        error = EACCES;
    if (error && fd >= 0)
        close(fd);
    return error ? -error : fd;
}

/* The directory of this path. */
static inline int trusted_directory(const struct trust *trust, const char *path)
{
    const char *rest = path + strspn(path, "/"), *first = *path == '/' ? "/" : ".";
    int fd = trusted_directory_at(trust, AT_FDCWD, first, first, !*rest);
    while (fd >= 0 && *rest) {
        char name[NAME_MAX + 1], so_far[PATH_MAX];
        const size_t length = strcspn(rest, "/");
        const int above = fd;
        snprintf(name, sizeof name, "%.*s", (int)length, rest);
        snprintf(so_far, sizeof so_far, "%.*s", (int)((size_t)(rest - path) + length), path);
        rest += length;
        rest += strspn(rest, "/");
        if (length > NAME_MAX) {
            snprintf(trust->trouble, trust->room, "a name in %s is too long", path);
            fd = -ENAMETOOLONG;
        } else {
            fd = trusted_directory_at(trust, above, name, so_far, !*rest);
        }
        close(above);
    }
    return fd;
}

#endif
