/* SPDX-License-Identifier: MIT */
/* The file of a space: made whole before it has a name, believed only after it was looked through;
 * and its locks. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/descriptors.h"
#include "memory/memory.h"
#include "memory/passage/protocol.h"
#include "memory/passage/region.h"

int ay__file_lock(int fd, short type, off_t from, off_t length)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = from, .l_len = length};
    while (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
        if (errno == EAGAIN || errno == EACCES)
            return ay__fail(
                -EAGAIN, "somebody who may write to the space has locked it, perhaps to remove it");
        if (errno != EINTR)
            return ay__fail(-errno, "cannot lock a byte of the space: %s", strerror(errno));
    }
    return 0;
}

void ay__file_unlock(int fd, off_t byte)
{
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    /* fails only for a descriptor that is none: then there is no lock either */
    fcntl(fd, F_OFD_SETLK, &lock);
}

bool ay__file_locked(int fd, off_t byte)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK; /* in doubt it lives */
}

static size_t file_size(const struct header *header)
{
    return space_size(header->granule, header->places, header->granules);
}

int ay__file_allocate(int fd, size_t granule, unsigned places, unsigned granules, unsigned first,
                      unsigned end)
{
    const size_t hot = begin_of(granule, hot_offset(granule, first)),
                 hot_end = begin_of(granule, hot_offset(granule, end - 1)) + granule,
                 size = (end - first) * granule;
    int error = posix_fallocate(fd, (off_t)hot, (off_t)(hot_end - hot));
    if (!error)
        error = posix_fallocate(fd, (off_t)cold_offset(granule, places, first), (off_t)size);
    if (!error && granules > 2)
        error = posix_fallocate(fd, (off_t)registers_offset(granule, places, first), (off_t)size);
    /* the tags of a granule all at once, with the first of them */
    const size_t tags = begin_of(granule, (size_t)first * TAG_SIZE + granule - 1),
                 tags_end = begin_of(granule, (size_t)end * TAG_SIZE + granule - 1);
    if (!error && tags < tags_end)
        error = posix_fallocate(fd, (off_t)(tags_offset(granule, places, granules) + tags),
                                (off_t)(tags_end - tags));
    return error;
}

static bool is_granule(size_t size)
{
    return size >= GRANULE_LEAST && size <= GRANULE_MOST && (size & (size - 1)) == 0;
}

/* Nothing in the file is believed before it has passed here. */
static int check(const char *path, const struct stat *status, const struct header *header)
{
    if (memcmp(header->magic, LAYOUT_MAGIC, sizeof header->magic) != 0)
        return ay__fail(-EINVAL, "%s is not a space: it does not begin with '" LAYOUT_MAGIC "'",
                        path);
    if (header->version != LAYOUT_VERSION)
        return ay__fail(
            -EPROTONOSUPPORT,
            "%s was made by another version of afteryou (layout %u, not %d); once nobody uses it, "
            "remove the file",
            path, header->version, LAYOUT_VERSION);
    if (memchr(header->protocol, '\0', PROTOCOL_ROOM) == NULL || !ay__protocol(header->protocol))
        return ay__fail(-EINVAL, "%s is for a protocol that this library does not have: '%.*s'",
                        path, PROTOCOL_ROOM, header->protocol);
    const struct running_protocol *protocol = ay__protocol(header->protocol);
    if (!is_granule(header->granule) || header->granules != protocol->granules ||
        header->places < 1 || header->places > protocol->places_most ||
        header->precedence > AY_BY_PRIORITY || header->retain > 1)
        return ay__fail(-EINVAL, "%s is damaged: its header does not make sense", path);
    if (status->st_size < 0 || (size_t)status->st_size != file_size(header))
        return ay__fail(-EINVAL, "%s is damaged: it has %lld bytes, not %zu", path,
                        (long long)status->st_size, file_size(header));
    return 0;
}

static int open_existing(const char *path, bool reading_only, int *fd, struct header *found)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? -ENOENT
                               : ay__fail(-errno, "cannot look at %s: %s", path, strerror(errno));
    if (S_ISLNK(status.st_mode))
        return ay__fail(-ELOOP, "%s is a symbolic link", path);
    if (S_ISDIR(status.st_mode))
        return ay__fail(-EISDIR, "%s is a directory", path);
    /* looked at before it is opened: to open a FIFO would let others go on */
    if (!S_ISREG(status.st_mode))
        return ay__fail(-EINVAL, "%s is not a file", path);
    const int access = reading_only ? O_RDONLY : O_RDWR;
    *fd = descriptor_above_standard(
        open(path, access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (*fd < 0)
        return errno == ENOENT ? -ENOENT
                               : ay__fail(-errno, "cannot open %s: %s", path, strerror(errno));
    int error = 0;
    memset(found, 0, sizeof *found);
    if (fstat(*fd, &status) != 0)
        error = ay__fail(-errno, "cannot look at %s: %s", path, strerror(errno));
    else if (!S_ISREG(status.st_mode))
        error = ay__fail(-EINVAL, "%s is not a file", path);
    else if (pread(*fd, found, sizeof *found, 0) < 0)
        error = ay__fail(-errno, "cannot read %s: %s", path, strerror(errno));
    else
        error = check(path, &status, found);
    if (error)
        close(*fd);
    return error;
}

/* To let a file grow beyond the limit would end the program (SIGXFSZ). Later it never grows: places
 * and pulses are allocated within it. */
static int check_limit(const char *path, size_t size)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        return ay__fail(-errno, "cannot ask how large a file may be: %s", strerror(errno));
    if (size <= limit.rlim_cur)
        return 0;
    return ay__fail(-EFBIG,
                    "cannot make %s: %s: it has %zu bytes, mostly holes, and this process may make "
                    "files of %llu at most (RLIMIT_FSIZE): raise that (ulimit -f), or let a "
                    "process without this limit make the space",
                    path, strerror(EFBIG), size, (unsigned long long)limit.rlim_cur);
}

