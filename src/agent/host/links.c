/* SPDX-License-Identifier: MIT */
/* Links, as their user sees them: what happens is taken here, one thing after the other. */
#include "agent/host/links_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/clock.h"
#include "common/descriptors.h"

enum { EVENTS_AT_ONCE = 256 /* more than there can be channels */, DETAILS_ROOM = 512 };

/* ---- for the other files ---- */

void links_say(struct links *links, enum log_level level, const char *event, const char *format,
               ...)
{
    char details[DETAILS_ROOM];
    va_list arguments;
    assert_invariant(H1, links->telling);
    va_start(arguments, format);
    vsnprintf(details, sizeof details, format, arguments);
    va_end(arguments);
    links->events.log(links->events.arg, level, event, details);
}

/* An eventfd whose count cannot overflow here: it is read whenever it is seen. */
void links_ring(struct links *links)
{
    if (!links->telling)
        (void)!write(links->bell, &(uint64_t){1}, sizeof(uint64_t));
}

void links_due(struct links *links, int64_t when)
{
    if (when >= links->due)
        return;
    links->due = when;
    links_ring(links);
}

static void end(struct link_channel *channel)
{
    struct link_peer *peer = channel->peer;
    struct links *links = channel->links;
    channel_close(channel);
    if (peer)
        peer_lost(peer, channel);
    else if (!channel->quiet)
        listener_refused(links, &channel->where, channel->why);
}

static void free_what_is_over(struct links *links)
{
    for (struct link_channel **at = &links->channels; *at;) {
        struct link_channel *channel = *at;
        if (channel->stage != STAGE_OVER) {
            at = &channel->next;
            continue;
        }
        *at = channel->next;
        channel_free(channel);
    }
}

/* What a callback breaks is ended in the next round. */
void links_sweep(struct links *links)
{
    while (links->any_broken) {
        links->any_broken = false;
        for (struct link_channel *channel = links->channels; channel; channel = channel->next)
            if (channel->broken && channel->stage != STAGE_OVER)
                end(channel);
    }
    if (links->any_over)
        free_what_is_over(links);
    links->any_over = false;
}

/* ---- what happens ---- */

static void begin_to_tell(struct links *links)
{
    assert_required(!links->telling);
    links->telling = true;
    links->now = clock_ns(CLOCK_MONOTONIC);
}

void links_flush(struct links *links)
{
    if (!links->any_said)
        return;
    links->any_said = false;
    for (struct link_channel *channel = links->channels; channel; channel = channel->next)
        if (channel->unsealed.end > 0 && !channel->waits && !channel->broken &&
            channel->stage != STAGE_OVER)
            channel_flush(channel);
}

static void finish_telling(struct links *links)
{
    do {
        links_flush(links);
        links_sweep(links); /* a callback may have said something */
    } while (links->any_said);
    links->telling = false;
}

static void connected(struct link_channel *channel)
{
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(channel->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
        error = errno;
    if (error) {
        channel_break(channel, "%s", strerror(error));
        return;
    }
    channel_flush(channel); /* there is nothing yet: writing is not waited for any longer */
    channel_begin(channel);
}

static void serve(struct link_channel *channel, uint32_t events)
{
    if (channel->stage == STAGE_OVER || channel->broken)
        return;
    if (channel->stage == STAGE_CONNECTS) {
        connected(channel);
        return;
    }
    if (events & EPOLLOUT)
        channel_flush(channel);
    if (events & (EPOLLIN | EPOLLERR | EPOLLHUP) && !channel->broken)
        channel_read(channel);
}

/* Links first, then what wants to become one, and whoever knocks last: strangers never delay what
 * is there. */
void links_dispatch(struct links *links)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    bool knocks = false;
    begin_to_tell(links);
    const int count = epoll_wait(links->epoll, events, EVENTS_AT_ONCE, 0);
    for (int at = 0; at < count; at++) {
        struct link_channel *channel = events[at].data.ptr;
        if (events[at].data.ptr == &links->listener)
            knocks = true;
        else if (events[at].data.ptr == &links->bell)
            (void)!read(links->bell, &(uint64_t){0}, sizeof(uint64_t));
        else if (channel->stage != STAGE_UP)
            continue;
        else
            serve(channel, events[at].events);
        events[at].events = 0;
    }
    for (int at = 0; at < count; at++)
        if (events[at].events)
            serve(events[at].data.ptr, events[at].events);
    if (knocks)
        listener_accept(links);
    finish_telling(links);
}

