/* SPDX-License-Identifier: MIT */
/* ay_open and ay_close: a process joins a space, and goes. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/assert.h"
#include "memory/passage/protocol.h"
#include "memory/passage/region.h"
#include "memory/remote/cluster.h"

#define DEFAULT_PROTOCOL "courtesy"
enum { DEFAULT_MODE = 0600 };

static int fail_without_protocol(const char *name)
{
    char there[128] = "";
    const struct running_protocol *protocol;
    for (size_t at = 0, length = 0; (protocol = ay__protocol_at(at)) && length < sizeof there; at++)
        length += (size_t)snprintf(there + length, sizeof there - length, "%s%s", at ? ", " : "",
                                   protocol->name);
    return ay__fail(-EINVAL, "there is no protocol '%.64s'; there are %s", name, there);
}

static int check_options(const ay_options *options)
{
    for (size_t at = 0; at < sizeof options->reserved / sizeof *options->reserved; at++)
        if (options->reserved[at])
            return ay__fail(-EINVAL, "ay_options.reserved must be zero");
    if (options->retain > 1)
        return ay__fail(-EINVAL, "ay_options.retain is 0 or 1, not %u", options->retain);
    if ((unsigned)options->precedence > AY_BY_PRIORITY)
        return ay__fail(-EINVAL, "there is no precedence %d", (int)options->precedence);
    if (options->mode & ~0777u)
        return ay__fail(-EINVAL, "the mode of a space is at most 0777, not 0%o", options->mode);
    const char *name = options->protocol ? options->protocol : DEFAULT_PROTOCOL;
    const struct running_protocol *protocol = ay__protocol(name);
    if (!protocol)
        return fail_without_protocol(name);
    if (options->places > protocol->places_most)
        return ay__fail(-EINVAL, "the protocol '%s' has at most %u places, not %u", name,
                        protocol->places_most, options->places);
    return 0;
}

/* What the protocol of the space hasn't got. */
static int check_features(const ay_options *options, const struct running_protocol *protocol)
{
    if (options->precedence != AY_IN_ORDER && !(protocol->features & FEATURE_PRECEDENCE))
        return ay__fail(-ENOTSUP, "the protocol '%s' serves in order only", protocol->name);
    if (options->retain && !protocol->express)
        return ay__fail(-ENOTSUP, "the protocol '%s' does not retain permissions", protocol->name);
    if (options->overtake && !(protocol->features & FEATURE_OVERTAKE))
        return ay__fail(-ENOTSUP, "the protocol '%s' has no bound on overtaking to set",
                        protocol->name);
    return 0;
}

/* All but what is known once there is a file. */
static void make_header(const ay_options *options, struct header *header)
{
    const struct running_protocol *protocol =
        ay__protocol(options->protocol ? options->protocol : DEFAULT_PROTOCOL);
    *header = (struct header){
        .version = LAYOUT_VERSION,
        .granule = (uint32_t)ay__process.page,
        .granules = protocol->granules,
        .places = options->places ? options->places : protocol->places_default,
        .precedence = options->precedence,
        .overtake = options->overtake,
        .retain = options->retain,
        .created_s = time(NULL),
    };
    memcpy(header->magic, LAYOUT_MAGIC, sizeof header->magic);
    snprintf(header->protocol, PROTOCOL_ROOM, "%s", protocol->name);
}

/* Its granules must be whole pages here, or what they keep apart could not be. */
static int check_granule(const char *path, const struct header *found)
{
    if (found->granule % ay__process.page == 0)
        return 0;
    return ay__fail(
        -EPROTONOSUPPORT,
        "%s was made by a machine with pages of %u bytes, and this one's have %zu; once "
        "nobody uses it, remove the file",
        path, found->granule, ay__process.page);
}

