/* SPDX-License-Identifier: MIT */
/* The pages that the agent publishes: P1 to P3 of common/permissions.h, from the side of their one writer. */
#include "agent/pages.h"
#include "common/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOCK_TRIES = 40, LOCK_AGAIN_US = 25 * 1000, TICK_NS = 10 * 1000 * 1000 };

static int fail(char *trouble, size_t room, const char *what, const char *path)
{
    const int error = errno ? errno : EIO;
    snprintf(trouble, room, "cannot %s %s: %s", what, path, strerror(error));
    return -error;
}

/* Whoever may use the space may look into the directory. */
static int make_directory(const char *path, const struct pages_options *options, char *trouble, size_t room)
{
    const mode_t mode = 0700 | (options->mode & 0040 ? 0050 : 0) | (options->mode & 0004 ? 0005 : 0);
    if (mkdir(path, mode) != 0 && errno != EEXIST)
        return fail(trouble, room, "make", path);
    if (options->group != (gid_t)-1 && chown(path, (uid_t)-1, options->group) != 0)
        return fail(trouble, room, "change the group of", path);
    if (chmod(path, mode) != 0)
        return fail(trouble, room, "set the mode of", path);
    return 0;
}

static int make_directories(const char *cluster, const struct pages_options *options, char *trouble, size_t room)
{
    char path[PATH_MAX], above[PATH_MAX];
    if (!cluster_path(cluster, "", path, sizeof path) || !cluster_path("", "", above, sizeof above)) {
        snprintf(trouble, room, "the path of the cluster '%s' is too long", cluster);
        return -ENAMETOOLONG;
    }
    if (mkdir(above, 0755) != 0 && errno != EEXIST)
        return fail(trouble, room, "make", above);
    return make_directory(path, options, trouble, room);
}

static int lock(int fd, const char *path, char *trouble, size_t room)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    for (int tries = 0; tries < LOCK_TRIES; tries++) { /* a predecessor that was killed may not be gone yet */
        if (fcntl(fd, F_OFD_SETLK, &whole) == 0)
            return 0;
        if (errno != EAGAIN && errno != EACCES)
            return fail(trouble, room, "lock", path);
        usleep(LOCK_AGAIN_US);
    }
    snprintf(trouble, room, "another agent of this cluster runs on this machine (it has locked %s)", path);
    return -EBUSY;
}

static bool is_ours(const struct permissions *map)
{
    return memcmp(map->magic, PERMISSIONS_MAGIC, sizeof map->magic) == 0 && map->version == PERMISSIONS_VERSION &&
           map->size == sizeof *map && atomic_load(&map->count) <= PERMISSIONS_MOST;
}

static void write_header(struct permissions *map, const struct pages_options *options)
{
    snprintf(map->cluster, sizeof map->cluster, "%s", options->cluster);
    snprintf(map->protocol, sizeof map->protocol, "%s", options->protocol);
    map->version = PERMISSIONS_VERSION;
    map->size = sizeof *map;
    map->pid = (uint32_t)getpid();
    map->lease_ms = (uint32_t)(options->lease / 1000000);
    map->grace_ms = (uint32_t)(options->grace / 1000000);
    atomic_store(&map->state, AGENT_STARTING);
}

void pages_announce(struct pages *pages)
{
    memcpy(pages->map->magic, PERMISSIONS_MAGIC, sizeof pages->map->magic);
}

static int open_file(struct pages *pages, const char *path, const struct pages_options *options, char *trouble,
                     size_t room)
{
    const mode_t mode = 0600 | (options->mode & 0044);
    pages->fd = descriptor_above_standard(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode));
    if (pages->fd < 0)
        return fail(trouble, room, "open", path);
    int error = lock(pages->fd, path, trouble, room);
    if (error)
        return error;
    if (fchmod(pages->fd, mode) != 0 || fchown(pages->fd, (uid_t)-1, options->group) != 0)
        return fail(trouble, room, "set the mode of", path);
    errno = posix_fallocate(pages->fd, 0, sizeof *pages->map);
    if (errno)
        return fail(trouble, room, "allocate", path);
    void *map = mmap(NULL, sizeof *pages->map, PROT_READ | PROT_WRITE, MAP_SHARED, pages->fd, 0);
    if (map == MAP_FAILED)
        return fail(trouble, room, "map", path);
    pages->map = map;
    return 0;
}

int pages_open(struct pages *pages, const struct pages_options *options, char *trouble, size_t room)
{
    char path[PATH_MAX];
    *pages = (struct pages){.fd = -1};
    int error = make_directories(options->cluster, options, trouble, room);
    if (!error && !cluster_path(options->cluster, "agent", path, sizeof path))
        error = -ENAMETOOLONG;
    if (!error)
        error = open_file(pages, path, options, trouble, room);
    if (error) {
        pages_close(pages);
        return error;
    }
    if (!is_ours(pages->map)) /* new, or of another version: whoever has it open will not be granted anything */
        memset(pages->map, 0, sizeof *pages->map);
    write_header(pages->map, options);
    return 0;
}

void pages_close(struct pages *pages)
{
    if (pages->map)
        munmap(pages->map, sizeof *pages->map);
    if (pages->fd >= 0)
        close(pages->fd);
    *pages = (struct pages){.fd = -1};
}

static void wake(const void *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void change(struct pages *pages)
{
    atomic_fetch_add(&pages->map->changes, 1);
    wake(&pages->map->changes);
}

void pages_add(struct pages *pages, unsigned index, const char *name, size_t length)
{
    struct permission *permission = &pages->map->permission[index];
    permission->length = (uint32_t)length;
    memcpy(permission->name, name, length);
    atomic_store(&pages->map->count, index + 1);
    change(pages);
}

void pages_grant(struct pages *pages, unsigned index, unsigned mode, uint32_t slot, uint64_t base, uint64_t number)
{
    struct permission *permission = &pages->map->permission[index];
    atomic_store(&permission->slot, slot);
    atomic_store(&permission->base, base);
    atomic_store(&permission->number, number);
    atomic_store(&permission->granted, permission_next(atomic_load(&permission->granted), mode));
    wake(&permission->granted);
}

bool pages_withdraw(struct pages *pages, unsigned index)
{
    struct permission *permission = &pages->map->permission[index];
    uint64_t granted = atomic_load(&permission->granted);
    do
        if (permission_mode(granted) == PERMISSION_NONE)
            return false;
    while (!atomic_compare_exchange_weak(&permission->granted, &granted, permission_next(granted, PERMISSION_NONE)));
    wake(&permission->granted);
    return true;
}

void pages_lose(struct pages *pages, unsigned index)
{
    if (pages_withdraw(pages, index))
        change(pages);
}

void pages_busy(struct pages *pages, unsigned index)
{
    atomic_fetch_add(&pages->map->permission[index].busy, 1);
    wake(&pages->map->permission[index].busy);
}

void pages_death(struct pages *pages, unsigned index, bool death)
{
    atomic_store(&pages->map->permission[index].death, death);
    wake(&pages->map->permission[index].death);
}

void pages_lease(struct pages *pages, int64_t deadline)
{
    const int64_t left = deadline - clock_ns(CLOCK_BOOTTIME) - TICK_NS;
    atomic_store(&pages->map->deadline_monotonic, clock_ns(CLOCK_MONOTONIC) + left);
    atomic_store(&pages->map->deadline, deadline);
}

void pages_state(struct pages *pages, enum agent_state state)
{
    atomic_store(&pages->map->state, state);
    change(pages);
}

void pages_full(struct pages *pages)
{
    atomic_store(&pages->map->full, 1);
    change(pages);
}
