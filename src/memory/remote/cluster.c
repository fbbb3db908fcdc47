/* SPDX-License-Identifier: MIT */
/* Entering a cluster's region without the permission at hand: asks the agent, and sleeps until it
 * has come.
 *
 * One who waits stays inside the region of the space, so the order among local processes is kept;
 * the agent's word, and what it says of those who hold it elsewhere, wake it. That the agent has
 * died, or begun anew and knows nothing of the demand, is found by asking again from time to time.
 */
#include "memory/remote/cluster.h"
#include "common/assert.h"
#include "common/descriptors.h"
#include "common/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    MS = 1000 * 1000,
    ASK_AGAIN_MS = 250,
    /* somebody who does not want to wait waits for an answer of the other machines */
    TRY_MS = 1000,
    AGENT_DEAD_MS = 10000 /* an agent that is not there may be started again so long */
};

static int no_agent_yet(const char *name, const char *directory)
{
    return ay__fail(-ENOENT,
                    "no agent of cluster '%s' has run on this machine (%s: %s); start one: "
                    "afteryou agent --cluster %s",
                    name, directory, strerror(ENOENT), name);
}

/* The descriptor of a file of the cluster, if only root or this user can have written it; or a
 * negative errno. */
static int open_trusted(const char *name, const char *file)
{
    char directory[PATH_MAX], trouble[PATH_MAX + 128];
    const struct trust trust = {.user = geteuid(), .trouble = trouble, .room = sizeof trouble};
    struct stat status;
    if (!cluster_path(name, "", directory, sizeof directory))
        return ay__fail(-ERANGE, "the path of cluster '%s' is too long", name);
    const int above = trusted_directory(&trust, directory);
    if (above == -ENOENT)
        return no_agent_yet(name, directory);
    if (above < 0)
        return ay__fail(above, "cluster '%s': %s", name, trouble);
    int fd = descriptor_above_standard(openat(above, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    int error = fd < 0 || fstat(fd, &status) != 0 ? -errno : 0;
    if (error == -ENOENT)
        error = no_agent_yet(name, directory);
    else if (error)
        error =
            ay__fail(error, "cluster '%s': cannot open %s: %s", name, directory, strerror(-error));
    else if (!trusted_status(&trust, &status, file, false))
        error = ay__fail(-EACCES, "cluster '%s': in %s, %s", name, directory, trouble);
    close(above);
    if (error && fd >= 0)
        close(fd);
    return error ? error : fd;
}

int ay__cluster_open(const char *space, struct cluster **out)
{
    const char *name = space + strlen(CLUSTER_PREFIX);
    if (!cluster_name_is_good(name))
        return ay__fail(
            -EINVAL,
            "'%s' is no name of a cluster: 1 to %d bytes, no slash, no dot at its beginning", name,
            CLUSTER_NAME_MOST);
    const int fd = open_trusted(name, "agent");
    if (fd < 0)
        return fd;
    struct stat status;
    struct cluster *cluster = calloc(1, sizeof *cluster);
    void *pages = MAP_FAILED;
    if (cluster && fstat(fd, &status) == 0 && status.st_size == (off_t)sizeof(struct permissions))
        pages = mmap(NULL, sizeof(struct permissions), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (pages == MAP_FAILED || madvise(pages, sizeof(struct permissions), MADV_DONTFORK) != 0 ||
        memcmp(((struct permissions *)pages)->magic, PERMISSIONS_MAGIC, 8) != 0 ||
        ((struct permissions *)pages)->version != PERMISSIONS_VERSION) {
        if (pages != MAP_FAILED)
            munmap(pages, sizeof(struct permissions));
        free(cluster);
        return ay__fail(cluster ? -EPROTONOSUPPORT : -ENOMEM,
                        "the agent of cluster '%s' is not of this version", name);
    }
    cluster->pages = pages;
    cluster->identity = cluster->pages->identity;
    cluster->device = status.st_dev;
    cluster->inode = status.st_ino;
    strcpy(cluster->name, name);
    *out = cluster;
    return 0;
}

int ay__cluster_check_space(const struct cluster *cluster, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return ay__fail(-errno, "cannot look at the space of cluster '%s': %s", cluster->name,
                        strerror(errno));
    if (status.st_uid != 0 && status.st_uid != geteuid())
        return ay__fail(
            -EACCES,
            "the space of cluster '%s' belongs to user %u, and only root and user %u are trusted",
            cluster->name, status.st_uid, geteuid());
    if (status.st_dev != cluster->pages->space_device ||
        status.st_ino != cluster->pages->space_inode)
        return ay__fail(
            -ESTALE,
            "the space of cluster '%s' is not the one that its agent uses: was it removed? "
            "Restart the agent",
            cluster->name);
    return 0;
}

void ay__cluster_close(struct cluster *cluster)
{
    if (!cluster)
        return;
    ay__cluster_stop_watching(cluster);
    munmap((void *)(uintptr_t)cluster->pages, sizeof *cluster->pages);
    free(cluster);
}

/* Two modes cross machines: exclusive, and shared. The others are entered as the one of these that
 * includes them. */
int ay__cluster_region_open(ay_region *region, const struct cluster *cluster)
{
    struct public_spec *spec = &region->spec;
    if (spec->slots > 1 || spec->of > 0 || spec->names > 1)
        return ay__fail(-ENOTSUP, "cluster '%s': %s are for the processes of one machine",
                        cluster->name,
                        spec->slots > 1 ? "slots"
                        : spec->of > 0  ? "units"
                                        : "several resources at once");
    if (spec->mode == AY_PROTECTED_WRITE || spec->mode == AY_CONCURRENT_WRITE)
        spec->mode = AY_EXCLUSIVE;
    else if (spec->mode == AY_CONCURRENT_READ)
        spec->mode = AY_SHARED;
    region->remote.needed = spec->mode == AY_NULL     ? PERMISSION_NONE
                            : spec->mode == AY_SHARED ? PERMISSION_SHARED
                                                      : PERMISSION_EXCLUSIVE;
    region->remote.deadline = &cluster->pages->deadline_monotonic;
    region->remote.permission =
        permissions_find(cluster->pages, spec->name[0].bytes, spec->name[0].length);
    return 0;
}

static uint64_t own_number(const struct registers *at)
{
    return protocol_number(at->fixed.protocol,
                           atomic_load_explicit(&at->near.own->word, memory_order_relaxed));
}

uint64_t ay__cluster_fence(const ay_region *region)
{
    const uint64_t number = own_number(&region->at);
    return region->remote.base +
           (number > region->remote.first ? number - region->remote.first : 0);
}

enum demand_answer {
    ASKED,
    NO_AGENT,
    NO_ROOM /* its queue was full all the time: ask again at once */
};

/* The agent's queue is short. Who finds it full waits for room, for so long at most. */
static enum demand_answer demand(ay_region *region, enum demand_kind kind, int64_t patience)
{
    const struct name *name = &region->spec.name[0];
    struct demand demand = {.magic = DEMAND_MAGIC,
                            .kind = (uint8_t)kind,
                            .mode = region->remote.needed,
                            .length = name->length};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(demand.name, name->bytes, name->length);
    if (!cluster_path(region->at.fixed.space->cluster->name, "socket", address.sun_path,
                      sizeof address.sun_path))
        return NO_AGENT;
    const int fd = descriptor_above_standard(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (fd < 0)
        return ASKED; /* it is asked again, later */
    const int64_t us = patience / 1000 > 1000 ? patience / 1000 : 1000;
    const struct timeval time = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};
    const bool sent = setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time) == 0 &&
                      sendto(fd, &demand, sizeof demand, MSG_NOSIGNAL, (struct sockaddr *)&address,
                             sizeof address) >= 0;
    const int error = errno;
    close(fd);
    if (sent)
        return ASKED;
    if (error == EAGAIN || error == EINTR)
        return NO_ROOM;
    return error == ECONNREFUSED || error == ENOENT || error == EACCES ? NO_AGENT : ASKED;
}

enum { DEAF_MS = 16 }; /* to the second word, where the kernel watches one only */

/* Until one of two words is not what it was, or until then. */
static void sleep_on(const void *first, uint32_t seen_first, const void *second,
                     uint32_t seen_second, int64_t until)
{
    struct ay__waitv words[2] = {
        {.value = seen_first, .address = (uintptr_t)first, .flags = WAITV_32_BITS},
        {.value = seen_second, .address = (uintptr_t)second, .flags = WAITV_32_BITS},
    };
    ay__futex_sleep(words, 2, (int64_t)DEAF_MS * MS, until);
}

static bool give_up(ay_region *region, int reason)
{
    region->at.passage.reason = reason;
    return false;
}

/* Somebody removed the pages, or their space, and an agent has made others: nothing will ever be
 * granted in these. */
static bool is_replaced(const struct cluster *cluster)
{
    char path[PATH_MAX];
    struct stat status;
    if (cluster->pages->identity != cluster->identity)
        return true;
    return cluster_path(cluster->name, "agent", path, sizeof path) && lstat(path, &status) == 0 &&
           (status.st_dev != cluster->device || status.st_ino != cluster->inode);
}

/* Asks, if it is time to; false if nobody will ever answer. */
static bool ask(ay_region *region, struct cluster_wait *wait, enum demand_kind kind)
{
    const struct cluster *cluster = region->at.fixed.space->cluster;
    const int64_t now = ay__now();
    if (atomic_load(&cluster->pages->full) && !region->remote.permission)
        return give_up(region, ay__fail(-ENOSPC, "cluster '%s' has no room for another resource",
                                        cluster->name));
    if (now < wait->ask)
        return true;
    const int64_t again = now + (int64_t)ASK_AGAIN_MS * MS;
    const enum demand_answer answer =
        demand(region, kind, (again < wait->until ? again : wait->until) - now);
    wait->ask = answer == NO_ROOM ? now : again;
    if (answer != NO_AGENT)
        wait->agent_lost = 0;
    else if (!wait->agent_lost)
        wait->agent_lost = now;
    if (is_replaced(cluster))
        return give_up(
            region,
            ay__fail(-ESTALE, "the files of cluster '%s' were removed and made anew: open it again",
                     cluster->name));
    if (wait->agent_lost && (wait->tries || now - wait->agent_lost > (int64_t)AGENT_DEAD_MS * MS))
        return give_up(region, ay__fail(-EHOSTDOWN,
                                        "the agent of cluster '%s' does not run on this machine; "
                                        "start it: afteryou agent --cluster %s",
                                        cluster->name, cluster->name));
    return true;
}

/* Somebody died inside on another machine: of those who enter, one is told, and waits until that is
 * known everywhere. */
static void hear_of_death(ay_region *region)
{
    const struct permission *permission = region->remote.permission;
    const int64_t end = ay__now() + (int64_t)TRY_MS * MS;
    struct cluster_wait wait = {.until = end};
    region->remote.death = true;
    while (atomic_load(&permission->death) && ay__now() < end) {
        if (!ask(region, &wait, DEMAND_TOLD))
            return;
        sleep_on(&permission->death, 1, &permission->granted, (uint32_t)region->remote.granted,
                 wait.ask < end ? wait.ask : end);
    }
}

/* The permission is there, in time, and sufficient: the passage is the cluster's. */
static bool take(ay_region *region)
{
    const struct permission *permission = region->remote.permission;
    const uint64_t granted = atomic_load(&permission->granted);
    const struct cluster *cluster = region->at.fixed.space->cluster;
    const struct name *name = &region->spec.name[0];
    if (permission_mode(granted) < region->remote.needed || !ay__cluster_in_time(region) ||
        cluster->pages->identity != cluster->identity)
        return false;
    region->remote.base = atomic_load(&permission->base);
    region->remote.first = atomic_load(&permission->number);
    if (atomic_load(&permission->granted) != granted) /* P2 */
        return false;
    if (!permission_is_of(permission, name->bytes, name->length) ||
        atomic_load(&permission->granted) != granted)
        return false; /* P3 */
    atomic_store(&region->remote.granted, granted);
    if (atomic_load(&permission->death))
        hear_of_death(region);
    return true;
}

/* P3: the agent may have taken the name away. */
static bool is_named(const ay_region *region)
{
    const struct name *name = &region->spec.name[0];
    return permission_is_of(region->remote.permission, name->bytes, name->length);
}

bool ay__cluster_make_way(ay_region *region, struct cluster_wait *wait)
{
    struct registers *at = &region->at;
    wait->ask = 0;
    while (atomic_load(&region->remote.permission->granted) == wait->granted && is_named(region)) {
        const int64_t now = ay__now();
        if (now >= wait->until)
            return give_up(region, at->passage.give_up);
        if (!ask(region, wait, DEMAND_MORE))
            return false;
        sleep_on(&region->remote.permission->granted, (uint32_t)wait->granted,
                 &region->remote.permission->busy, wait->busy,
                 wait->ask < wait->until ? wait->ask : wait->until);
        if (ay__interrupted(at))
            return false;
    }
    at->passage.deadline = wait->until;
    wait->ask = 0;
    return true;
}

/* Sleeps until something may have changed; false: given up. */
static bool rest(ay_region *region, struct cluster_wait *wait)
{
    const struct permissions *pages = region->at.fixed.space->cluster->pages;
    const struct permission *permission = region->remote.permission;
    const uint32_t changes = atomic_load(&pages->changes);
    if (!permission) {
        const struct name *name = &region->spec.name[0];
        region->remote.permission = permissions_find(pages, name->bytes, name->length);
        if (region->remote.permission) {
            wait->busy = atomic_load(&region->remote.permission->busy);
            wait->ask = 0; /* so that who tries hears of it, should it be busy */
            return true;
        }
    }
    if (!ask(region, wait, DEMAND_PERMISSION))
        return false;
    const uint64_t granted = permission ? atomic_load(&permission->granted) : 0;
    if (permission && take(region))
        return true;
    const int64_t now = ay__now();
    if (now >= wait->until ||
        (wait->tries && permission && atomic_load(&permission->busy) != wait->busy))
        return give_up(region, region->at.passage.give_up);
    const int64_t until = wait->ask < wait->until ? wait->ask : wait->until;
    if (!permission)
        sleep_on(&pages->changes, changes, &pages->changes, changes, until);
    else if (wait->tries)
        sleep_on(&permission->granted, (uint32_t)granted, &permission->busy, wait->busy, until);
    else
        sleep_on(&permission->granted, (uint32_t)granted, &pages->changes, changes, until);
    return !ay__interrupted(&region->at);
}

struct cluster_wait ay__cluster_begin_waiting(ay_region *region)
{
    const int64_t deadline = region->at.passage.deadline;
    const bool tries = deadline == INT64_MIN;
    const struct permission *permission = region->remote.permission;
    if (region->remote.told_lost)
        ay__cluster_enters(region);
    return (struct cluster_wait){
        .until = tries ? ay__now() + (int64_t)TRY_MS * MS : deadline,
        .busy = permission ? atomic_load(&permission->busy) : 0,
        .tries = tries,
    };
}

enum cluster_answer ay__cluster_await(ay_region *region, struct cluster_wait *wait)
{
    assert_required(region->at.near.cluster && region->at.passage.queues);
    struct registers *at = &region->at;
    if (region->remote.needed == PERMISSION_NONE)
        return CLUSTER_PERMITS;
    for (;;) {
        if (region->remote.permission && !is_named(region)) {
            atomic_store(&region->remote.granted, 0); /* it is asked for anew */
            region->remote.permission = NULL;
        }
        if (region->remote.permission && take(region))
            return CLUSTER_PERMITS;
        at->passage.waited = true;
        ay__begin_waiting(at);
        wait->granted =
            region->remote.permission ? atomic_load(&region->remote.permission->granted) : 0;
        if (permission_mode(wait->granted) != PERMISSION_NONE &&
            permission_mode(wait->granted) < region->remote.needed)
            return CLUSTER_NEEDS_WAY;
        if (!rest(region, wait))
            return CLUSTER_GIVES_UP;
    }
}
