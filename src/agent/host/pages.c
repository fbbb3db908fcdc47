/* SPDX-License-Identifier: MIT */
/* The pages that the agent publishes: P1 to P3 of common/permissions.h, from the side of their one
 * writer. */
#include "agent/host/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/clock.h"
#include "protocols/modes.h"

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
    struct stat status;
    if (fstat(pages->fd, &status) != 0)
        return fail(directory, "look at", trouble, room);
    /* what is beyond has no memory until it is needed (pages_grow) */
    if (status.st_size != (off_t)sizeof *pages->map &&
        ftruncate(pages->fd, sizeof *pages->map) != 0)
        return fail(directory, "enlarge", trouble, room);
    errno = posix_fallocate(pages->fd, 0, offsetof(struct permissions, permission));
    if (errno)
        return fail(directory, "allocate", trouble, room);
    void *map = mmap(NULL, sizeof *pages->map, PROT_READ | PROT_WRITE, MAP_SHARED, pages->fd, 0);
    if (map == MAP_FAILED)
        return fail(directory, "map", trouble, room);
    pages->map = map;
    return 0;
}

unsigned pages_grow(struct pages *pages, unsigned names)
{
    const unsigned wanted = names < PERMISSIONS_MOST ? names : PERMISSIONS_MOST;
    if (wanted > pages->allocated &&
        posix_fallocate(pages->fd, offsetof(struct permissions, permission),
                        (off_t)(wanted * sizeof(struct permission))) == 0)
        pages->allocated = wanted;
    return pages->allocated;
}

static void link_name(struct permissions *map, unsigned index)
{
    struct permission *permission = &map->permission[index];
    _Atomic uint32_t *first =
        &map->bucket[permission_bucket(permission->name, atomic_load(&permission->length))];
    atomic_store(&permission->next, atomic_load(first));
    atomic_store(first, index + 1);
}

static void unlink_name(struct permissions *map, unsigned index)
{
    struct permission *permission = &map->permission[index];
    _Atomic uint32_t *link =
        &map->bucket[permission_bucket(permission->name, atomic_load(&permission->length))];
    while (atomic_load(link) != index + 1)
        link = &map->permission[atomic_load(link) - 1].next;
    atomic_store(link, atomic_load(&permission->next));
}

/* A predecessor may have been killed while it changed them. */
static void make_lists(struct permissions *map)
{
    const uint32_t count = atomic_load(&map->count);
    for (unsigned at = 0; at < PERMISSION_BUCKETS; at++)
        atomic_store(&map->bucket[at], 0);
    for (uint32_t at = 0; at < count; at++)
        if (atomic_load(&map->permission[at].length) > PERMISSION_NAME_MOST)
            atomic_store(&map->permission[at].length, 0);
        else if (atomic_load(&map->permission[at].length) > 0)
            link_name(map, at);
}

/* All zeros, and no memory for what is not needed: whoever has it mapped finds them there. */
static int erase(struct pages *pages, const struct directory *directory, char *trouble, size_t room)
{
    if (fallocate(pages->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, sizeof *pages->map) !=
            0 ||
        (errno = posix_fallocate(pages->fd, 0, offsetof(struct permissions, permission))) != 0)
        return fail(directory, "erase", trouble, room);
    return 0;
}

