/* SPDX-License-Identifier: MIT */
/* Units: what is held beyond a passage, k of them in the whole group, each by one node at most.
 *
 * Beside the state of a protocol that keeps permissions a node may have the state of units. Users
 * choose units in their turn, inside and alone there; they keep them when the turn is over, and
 * free them whenever they like. Slots are units that nobody asks the number of.
 *
 * Every node has a public register: the units that its users hold, and a version that counts
 * freeings. It goes with every REPLY and every CHANGED. Others keep a copy. To take is to be
 * inside; so whoever has everybody's permission has a true copy of every register that may have
 * grown: it grew while its node was inside, and a REPLY came after. To free is to shrink one's own
 * register, inside or not: a copy may say too much, never too little. Links must keep their
 * order: else an old register comes after a new one.
 *
 * Who finds too few free keeps its turn, and WATCHes: a message to each node whose copy is not
 * empty, with the version of the copy that the look used. A node whose version is another, or that
 * frees later, answers CHANGED, once. To look and to WATCH are one step: else what changes between
 * the two is missed. Since the turn is kept, nobody takes what one waits for: a large request does
 * not starve behind small ones. Freeing needs no turn, so that stops nobody who would free some.
 *
 * A condition is watched in the same way, at everybody: EVENT_CHANGE says that something of what
 * it may depend on has changed here. Who waits for that does not keep its turn.
 *
 * The units of a node that is gone are free when its end is installed, and that counts as CHANGED.
 * A newcomer's copy begins empty, or as its joining says (EVENT_REGISTER): what a machine's users
 * hold stays theirs when its agent is followed by another.
 *
 * No engine runs this, so it stands beside the model that does. A cluster has a region for each
 * unit (memory/remote/cluster_units.c).
 */
#ifndef AFTERYOU_CHECK_MESSAGES_UNITS_H
#define AFTERYOU_CHECK_MESSAGES_UNITS_H

#include "protocols/messages/messages.h"

enum { UNITS_MOST = 64 }; /* of one resource: a word */

struct units {
    uint64_t self, nodes, without; /* never change */
    uint64_t held;                 /* my register */
    uint64_t version;              /* how often some of it was freed, or something changed */
    /* A user here waits for a change. EVENT_WATCH sets it; EFFECT_CHANGED and the end of the turn
     * clear it. */
    uint64_t waits;
    /* who is to be told of the next change here, a set; then two rows: the copies of the others'
     * registers, and their versions */
    uint64_t rows[];
};

enum { UNITS_CONSTANT_WORDS = 3 };

size_t units_words(uint32_t nodes);
size_t units_room(uint32_t nodes); /* beside protocol->room(nodes) */
/* `units` is all zeros. */
void units_begin(uint64_t *units, const struct beginning *how);
/* A step of the protocol, and of the units beside it; `units` NULL: of the protocol alone. */
void units_step(const struct message_protocol *protocol, uint64_t *state, uint64_t *units,
                const struct event *event, struct effects *out);
/* What others hold, as far as is known: never too little for one that is inside. */
uint64_t units_elsewhere(const uint64_t *units);

/* The message as this receiver gets it: of a WATCH's body, its own word alone travels. */
static inline struct message units_message(const struct effect *effect, uint32_t receiver)
{
    struct message message = effect->message;
    if (message.kind == MESSAGE_WATCH)
        message.version = effect->body[receiver];
    return message;
}

#endif