/* Sizes and writes a file that has no name yet. */
static int fill(const char *path, int fd, const struct header *header, unsigned mode)
{
    const int too_large = check_limit(path, file_size(header));
    if (too_large)
        return too_large;
    /* L3: the header; and a place, for without room for one it is of no use; or everything, if
     * everything will be read. */
    const bool all = ay__protocol(header->protocol)->features & FEATURE_EVERY_PLACE;
    int error = ftruncate(fd, (off_t)file_size(header)) != 0
                    ? errno
                    : posix_fallocate(fd, 0, header->granule);
    if (!error)
        error = ay__file_allocate(fd, header->granule, header->places, header->granules, 0,
                                  all ? header->places : 1);
    if (error)
        return ay__fail(-error, "cannot make %s: %s", path, strerror(error));
    struct header named = *header;
    struct stat status;
    if (fstat(fd, &status) != 0)
        return ay__fail(-errno, "cannot look at %s: %s", path, strerror(errno));
    named.device = status.st_dev;
    named.inode = status.st_ino;
    ay__identify(&named.creator);
    const ssize_t written = pwrite(fd, &named, sizeof named, 0);
    if (written != (ssize_t)sizeof named)
        return ay__fail(written < 0 ? -errno : -ENOSPC, "cannot write %s", path);
    if (fchmod(fd, mode) != 0)
        return ay__fail(-errno, "cannot set the mode of %s: %s", path, strerror(errno));
    return 0;
}

static int cannot_name(const char *path, int error, const char *link)
{
    struct stat status;
    if (lstat(link, &status) != 0)
        return ay__fail(-error,
                        "cannot make %s: a new space gets its name by /proc, and there is "
                        "no %s: mount /proc",
                        path, link);
    return ay__fail(-error, "cannot name %s: %s", path, strerror(error));
}

static int create(const char *path, const struct header *header, unsigned mode)
{
    const char *slash = strrchr(path, '/');
    char directory[PATH_MAX], link[64];
    snprintf(directory, sizeof directory, "%.*s", (int)(slash - path), path);
    const int fd = descriptor_above_standard(
        open(slash == path ? "/" : directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (fd < 0)
        return ay__fail(-errno, "cannot make %s: %s", path, strerror(errno));
    int error = fill(path, fd, header, mode);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (!error && linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) != 0)
        error = errno == EEXIST ? -EEXIST : cannot_name(path, errno, link);
    close(fd);
    return error;
}

static int open_or_create(const char *path, const struct header *wanted, unsigned mode, int *fd,
                          struct header *found)
{
    /* Another may make or remove it between the two; each time round, somebody has got on. */
    for (;;) {
        int error = open_existing(path, false, fd, found);
        if (error != -ENOENT)
            return error;
        if (!wanted)
            return ay__fail(-ENOENT, "there is no space %s", path);
        error = create(path, wanted, mode);
        if (error && error != -EEXIST)
            return error;
    }
}

int ay__file_open(const char *path, bool reading_only, const struct header *wanted, unsigned mode,
                  int *fd, struct header *found)
{
    if (reading_only) {
        const int error = open_existing(path, true, fd, found);
        return error == -ENOENT ? ay__fail(-ENOENT, "there is no space %s", path) : error;
    }
    struct standard_held held;
    descriptors_hold_standard(&held);
    const int error = open_or_create(path, wanted, mode, fd, found);
    descriptors_let_go(&held);
    return error;
}

/* The witnesses of this process's places have gone with the old descriptor (L7). */
static int lock_places(ay_space *space, int fd)
{
    int error = 0;
    for (const ay_region *region = space->regions; region && !error; region = region->next)
        error = ay__file_lock(fd, F_RDLCK, ay__claim_byte(space, region->claim.place), 1);
    return error;
}

int ay__file_again(ay_space *space)
{
    struct header header;
    int fd;
    if (descriptor_is(space->fd, &space->file))
        return 0;
    int error = ay__file_open(space->path, false, NULL, 0, &fd, &header);
    if (!error && !descriptor_is(fd, &space->file)) {
        close(fd);
        error = ay__fail(-ESTALE, "another file is there now");
    }
    if (!error) {
        error = lock_places(space, fd);
        if (error)
            close(fd);
    }
    if (error) {
        char why[256];
        snprintf(why, sizeof why, "%s", ay_message());
        return ay__fail(
            -EBADF,
            "descriptor %d of space %s is no longer its own (closed by this program, as "
            "close_range(2) "
            "does?), and it cannot be opened again: %s; close only what you opened, or open the "
            "space after",
            space->fd, space->path, why);
    }
    space->fd = fd; /* the old number is closed, or a stranger's */
    return 0;
}