static void wake(const void *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* P5: those who sleep on their conditions, or are about to, may have missed something. */
static void stir(struct permission *permission, uint32_t cleared)
{
    const uint32_t watch = atomic_load(&permission->watch);
    atomic_store(&permission->watch, (watch & ~cleared) + PERMISSION_HEARD);
    wake(&permission->watch);
}

/* A predecessor has set them, and I know nothing of who sleeps. The group that I join wakes those
 * on other machines. */
static void end_watch(struct permission *permission)
{
    const uint32_t bits = PERMISSION_ARMED | PERMISSION_WATCHED;
    if (atomic_load(&permission->watch) & bits)
        stir(permission, bits);
}

/* A predecessor was killed while it changed the fences of what was granted (P2). */
static void end_change(struct permission *permission)
{
    const uint64_t granted = atomic_load(&permission->granted);
    if (!(granted & PERMISSION_CHANGING))
        return;
    atomic_store(&permission->granted, permission_changed(granted, permission_mode(granted)));
    wake(&permission->granted);
}

int pages_open(struct pages *pages, const struct directory *directory,
               const struct pages_options *options, char *trouble, size_t room)
{
    *pages = (struct pages){.fd = -1};
    int error = map_file(pages, directory, trouble, room);
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
        error = erase(pages, directory, trouble, room);
        if (error) {
            pages_close(pages);
            return error;
        }
        atomic_store(&pages->map->view, view);
        memcpy(pages->map->boot, boot, sizeof boot);
        renew(pages);
    }
    for (unsigned at = 0; at < atomic_load(&pages->map->count); at++) {
        end_change(&pages->map->permission[at]);
        end_watch(&pages->map->permission[at]);
    }
    write_header(pages->map, options);
    if (pages_grow(pages, atomic_load(&pages->map->count) + PAGES_AHEAD) <=
        atomic_load(&pages->map->count)) {
        error = fail(directory, "allocate", trouble, room);
        pages_close(pages);
        return error;
    }
    make_lists(pages->map);
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

static void change(struct pages *pages)
{
    atomic_fetch_add(&pages->map->changes, 1);
    wake(&pages->map->changes);
}

void pages_name(struct pages *pages, unsigned index, const char *name, size_t length)
{
    struct permission *permission = &pages->map->permission[index];
    assert_invariant(P3, permission_mode(atomic_load(&permission->granted)) == PERMISSION_NONE);
    assert_required(index < pages->allocated && length <= PERMISSION_NAME_MOST);
    atomic_store(&permission->granted,
                 permission_next(atomic_load(&permission->granted), PERMISSION_NONE));
    if (atomic_load(&permission->length) > 0)
        unlink_name(pages->map, index);
    atomic_store(&permission->length, 0);
    memset(permission->name, 0, sizeof permission->name);
    memcpy(permission->name, name, length);
    atomic_store(&permission->death, 0);
    atomic_store(&permission->owed, 0);
    atomic_store(&permission->base, 0);
    atomic_store(&permission->number, 0);
    pages_watch(pages, index, false, false, true);
    atomic_store(&permission->length, (uint16_t)length);
    if (index >= atomic_load(&pages->map->count))
        atomic_store(&pages->map->count, index + 1);
    if (length > 0)
        link_name(pages->map, index);
    wake(&permission->granted);
    change(pages);
}

void pages_grant(struct pages *pages, unsigned index, unsigned mode, uint32_t slot, uint64_t base,
                 uint64_t number)
{
    struct permission *permission = &pages->map->permission[index];
    const uint64_t was = atomic_load(&permission->granted);
    const bool raised = permission_mode(was) != PERMISSION_NONE;
    const uint64_t granted = raised ? permission_changed(was, mode) : permission_next(was, mode);
    assert_invariant(P1, granted != was &&
                             (!raised || modes_include(permission_turned(mode),
                                                       permission_turned(permission_mode(was)))));
    if (raised)
        atomic_store(&permission->granted, was | PERMISSION_CHANGING); /* P2 */
    atomic_store(&permission->owed, 0); /* what was lost before has been waited for */
    atomic_store(&permission->slot, (uint16_t)slot);
    /* in this order: should I be killed between the two, fences are too high, and not too low */
    atomic_store(&permission->base, base);
    atomic_store(&permission->number, number);
    atomic_store(&permission->changed_ns, clock_ns(CLOCK_MONOTONIC));
    assert_invariant(P2, !(granted & PERMISSION_CHANGING) &&
                             (!raised || atomic_load(&permission->granted) & PERMISSION_CHANGING));
    atomic_store(&permission->granted, granted);
    wake(&permission->granted);
}

bool pages_has_some(const struct pages *pages, unsigned index)
{
    return permission_mode(atomic_load(&pages->map->permission[index].granted)) != PERMISSION_NONE;
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

/* With the mark while the bits change: who sees one of them goes, and another comes who compares
 * nothing but `granted`. Those who are to be inside are woken before those who ask again: P5 */
void pages_watch(struct pages *pages, unsigned index, bool armed, bool others, bool heard)
{
    struct permission *permission = &pages->map->permission[index];
    const uint32_t count = atomic_load(&permission->watch) / PERMISSION_HEARD + heard;
    const uint64_t granted = atomic_load(&permission->granted);
    const bool some = permission_mode(granted) != PERMISSION_NONE;
    if (some)
        atomic_store(&permission->granted, granted | PERMISSION_CHANGING);
    atomic_store(&permission->watch,
                 count * PERMISSION_HEARD + armed * PERMISSION_ARMED + others * PERMISSION_WATCHED);
    if (some)
        atomic_store(&permission->granted, permission_changed(granted, permission_mode(granted)));
    wake(&permission->granted);
    wake(&permission->watch);
}

bool pages_lower_since(struct pages *pages, unsigned index, unsigned mode, int64_t woken_ns)
{
    struct permission *permission = &pages->map->permission[index];
    const uint64_t granted = atomic_load(&permission->granted);
    const unsigned has = permission_mode(granted);
    const unsigned left = permission_turned(
        modes_common(permission_turned(has), modes_beside(permission_turned(mode))));
    const int64_t before = clock_ns(CLOCK_MONOTONIC) - woken_ns;
    atomic_store(&permission->woken_before_ns, before < UINT32_MAX ? (uint32_t)before : UINT32_MAX);
    if (left == PERMISSION_NONE)
        return pages_withdraw(pages, index);
    if (left == has)
        return true;
    atomic_store(&permission->changed_ns, clock_ns(CLOCK_MONOTONIC));
    atomic_store(&permission->granted, permission_changed(granted, left));
    wake(&permission->granted);
    return true;
}

void pages_lose(struct pages *pages, unsigned index, int64_t owed)
{
    atomic_store(&pages->map->permission[index].owed, owed); /* first: a successor must know */
    if (pages_withdraw(pages, index))
        change(pages);
    stir(&pages->map->permission[index], PERMISSION_ARMED);
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
    wake(&pages->map->state);
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
