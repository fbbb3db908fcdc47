/* SPDX-License-Identifier: MIT */
/* Units of a resource, beside its protocol: see units.h. */
#include "check/messages/units.h"

#include "protocols/messages/node.h"

size_t units_words(uint32_t nodes)
{
    return sizeof(struct units) / sizeof(uint64_t) + set_words(nodes) + 2 * (size_t)nodes;
}

size_t units_room(uint32_t nodes)
{
    return 2 * set_words(nodes) + nodes;
}

static uint64_t *watchers(struct units *my)
{
    return my->rows;
}

static uint64_t *copies(struct units *my)
{
    return my->rows + set_words(my->nodes);
}

static uint64_t *versions(struct units *my)
{
    return copies(my) + my->nodes;
}

void units_begin(uint64_t *units, const struct beginning *how)
{
    struct units *my = (struct units *)units;
    my->self = how->self;
    my->nodes = how->nodes;
    my->without = how->without;
}

uint64_t units_elsewhere(const uint64_t *units)
{
    struct units *my = (struct units *)(uintptr_t)units;
    uint64_t held = 0;
    for (uint64_t j = 0; j < my->nodes; j++)
        held |= copies(my)[j];
    return held;
}

static void tell_user(struct units *my, struct effects *out)
{
    if (my->waits)
        effects_add(out, EFFECT_CHANGED);
    my->waits = 0;
}

/* Something was freed, or left, here. */
static void change(struct units *my, const struct node *node, struct effects *out)
{
    const size_t width = set_words(my->nodes);
    my->version++;
    if (set_size(watchers(my), my->nodes))
        node_send(node, out, TO_SET, (struct message){.kind = MESSAGE_CHANGED})->set =
            effects_keep(out, watchers(my), width);
    memset(watchers(my), 0, width * sizeof(uint64_t));
    tell_user(my, out);
}

/* It grows inside alone. */
static void hold(struct units *my, const struct node *node, uint64_t held, struct effects *out)
{
    const uint64_t freed = my->held & ~held;
    if (held & ~my->held && node->status != NODE_INSIDE)
        __builtin_trap();
    my->held = held;
    if (freed)
        change(my, node, out);
}

/* `all`: whatever may have changed there, not its units alone. */
static void watch(struct units *my, struct node *node, bool all, struct effects *out)
{
    uint64_t *set = effects_keep(out, node_members(node), set_words(my->nodes));
    uint64_t *seen = effects_keep(out, versions(my), (size_t)my->nodes);
    for (uint64_t j = 0; j < my->nodes; j++)
        if (j == my->self || (!all && !copies(my)[j]))
            set_remove(set, j);
    my->waits = 1;
    if (set_size(set, my->nodes) == 0)
        return;
    struct effect *effect = node_send(node, out, TO_SET, (struct message){.kind = MESSAGE_WATCH});
    effect->set = set;
    effect->body = seen;
    effect->body_words = (size_t)my->nodes;
}

static void watched(struct units *my, const struct node *node, const struct message *message,
                    struct effects *out)
{
    if (message->version != my->version && !(my->without & WITHOUT_VERSION_IN_WATCH))
        node_send(node, out, message->from, (struct message){.kind = MESSAGE_CHANGED});
    else
        set_add(watchers(my), message->from);
}

static void copy(struct units *my, uint32_t j, uint64_t held, uint64_t version)
{
    copies(my)[j] = held;
    versions(my)[j] = version;
}

static void hear(struct units *my, const struct node *node, const struct message *message,
                 struct effects *out)
{
    if (message->view < node->joined && !(my->without & WITHOUT_INCARNATIONS))
        return; /* to an earlier incarnation of mine */
    const bool changed = message->kind == MESSAGE_CHANGED;
    if (message->kind == MESSAGE_WATCH)
        watched(my, node, message, out);
    if ((changed && !(my->without & WITHOUT_REGISTER_IN_CHANGED)) ||
        (message->kind == MESSAGE_REPLY && !(my->without & WITHOUT_REGISTER_IN_REPLY)))
        copy(my, message->from, message->units, message->version);
    if (changed)
        tell_user(my, out);
}

/* j is gone, or another takes its place: what was known of it is not. What users there hold still
 * is counted in its name, until its successor answers for that: else somebody could take it between
 * the two. */
static void forget(struct units *my, uint32_t j, uint64_t kept)
{
    if (my->without & WITHOUT_CACHE_RESET)
        return;
    copy(my, j, my->without & WITHOUT_REGISTER_AT_JOINING ? 0 : kept, 0);
    set_remove(watchers(my), j);
}

/* A change of the group says what j holds; nothing: somebody else answers for it. A link may have
 * said since what it took, by the same version, or what it freed, by a later one. */
static void adopt(struct units *my, uint32_t j, uint64_t held, uint64_t version)
{
    if (held == 0)
        copy(my, j, 0, 0);
    else if (version == versions(my)[j])
        copies(my)[j] |= held;
    else if (version > versions(my)[j])
        copy(my, j, held, version);
}

/* What comes before the protocol's step: who enters by it must have looked at what came with it.
 * False: it is no event of the protocol's. */
static bool before_step(struct units *my, struct node *node, const struct event *event,
                        struct effects *out)
{
    switch (event->kind) {
    case EVENT_HOLD:
        hold(my, node, event->number, out);
        return false;
    case EVENT_CHANGE:
        change(my, node, out);
        return false;
    case EVENT_WATCH:
        watch(my, node, event->number, out);
        return false;
    case EVENT_REGISTER:
        adopt(my, event->node, event->number, event->view);
        return false;
    case EVENT_MESSAGE:
        hear(my, node, event->message, out);
        return true;
    case EVENT_JOINED:
        forget(my, event->node, 0);
        return true;
    case EVENT_DIED:
        forget(my, event->node, event->number);
        if (!(my->without & WITHOUT_CHANGED_AT_BURIAL))
            tell_user(my, out);
        return true;
    case EVENT_RELEASE:
    case EVENT_CUT:
        my->waits = 0;
        return true;
    default:
        return true;
    }
}

static void stamp(const struct units *my, struct effects *out)
{
    for (unsigned at = 0; at < out->count; at++) {
        struct message *message = &out->effect[at].message;
        if (out->effect[at].kind != EFFECT_SEND ||
            (message->kind != MESSAGE_REPLY && message->kind != MESSAGE_CHANGED))
            continue;
        message->units = my->held;
        message->version = my->version;
    }
}

void units_step(const struct message_protocol *protocol, uint64_t *state, uint64_t *units,
                const struct event *event, struct effects *out)
{
    struct units *my = (struct units *)units;
    if (!my || before_step(my, (struct node *)state, event, out))
        protocol->step(state, event, out);
    if (my)
        stamp(my, out);
}
