/* SPDX-License-Identifier: MIT */
/* `lamport`: every request is known to all, and they are served in the order of their clocks.
 * 3(N-1) messages.
 *
 * Lamport, "Time, clocks, and the ordering of events", CACM 21(7), 1978, as Garg presents and
 * proves it (Distributed Systems, spring 1996: "Formal Description", with a direct-dependency clock
 * v). Needs FIFO channels.
 *
 *   q[j]   the number of j's request, ∞ if it has none                (Garg's s.q)
 *   v[j]   the clock of the last message from j                       (Garg's s.v, a DDClock;
 *          v[self] is c)
 *   CS(s)  for all j ≠ s.p: (q[s.p], s.p) < (v[j], j) and (q[s.p], s.p) < (q[j], j)
 *
 * With modes, a request waits only for requests that conflict; it still awaits a word from all,
 * since one not yet heard of might. q[] and v[] are a word each per other node, N² in all.
 *
 * Crash: q[j] := ∞, and no acknowledgement of j is awaited. Join: who has a request outstanding
 * sends it to j again; who is inside sends the lowest number of all, since j may not have heard of
 * its own and draw a smaller one.
 */
#include "protocols/messages/node.h"

enum { MODE_BITS = 3 };
static const uint64_t NONE = UINT64_MAX; /* ∞ */
enum { LOWEST = 0 };                     /* lower than any: clocks begin at 1 */

struct lamport {
    struct node *node;
    uint64_t *c;       /* v[self] in Garg's text */
    struct per_node q; /* number << MODE_BITS | mode, or NONE */
    struct per_node v;
};

static size_t lamport_words(uint32_t nodes)
{
    return node_words(nodes) + 2 * (size_t)nodes;
}

static size_t lamport_room(uint32_t nodes)
{
    (void)nodes;
    return 1;
}

static struct lamport lamport_of(uint64_t *state, const struct keeper *keeper)
{
    struct node *node = (struct node *)state;
    return (struct lamport){node, node->own, node_row(node, keeper, 0, NONE),
                            node_row(node, keeper, 1, 0)};
}

static void lamport_begin(uint64_t *state, const struct beginning *how)
{
    node_begin(state, how);
    row_begin(lamport_of(state, how->keeper).q); /* "s.q[1..n]: integer initially ∞" */
}

/* Garg's DDClock ticks at every event. Ours does at a request and at an acknowledgement: no other
 * event's clock is ever compared with a request's as if it came later, and fewer ticks leave fewer
 * states to search. Both hold (`afteryou check lamport-ddclock`). */
static void lamport_tick(struct lamport my)
{
    if (my.node->without & WITHOUT_THRIFT)
        *my.c += 1;
}

/* "State s has permission to access the critical section when there is a request from P with
 * timestamp less than all other requests, and P has received a message from every other process
 * with a timestamp greater than its own request." */
static bool lamport_may_enter(struct lamport my)
{
    const uint64_t i = my.node->self, mine = row_get(my.q, i) >> MODE_BITS;
    for (uint64_t j = 0; j < my.node->nodes; j++) {
        if (!node_is_other_member(my.node, j))
            continue;
        if (!before(mine, i, row_get(my.v, j), j) && !(my.node->without & WITHOUT_ACKNOWLEDGEMENT))
            return false;
        const uint64_t theirs = row_get(my.q, j);
        const bool waits_for =
            theirs != NONE && modes_conflict(my.node->mode, theirs & ((1 << MODE_BITS) - 1));
        if (waits_for && !(my.node->without & WITHOUT_TURN) &&
            !before(mine, i, theirs >> MODE_BITS, j))
            return false;
    }
    return true;
}

static void lamport_try(struct lamport my, struct effects *out)
{
    if (my.node->status == NODE_WAITING && my.node->asked && lamport_may_enter(my))
        node_enter(my.node, out);
}

/* Every message carries the clock; a REQUEST also which number to put into the queue. */
static struct message lamport_request(struct lamport my, uint64_t queued)
{
    return (struct message){
        .kind = MESSAGE_REQUEST, .mode = (uint8_t)my.node->mode, .number = *my.c, .about = queued};
}

