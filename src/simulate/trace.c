/* SPDX-License-Identifier: MIT */
/* Writes a run as JSON lines, in the format that docs/json.md states and `afteryou audit` reads. */
#include "common/json.h"
#include "simulate/world.h"

enum { NAME_ROOM = 16 };

static const char *name_of(uint32_t node, char *text)
{
    snprintf(text, NAME_ROOM, "n%u", node);
    return text;
}

void trace_begin(struct world *world)
{
    if (!world->how->trace)
        return;
    struct json json = json_begin(world->how->trace);
    json_object(&json, NULL);
    json_text(&json, "trace", "afteryou");
    json_number(&json, "version", 1);
    json_text(&json, "source", "simulate");
    json_text(&json, "protocol", world->how->variant->name);
    json_number(&json, "seed", world->how->seed);
    json_flag(&json, "fair", world->protocol->fair);
    json_close(&json);
    json_end(&json);
}

/* The line stays open. */
static struct json begin_line(struct world *world, uint32_t node, const char *event)
{
    char name[NAME_ROOM];
    struct json json = json_begin(world->how->trace);
    json_object(&json, NULL);
    json_number(&json, "at", world->now);
    json_text(&json, "process", name_of(node, name));
    json_text(&json, "event", event);
    return json;
}

static void end_line(struct json *json)
{
    json_close(json);
    json_end(json);
}

void trace_life(struct world *world, uint32_t node, const char *event)
{
    if (!world->how->trace)
        return;
    struct json json = begin_line(world, node, event);
    end_line(&json);
}

void trace_passage(struct world *world, uint32_t node, const char *event)
{
    if (!world->how->trace)
        return;
    const struct peer *peer = &world->peers[node];
    struct json json = begin_line(world, node, event);
    json_text(&json, "region", "r");
    json_text(&json, "mode", mode_name(peer->mode));
    if (peer->inside)
        json_number(&json, "fence", peer->fence);
    end_line(&json);
}

void trace_send(struct world *world, const struct shipment *parcel, uint32_t to, uint32_t copies)
{
    if (!world->how->trace)
        return;
    char name[NAME_ROOM];
    struct json json = begin_line(world, parcel->message.from, "send");
    json_number(&json, "message", parcel->id);
    json_text(&json, "kind", message_name(parcel->message.kind));
    if (to < world->how->nodes)
        json_text(&json, "to", name_of(to, name));
    json_number(&json, "copies", copies);
    end_line(&json);
}

void trace_receive(struct world *world, uint32_t node, const struct shipment *parcel)
{
    if (!world->how->trace)
        return;
    struct json json = begin_line(world, node, "receive");
    json_number(&json, "message", parcel->id);
    end_line(&json);
}

void trace_end(struct world *world, bool rest)
{
    if (!world->how->trace)
        return;
    struct json json = json_begin(world->how->trace);
    json_object(&json, NULL);
    json_number(&json, "at", world->now);
    json_text(&json, "event", "end");
    json_flag(&json, "rest", rest);
    end_line(&json);
}
