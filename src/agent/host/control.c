/* SPDX-License-Identifier: MIT */
/* What the agent answers to people and programs: who is inside on all machines, and metrics.
 *
 * A question on the control socket is passed to the agents of all machines, each of which answers
 * for its own; it is answered when all have, or after a second with what came. A line of an answer
 * is
 *   machine TAB number TAB name TAB state              and then
 *   lease TAB milliseconds                             for which it still holds, if it does;
 *   links TAB secured|plain                            if it has any; for each other machine,
 *   link TAB number TAB up|down TAB nanoseconds of a round trip, or 0 TAB breaks TAB resent TAB by
 *   the ring                                           and for each permission that it has,
 *   permission TAB name TAB exclusive|shared           and for each process there that is inside
 *     or waits,
 *   place TAB name TAB state TAB mode TAB pid TAB uid TAB milliseconds TAB fence TAB order TAB
 *   command
 */
#include "agent/host/control.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "afteryou.h"
#include "agent/host/linking.h"
#include "agent/host/metrics.h"
#include "agent/host/transport.h"
#include "common/clock.h"
#include "common/clusters.h"
#include "common/descriptors.h"
#include "common/permissions.h"

enum {
    CALLERS_MOST = 32,
    ANSWER_ROOM = 1 << 18,
    METRICS_ROOM = 1 << 14,
    PATIENCE_NS = 1000000000,
    SEND_MS = 200
};

enum caller_kind { CALLER_NONE, CALLER_STATUS, CALLER_METRICS };

struct caller {
    enum caller_kind kind;
    int fd;
    uint64_t query; /* 0: nothing has been asked yet */
    int64_t until;
    uint64_t answered; /* slots */
    char *text;
    size_t length;
};

struct control {
    const char *cluster;
    struct service *service;
    const struct agent *agent;
    int status, metrics;
    uint64_t queries;
    struct caller caller[CALLERS_MOST];
};

/* ---- this machine's answer ---- */

struct description {
    const struct agent *agent;
    char *text;
    size_t length, room;
    int64_t now;
};

static void put(struct description *into, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct description *into, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length =
        vsnprintf(into->text + into->length, into->room - into->length, format, arguments);
    va_end(arguments);
    if (length > 0 && (size_t)length < into->room - into->length)
        into->length += (size_t)length;
}

/* Tabs and line ends would be mistaken for ours. */
static void put_clean(struct description *into, const char *text)
{
    for (; *text; text++)
        put(into, "%c", (unsigned char)*text < ' ' ? '?' : *text);
}

/* The cluster's fence of a passage that this machine's space knows by a number of its own. */
static uint64_t fence_of(const struct agent *agent, const ay_place *place)
{
    const uint64_t number = place->fence / AY_PLACES_MOST;
    for (unsigned at = 0; at < agent->resources; at++) {
        const struct resource *resource = &agent->resource[at];
        if (resource->granted && strcmp(resource->name, place->names[0]) == 0)
            return resource->base + (number > resource->first ? number - resource->first : 0);
    }
    return 0;
}

/* Since when is not known of one that went in without looking at a clock: -1. */
static int describe_place(const ay_place *place, void *arg)
{
    struct description *into = arg;
    if ((place->state != AY_INSIDE && place->state != AY_WAITING) || place->pid == getpid())
        return 0;
    put(into, "place\t");
    put_clean(into, place->names[0]);
    put(into, "\t%s\t%d\t%d\t%u\t%lld\t%llu\t%llu\t",
        place->state == AY_INSIDE ? "inside" : "waiting", (int)place->mode, place->pid, place->uid,
        (long long)(place->since_ns ? (into->now - place->since_ns) / 1000000 : -1),
        (unsigned long long)fence_of(into->agent, place), (unsigned long long)place->order);
    put_clean(into, place->command);
    put(into, "\n");
    return 0;
}

static void describe_permissions(struct description *into)
{
    const struct agent *agent = into->agent;
    const int64_t left = agent->deadline - clock_ns(CLOCK_BOOTTIME);
    if (left > 0)
        put(into, "lease\t%lld\n", (long long)(left / 1000000));
    for (unsigned at = 0; at < agent->resources; at++)
        if (agent->resource[at].granted) {
            put(into, "permission\t");
            put_clean(into, agent->resource[at].name);
            put(into, "\t%s\n", mode_name(permission_turned(agent->resource[at].mode)));
        }
}

