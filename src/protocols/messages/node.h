/* SPDX-License-Identifier: MIT */
/* What the four message protocols have in common: sending, entering, and the changes of the
 * group. */
#ifndef AFTERYOU_PROTOCOLS_MESSAGES_NODE_H
#define AFTERYOU_PROTOCOLS_MESSAGES_NODE_H

#include <string.h>

#include "protocols/messages/messages.h"
#include "protocols/messages/sets.h"

static inline uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* (s,i) < (t,j) */
static inline bool before(uint64_t s, uint64_t i, uint64_t t, uint64_t j)
{
    return s < t || (s == t && i < j);
}

static inline uint64_t *node_members(struct node *my)
{
    return my->sets;
}

static inline uint64_t *node_elders(struct node *my)
{
    return my->sets + set_words(my->nodes);
}

/* The words of the head with its two sets: where a protocol's own words begin. */
static inline size_t node_words(uint64_t nodes)
{
    return sizeof(struct node) / sizeof(uint64_t) + 2 * set_words(nodes);
}

/* The rows begin there, if the state has them. */
static inline struct per_node node_row(struct node *my, const struct keeper *keeper, uint64_t which,
                                       uint64_t blank)
{
    const uint64_t first = which * my->nodes;
    return (struct per_node){.words =
                                 keeper ? NULL : (uint64_t *)my + node_words(my->nodes) + first,
                             .keeper = keeper,
                             .node = my->self,
                             .first = first,
                             .count = my->nodes,
                             .blank = blank};
}

/* What a protocol has besides, behind its rows. */
static inline uint64_t *node_behind_rows(struct node *my, const struct keeper *keeper,
                                         uint64_t rows)
{
    return (uint64_t *)my + node_words(my->nodes) + (keeper ? 0 : rows * my->nodes);
}

static inline bool node_is_other_member(struct node *my, uint64_t j)
{
    return j != my->self && set_has(node_members(my), j);
}

/* Fills in the head of a state that is all zeros. */
static inline struct node *node_begin(uint64_t *state, const struct beginning *how)
{
    struct node *my = (struct node *)state;
    my->self = how->self;
    my->nodes = how->nodes;
    my->agreed = how->agreed;
    my->apart = how->apart;
    my->without = how->without;
    my->view = my->joined = how->view;
    if (how->members)
        memcpy(node_members(my), how->members, set_words(how->nodes) * sizeof *state);
    else
        set_fill(node_members(my), how->nodes);
    if (how->view) {
        memcpy(node_elders(my), node_members(my), set_words(how->nodes) * sizeof *state);
        set_remove(node_elders(my), how->self);
    }
    my->welcome = set_size(node_elders(my), how->nodes) == 0 || how->without & WITHOUT_WELCOME;
    return my;
}

static inline struct effect *effects_add(struct effects *out, enum effect_kind kind)
{
    if (out->count == EFFECTS_MOST)
        __builtin_trap(); /* a protocol that has more effects than it says is wrong */
    struct effect *effect = &out->effect[out->count++];
    *effect = (struct effect){.kind = (uint8_t)kind};
    return effect;
}

static inline struct effect *node_send(const struct node *my, struct effects *out, uint32_t to,
                                       struct message message)
{
    struct effect *effect = effects_add(out, EFFECT_SEND);
    message.from = (uint32_t)my->self;
    message.view = my->view;
    message.fence = my->without & WITHOUT_FENCE_CARRIED ? 0 : my->fence;
    message.died = my->without & WITHOUT_DEATH_CARRIED ? 0 : my->died;
    message.told = my->without & WITHOUT_TOLD_CARRIED ? 0 : my->told;
    effect->to = to;
    effect->message = message;
    return effect;
}

/* Words that live in the engine's room until the next step. */
static inline uint64_t *effects_keep(struct effects *out, const uint64_t *words, size_t count)
{
    uint64_t *kept = out->room + out->used;
    memcpy(kept, words, count * sizeof *words);
    out->used += count;
    return kept;
}

static inline uint64_t *effects_keep_row(struct effects *out, struct per_node row)
{
    uint64_t *kept = out->room + out->used;
    row_copy(kept, row);
    out->used += (size_t)row.count;
    return kept;
}

/* Fence: (view, F+1), with F carried in every message. The raw sequence number would not grow (a
 * newcomer never heard the old ones); F alone would not either (the last holder may die before it
 * tells its F: then the view has grown). */
