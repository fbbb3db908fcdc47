/* SPDX-License-Identifier: MIT */
/* The cluster of a space: its agent's pages, what a region is there, and its fences. */
#include "common/descriptors.h"
#include "common/trusted.h"
#include "memory/remote/kind.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
    pthread_mutex_init(&cluster->opening, NULL);
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
    ay__cluster_hush(cluster);
    munmap((void *)(uintptr_t)cluster->pages, sizeof *cluster->pages);
    free(cluster);
}

int ay__cluster_region_open(ay_region *region, const struct cluster *cluster)
{
    struct public_spec *spec = &region->spec;
    const int error = ay__cluster_units_open(region, cluster);
    if (error)
        return error;
    region->remote.needed = (uint8_t)permission_turned(spec->mode);
    region->remote.deadline = &cluster->pages->deadline_monotonic;
    region->remote.permission =
        permissions_find(cluster->pages, spec->name[0].bytes, spec->name[0].length);
    return 0;
}

int ay__cluster_offers_conditions(const ay_region *region)
{
    const struct cluster *cluster = region->at.fixed.space->cluster;
    if (region->remote.kind &&
        (region->remote.kind->take || region->remote.needed == PERMISSION_NONE))
        return ay__fail(-ENOTSUP,
                        "cluster '%s': a condition is for a region without slots or units, and of "
                        "several resources in another mode than null",
                        cluster->name);
    if (!atomic_load(&cluster->pages->conditions))
        return ay__fail(-ENOTSUP,
                        "cluster '%s': conditions need links between the agents, and the protocol "
                        "carvalho-roucairol",
                        cluster->name);
    return 0;
}

/* What it knew was of the old name: its fence, and a death that it did not get to tell of. */
void ay__cluster_region_named(ay_region *region)
{
    const struct name *name = &region->spec.name[0];
    atomic_store(&region->remote.granted, 0); /* first: who watches for losses looks at both */
    region->remote.base = region->remote.first = 0;
    region->remote.death = false;
    region->remote.permission =
        permissions_find(region->at.fixed.space->cluster->pages, name->bytes, name->length);
}

uint64_t ay__cluster_number(const ay_region *region)
{
    const struct registers *at = &region->at;
    return protocol_number(at->fixed.protocol,
                           atomic_load_explicit(&at->near.own->word, memory_order_relaxed));
}

uint64_t ay__cluster_fence(const ay_region *region)
{
    const uint64_t number = ay__cluster_number(region);
    if (!region->remote.base)
        return 0; /* none under its present name */
    return region->remote.base +
           (number > region->remote.first ? number - region->remote.first : 0);
}