size_t control_describe(struct control *control, char *text, size_t room)
{
    static const char *const states[] = {"starting", "no quorum", "joining", "ready", "ended"};
    struct description into = {
        .agent = control->agent, .text = text, .room = room, .now = clock_ns(CLOCK_MONOTONIC)};
    char path[PATH_MAX];
    put(&into, "machine\t%u\t%s\t%s\n", control->agent->node,
        transport_name(control->service->transport), states[control->agent->state]);
    describe_permissions(&into);
    into.length += linking_describe(control->service, text + into.length, room - into.length);
    if (cluster_path(control->cluster, "space", path, sizeof path))
        ay_look(path, NULL, describe_place, &into);
    return into.length;
}

/* ---- callers ---- */

static void hang_up(struct caller *caller)
{
    close(caller->fd);
    free(caller->text);
    *caller = (struct caller){0};
}

static void reply(struct caller *caller, const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t sent = send(caller->fd, text, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return;
        text += sent;
        length -= (size_t)sent;
    }
}

static void append(struct caller *caller, const char *text, size_t length)
{
    if (caller->length + length <= ANSWER_ROOM) {
        memcpy(caller->text + caller->length, text, length);
        caller->length += length;
    }
}

static void finish(struct caller *caller)
{
    reply(caller, caller->text, caller->length);
    hang_up(caller);
}

static uint64_t live_slots(const struct agent *agent)
{
    uint64_t slots = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (agent->member[slot].used && !agent->member[slot].ghost)
            slots |= slot_bit(slot);
    return slots;
}

/* Without quorum this machine answers for itself. */
static void ask(struct control *control, struct caller *caller)
{
    caller->text = malloc(ANSWER_ROOM);
    if (!caller->text) {
        hang_up(caller);
        return;
    }
    caller->until = clock_ns(CLOCK_BOOTTIME) + PATIENCE_NS;
    if (agent_is_member(control->agent)) {
        caller->query = ++control->queries << 32 | control->agent->node;
        service_step(control->service,
                     (struct agent_event){.kind = ON_QUERY, .query = caller->query});
        return;
    }
    caller->length = control_describe(control, caller->text, ANSWER_ROOM);
    finish(caller);
}

static uint32_t slot_of(const struct agent *agent, uint32_t node)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (agent->member[slot].used && !agent->member[slot].ghost &&
            agent->member[slot].node == node)
            return slot;
    return NO_SLOT;
}

void control_answered(struct control *control, uint64_t query, uint32_t node, const char *text,
                      size_t length)
{
    const uint32_t slot = slot_of(control->agent, node);
    for (struct caller *caller = control->caller; caller < control->caller + CALLERS_MOST;
         caller++) {
        if (caller->kind != CALLER_STATUS || !caller->query || caller->query != query ||
            slot == NO_SLOT || caller->answered & slot_bit(slot))
            continue;
        append(caller, text, length);
        caller->answered |= slot_bit(slot);
        if ((live_slots(control->agent) & ~caller->answered) == 0)
            finish(caller);
    }
}

static void answer_metrics(struct control *control, struct caller *caller)
{
    static char body[METRICS_ROOM], whole[METRICS_ROOM + 256];
    const size_t length =
        metrics_write(control->agent, control->service->links, control->cluster, body, sizeof body);
    const int all = snprintf(
        whole, sizeof whole,
        "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %zu\r\n"
        "Connection: close\r\n\r\n%.*s",
        length, (int)length, body);
    reply(caller, whole, (size_t)all);
    hang_up(caller);
}

/* Something was said, or the caller has gone. */
static void listen_to(struct control *control, struct caller *caller)
{
    char line[1024];
    const ssize_t length = recv(caller->fd, line, sizeof line, MSG_DONTWAIT);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (length <= 0)
        hang_up(caller);
    else if (caller->kind == CALLER_METRICS)
        answer_metrics(control, caller);
    else if (!caller->query)
        ask(control, caller);
}

