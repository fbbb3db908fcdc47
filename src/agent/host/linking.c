/* SPDX-License-Identifier: MIT */
/* Links of the agent: see linking.h. */
#include "agent/host/linking.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/host/transport.h"

_Static_assert((int)LINK_SLOTS >= (int)SLOTS, "a slot of the group is a slot of the links");
_Static_assert((int)DIRECT_ROOM <= (int)LINK_PACKET_MOST,
               "what goes over a link in one step is a packet");
_Static_assert(sizeof(struct link_endpoint) <= ENDPOINT_ROOM, "an endpoint fits a HELLO");

static void tell(struct service *service, enum agent_event_kind kind, uint32_t slot,
                 uint64_t incarnation, const void *bytes, size_t length)
{
    service_step(
        service,
        (struct agent_event){
            .kind = kind,
            .link = {.slot = slot, .incarnation = incarnation, .bytes = bytes, .length = length}});
}

static void on_up(void *arg, uint32_t slot, uint64_t incarnation)
{
    tell(arg, ON_LINK_UP, slot, incarnation, NULL, 0);
}

static void on_down(void *arg, uint32_t slot, uint64_t incarnation)
{
    tell(arg, ON_LINK_DOWN, slot, incarnation, NULL, 0);
}

static void on_received(void *arg, uint32_t slot, uint64_t incarnation, const void *bytes,
                        size_t length)
{
    tell(arg, ON_PACKET, slot, incarnation, bytes, length);
}

static void on_line(void *arg, enum log_level level, const char *event, const char *details)
{
    service_say(arg, level, event, details);
}

/* Where Corosync's ring is it does not know before that is there. */
bool linking_open(struct service *service, char *trouble, size_t room)
{
    const struct service_options *asked = service->options;
    const struct links_options options = {.cluster = asked->cluster,
                                          .key_file = asked->plain_links ? NULL : asked->key,
                                          .listen = asked->listen ? asked->listen : "",
                                          .port = (uint16_t)asked->port};
    const struct links_events events = {
        .arg = service, .up = on_up, .down = on_down, .received = on_received, .log = on_line};
    if (asked->no_links)
        return true;
    service->links = links_open(&options, &events, trouble, room);
    return service->links != NULL;
}

void linking_announce(struct service *service)
{
    struct link_endpoint where;
    struct endpoint *endpoint = &service->agent.options.endpoint;
    if (!service->links)
        return;
    const char *ring = transport_address(service->transport);
    if (service->options->listen) {
        /* it listens there already */
    } else if (link_endpoint_parse(ring, (uint16_t)service->options->port, &where)) {
        links_listen(service->links, &where);
    } else {
        service_say(service, LOG_WARNING, "not-listening",
                    "why=\"Corosync's ring0_addr of this machine is not known: use --listen\"");
    }
    links_endpoint(service->links, &where);
    memset(endpoint, 0, sizeof *endpoint);
    memcpy(endpoint->bytes, &where, sizeof where);
}

void linking_do(struct service *service, const struct agent_effect *effect)
{
    struct link_endpoint where;
    if (!service->links)
        return;
    switch (effect->kind) {
    case DO_PEER:
        memcpy(&where, effect->peer.endpoint.bytes, sizeof where);
        links_self(service->links, service->agent.incarnation);
        links_peer(service->links, effect->peer.slot, effect->peer.incarnation, &where,
                   effect->peer.dial);
        break;
    case DO_FORGET_PEER:
        links_forget(service->links, effect->peer.slot, effect->peer.incarnation);
        break;
    case DO_NUDGE:
        links_nudge(service->links, effect->peer.slot, effect->peer.incarnation);
        break;
    default: /* DO_SEND_TO: what is not sent is said again */
        (void)links_send(service->links, effect->send_to.slot, effect->send_to.incarnation,
                         effect->send_to.bytes, effect->send_to.length);
    }
}

static int describe_link(const struct service *service, uint32_t slot, char *text, size_t room)
{
    const struct linked *peer = &service->agent.peer[slot];
    struct link_figures figures;
    if (!peer->used || !links_figures(service->links, slot, &figures))
        return 0;
    return snprintf(text, room,
                    "link\t%" PRIu32 "\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
                    service->agent.member[slot].node, figures.up ? "up" : "down",
                    figures.round_trip, figures.breaks, peer->resent, peer->relayed);
}

size_t linking_describe(const struct service *service, char *text, size_t room)
{
    if (!service->links)
        return 0;
    int more = snprintf(text, room, "links\t%s\n",
                        links_are_secured(service->links) ? "secured" : "plain");
    size_t length = 0;
    for (uint32_t slot = 0; slot < SLOTS && more >= 0 && (size_t)more < room - length; slot++) {
        length += (size_t)more;
        more = describe_link(service, slot, text + length, room - length);
    }
    return more >= 0 && (size_t)more < room - length ? length + (size_t)more : length;
}