/* "To request the critical section: q[p] := v[p]; for all j ≠ p: send request to P_j." */
static void lamport_ask(struct lamport my, struct effects *out)
{
    if (my.node->status != NODE_WAITING || my.node->asked || !my.node->welcome)
        return;
    *my.c += 1;
    row_put(my.q, my.node->self, *my.c << MODE_BITS | my.node->mode);
    my.node->asked = 1;
    node_send(my.node, out, TO_ALL, lamport_request(my, *my.c));
    lamport_try(my, out);
}

static void lamport_message(struct lamport my, const struct message *message, struct effects *out)
{
    const uint32_t j = message->from;
    /* whomever it was meant for: what I ask from now on comes after it */
    *my.c = larger(*my.c, message->number);
    if (message->kind != MESSAGE_REQUEST)
        lamport_tick(my);
    if (!node_hears(my.node, message))
        return;
    row_put(my.v, j, larger(row_get(my.v, j), message->number));
    switch (message->kind) {
    case MESSAGE_REQUEST: /* "q[u.p] := u.q[u.p]; send ack to u.p" */
        *my.c += 1;
        row_put(my.q, j, message->about << MODE_BITS | message->mode);
        node_send(my.node, out, j,
                  (struct message){.kind = MESSAGE_ACK, .number = *my.c, .about = message->about});
        break;
    case MESSAGE_RELEASE: /* "q[u.p] := ∞" */
        row_put(my.q, j, NONE);
        break;
    case MESSAGE_WELCOME:
        node_is_welcomed(my.node, j);
        break;
    }
    lamport_try(my, out);
    lamport_ask(my, out);
}

/* "To release the critical section: q[p] := ∞; for all j ≠ p, send release to P_j." */
static void lamport_release(struct lamport my, struct effects *out)
{
    const uint64_t about = row_get(my.q, my.node->self) >> MODE_BITS;
    lamport_tick(my);
    row_put(my.q, my.node->self, NONE);
    node_leave(my.node);
    node_send(my.node, out, TO_ALL,
              (struct message){.kind = MESSAGE_RELEASE, .number = *my.c, .about = about});
}

/* The request goes before the WELCOME: the latter's clock counts as an answer, and must not come
 * before what it answers for. */
static void lamport_joined(struct lamport my, const struct event *event, struct effects *out)
{
    node_sees_joining(my.node, event);
    row_put(my.q, event->node, NONE);
    row_put(my.v, event->node, 0);
    const uint64_t mine = row_get(my.q, my.node->self);
    if (mine != NONE && !(my.node->without & WITHOUT_TELLING)) {
        const bool inside = my.node->status == NODE_INSIDE && !(my.node->without & WITHOUT_LOWEST);
        const uint64_t number = inside ? (uint64_t)LOWEST : mine >> MODE_BITS;
        node_send(my.node, out, event->node, lamport_request(my, number));
    }
    node_welcomes(my.node, out, event->node, *my.c);
}

static void lamport_step(uint64_t *state, const struct event *event, struct effects *out)
{
    struct lamport my = lamport_of(state, out->keeper);
    switch (event->kind) {
    case EVENT_REQUEST:
        my.node->status = NODE_WAITING;
        my.node->mode = event->mode;
        lamport_ask(my, out);
        break;
    case EVENT_RELEASE:
        lamport_release(my, out);
        break;
    case EVENT_MESSAGE:
        lamport_message(my, event->message, out);
        break;
    case EVENT_DIED:
        node_sees_death(my.node, event);
        if (my.node->without & WITHOUT_IMPLIED_REPLY)
            set_add(node_members(my.node), event->node);
        row_put(my.q, event->node, NONE);
        row_put(my.v, event->node, 0);
        lamport_try(my, out);
        lamport_ask(my, out);
        break;
    case EVENT_JOINED:
        lamport_joined(my, event, out);
        break;
    case EVENT_CUT:
        node_cut(my.node, out);
        break;
    }
}

const struct message_protocol lamport_protocol = {
    .name = "lamport",
    .fifo = true,
    .fair = true,
    .rows = 2,
    .words = lamport_words,
    .room = lamport_room,
    .begin = lamport_begin,
    .step = lamport_step,
};