/* What is asked for explicitly must be so. */
static int compare(const char *path, const ay_options *options, const struct header *found)
{
    static const char *const precedences[] = {"in order", "writers first", "readers first",
                                              "by priority"};
    const struct identity *by = &found->creator;
    if (options->protocol && strcmp(options->protocol, found->protocol) != 0)
        return ay__fail(-EINVAL, "%s was made by pid %u (%.*s) for the protocol '%s', not '%s'",
                        path, by->pid, COMMAND_ROOM - 1, by->command, found->protocol,
                        options->protocol);
    if (options->places && options->places != found->places)
        return ay__fail(-EINVAL, "%s was made by pid %u (%.*s) with %u places, not %u", path,
                        by->pid, COMMAND_ROOM - 1, by->command, found->places, options->places);
    if (options->precedence && options->precedence != found->precedence)
        return ay__fail(-EINVAL, "%s was made by pid %u (%.*s) with precedence %s, not %s", path,
                        by->pid, COMMAND_ROOM - 1, by->command, precedences[found->precedence],
                        precedences[options->precedence]);
    if (options->overtake && options->overtake != found->overtake)
        return ay__fail(-EINVAL, "%s was made by pid %u (%.*s) with overtaking up to %u, not %u",
                        path, by->pid, COMMAND_ROOM - 1, by->command, found->overtake,
                        options->overtake);
    if (options->retain && options->retain != found->retain)
        return ay__fail(-EINVAL, "%s was made by pid %u (%.*s) without retained permissions", path,
                        by->pid, COMMAND_ROOM - 1, by->command);
    return 0;
}

static int map_space(ay_space *space)
{
    void *base = mmap(NULL, space->size, PROT_READ, MAP_SHARED, space->fd, 0);
    if (base == MAP_FAILED)
        return ay__fail(-errno, "cannot map %s: %s", space->path, strerror(errno));
    if (madvise(base, space->size, MADV_DONTFORK) != 0) {
        const int error = errno;
        munmap(base, space->size);
        return ay__fail(-error, "cannot keep %s from children: %s", space->path, strerror(error));
    }
    space->base = base;
    space->tags = (const _Atomic uint64_t *)(space->base + space->tags_at);
    return 0;
}

bool ay__space_map_bell(ay_space *space)
{
    assert_required(ay__mutex_is_held());
    if (atomic_load(&space->bell))
        return true;
    struct header *header = ay__file_again(space) == 0 ? ay__map_header(space) : NULL;
    if (header && madvise(header, ay__process.page, MADV_DONTFORK) != 0) {
        munmap(header, ay__process.page);
        header = NULL;
    }
    atomic_store(&space->bell, header);
    return header;
}

struct header *ay__space_bell(ay_space *space)
{
    if (!atomic_load(&space->bell)) {
        AY__UNCANCELLED;
        pthread_mutex_lock(&ay__process.mutex);
        ay__space_map_bell(space);
        pthread_mutex_unlock(&ay__process.mutex);
    }
    return atomic_load(&space->bell);
}

_Atomic uint32_t *ay__space_rouses(ay_space *space)
{
    struct header *header = ay__space_bell(space);
    return header ? &header->rouses : NULL;
}

static ay_space *make_space(const char *path, int fd, const struct header *header)
{
    ay_space *space = calloc(1, sizeof *space + strlen(path) + 1);
    if (!space)
        return NULL;
    strcpy(space->path, path);
    space->fd = fd;
    space->mark = ay__process_mark();
    space->places = header->places;
    space->granules = header->granules;
    space->granule = header->granule;
    space->size = space_size(header->granule, header->places, header->granules);
    space->cold_at = cold_offset(header->granule, header->places, 0);
    space->pulses_at = pulse_border(header->granule, header->places, header->granules, 0);
    space->pulses = header->places + PULSES_SPARE;
    space->tags_at = tags_offset(header->granule, header->places, header->granules);
    space->precedence = header->precedence;
    space->overtake = header->overtake;
    space->retain = header->retain;
    space->protocol = ay__protocol(header->protocol);
    return space;
}

/* Under the mutex, so that a fork meanwhile does not leave the child a descriptor nobody knows of.
 */
