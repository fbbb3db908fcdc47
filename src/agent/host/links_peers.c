/* SPDX-License-Identifier: MIT */
/* Peers: who is known, who is dialled and when, and what becomes of their links. */
#include "agent/host/links_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/clock.h"
#include "common/descriptors.h"

struct link_peer *peer_find(struct links *links, uint64_t incarnation)
{
    for (uint32_t slot = 0; slot < LINK_SLOTS && incarnation; slot++)
        if (links->peer[slot].incarnation == incarnation)
            return &links->peer[slot];
    return NULL;
}

/* Nobody is told: the caller knows. */
static void forget(struct link_peer *peer)
{
    if (peer->link)
        channel_close(peer->link);
    if (peer->trying)
        channel_close(peer->trying);
    *peer = (struct link_peer){0};
}

void links_self(struct links *links, uint64_t incarnation)
{
    if (links->self == incarnation)
        return;
    for (uint32_t slot = 0; slot < LINK_SLOTS; slot++)
        forget(&links->peer[slot]);
    links->self = incarnation;
}

void links_peer(struct links *links, uint32_t slot, uint64_t incarnation,
                const struct link_endpoint *where, bool dial)
{
    assert_required(links->self && slot < LINK_SLOTS && incarnation);
    struct link_peer *peer = &links->peer[slot];
    if (peer->incarnation == incarnation)
        return;
    forget(peer);
    links->now = clock_ns(CLOCK_MONOTONIC);
    *peer = (struct link_peer){.slot = slot,
                               .incarnation = incarnation,
                               .where = *where,
                               .dial = dial,
                               .pause = REDIAL_FIRST,
                               .next_line = links->now + FAILURES_AFTER,
                               .figures.dialled = dial};
    if (dial)
        links_due(links, links->now);
}

void links_forget(struct links *links, uint32_t slot, uint64_t incarnation)
{
    assert_required(slot < LINK_SLOTS);
    if (links->peer[slot].incarnation == incarnation)
        forget(&links->peer[slot]);
}

/* ---- up and down ---- */

static void tell_down(struct links *links, struct link_peer *peer, const char *why)
{
    const uint32_t slot = peer->slot;
    const uint64_t incarnation = peer->incarnation;
    assert_invariant(H1, links->telling);
    assert_invariant(H2, peer->told_up);
    peer->told_up = false;
    peer->figures.breaks++;
    links->breaks++;
    links_say(links, LOG_WARNING, "link-down", "slot=%u why=\"%s\"", slot, why);
    links->events.down(links->events.arg, slot, incarnation);
}

void peer_up(struct link_peer *peer, struct link_channel *channel)
{
    struct links *links = channel->links;
    const uint64_t incarnation = peer->incarnation;
    char where[LINK_ADDRESS_ROOM];
    if (peer->link) {
        channel_close(peer->link);
        peer->link = NULL;
        tell_down(links, peer, "replaced by a newer connection");
        if (peer->incarnation != incarnation || channel->stage == STAGE_OVER) {
            channel_break(channel, "forgotten meanwhile");
            return;
        }
    }
    links->strangers -= !channel->dialled;
    channel->stage = STAGE_UP;
    channel->peer = peer;
    channel->heard = links->now;
    channel->pinged = INT64_MIN / 2;
    peer->link = channel;
    peer->trying = NULL;
    peer->up_since = links->now;
    links_due(links, links->now);
    assert_invariant(H1, links->telling);
    assert_invariant(H2, !peer->told_up);
    peer->told_up = true;
    link_endpoint_print(&channel->where, where);
    links_say(links, LOG_INFORMATION, "link-up", "slot=%u %s=%s", peer->slot,
              channel->dialled ? "to" : "from", where);
    links->events.up(links->events.arg, peer->slot, incarnation);
}

/* ---- dialling ---- */

/* It is tried again, later and later; a link that has held begins anew. */
static void failed(struct links *links, struct link_peer *peer, const char *why)
{
    char where[LINK_ADDRESS_ROOM];
    peer->redial = links->now + peer->pause;
    peer->pause = 2 * peer->pause < REDIAL_MOST ? 2 * peer->pause : REDIAL_MOST;
    links_due(links, peer->redial);
    peer->failures++;
    if (links->now < peer->next_line)
        return;
    link_endpoint_print(&peer->where, where);
    links_say(links, LOG_WARNING, "link-failed", "slot=%u to=%s times=%u why=\"%s\"", peer->slot,
              where, peer->failures, why);
    peer->failures = 0;
    peer->next_line = links->now + FAILURES_EVERY;
}

void peer_lost(struct link_peer *peer, struct link_channel *channel)
{
    struct links *links = channel->links;
    if (channel == peer->trying) {
        peer->trying = NULL;
        failed(links, peer, channel->why);
        return;
    }
    assert_invariant(H3, channel == peer->link);
    peer->link = NULL;
    if (links->now - peer->up_since >= REDIAL_MOST)
        peer->pause = REDIAL_FIRST;
    peer->redial = links->now + peer->pause;
    peer->pause = 2 * peer->pause < REDIAL_MOST ? 2 * peer->pause : REDIAL_MOST;
    peer->failures = 0;
    peer->next_line = links->now + FAILURES_AFTER;
    links_due(links, peer->redial);
    tell_down(links, peer, channel->why);
}

/* From the address that others know this agent by, if it has one. */
static void bind_to_own(const struct links *links, int fd, const struct link_endpoint *to)
{
    const int yes = 1;
    struct sockaddr_storage address;
    struct link_endpoint own = links->listens;
    own.port = 0;
    if (own.family != to->family)
        return;
    const socklen_t length = endpoint_to(&own, &address);
    (void)setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
    (void)!bind(fd, (struct sockaddr *)&address, length);
}

static void dial(struct links *links, struct link_peer *peer)
{
    struct sockaddr_storage address;
    const socklen_t length = endpoint_to(&peer->where, &address);
    const int fd = descriptor_above_standard(
        socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (fd < 0) {
        failed(links, peer, strerror(errno));
        return;
    }
    bind_to_own(links, fd, &peer->where);
    const bool refused =
        connect(fd, (struct sockaddr *)&address, length) != 0 && errno != EINPROGRESS;
    if (refused) {
        failed(links, peer, strerror(errno));
        close(fd);
        return;
    }
    peer->trying = channel_open(links, fd, peer, &peer->where);
    if (!peer->trying)
        failed(links, peer, "out of memory");
}

void peer_tick(struct links *links, struct link_peer *peer)
{
    if (!peer->incarnation || !peer->dial || !peer->where.family || peer->link || peer->trying)
        return;
    if (links->now >= peer->redial)
        dial(links, peer);
    else
        links_due(links, peer->redial);
}

bool links_figures(const struct links *links, uint32_t slot, struct link_figures *figures)
{
    assert_required(slot < LINK_SLOTS);
    const struct link_peer *peer = &links->peer[slot];
    *figures = peer->figures;
    figures->up = peer->link && !peer->link->broken;
    return peer->incarnation != 0;
}

uint64_t links_breaks(const struct links *links)
{
    return links->breaks;
}
