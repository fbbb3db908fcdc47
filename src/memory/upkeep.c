/* SPDX-License-Identifier: MIT */
/* Upkeep of a space: removing it, and marking dead what no kernel has. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/passage/region.h"

/* Somebody has a lock on a place: who? */
static int tell_user(int fd, const char *path, const struct header *header)
{
    const unsigned used = atomic_load(&header->used);
    for (unsigned place = 0; place < used && place < header->places; place++) {
        const off_t at = (off_t)cold_offset(header->granule, header->places, place);
        struct hot hot;
        struct identity owner;
        if (pread(fd, &hot, sizeof hot, (off_t)hot_offset(header->granule, place)) !=
                (ssize_t)sizeof hot ||
            pread(fd, &owner, sizeof owner, at) != (ssize_t)sizeof owner)
            return ay__fail(-EIO, "cannot read %s", path);
        if (life_alive(atomic_load(&hot.life)) &&
            ay__file_locked(fd, claim_byte(header->granule, place)))
            return ay__fail(-EBUSY, "%s is in use: place %u by pid %u (%.*s)", path, place,
                            owner.pid, COMMAND_ROOM - 1, owner.command);
    }
    return ay__fail(
        -EBUSY,
        "%s is in use: somebody is about to open a region in it, or locks the file; see lslocks(8)",
        path);
}

static bool is_same_file(int fd, const char *path)
{
    struct stat open, named;
    return fstat(fd, &open) == 0 && lstat(path, &named) == 0 && open.st_dev == named.st_dev &&
           open.st_ino == named.st_ino;
}

int ay_remove(const char *name)
{
    AY__UNCANCELLED;
    char path[PATH_MAX];
    struct header header;
    int fd, error = ay__path_to_look(name, path, sizeof path);
    if (!error)
        error = ay__file_open(path, false, NULL, 0, &fd, &header);
    if (error)
        return error;
    /* Whoever has a place, or is about to, holds a lock on its byte (L7). While I hold them all,
     * nobody claims one. */
    error = ay__file_lock(fd, F_WRLCK, (off_t)header.granule, 0);
    if (error == -EAGAIN)
        error = tell_user(fd, path, &header);
    if (!error && !is_same_file(fd, path))
        error = ay__fail(-ENOENT, "%s was removed by another meanwhile", path);
    if (!error && unlink(path) != 0)
        error = ay__fail(-errno, "cannot remove %s: %s", path, strerror(errno));
    close(fd); /* and with it the lock */
    return error;
}

int ay_repair(ay_space *space)
{
    AY__UNCANCELLED;
    if (space->mark != ay__process_mark())
        return ay__fail(-EPERM, "the space was opened by another process: a child opens its own");
    int buried = 0;
    pthread_mutex_lock(&ay__process.mutex);
    const unsigned used = ay__used(space);
    for (unsigned place = 0; place < used; place++)
        buried += ay__bury(space, place);
    pthread_mutex_unlock(&ay__process.mutex);
    return buried;
}
