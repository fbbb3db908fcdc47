/* SPDX-License-Identifier: MIT */
/* The cluster's directory. The agent may be root's: so no link is followed, nothing is touched that
 * another user made, and modes and groups are set by descriptors alone. */
#include "agent/host/directory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/clusters.h"
#include "common/permissions.h"
#include "common/trusted.h"

static int fail(char *trouble, size_t room, const char *what, const char *path, const char *name)
{
    const int error = errno ? errno : EIO;
    snprintf(trouble, room, "cannot %s %s%s%s: %s", what, path, *name ? "/" : "", name,
             strerror(error));
    return -error;
}

/* The directory above the last name of a path, to which others may add if it is sticky, as /tmp;
 * and that name. */
static int open_above(const char *path, const char **name, char *trouble, size_t room)
{
    const struct trust trust = {
        .user = geteuid(), .beside = true, .trouble = trouble, .room = room};
    char above[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const int length = slash == path ? 1 : slash ? (int)(slash - path) : 0;
    *name = slash ? slash + 1 : path;
    snprintf(above, sizeof above, "%.*s", length, path);
    return trusted_directory(&trust, above);
}

/* Where all clusters are; it is made if it is not there. */
static int open_clusters(char *trouble, size_t room)
{
    const struct trust trust = {.user = geteuid(), .trouble = trouble, .room = room};
    char path[PATH_MAX];
    const char *name;
    size_t length = (size_t)snprintf(path, sizeof path, "%s", clusters_directory());
    while (length > 1 && length < sizeof path && path[length - 1] == '/')
        path[--length] = '\0';
    const int above = open_above(path, &name, trouble, room);
    if (above < 0)
        return above;
    const mode_t before = umask(0022);
    const int made = mkdirat(above, name, 0755);
    const int error = made != 0 && errno != EEXIST ? fail(trouble, room, "make", path, "") : 0;
    umask(before);
    const int fd = error ? error : trusted_directory_at(&trust, above, name, path, true);
    close(above);
    return fd;
}

/* What is another's is left alone, even if root could have it. */
static int check_owner(const struct directory *directory, const char *name, int fd, char *trouble,
                       size_t room)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return fail(trouble, room, "look at", directory->path, name);
    if (status.st_uid == geteuid() &&
        (S_ISDIR(status.st_mode) || (S_ISREG(status.st_mode) && status.st_nlink == 1)))
        return 0;
    snprintf(trouble, room,
             "%s%s%s is not what an agent of user %u made: remove it, or run the agent as user %u",
             directory->path, *name ? "/" : "", name, geteuid(), status.st_uid);
    return -EPERM;
}

static int set_mode(const struct directory *directory, const char *name, int fd, mode_t mode,
                    char *trouble, size_t room)
{
    if (directory->group != (gid_t)-1 && fchown(fd, (uid_t)-1, directory->group) != 0)
        return fail(trouble, room, "change the group of", directory->path, name);
    return fchmod(fd, mode) == 0 ? 0
                                 : fail(trouble, room, "set the mode of", directory->path, name);
}

static int open_own(struct directory *directory, int clusters, const char *name, char *trouble,
                    size_t room)
{
    const unsigned asked = directory->mode;
    const mode_t mode = 0700 | (asked & 0040 ? 0050 : 0) | (asked & 0004 ? 0005 : 0);
    if (mkdirat(clusters, name, 0700) != 0 && errno != EEXIST)
        return fail(trouble, room, "make", directory->path, "");
    directory->fd = descriptor_above_standard(
        openat(clusters, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (directory->fd < 0)
        return fail(trouble, room, "open, as a directory,", directory->path, "");
    const int error = check_owner(directory, "", directory->fd, trouble, room);
    return error ? error : set_mode(directory, "", directory->fd, mode, trouble, room);
}

int directory_open(struct directory *directory, const char *cluster, unsigned mode, gid_t group,
                   char *trouble, size_t room)
{
    *directory = (struct directory){.fd = -1, .mode = mode, .group = group};
    if (!cluster_path(cluster, "", directory->path, sizeof directory->path)) {
        snprintf(trouble, room, "the path of the cluster '%s' is too long", cluster);
        return -ENAMETOOLONG;
    }
    const int clusters = open_clusters(trouble, room);
    if (clusters < 0)
        return clusters;
    const int error = open_own(directory, clusters, cluster, trouble, room);
    close(clusters);
    if (error)
        directory_close(directory);
    return error;
}

void directory_close(struct directory *directory)
{
    if (directory->fd >= 0)
        close(directory->fd);
    directory->fd = -1;
}

int directory_file(const struct directory *directory, const char *name, int flags, mode_t mode,
                   char *trouble, size_t room)
{
    const int fd = descriptor_above_standard(
        openat(directory->fd, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600));
    if (fd < 0)
        return fail(trouble, room, "open", directory->path, name);
    int error = check_owner(directory, name, fd, trouble, room);
    if (!error)
        error = set_mode(directory, name, fd, mode, trouble, room);
    if (error)
        close(fd);
    return error ? error : fd;
}

/* A socket's file has the mode that the socket had when it was bound. Its group is set by a
 * descriptor of that file, which nobody else can have replaced: `above` is ours, or sticky. */
static bool bind_in(int fd, int above, const char *name, const struct directory *like)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat status;
    if (fstatat(above, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(status.st_mode))
        /* a predecessor's: the lock on the pages says that it is nobody's */
        unlinkat(above, name, 0);
    const int length =
        snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", above, name);
    if (length < 0 || (size_t)length >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    const mode_t before = umask(0);
    const bool bound =
        fchmod(fd, like->mode) == 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    umask(before);
    if (!bound || like->group == (gid_t)-1)
        return bound;
    const int file =
        descriptor_above_standard(openat(above, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    const bool set = file >= 0 && fchownat(file, "", (uid_t)-1, like->group, AT_EMPTY_PATH) == 0;
    if (file >= 0)
        close(file);
    return set;
}

static int make_socket(int above, const char *name, const struct directory *like, int type)
{
    const int fd =
        descriptor_above_standard(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd < 0 || bind_in(fd, above, name, like))
        return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

int directory_socket(const struct directory *directory, const char *name, int type, char *trouble,
                     size_t room)
{
    struct sockaddr_un address;
    const int fd = make_socket(directory->fd, name, directory, type);
    if (strlen(directory->path) + 1 + strlen(name) >= sizeof address.sun_path)
        snprintf(trouble, room, "the path %s/%s is longer than a socket's can be", directory->path,
                 name);
    else if (fd < 0)
        fail(trouble, room, "make", directory->path, name);
    else
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int directory_socket_at(const struct directory *like, const char *path, int type, char *trouble,
                        size_t room)
{
    const char *name;
    const int above = open_above(path, &name, trouble, room);
    if (above < 0)
        return -1;
    const int fd = make_socket(above, name, like, type);
    if (fd < 0)
        fail(trouble, room, "make", path, "");
    close(above);
    return fd;
}
