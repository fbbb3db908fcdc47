/* SPDX-License-Identifier: MIT */
/* The pages that the agent publishes: P1 to P3 of common/permissions.h, from the side of their one
 * writer. */
#include "agent/host/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/clock.h"

enum { LOCK_TRIES = 40, LOCK_AGAIN_US = 25 * 1000, TICK_NS = 10 * 1000 * 1000 };

static int fail(const struct directory *directory, const char *what, char *trouble, size_t room)
{
    const int error = errno ? errno : EIO;
    snprintf(trouble, room, "cannot %s %s/agent: %s", what, directory->path, strerror(error));
    return -error;
}

static int lock(int fd, const struct directory *directory, char *trouble, size_t room)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    /* a predecessor that was killed may not be gone yet */
    for (int tries = 0; tries < LOCK_TRIES; tries++) {
        if (fcntl(fd, F_OFD_SETLK, &whole) == 0)
            return 0;
        if (errno != EAGAIN && errno != EACCES)
            return fail(directory, "lock", trouble, room);
        usleep(LOCK_AGAIN_US);
    }
    snprintf(trouble, room,
             "another agent of this cluster runs on this machine (it has locked %s/agent)",
             directory->path);
    return -EBUSY;
}

static void read_boot_id(char *boot)
{
    memset(boot, 0, BOOT_ID_ROOM);
    FILE *stream = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (stream && !fgets(boot, BOOT_ID_ROOM, stream))
        memset(boot, 0, BOOT_ID_ROOM);
    if (stream)
        fclose(stream);
}

static void renew(struct pages *pages)
{
    pages->fresh = true;
    if (getrandom(&pages->map->identity, sizeof pages->map->identity, 0) !=
        (ssize_t)sizeof pages->map->identity)
        pages->map->identity = (uint64_t)clock_ns(CLOCK_REALTIME) ^ (uint64_t)getpid() << 48;
}

static bool is_readable(const struct permissions *map)
{
    return memcmp(map->magic, PERMISSIONS_MAGIC, sizeof map->magic) == 0 &&
           map->version == PERMISSIONS_VERSION && map->size == sizeof *map &&
           atomic_load(&map->count) <= PERMISSIONS_MOST;
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
    atomic_store(&map->full, 0);
    atomic_store(&map->state, AGENT_STARTING);
}

void pages_announce(struct pages *pages)
{
    memcpy(pages->map->magic, PERMISSIONS_MAGIC, sizeof pages->map->magic);
}

void pages_bind_space(struct pages *pages, uint64_t device, uint64_t inode)
{
    struct permissions *map = pages->map;
    if (!pages->fresh && (map->space_device != device || map->space_inode != inode)) {
        for (unsigned at = 0; at < atomic_load(&map->count); at++)
            pages_lose(pages, at, 0); /* fresh pages owe the whole grace */
        renew(pages);
    }
    map->space_device = device;
    map->space_inode = inode;
}

static int map_file(struct pages *pages, const struct directory *directory, char *trouble,
                    size_t room)
{
    const mode_t mode = 0600 | (directory->mode & 0044);
    pages->fd = directory_file(directory, "agent", O_RDWR | O_CREAT, mode, trouble, room);
    if (pages->fd < 0)
        return pages->fd;
    const int error = lock(pages->fd, directory, trouble, room);
    if (error)
        return error;
    errno = posix_fallocate(pages->fd, 0, sizeof *pages->map);
    if (errno)
        return fail(directory, "allocate", trouble, room);
    void *map = mmap(NULL, sizeof *pages->map, PROT_READ | PROT_WRITE, MAP_SHARED, pages->fd, 0);
    if (map == MAP_FAILED)
        return fail(directory, "map", trouble, room);
    pages->map = map;
    return 0;
}

int pages_open(struct pages *pages, const struct directory *directory,
               const struct pages_options *options, char *trouble, size_t room)
{
    *pages = (struct pages){.fd = -1};
    const int error = map_file(pages, directory, trouble, room);
    if (error) {
        pages_close(pages);
        return error;
    }
    char boot[BOOT_ID_ROOM];
    read_boot_id(boot);
    /* New, or of another version, or from before the machine was started: whoever has them open
     * will not be granted anything. */
    const bool readable = is_readable(pages->map);
    if (!readable || memcmp(pages->map->boot, boot, sizeof boot) != 0) {
        const uint64_t view = readable ? atomic_load(&pages->map->view) : 0;
        memset(pages->map, 0, sizeof *pages->map);
        atomic_store(&pages->map->view, view);
        memcpy(pages->map->boot, boot, sizeof boot);
        renew(pages);
    }
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

void pages_name(struct pages *pages, unsigned index, const char *name, size_t length)
{
    struct permission *permission = &pages->map->permission[index];
    assert_invariant(P3, permission_mode(atomic_load(&permission->granted)) == PERMISSION_NONE);
    assert_required(index < PERMISSIONS_MOST && length <= PERMISSION_NAME_MOST);
    atomic_store(&permission->granted,
                 permission_next(atomic_load(&permission->granted), PERMISSION_NONE));
    atomic_store(&permission->length, 0);
    memset(permission->name, 0, sizeof permission->name);
    memcpy(permission->name, name, length);
    atomic_store(&permission->death, 0);
    atomic_store(&permission->owed, 0);
    atomic_store(&permission->base, 0);
    atomic_store(&permission->number, 0);
    atomic_store(&permission->length, (uint32_t)length);
    if (index >= atomic_load(&pages->map->count))
        atomic_store(&pages->map->count, index + 1);
    wake(&permission->granted);
    change(pages);
}

void pages_grant(struct pages *pages, unsigned index, unsigned mode, uint32_t slot, uint64_t base,
                 uint64_t number)
{
    struct permission *permission = &pages->map->permission[index];
    const uint64_t was = atomic_load(&permission->granted);
    assert_invariant(P2, permission_mode(was) == PERMISSION_NONE);
    assert_invariant(P1, permission_next(was, mode) != was);
    atomic_store(&permission->owed, 0); /* what was lost before has been waited for */
    atomic_store(&permission->slot, slot);
    atomic_store(&permission->base, base);
    atomic_store(&permission->number, number);
    atomic_store(&permission->changed_ns, clock_ns(CLOCK_MONOTONIC));
    atomic_store(&permission->granted, permission_next(was, mode));
    wake(&permission->granted);
}

bool pages_withdraw(struct pages *pages, unsigned index)
{
    struct permission *permission = &pages->map->permission[index];
    uint64_t granted = atomic_load(&permission->granted);
    do
        if (permission_mode(granted) == PERMISSION_NONE)
            return false;
    while (!atomic_compare_exchange_weak(&permission->granted, &granted,
                                         permission_next(granted, PERMISSION_NONE)));
    atomic_store(&permission->changed_ns, clock_ns(CLOCK_MONOTONIC));
    wake(&permission->granted);
    return true;
}

bool pages_withdraw_since(struct pages *pages, unsigned index, int64_t woken_ns)
{
    atomic_store(&pages->map->permission[index].woken_ns, woken_ns);
    return pages_withdraw(pages, index);
}

void pages_lose(struct pages *pages, unsigned index, int64_t owed)
{
    atomic_store(&pages->map->permission[index].owed, owed); /* first: a successor must know */
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

void pages_keep_view(struct pages *pages, uint64_t view)
{
    if (view > atomic_load(&pages->map->view))
        atomic_store(&pages->map->view, view);
}

void pages_full(struct pages *pages, bool full)
{
    atomic_store(&pages->map->full, full);
    change(pages);
}
