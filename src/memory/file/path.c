/* SPDX-License-Identifier: MIT */
/* Where the file of a space is.
 *
 * All processes of a user must find the same directory, whatever their environment: a job of cron's
 * has no XDG_RUNTIME_DIR, and two that do not meet do not exclude each other. So it is found by the
 * user's number alone:
 *   /dev/shm/afteryou-UID      unless it is another user's: anybody can make it first
 *   /run/user/UID/afteryou     then, if the system has made /run/user/UID, which only it can
 * A user who is shut out of the one, and has not got the other, is told so. AFTERYOU_DIR is for who
 * wants another one.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clusters.h"
#include "memory/memory.h"

#define ENVIRONMENT "AFTERYOU_DIR"

/* Nobody else may have put something there. */
static bool is_private(const struct stat *status)
{
    return S_ISDIR(status->st_mode) && status->st_uid == geteuid() &&
           !(status->st_mode & (S_IWGRP | S_IWOTH));
}

/* False: it does not fit. */
static bool find_directory(char *directory, size_t room)
{
    const char *asked = secure_getenv(ENVIRONMENT);
    struct stat status;
    char run[64];
    int length;
    snprintf(run, sizeof run, "/run/user/%u", geteuid());
    if (asked && *asked)
        length = snprintf(directory, room, "%s", asked);
    else
        length = snprintf(directory, room, "/dev/shm/afteryou-%u", geteuid());
    if (!(asked && *asked) && lstat(directory, &status) == 0 && status.st_uid != geteuid() &&
        lstat(run, &status) == 0 && is_private(&status) && !(status.st_mode & (S_IRWXG | S_IRWXO)))
        length = snprintf(directory, room, "%s/afteryou", run);
    return length >= 0 && (size_t)length < room;
}

int ay__path(const char *space, char *path, size_t room)
{
    if (!space || !*space)
        space = "default";
    int length;
    if (strncmp(space, CLUSTER_PREFIX, strlen(CLUSTER_PREFIX)) == 0) {
        const char *cluster = space + strlen(CLUSTER_PREFIX);
        if (!cluster_name_is_good(cluster))
            return ay__fail(
                -EINVAL,
                "'%s' is no name of a cluster: 1 to %d bytes, no slash, no dot at its beginning",
                cluster, CLUSTER_NAME_MOST);
        length = cluster_path(cluster, "space", path, room) ? 0 : -1;
    } else if (strchr(space, '/')) {
        length = snprintf(path, room, "%s", space);
    } else {
        if (strlen(space) > AY_NAME_MOST)
            return ay__fail(-EINVAL, "the name of a space has at most %d bytes, this one has %zu",
                            AY_NAME_MOST, strlen(space));
        if (space[0] == '.')
            return ay__fail(-EINVAL, "the name of a space does not begin with a dot: '%s'", space);
        char directory[PATH_MAX];
        length = find_directory(directory, sizeof directory)
                     ? snprintf(path, room, "%s/%s", directory, space)
                     : -1;
    }
    if (length < 0 || (size_t)length >= room)
        return ay__fail(-ERANGE, "the path of space '%.64s…' is too long", space);
    return 0;
}

/* It is not this user's alone: whose, and what to do. */
static int refuse_directory(const char *directory, const struct stat *status)
{
    if (status->st_uid == geteuid())
        return ay__fail(
            -EACCES,
            "%s may be written to by others (mode %o): chmod 700 it if it is for spaces alone, or "
            "set " ENVIRONMENT " to a directory of your own",
            directory, status->st_mode & 07777);
    return ay__fail(
        -EACCES,
        "%s belongs to another user (%u), who made it first: have it removed; or set " ENVIRONMENT
        ", for all your processes alike, to a directory of your own, as in "
        "$XDG_RUNTIME_DIR/afteryou",
        directory, status->st_uid);
}

static int cannot_make(const char *directory, int error)
{
    return ay__fail(-error, "cannot make %s: %s", directory, strerror(error));
}

/* It is not there: could it be made? */
static int check_missing(const char *directory)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", directory);
    return faccessat(AT_FDCWD, dirname(copy), W_OK | X_OK, AT_EACCESS) == 0
               ? 0
               : cannot_make(directory, errno);
}

static int check_directory(const char *directory, bool make)
{
    if (directory[0] != '/')
        return ay__fail(-EINVAL, ENVIRONMENT " must be an absolute path, not '%s'", directory);
    if (make && mkdir(directory, 0700) != 0 && errno != EEXIST)
        return cannot_make(directory, errno);
    struct stat status;
    if (lstat(directory, &status) != 0)
        return make ? ay__fail(-errno, "cannot look at %s: %s", directory, strerror(errno))
               : errno == ENOENT ? check_missing(directory)
                                 : cannot_make(directory, errno);
    if (!S_ISDIR(status.st_mode) && status.st_uid == geteuid())
        return ay__fail(-ENOTDIR, "%s is not a directory", directory);
    return is_private(&status) ? 0 : refuse_directory(directory, &status);
}

int ay__path_to_look(const char *space, char *path, size_t room)
{
    char directory[PATH_MAX];
    const int error = ay__path(space, path, room);
    const bool named = !space || (!strchr(space, '/') &&
                                  strncmp(space, CLUSTER_PREFIX, strlen(CLUSTER_PREFIX)) != 0);
    if (error || !named || !find_directory(directory, sizeof directory))
        return error;
    return check_directory(directory, false);
}

int ay_path(const char *space, char *path, size_t room)
{
    return ay__path_to_look(space, path, room);
}

int ay__private_directory(const char *path)
{
    char directory[PATH_MAX];
    if (!find_directory(directory, sizeof directory))
        return ay__fail(-ERANGE, "the path in " ENVIRONMENT " is too long");
    const size_t length = strlen(directory);
    if (strncmp(path, directory, length) != 0 || path[length] != '/' ||
        strchr(path + length + 1, '/'))
        return 0;
    return check_directory(directory, true);
}
