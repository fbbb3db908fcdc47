/* SPDX-License-Identifier: MIT */
/* Everything that can be opened: protocols, broken ones, properties, options. */
#include "check/registers/catalogue.h"
#include "playground/playground.h"

static void view_register_protocol(struct json *json, const struct register_protocol *protocol)
{
    json_object(json, protocol->name);
    json_text(json, "kind", asked_kind_word(ASKED_REGISTERS));
    json_text(json, "summary", protocol->summary);
    if (protocol->refutes)
        json_text(json, "refutes", protocol->refutes);
    json_number(json, "least", protocol->places_least);
    json_number(json, "most", protocol->places_most);
    json_close(json);
}

static void view_variant(struct json *json, const struct variant *variant)
{
    json_object(json, variant->name);
    json_text(json, "kind", asked_kind_word(ASKED_MESSAGES));
    json_text(json, "base", variant->protocol->name);
    if (variant->left_out)
        json_text(json, "left_out", variant->left_out);
    json_number(json, "least", 2);
    json_number(json, "most", MODEL_NODES_MOST);
    json_close(json);
}

static void view_link(struct json *json, const struct link_variant *variant)
{
    json_object(json, variant->name);
    json_text(json, "kind", asked_kind_word(ASKED_LINK));
    json_text(json, "base", link_variant_at(0)->name);
    if (variant->left_out)
        json_text(json, "left_out", variant->left_out);
    json_number(json, "least", 2);
    json_number(json, "most", 2);
    json_close(json);
}

void view_catalogue(void)
{
    struct json json = json_begin(stdout);
    json_object(&json, NULL);
    json_object(&json, "protocols");
    for (size_t at = 0; register_protocols[at]; at++)
        view_register_protocol(&json, register_protocols[at]);
    for (unsigned at = 0; variant_at(at); at++)
        view_variant(&json, variant_at(at));
    for (unsigned at = 0; link_variant_at(at); at++)
        view_link(&json, link_variant_at(at));
    json_close(&json);
    json_object(&json, "properties");
    for (unsigned property = 0; property < PROPERTY_COUNT; property++)
        json_text(&json, property_name(property), property_meaning(property));
    json_close(&json);
    json_close(&json);
    json_end(&json);
}