/* This agent may have been stopped itself: what came meanwhile counts. */
static void look_after(struct links *links, struct link_channel *channel)
{
    if (channel->stage != STAGE_UP) {
        if (links->now >= channel->until)
            channel_break(channel, "it was not done in time");
        links_due(links, channel->until);
        return;
    }
    if (links->now - channel->heard >= links->silence)
        channel_read(channel);
    if (channel->broken || channel->stage == STAGE_OVER)
        return;
    if (links->now - channel->heard >= links->silence) {
        channel_break(channel, "nothing was heard for %lld ms",
                      (long long)(links->silence / LINK_MS));
        return;
    }
    const int64_t every = links->silence / PINGS_A_SILENCE;
    if (links->now - channel->pinged >= every)
        packets_ping(channel);
    links_due(links, channel->pinged + every);
    links_due(links, channel->heard + links->silence);
}

int64_t links_tick(struct links *links)
{
    begin_to_tell(links);
    if (links->now >= links->due) {
        links->due = links->now + TICK_MOST;
        for (struct link_channel *channel = links->channels; channel; channel = channel->next)
            if (channel->stage != STAGE_OVER && !channel->broken)
                look_after(links, channel);
        for (uint32_t slot = 0; slot < LINK_SLOTS; slot++)
            peer_tick(links, &links->peer[slot]);
        listener_tick(links);
    }
    finish_telling(links);
    return links->due > links->now ? links->due - links->now : 0;
}

bool links_send(struct links *links, uint32_t slot, uint64_t incarnation, const void *bytes,
                size_t length)
{
    assert_required(slot < LINK_SLOTS && length > 0 && length <= LINK_PACKET_MOST);
    const struct link_peer *peer = &links->peer[slot];
    if (peer->incarnation != incarnation || !peer->link)
        return false;
    return packets_send(peer->link, bytes, length);
}

void links_nudge(struct links *links, uint32_t slot, uint64_t incarnation)
{
    assert_required(slot < LINK_SLOTS);
    const struct link_peer *peer = &links->peer[slot];
    if (peer->incarnation == incarnation && peer->link)
        packets_ping(peer->link);
}

/* ---- the beginning and the end ---- */

int links_fd(const struct links *links)
{
    return links->epoll;
}

void links_endpoint(const struct links *links, struct link_endpoint *where)
{
    *where = links->listens;
}

bool links_are_secured(const struct links *links)
{
    return links->key != NULL;
}

static bool open_parts(struct links *links, const struct links_options *options, char *trouble,
                       size_t room)
{
    links->epoll = descriptor_above_standard(epoll_create1(EPOLL_CLOEXEC));
    links->bell = descriptor_above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &links->bell};
    if (links->epoll < 0 || links->bell < 0 ||
        epoll_ctl(links->epoll, EPOLL_CTL_ADD, links->bell, &event) != 0) {
        snprintf(trouble, room, "cannot watch connections: %s", strerror(errno));
        return false;
    }
    if (options->key_file) {
        links->key = tls_open(options->key_file, links->cluster, trouble, room);
        if (!links->key)
            return false;
    }
    return listener_open(links, options->listen, options->port, trouble, room);
}

struct links *links_open(const struct links_options *options, const struct links_events *events,
                         char *trouble, size_t room)
{
    struct links *links = calloc(1, sizeof *links);
    if (!links) {
        snprintf(trouble, room, "out of memory");
        return NULL;
    }
    assert_required(strlen(options->cluster) < sizeof links->cluster);
    snprintf(links->cluster, sizeof links->cluster, "%s", options->cluster);
    links->events = *events;
    links->silence =
        (int64_t)(options->silence_ms ? options->silence_ms : LINK_SILENCE_MS) * LINK_MS;
    links->epoll = links->bell = links->listener = -1;
    links->now = clock_ns(CLOCK_MONOTONIC);
    if (open_parts(links, options, trouble, room))
        return links;
    links_close(links);
    return NULL;
}

void links_close(struct links *links)
{
    if (!links)
        return;
    assert_required(!links->telling);
    for (struct link_channel *channel = links->channels; channel; channel = channel->next)
        channel_close(channel);
    free_what_is_over(links);
    tls_close(links->key);
    if (links->listener >= 0)
        close(links->listener);
    if (links->bell >= 0)
        close(links->bell);
    if (links->epoll >= 0)
        close(links->epoll);
    free(links);
}
