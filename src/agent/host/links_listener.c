/* SPDX-License-Identifier: MIT */
/* The listener, and strangers: connections that were accepted and not greeted yet.
 *
 * Anybody can connect. So there are few strangers at a time, each for a short time, and of all that
 * are turned away there is one line of log now and then. Where there are too many, one goes that
 * does not come from a machine that is waited for, the oldest first: a slow handshake gives way,
 * and whoever fills the port from elsewhere keeps no peer out. */
#include "agent/host/links_parts.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/descriptors.h"

/* ---- opening ---- */

/* An address that this machine does not have yet may be bound: it comes with its interface. */
static int try_bind(const struct link_endpoint *where, bool both_families)
{
    const int yes = 1, six_only = !both_families;
    struct sockaddr_storage address;
    const socklen_t length = endpoint_to(where, &address);
    const int fd = descriptor_above_standard(
        socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    (void)setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &yes, sizeof yes);
    if (where->family == 6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &six_only, sizeof six_only);
    if (bind(fd, (struct sockaddr *)&address, length) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static bool watch_listener(struct links *links, int how, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = &links->listener};
    return epoll_ctl(links->epoll, how, links->listener, &event) == 0;
}

/* False: errno says why. */
static bool listen_at(struct links *links, const struct link_endpoint *where, bool both_families)
{
    links->listener = try_bind(where, both_families);
    if (links->listener >= 0 && watch_listener(links, EPOLL_CTL_ADD, EPOLLIN))
        return true;
    const int error = errno;
    if (links->listener >= 0)
        close(links->listener);
    links->listener = -1;
    errno = error;
    return false;
}

static bool listen_at_all(struct links *links, uint16_t port)
{
    if (listen_at(links, &(struct link_endpoint){.family = 6, .port = port}, true))
        return true;
    return (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL) && /* a machine without IPv6 */
           listen_at(links, &(struct link_endpoint){.family = 4, .port = port}, false);
}

static bool endpoint_is_any(const struct link_endpoint *where)
{
    static const uint8_t any[sizeof where->address];
    return memcmp(where->address, any, sizeof any) == 0;
}

bool listener_open(struct links *links, const char *address, uint16_t port, char *trouble,
                   size_t room)
{
    struct link_endpoint where = {.port = port};
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    if (address && !*address)
        return true;
    if (address && !link_endpoint_parse(address, port, &where)) {
        snprintf(trouble, room, "'%s' is no numeric address", address);
        return false;
    }
    if (address && endpoint_is_any(&where)) { /* the others are told it, and dial it */
        snprintf(trouble, room,
                 "'%s' is no address of this machine's at which others reach it: name one",
                 address);
        return false;
    }
    if (!(address ? listen_at(links, &where, false) : listen_at_all(links, port)) ||
        getsockname(links->listener, (struct sockaddr *)&bound, &length) != 0) {
        snprintf(trouble, room, "cannot listen for other agents on %s, port %u: %s",
                 address ? address : "all addresses", port, strerror(errno));
        return false;
    }
    endpoint_of(&bound, &links->listens);
    if (!address)
        links->listens = (struct link_endpoint){.port = links->listens.port};
    return true;
}

void links_listen(struct links *links, const struct link_endpoint *where)
{
    assert_required(where->family && where->port);
    if (endpoint_same_machine(&links->listens, where) && links->listens.port == where->port)
        return;
    if (links->listener >= 0)
        close(links->listener);
    links->listener = -1;
    links->paused_until = 0;
    links->listens = *where;
    links->relisten = 0;
    links->listening_line = 0;
    links_due(links, 0);
}

static void listen_again(struct links *links)
{
    char where[LINK_ADDRESS_ROOM];
    if (links->now < links->relisten) {
        links_due(links, links->relisten);
        return;
    }
    if (listen_at(links, &links->listens, false))
        return;
    const int error = errno;
    links->relisten = links->now + RELISTEN;
    links_due(links, links->relisten);
    if (links->now < links->listening_line)
        return;
    link_endpoint_print(&links->listens, where);
    links_say(links, LOG_WARNING, "not-listening", "at=%s why=\"%s\"", where, strerror(error));
    links->listening_line = links->now + FAILURES_EVERY;
}

/* ---- lines of log ---- */

static void say_refusals(struct links *links)
{
    links_say(links, LOG_WARNING, "link-refused", "from=%s times=%u why=\"%s\"",
              links->refusals.from, links->refusals.count, links->refusals.why);
    links->refusals.count = 0;
    links->refusals.next_line = links->now + REFUSALS_EVERY;
}

void listener_refused(struct links *links, const struct link_endpoint *from, const char *why)
{
    links->refusals.count++;
    link_endpoint_print(from, links->refusals.from);
    snprintf(links->refusals.why, sizeof links->refusals.why, "%s", why);
    if (links->now >= links->refusals.next_line)
        say_refusals(links);
    else
        links_due(links, links->refusals.next_line);
}

/* ---- accepting ---- */

static bool is_waited_for(const struct links *links, const struct link_endpoint *where)
{
    for (uint32_t slot = 0; slot < LINK_SLOTS; slot++) {
        const struct link_peer *peer = &links->peer[slot];
        if (peer->incarnation && !peer->dial && !peer->link &&
            endpoint_same_machine(&peer->where, where))
            return true;
    }
    return false;
}

/* The oldest, if possible of those that nobody waits for. NULL: all are waited for. */
static struct link_channel *least_welcome(struct links *links, bool any)
{
    struct link_channel *found = NULL;
    for (struct link_channel *channel = links->channels; channel; channel = channel->next)
        if (!channel->dialled && channel->stage < STAGE_UP && !channel->broken &&
            (any || !is_waited_for(links, &channel->where)))
            found = channel;
    return found;
}

/* False: there is none for this one. */
static bool make_room(struct links *links, const struct link_endpoint *from)
{
    struct link_channel *goes = least_welcome(links, false);
    if (!goes && is_waited_for(links, from))
        goes = least_welcome(links, true);
    if (goes) {
        listener_refused(links, &goes->where, "too many connections at once");
        channel_close(goes);
    }
    return goes != NULL;
}

static void welcome(struct links *links, int fd, const struct link_endpoint *from)
{
    if (links->strangers >= STRANGERS_MOST && !make_room(links, from)) {
        listener_refused(links, from, "too many connections at once");
        close(fd);
        return;
    }
    struct link_channel *channel = channel_open(links, fd, NULL, from);
    if (channel)
        channel_begin(channel);
    else
        listener_refused(links, from, "out of memory");
}

/* Without descriptors or memory the connection stays where it is, and the listener would be
 * readable for ever: it is left alone for a while. */
static void pause_listener(struct links *links, const char *why)
{
    listener_refused(links, &(struct link_endpoint){0}, why);
    if (!watch_listener(links, EPOLL_CTL_MOD, 0))
        return;
    links->paused_until = links->now + LISTENER_PAUSE;
    links_due(links, links->paused_until);
}

void listener_accept(struct links *links)
{
    for (unsigned count = 0; count < ACCEPTED_AT_ONCE; count++) {
        struct sockaddr_storage address;
        struct link_endpoint from;
        socklen_t length = sizeof address;
        const int fd = descriptor_above_standard(accept4(
            links->listener, (struct sockaddr *)&address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (fd >= 0) {
            endpoint_of(&address, &from);
            welcome(links, fd, &from);
        } else if (errno == EAGAIN) {
            return;
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            pause_listener(links, strerror(errno));
            return;
        }
    }
}

void listener_tick(struct links *links)
{
    if (links->listener < 0 && links->listens.family)
        listen_again(links);
    if (links->refusals.count > 0) {
        if (links->now >= links->refusals.next_line)
            say_refusals(links);
        else
            links_due(links, links->refusals.next_line);
    }
    if (!links->paused_until)
        return;
    if (links->now < links->paused_until) {
        links_due(links, links->paused_until);
    } else {
        links->paused_until = 0;
        (void)watch_listener(links, EPOLL_CTL_MOD, EPOLLIN);
    }
}
