/* SPDX-License-Identifier: MIT */
/* Writes a run as JSON lines, in the format that docs/messages.md describes and `afteryou audit`
 * reads. */
#include <inttypes.h>

#include "simulate/world.h"

void trace_begin(struct world *world)
{
    if (world->how->trace)
        fprintf(
            world->how->trace,
            "{\"trace\":\"afteryou\",\"version\":1,\"source\":\"simulate\",\"protocol\":\"%s\",\"seed\":"
            "%" PRIu64 ",\"fair\":%s}\n",
            world->how->variant->name, world->how->seed, world->protocol->fair ? "true" : "false");
}

static void begin_line(struct world *world, uint32_t node, const char *event)
{
    fprintf(world->how->trace, "{\"at\":%" PRIu64 ",\"process\":\"n%u\",\"event\":\"%s\"",
            world->now, node, event);
}

void trace_life(struct world *world, uint32_t node, const char *event)
{
    if (!world->how->trace)
        return;
    begin_line(world, node, event);
    fputs("}\n", world->how->trace);
}

void trace_passage(struct world *world, uint32_t node, const char *event)
{
    if (!world->how->trace)
        return;
    const struct peer *peer = &world->peers[node];
    begin_line(world, node, event);
    fprintf(world->how->trace, ",\"region\":\"r\",\"mode\":\"%s\"", mode_name(peer->mode));
    if (peer->inside)
        fprintf(world->how->trace, ",\"fence\":%" PRIu64, peer->fence);
    fputs("}\n", world->how->trace);
}

void trace_send(struct world *world, const struct shipment *parcel, uint32_t to, uint32_t copies)
{
    if (!world->how->trace)
        return;
    begin_line(world, parcel->message.from, "send");
    fprintf(world->how->trace, ",\"message\":%" PRIu64 ",\"kind\":\"%s\"", parcel->id,
            message_name(parcel->message.kind));
    if (to < world->how->nodes)
        fprintf(world->how->trace, ",\"to\":\"n%u\"", to);
    fprintf(world->how->trace, ",\"copies\":%u}\n", copies);
}

void trace_receive(struct world *world, uint32_t node, const struct shipment *parcel)
{
    if (!world->how->trace)
        return;
    begin_line(world, node, "receive");
    fprintf(world->how->trace, ",\"message\":%" PRIu64 "}\n", parcel->id);
}

void trace_end(struct world *world, bool rest)
{
    if (world->how->trace)
        fprintf(world->how->trace, "{\"at\":%" PRIu64 ",\"event\":\"end\",\"rest\":%s}\n",
                world->now, rest ? "true" : "false");
}
