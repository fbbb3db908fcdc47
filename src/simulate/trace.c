/* SPDX-License-Identifier: MIT */
/* Writes a run as JSON lines, in the format that docs/messages.md describes and `afteryou audit` reads. */
#include <inttypes.h>

#include "simulate/world.h"

void trace_begin(struct world *world)
{
    if (world->how->trace)
        fprintf(world->how->trace,
                "{\"trace\":\"afteryou\",\"version\":1,\"source\":\"simulate\",\"protocol\":\"%s\",\"seed\":"
                "%" PRIu64 ",\"fair\":%s}\n",
                world->how->variant->name, world->how->seed, world->protocol->fair ? "true" : "false");
}

void trace_passage(struct world *world, uint32_t node, const char *event)
{
    if (!world->how->trace)
        return;
    const struct peer *peer = &world->peers[node];
    fprintf(world->how->trace, "{\"at\":%" PRIu64 ",\"process\":\"n%u\",\"event\":\"%s\"", world->now, node, event);
    if (*event == 'r' || *event == 'e' || (*event == 'l' && event[1] == 'e'))
        fprintf(world->how->trace, ",\"region\":\"r\",\"mode\":\"%s\"", mode_name(peer->mode));
    if (*event == 'e')
        fprintf(world->how->trace, ",\"fence\":%" PRIu64, peer->fence);
    fputs("}\n", world->how->trace);
}

void trace_send(struct world *world, const struct parcel *parcel, uint32_t to, uint32_t copies)
{
    if (!world->how->trace)
        return;
    fprintf(world->how->trace,
            "{\"at\":%" PRIu64 ",\"process\":\"n%u\",\"event\":\"send\",\"message\":%" PRIu64 ",\"kind\":\"%s\"",
            world->now, parcel->message.from, parcel->id, message_name(parcel->message.kind));
    if (to < world->how->nodes)
        fprintf(world->how->trace, ",\"to\":\"n%u\"", to);
    fprintf(world->how->trace, ",\"copies\":%u}\n", copies);
}

void trace_receive(struct world *world, uint32_t node, const struct parcel *parcel)
{
    if (world->how->trace)
        fprintf(world->how->trace,
                "{\"at\":%" PRIu64 ",\"process\":\"n%u\",\"event\":\"receive\",\"message\":%" PRIu64 "}\n", world->now,
                node, parcel->id);
}

void trace_end(struct world *world, bool rest)
{
    if (world->how->trace)
        fprintf(world->how->trace, "{\"at\":%" PRIu64 ",\"event\":\"end\",\"rest\":%s}\n", world->now,
                rest ? "true" : "false");
}