static void accept_caller(struct control *control, int from, enum caller_kind kind)
{
    const struct timeval patience = {.tv_usec = SEND_MS * 1000};
    const int fd = descriptor_above_standard(accept4(from, NULL, NULL, SOCK_CLOEXEC));
    if (fd < 0)
        return;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    for (struct caller *caller = control->caller; caller < control->caller + CALLERS_MOST; caller++)
        if (caller->kind == CALLER_NONE) {
            *caller = (struct caller){
                .kind = kind, .fd = fd, .until = clock_ns(CLOCK_BOOTTIME) + PATIENCE_NS};
            return;
        }
    close(fd); /* too many at once */
}

unsigned control_fds(const struct control *control, struct pollfd *fds)
{
    unsigned count = 0;
    fds[count++] = (struct pollfd){.fd = control->status, .events = POLLIN};
    fds[count++] = (struct pollfd){.fd = control->metrics, .events = POLLIN};
    for (const struct caller *caller = control->caller; caller < control->caller + CALLERS_MOST;
         caller++)
        if (caller->kind != CALLER_NONE)
            fds[count++] = (struct pollfd){.fd = caller->fd, .events = POLLIN};
    return count;
}

void control_dispatch(struct control *control, const struct pollfd *fds, unsigned count)
{
    for (unsigned at = 2; at < count; at++)
        for (struct caller *caller = control->caller;
             fds[at].revents && caller < control->caller + CALLERS_MOST; caller++)
            if (caller->kind != CALLER_NONE && caller->fd == fds[at].fd) {
                listen_to(control, caller);
                break;
            }
    if (count > 0 && fds[0].revents)
        accept_caller(control, control->status, CALLER_STATUS);
    if (count > 1 && fds[1].revents)
        accept_caller(control, control->metrics, CALLER_METRICS);
}

int64_t control_tick(struct control *control)
{
    const int64_t now = clock_ns(CLOCK_BOOTTIME);
    int64_t next = INT64_MAX;
    for (struct caller *caller = control->caller; caller < control->caller + CALLERS_MOST;
         caller++) {
        if (caller->kind == CALLER_NONE)
            continue;
        if (caller->until <= now && caller->text)
            finish(caller);
        else if (caller->until <= now)
            hang_up(caller);
        else if (caller->until < next)
            next = caller->until;
    }
    return next;
}

/* ---- the sockets ---- */

/* "127.0.0.1:9464": loopback only, for there is no password. */
static int listen_at_port(const char *words, char *trouble, size_t room)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const char *colon = strrchr(words, ':');
    char *end = NULL;
    const unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;
    if (!colon || end == colon + 1 || *end || port < 1 || port > UINT16_MAX ||
        (strncmp(words, "127.0.0.1:", 10) != 0 && strncmp(words, "localhost:", 10) != 0)) {
        snprintf(trouble, room, "--metrics takes a path, or 127.0.0.1:PORT, not '%s'", words);
        return -1;
    }
    address.sin_port = htons((uint16_t)port);
    const int yes = 1;
    const int fd =
        descriptor_above_standard(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 8) == 0)
        return fd;
    snprintf(trouble, room, "cannot listen at %s: %s", words, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static int listening(int fd, char *trouble, size_t room)
{
    if (fd < 0 || listen(fd, 8) == 0)
        return fd;
    snprintf(trouble, room, "cannot listen for callers: %s", strerror(errno));
    close(fd);
    return -1;
}

static int listen_for_metrics(const char *where, const struct directory *directory, char *trouble,
                              size_t room)
{
    if (!where)
        return listening(directory_socket(directory, "metrics", SOCK_STREAM, trouble, room),
                         trouble, room);
    if (strchr(where, '/'))
        return listening(directory_socket_at(directory, where, SOCK_STREAM, trouble, room), trouble,
                         room);
    return listen_at_port(where, trouble, room);
}

struct control *control_open(struct service *service, char *trouble, size_t room)
{
    const struct directory *directory = &service->directory;
    struct control *control = calloc(1, sizeof *control);
    if (!control) {
        snprintf(trouble, room, "out of memory");
        return NULL;
    }
    control->cluster = service->options->cluster;
    control->service = service;
    control->agent = &service->agent;
    control->status = listening(directory_socket(directory, "control", SOCK_STREAM, trouble, room),
                                trouble, room);
    if (control->status >= 0)
        control->metrics = listen_for_metrics(service->options->metrics, directory, trouble, room);
    if (control->status >= 0 && control->metrics >= 0)
        return control;
    if (control->status >= 0)
        close(control->status);
    free(control);
    return NULL;
}