static inline void node_enter(struct node *my, struct effects *out)
{
    const uint64_t floor = my->without & WITHOUT_VIEW_IN_FENCE ? 0 : my->view << FENCE_VIEW_SHIFT;
    my->status = NODE_INSIDE;
    my->asked = 0;
    my->fence = larger(my->fence, floor) + 1;
    struct effect *entered = effects_add(out, EFFECT_ENTERED);
    entered->fence = my->fence;
    entered->died = my->died > my->told ? my->died : 0;
    if (my->without & WITHOUT_REALLY_TOLD)
        my->told = my->died;
}

/* Deaths inside, over links. A death has a number: the fence of the passage in which the user died,
 * or (view, 0) of the burial of one that may have been inside. `died` is the greatest that is
 * known, `told` the greatest of which somebody has been told; every message carries both. Who is
 * let in with died > told is told. It counts when it has been told in fact, and only of one that is
 * inside alone: several that share are all told, and the next that is alone once more. One telling
 * may cover several deaths; a burial of one that was not inside is a false alarm.
 *
 * Later deaths have greater numbers, since to install a change raises F: else a death in a passage
 * that has not heard of the change would count as told. */
static inline void node_dies_inside(struct node *my)
{
    my->died = larger(my->died, my->fence);
}

static inline void node_told(struct node *my, uint64_t number)
{
    if (my->mode == MODE_EXCLUSIVE || my->without & WITHOUT_TOLD_ALONE)
        my->told = larger(my->told, number);
}

static inline void node_installs(struct node *my, uint64_t view)
{
    my->view = view;
    if (my->apart && !(my->without & (WITHOUT_VIEW_IN_FENCE | WITHOUT_VIEW_INSTALLED)))
        my->fence = larger(my->fence, view << FENCE_VIEW_SHIFT);
}

/* Somebody died inside of whom nobody here knew, as the change `view` says. */
static inline void node_counts_death(struct node *my, uint64_t view)
{
    node_installs(my, view);
    my->died = larger(my->died, view << FENCE_VIEW_SHIFT);
}

static inline void node_leave(struct node *my)
{
    my->status = NODE_OUTSIDE;
    my->mode = my->kept = 0;
}

/* EVENT_CUT: whoever was inside or waiting is told; the state is of no further use. */
static inline void node_cut(struct node *my, struct effects *out)
{
    if (my->status != NODE_OUTSIDE && !(my->without & WITHOUT_LOSS))
        effects_add(out, EFFECT_LOST);
    my->asked = 0;
    node_leave(my);
}

/* False: the message was sent before its sender saw me join, so it was meant for an earlier
 * incarnation of me. */
static inline bool node_hears(struct node *my, const struct message *message)
{
    if (message->view < my->joined && !(my->without & WITHOUT_INCARNATIONS))
        return false;
    my->fence = larger(my->fence, message->fence);
    my->died = larger(my->died, message->died);
    my->told = larger(my->told, message->told);
    return true;
}

/* j went by itself, and outside. What it said of deaths counts for all there were before it only if
 * it had installed every change before its farewell; else it may not have known of one, and is to
 * the others as if it were buried. */
static inline bool node_trusts_farewell(const struct node *my, const struct event *event)
{
    return event->message &&
           (event->message->view + 1 == event->view || my->without & WITHOUT_LAST_VIEW);
}

/* j left. A newcomer whose elders are all gone has nobody to wait for: it is the eldest now. */
static inline void node_sees_death(struct node *my, const struct event *event)
{
    node_installs(my, event->view);
    if (event->message && !(my->without & WITHOUT_LAST_WORDS)) {
        my->died = larger(my->died, event->message->died);
        my->told = larger(my->told, event->message->told);
    }
    set_remove(node_members(my), event->node);
    set_remove(node_elders(my), event->node);
    my->welcome = my->welcome || set_size(node_elders(my), my->nodes) == 0;
}

static inline void node_sees_joining(struct node *my, const struct event *event)
{
    node_installs(my, event->view);
    set_add(node_members(my), event->node);
}

/* Every elder welcomes a newcomer, which asks no earlier. In an agreed order the first will do: by
 * then all know the newcomer. Over links only those that have welcomed it do, so it waits for all:
 * else one that has not installed its joining overtakes it. */
static inline void node_welcomes(struct node *my, struct effects *out, uint32_t newcomer,
                                 uint64_t number)
{
    if (!(my->without & WITHOUT_WELCOME))
        node_send(my, out, newcomer, (struct message){.kind = MESSAGE_WELCOME, .number = number});
}

static inline void node_is_welcomed(struct node *my, uint32_t elder)
{
    if (my->apart)
        set_remove(node_elders(my), elder);
    my->welcome = !my->apart || set_size(node_elders(my), my->nodes) == 0;
}

#endif