static int open_locked(const char *path, const ay_options *options, struct cluster *cluster,
                       ay_space **out)
{
    struct header wanted, found;
    int fd, error = ay__process_begin();
    if (error)
        return error;
    ay__trace_begin();
    make_header(options, &wanted);
    error = ay__file_open(path, false, &wanted, options->mode ? options->mode : DEFAULT_MODE, &fd,
                          &found);
    if (error)
        return error;
    error = cluster ? ay__cluster_check_space(cluster, fd) : 0;
    if (!error)
        error = check_granule(path, &found);
    if (!error)
        error = compare(path, options, &found);
    if (!error && found.retain)
        error = ay__recall_begin();
    ay_space *space = error ? NULL : make_space(path, fd, &found);
    if (!error && !space)
        error = ay__fail(-ENOMEM, "out of memory");
    if (!error && !descriptor_identify(fd, &space->file))
        error = ay__fail(-errno, "cannot look at %s: %s", path, strerror(errno));
    if (!error)
        error = map_space(space);
    if (error) {
        free(space);
        close(fd);
        return error;
    }
    /* the first region of a process need not wait for what takes longer than all that is its own */
    struct identity self;
    ay__thread_begin(); /* before there is a keeper, which would find nobody */
    ay__keeper_prepare();
    ay__arena_prepare(space);
    ay__identify(&self); /* once a process, by /proc */
    space->cluster = cluster;
    space->next = ay__process.spaces;
    ay__process.spaces = space;
    *out = space;
    return 0;
}

int ay_open(const char *name, const ay_options *options, ay_space **out)
{
    AY__UNCANCELLED;
    static const ay_options defaults;
    char path[PATH_MAX];
    if (!options)
        options = &defaults;
    int error = check_options(options);
    if (!error)
        error = check_features(
            options, ay__protocol(options->protocol ? options->protocol : DEFAULT_PROTOCOL));
    if (!error)
        error = ay__path(name, path, sizeof path);
    if (!error)
        error = ay__private_directory(path);
    struct cluster *cluster = NULL;
    if (!error && name && strncmp(name, CLUSTER_PREFIX, strlen(CLUSTER_PREFIX)) == 0)
        error = options->retain
                    ? ay__fail(
                          -ENOTSUP,
                          "in a cluster it is the machine that retains a permission, not a process")
                    : ay__cluster_open(name, &cluster);
    if (error)
        return error;
    pthread_mutex_lock(&ay__process.mutex);
    error = open_locked(path, options, cluster, out);
    pthread_mutex_unlock(&ay__process.mutex);
    if (error)
        ay__cluster_close(cluster);
    return error;
}

static void forget(ay_space *space)
{
    for (ay_space **link = &ay__process.spaces; *link; link = &(*link)->next)
        if (*link == space) {
            *link = space->next;
            break;
        }
}

void ay_close(ay_space *space)
{
    AY__UNCANCELLED;
    if (!space)
        return;
    while (space->regions)
        ay_region_close(space->regions);
    ay__asks_close(space);
    /* In a child after fork nothing of it is mapped or open, and its addresses may be somebody
     * else's by now. */
    const bool here = space->mark == ay__process_mark();
    if (here) {
        if (space->cluster)
            ay__cluster_stop_watching(space->cluster); /* whose thread takes the mutex */
        pthread_mutex_lock(&ay__process.mutex);
        forget(space);
        ay__cluster_close(space->cluster); /* not before: a fork looks at all that are there */
        ay__pulse_close(space);
        munmap((void *)(uintptr_t)space->base, space->size);
        if (atomic_load(&space->bell))
            munmap(atomic_load(&space->bell), ay__process.page);
        if (descriptor_is(space->fd, &space->file))
            close(space->fd);
        if (!ay__process.spaces)
            ay__keeper_end();
        pthread_mutex_unlock(&ay__process.mutex);
    }
    ay__arena_end(space, here);
    free(space);
}
