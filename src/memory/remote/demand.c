/* SPDX-License-Identifier: MIT */
/* What a local process says to the agent: datagrams, through one socket of the cluster's that is
 * kept. An agent that comes after another has another socket: what is refused is said again, to
 * that one. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/descriptors.h"
#include "memory/remote/cluster.h"

enum { MS = 1000 * 1000, ROOM_MS = 250 /* so long who may wait does, for room */ };

static bool find_agent(const struct cluster *cluster, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    return cluster_path(cluster->name, "socket", address->sun_path, sizeof address->sun_path);
}

static enum demand_answer answer_of(int error)
{
    if (error == EAGAIN || error == EINTR)
        return DEMAND_NO_ROOM;
    return error == ECONNREFUSED || error == ENOENT || error == EACCES ? DEMAND_NO_AGENT
                                                                       : DEMAND_NOT_SENT;
}

/* ---- the socket that is kept ---- */

/* Never closed while anybody may use it. */
struct mouth {
    struct mouth *before; /* what the program has closed since */
    int fd;
    struct descriptor_identity file; /* what it was opened as */
};

static bool is_there(const struct mouth *mouth)
{
    return mouth && descriptor_is(mouth->fd, &mouth->file);
}

static struct mouth *make_mouth(struct mouth *before)
{
    struct mouth *mouth = calloc(1, sizeof *mouth);
    if (!mouth)
        return NULL;
    mouth->before = before;
    const struct timeval patience = {.tv_usec = ROOM_MS * 1000};
    mouth->fd = descriptor_above_standard(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (mouth->fd >= 0 && descriptor_identify(mouth->fd, &mouth->file) &&
        setsockopt(mouth->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0)
        return mouth;
    if (mouth->fd >= 0)
        close(mouth->fd);
    free(mouth);
    return NULL;
}

/* NULL: there is no descriptor left, or no memory. */
static const struct mouth *find_mouth(struct cluster *cluster)
{
    struct mouth *mouth = atomic_load(&cluster->mouth);
    if (is_there(mouth))
        return mouth;
    pthread_mutex_lock(&cluster->opening);
    mouth = atomic_load(&cluster->mouth);
    if (!is_there(mouth)) {
        mouth = make_mouth(mouth);
        if (mouth)
            atomic_store(&cluster->mouth, mouth);
    }
    pthread_mutex_unlock(&cluster->opening);
    return mouth;
}

void ay__cluster_mouth_forget(const struct cluster *cluster)
{
    const struct mouth *mouth = atomic_load(&cluster->mouth);
    if (is_there(mouth))
        close(mouth->fd);
}

void ay__cluster_hush(struct cluster *cluster)
{
    struct mouth *mouth = atomic_load(&cluster->mouth);
    ay__cluster_mouth_forget(cluster);
    while (mouth) {
        struct mouth *before = mouth->before;
        free(mouth);
        mouth = before;
    }
}

/* Many threads may wait for room at once: none keeps another from speaking. */
static bool send_through(const struct mouth *mouth, const struct demand *demand, bool waits)
{
    return send(mouth->fd, demand, sizeof *demand, MSG_NOSIGNAL | (waits ? 0 : MSG_DONTWAIT)) >= 0;
}

/* What is not connected, or to an agent that has gone, is connected. */
static enum demand_answer say(struct cluster *cluster, const struct demand *demand, bool waits)
{
    struct sockaddr_un address;
    const struct mouth *mouth = find_mouth(cluster);
    if (!mouth)
        return DEMAND_NOT_SENT;
    if (send_through(mouth, demand, waits))
        return DEMAND_SENT;
    if (answer_of(errno) == DEMAND_NO_ROOM)
        return DEMAND_NO_ROOM;
    if (!find_agent(cluster, &address))
        return DEMAND_NO_AGENT;
    mouth = find_mouth(cluster); /* perhaps it was refused by what has the number by now */
    if (!mouth)
        return DEMAND_NOT_SENT;
    return connect(mouth->fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                   send_through(mouth, demand, waits)
               ? DEMAND_SENT
               : answer_of(errno);
}

/* ---- what is said ---- */

/* One that has little time: through a socket of its own, which knows how little. */
static enum demand_answer say_when_there_is_room(const struct cluster *cluster,
                                                 const struct demand *demand, int64_t patience)
{
    const int64_t us = patience / 1000 > 1000 ? patience / 1000 : 1000;
    const struct timeval time = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};
    struct sockaddr_un address;
    if (!find_agent(cluster, &address))
        return DEMAND_NO_AGENT;
    const int fd = descriptor_above_standard(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (fd < 0)
        return DEMAND_NOT_SENT;
    const bool sent = setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time) == 0 &&
                      sendto(fd, demand, sizeof *demand, MSG_NOSIGNAL, (struct sockaddr *)&address,
                             sizeof address) >= 0;
    const int error = errno;
    close(fd);
    return sent ? DEMAND_SENT : answer_of(error);
}

enum demand_answer ay__cluster_demand(const ay_region *region, enum demand_kind kind,
                                      int64_t patience)
{
    struct cluster *cluster = region->at.fixed.space->cluster;
    const struct name *name = &region->spec.name[0];
    struct demand demand = {.magic = DEMAND_MAGIC,
                            .kind = (uint8_t)kind,
                            .mode = region->remote.needed,
                            .length = name->length,
                            .number = ay__cluster_number(region),
                            .granted = region->remote.wait.granted};
    memcpy(demand.name, name->bytes, name->length);
    const bool may_wait = !region->at.passage.asked, has_time = patience >= (int64_t)ROOM_MS * MS;
    const enum demand_answer answer = say(cluster, &demand, may_wait && has_time);
    return answer == DEMAND_NO_ROOM && may_wait && !has_time
               ? say_when_there_is_room(cluster, &demand, patience)
               : answer;
}
