/* SPDX-License-Identifier: MIT */
/* Where the file of a space is. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/permissions.h"
#include "memory/memory.h"

#define DIRECTORY "/dev/shm/afteryou-%u"

int ay__path(const char *space, char *path, size_t room)
{
    if (!space || !*space)
        space = "default";
    int length;
    if (strncmp(space, CLUSTER_PREFIX, strlen(CLUSTER_PREFIX)) == 0) {
        const char *cluster = space + strlen(CLUSTER_PREFIX);
        if (!cluster_name_is_good(cluster))
            return ay__fail(-EINVAL, "'%s' is no name of a cluster: 1 to %d bytes, no slash, no dot at its beginning",
                            cluster, CLUSTER_NAME_MOST);
        length = cluster_path(cluster, "space", path, room) ? 0 : -1;
    } else if (strchr(space, '/')) {
        length = snprintf(path, room, "%s", space);
    } else {
        if (strlen(space) > AY_NAME_MOST)
            return ay__fail(-EINVAL, "the name of a space has at most %d bytes, this one has %zu", AY_NAME_MOST,
                            strlen(space));
        if (space[0] == '.')
            return ay__fail(-EINVAL, "the name of a space does not begin with a dot: '%s'", space);
        length = snprintf(path, room, DIRECTORY "/%s", geteuid(), space);
    }
    if (length < 0 || (size_t)length >= room)
        return ay__fail(-ERANGE, "the path of space '%.64s…' is too long", space);
    return 0;
}

int ay_path(const char *space, char *path, size_t room)
{
    return ay__path(space, path, room);
}

int ay__private_directory(const char *path)
{
    char directory[64];
    const int length = snprintf(directory, sizeof directory, DIRECTORY, geteuid());
    if (strncmp(path, directory, (size_t)length) != 0 || path[length] != '/')
        return 0;
    if (mkdir(directory, 0700) != 0 && errno != EEXIST)
        return ay__fail(-errno, "cannot make %s: %s", directory, strerror(errno));
    struct stat status;
    if (lstat(directory, &status) != 0)
        return ay__fail(-errno, "cannot look at %s: %s", directory, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return ay__fail(-ENOTDIR, "%s is not a directory", directory);
    if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)))
        return ay__fail(-EACCES, "%s is not a directory of this user's alone (owner %u, mode %o)", directory,
                        status.st_uid, status.st_mode & 07777);
    return 0;
}
