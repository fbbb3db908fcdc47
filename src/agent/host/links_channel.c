/* SPDX-License-Identifier: MIT */
/* A channel: one connection, plain or by TLS, as bytes in and bytes out. It never waits: what the
 * kernel does not take is kept in `out`, within a bound. */
#include "agent/host/links_parts.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- stores ---- */

bool store_add(struct link_store *store, const void *bytes, size_t length)
{
    if (store->end + length > store->room && store->begin > 0) {
        memmove(store->bytes, store->bytes + store->begin, store->end - store->begin);
        store->end -= store->begin;
        store->begin = 0;
    }
    if (store->end + length > store->room) {
        size_t room = store->room ? store->room : STORE_FIRST;
        while (room < store->end + length)
            room *= 2;
        uint8_t *larger = realloc(store->bytes, room);
        if (!larger)
            return false;
        store->bytes = larger;
        store->room = room;
    }
    memcpy(store->bytes + store->end, bytes, length);
    store->end += length;
    return true;
}

/* What was grown for a burst is not kept. */
void store_take(struct link_store *store, size_t length)
{
    store->begin += length;
    if (store->begin < store->end)
        return;
    store->begin = store->end = 0;
    if (store->room > STORE_KEPT) {
        free(store->bytes);
        *store = (struct link_store){0};
    }
}

/* ---- life ---- */

static bool watch(struct link_channel *channel, int how, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = channel};
    return epoll_ctl(channel->links->epoll, how, channel->fd, &event) == 0;
}

/* Without them it is slower, or a peer that is gone is found later. */
static void set_options(const struct link_channel *channel)
{
    const int yes = 1;
    const unsigned patience = (unsigned)(channel->links->silence / LINK_MS);
    (void)setsockopt(channel->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    (void)setsockopt(channel->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience);
}

struct link_channel *channel_open(struct links *links, int fd, struct link_peer *peer,
                                  const struct link_endpoint *where)
{
    struct link_channel *channel = calloc(1, sizeof *channel);
    if (!channel) {
        close(fd);
        return NULL;
    }
    *channel = (struct link_channel){.links = links,
                                     .fd = fd,
                                     .stage = peer ? STAGE_CONNECTS : STAGE_SECURES,
                                     .dialled = peer != NULL,
                                     .waits = peer != NULL,
                                     .peer = peer,
                                     .where = *where,
                                     .until = links->now + links->silence};
    set_options(channel);
    if (!watch(channel, EPOLL_CTL_ADD, EPOLLIN | (channel->waits ? EPOLLOUT : 0U))) {
        close(fd);
        free(channel);
        return NULL;
    }
    channel->next = links->channels;
    links->channels = channel;
    links->strangers += !channel->dialled;
    links_due(links, channel->until);
    return channel;
}

void channel_break(struct link_channel *channel, const char *format, ...)
{
    va_list arguments;
    if (channel->broken || channel->stage == STAGE_OVER)
        return;
    va_start(arguments, format);
    vsnprintf(channel->why, sizeof channel->why, format, arguments);
    va_end(arguments);
    channel->broken = true;
    channel->links->any_broken = true;
    links_ring(channel->links);
}

void channel_close(struct link_channel *channel)
{
    struct links *links = channel->links;
    if (channel->stage == STAGE_OVER)
        return;
    links->strangers -= !channel->dialled && channel->stage != STAGE_UP;
    close(channel->fd); /* and is watched no longer */
    channel->stage = STAGE_OVER;
    links->any_over = true;
    links_ring(links);
}

void channel_free(struct link_channel *channel)
{
    tls_end(channel->tls);
    free(channel->in.bytes);
    free(channel->out.bytes);
    free(channel->unsealed.bytes);
    free(channel);
}

/* ---- out ---- */

/* All that was said since the last time, as one. False: it is broken. */
static bool seal(struct link_channel *channel)
{
    struct link_store *said = &channel->unsealed;
    const size_t length = said->end - said->begin;
    if (length == 0)
        return true;
    const bool sealed = channel->tls ? tls_seal(channel, said->bytes + said->begin, length)
                                     : store_add(&channel->out, said->bytes + said->begin, length);
    store_take(said, length);
    if (!sealed)
        channel_break(channel, "out of memory");
    return sealed;
}

void channel_flush(struct link_channel *channel)
{
    struct link_store *out = &channel->out;
    if (!seal(channel))
        return;
    while (out->begin < out->end) {
        const ssize_t sent = send(channel->fd, out->bytes + out->begin, out->end - out->begin,
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0)
            store_take(out, (size_t)sent);
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR) {
            channel_break(channel, "%s", strerror(errno));
            return;
        }
    }
    const bool waits = out->begin < out->end;
    if (waits == channel->waits || channel->broken)
        return;
    channel->waits = waits;
    if (!watch(channel, EPOLL_CTL_MOD, EPOLLIN | (waits ? EPOLLOUT : 0U)))
        channel_break(channel, "epoll: %s", strerror(errno));
}

bool channel_write(struct link_channel *channel, const void *bytes, size_t length)
{
    if (channel->broken)
        return false;
    const struct link_store *out = &channel->out, *said = &channel->unsealed;
    if (out->end - out->begin + said->end - said->begin + length > LINK_QUEUE_MOST) {
        channel_break(channel, "it takes nothing any more, and %d bytes wait", LINK_QUEUE_MOST);
        return false;
    }
    if (!store_add(&channel->unsealed, bytes, length)) {
        channel_break(channel, "out of memory");
        return false;
    }
    channel->links->any_said = true;
    return true;
}

/* ---- in ---- */

static void take(struct link_channel *channel, const uint8_t *bytes, size_t length)
{
    if (!store_add(&channel->in, bytes, length))
        channel_break(channel, "out of memory");
    else
        packets_take(channel);
}

static void shake_hands(struct link_channel *channel)
{
    bool done = false;
    const bool well = tls_shake_hands(channel, &done);
    if (!channel->waits)
        channel_flush(channel); /* also what tells the other side why not */
    if (!well || !done || channel->broken)
        return;
    channel->stage = STAGE_GREETS;
    greeting_begin(channel);
}

/* Takes what was received whole. */
static void unseal(struct link_channel *channel, const uint8_t *raw, size_t length)
{
    uint8_t *clear = channel->links->clear;
    size_t got = 1;
    channel->raw = raw;
    channel->raw_left = length;
    if (channel->stage == STAGE_SECURES)
        shake_hands(channel);
    while (got > 0 && !channel->broken &&
           (channel->stage == STAGE_GREETS || channel->stage == STAGE_UP))
        if (tls_unseal(channel, clear, CLEAR_ROOM, &got) && got > 0)
            take(channel, clear, got);
    channel->raw = NULL;
    channel->raw_left = 0;
}

void channel_begin(struct link_channel *channel)
{
    channel->stage = STAGE_SECURES;
    if (!channel->links->key) {
        channel->stage = STAGE_GREETS;
        greeting_begin(channel);
    } else if (tls_begin(channel)) {
        shake_hands(channel);
    }
}

void channel_read(struct link_channel *channel)
{
    uint8_t *raw = channel->links->raw;
    const ssize_t length = recv(channel->fd, raw, RAW_ROOM, MSG_DONTWAIT);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (length <= 0) {
        channel_break(channel, "%s",
                      length == 0 ? "the other side has closed it" : strerror(errno));
        return;
    }
    channel->heard = channel->links->now;
    if (channel->tls)
        unseal(channel, raw, (size_t)length);
    else
        take(channel, raw, (size_t)length);
}
