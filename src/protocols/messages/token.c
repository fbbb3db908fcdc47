/* SPDX-License-Identifier: MIT */
/* `token`: who has the token may enter; it goes to the next who asked. 0 or N messages. Exclusive
 * mode only.
 *
 * Ricart and Agrawala's own answer to Carvalho and Roucairol, CACM 26(2), 1983, appendix. FIFO is
 * not needed. Names as theirs: token_data (t: the request of each node that the token served last),
 * request_data (r: the latest request heard), our_sequence_number (our), have_token. The TOKEN
 * begins at the first node.
 *
 * t[] travels with the token: outside a group that changes, only the holder has it. r[] is a word
 * per other node at every node, N² in all, by the algorithm: any node may be handed the token next,
 * and must then know who asked. Words of nodes that never asked are never written, so an engine
 * that keeps rows itself pays for askers only.
 *
 * In a group of agreed order a TOKEN is multicast, so that all know the holder and its t (one
 * message still, as a multicast is counted; Corosync multicasts everything anyway):
 * - the holder left: the most senior established member makes a new token from its own t, and all
 *   know that;
 * - a TOKEN to somebody who is no longer a member: at its place in the order, the sender takes it
 *   back;
 * - j joined: the most senior established member sends STATE; j is established for everyone, itself
 *   included,
 * from STATE's place in the order, and asks no earlier. A newcomer whose elders are all gone begins
 * anew. Senior: joined earlier, then the lower number. Nobody established later is more senior, so
 * a newcomer that was not told of a regeneration finds the same maker as those who saw it.
 * (Newcomers are established in order of seniority.)
 */
#include "protocols/messages/node.h"

static const uint64_t NOBODY = UINT64_MAX;
enum { ROWS = 3 };

struct token {
    struct node *node;
    uint64_t *our, *have;
    uint64_t *holder; /* who has the token at this place in the order (agreed order only, else 0) */
    /* newcomer, not yet established: a TOKEN passed since I joined, so t and holder are known */
    uint64_t *passed;
    struct per_node t, r, joined;
    uint64_t *established;
};

/* The body of STATE: t, r, joined and established. */
static size_t token_body(uint64_t nodes)
{
    return ROWS * (size_t)nodes + set_words(nodes);
}

static size_t token_words(uint32_t nodes)
{
    return node_words(nodes) + token_body(nodes);
}

static size_t token_carries(uint32_t nodes, unsigned kind)
{
    return kind == MESSAGE_TOKEN ? nodes : kind == MESSAGE_STATE ? token_body(nodes) : 0;
}

static size_t token_room(uint32_t nodes)
{
    return 2 * token_body(nodes);
}

static struct token token_of(uint64_t *state, const struct keeper *keeper)
{
    struct node *node = (struct node *)state;
    uint64_t *own = node->own;
    return (struct token){.node = node,
                          .our = own,
                          .have = own + 1,
                          .holder = own + 2,
                          .passed = own + 3,
                          .t = node_row(node, keeper, 0, 0),
                          .r = node_row(node, keeper, 1, 0),
                          .joined = node_row(node, keeper, 2, 0),
                          .established = node_behind_rows(node, keeper, ROWS)};
}

static void token_begin(uint64_t *state, const struct beginning *how)
{
    struct node *node = node_begin(state, how);
    struct token my = token_of(state, how->keeper);
    /* `welcome` means established here; a newcomer without elders is so at once, and begins anew
     * with a token. */
    *my.have = how->view ? node->welcome : how->self == 0; /* "have_token INITIAL (ME = 1)" */
    row_put(my.joined, how->self, how->view);
    if (how->view == 0 && how->agreed)
        set_fill(my.established, how->nodes);
    if (how->view)
        *my.holder = node->welcome ? how->self : NOBODY;
    if (how->view && node->welcome)
        set_add(my.established, how->self);
}

static bool senior(struct token my, uint64_t a, uint64_t b)
{
    return before(row_get(my.joined, a), a, row_get(my.joined, b), b);
}

static uint64_t most_senior(struct token my)
{
    uint64_t first = NOBODY;
    for (uint64_t j = 0; j < my.node->nodes; j++)
        if (set_has(my.established, j) && (first == NOBODY || senior(my, j, first)))
            first = j;
    return first;
}

/* release_resource, its second half: "FOR j := ME + 1 … N, 1 … ME - 1 DO IF request_data[j] >
 * token_data[j] AND have_token THEN BEGIN SEND (TOKEN (token_data), j); have_token := FALSE END".
 */
static void token_pass(struct token my, struct effects *out)
{
    const uint64_t n = my.node->nodes;
    for (uint64_t step = 1; step < n; step++) {
        const uint64_t j =
            my.node->self + step < n ? my.node->self + step : my.node->self + step - n;
        if (row_get(my.r, j) <= row_get(my.t, j) || !set_has(node_members(my.node), j))
            continue;
        *my.have = 0;
        struct effect *send =
            node_send(my.node, out, my.node->agreed ? (uint32_t)TO_GROUP : (uint32_t)j,
                      (struct message){.kind = MESSAGE_TOKEN, .whom = (uint32_t)j});
        send->body = effects_keep_row(out, my.t);
        send->body_words = (size_t)n;
        if (!my.node->agreed)
            for (uint64_t i = 0; i < n; i++)
                row_put(my.t, i, 0);
        return;
    }
}

/* The token is here. */
static void token_arrives(struct token my, struct effects *out)
{
    *my.have = 1;
    if (my.node->status == NODE_WAITING)
        node_enter(my.node, out);
    else if (my.node->status == NODE_OUTSIDE)
        token_pass(my, out);
}

/* request_resource: "our_sequence_number := our_sequence_number + 1; BROADCAST (REQUEST
 * (our_sequence_number, ME))" */
static void token_ask(struct token my, struct effects *out)
{
    if (my.node->status != NODE_WAITING || my.node->asked || !my.node->welcome)
        return;
    *my.our += 1;
    row_put(my.r, my.node->self, *my.our); /* for STATE: a newcomer may not get this REQUEST */
    my.node->asked = 1;
    node_send(my.node, out, TO_ALL, (struct message){.kind = MESSAGE_REQUEST, .number = *my.our});
}

static void token_request(struct token my, struct effects *out)
{
    my.node->status = NODE_WAITING;
    if (*my.have)
        node_enter(my.node, out);
    else
        token_ask(my, out);
}

static void token_release(struct token my, struct effects *out)
{
    row_put(my.t, my.node->self, *my.our);
    node_leave(my.node);
    token_pass(my, out);
}

/* STATE as I see it now establishes j. */
static void token_tell(struct token my, uint64_t j, struct effects *out)
{
    struct effect *send = node_send(
        my.node, out, TO_GROUP,
        (struct message){.kind = MESSAGE_STATE, .whom = (uint32_t)j, .number = *my.holder});
    send->body = effects_keep_row(out, my.t);
    effects_keep_row(out, my.r);
    effects_keep_row(out, my.joined);
    effects_keep(out, my.established, set_words(my.node->nodes));
    send->body_words = token_body(my.node->nodes);
}

/* The next newcomer in order of seniority, if it is for me to tell it. One at a time: my own STATE,
 * when it comes to its place, calls for the next. */
static void token_tell_next(struct token my, struct effects *out)
{
    if (!my.node->welcome || most_senior(my) != my.node->self)
        return;
    uint64_t next = NOBODY;
    for (uint64_t j = 0; j < my.node->nodes; j++)
        if (set_has(node_members(my.node), j) && !set_has(my.established, j) &&
            (next == NOBODY || senior(my, j, next)))
            next = j;
    if (next != NOBODY)
        token_tell(my, next, out);
}

/* I am established: by STATE, or as the eldest left. */
static void token_settle(struct token my)
{
    my.node->welcome = 1;
    *my.passed = 0;
    set_add(my.established, my.node->self);
    memset(node_elders(my.node), 0, set_words(my.node->nodes) * sizeof(uint64_t));
}

/* STATE came for me. What I saw since I joined is newer than what it says; of the others it speaks
 * for my elders. */
static void token_merge(struct token my, const struct event *event)
{
    const uint64_t n = my.node->nodes, *t = event->body, *r = t + n, *joined = r + n,
                   *established = joined + n;
    const uint64_t *elders = node_elders(my.node);
    if (!*my.passed) {
        row_replace(my.t, t);
        const uint64_t holder = event->message->number;
        *my.holder = holder < n && set_has(elders, holder) ? holder : NOBODY;
    }
    for (uint64_t j = 0; j < n; j++) {
        if (!set_has(elders, j))
            continue;
        row_put(my.r, j, larger(row_get(my.r, j), r[j]));
        row_put(my.joined, j, joined[j]);
        if (set_has(established, j))
            set_add(my.established, j);
    }
    *my.our = row_get(my.t, my.node->self);
    if (*my.holder == NOBODY)
        *my.holder = most_senior(my);
    token_settle(my);
}

static bool token_still_here(struct token my, const struct message *message)
{
    return set_has(node_members(my.node), message->whom) &&
           (row_get(my.joined, message->whom) <= message->view ||
            my.node->without & WITHOUT_INCARNATIONS);
}

static void token_state(struct token my, const struct event *event, struct effects *out)
{
    const struct message *message = event->message;
    if (!token_still_here(my, message)) {
        if (message->from == my.node->self)
            /* it was for one who has gone, or for its earlier incarnation */
            token_tell_next(my, out);
        return;
    }
    if (message->whom == my.node->self) {
        if (!my.node->welcome)
            token_merge(my, event);
        token_ask(my, out);
        return;
    }
    set_add(my.established, message->whom);
    if (message->from == my.node->self)
        token_tell_next(my, out);
}

static void token_token(struct token my, const struct event *event, struct effects *out)
{
    row_replace(my.t, event->body);
    if (!my.node->agreed) {
        token_arrives(my, out);
        return;
    }
    const bool kept =
        token_still_here(my, event->message) || my.node->without & WITHOUT_TAKING_BACK;
    *my.holder = kept ? event->message->whom : event->message->from;
    *my.passed = !my.node->welcome;
    if (*my.holder == my.node->self)
        token_arrives(my, out);
}

static void token_message(struct token my, const struct event *event, struct effects *out)
{
    const struct message *message = event->message;
    /* Not node_hears(): requests and tokens concern all, so a newcomer takes note of those sent
     * before its joining was seen; which incarnation a TOKEN or a STATE is for, token_still_here()
     * says. */
    my.node->fence = larger(my.node->fence, message->fence);
    switch (message->kind) {
    case MESSAGE_REQUEST: /* treat_request_message */
        row_put(my.r, message->from, larger(row_get(my.r, message->from), message->number));
        if (*my.have && my.node->status == NODE_OUTSIDE)
            token_pass(my, out);
        break;
    case MESSAGE_TOKEN:
        token_token(my, event, out);
        break;
    case MESSAGE_STATE:
        token_state(my, event, out);
        break;
    }
}

static void token_died(struct token my, const struct event *event, struct effects *out)
{
    const uint64_t j = event->node, was_senior = most_senior(my);
    node_sees_death(my.node, event);
    row_put(my.r, j, 0);
    row_put(my.joined, j, 0);
    set_remove(my.established, j);
    const bool held = *my.holder == j;
    if (!set_has(my.established, my.node->self)) {
        my.node->welcome = 0; /* not by the death of elders alone: */
        if (held)
            *my.holder = NOBODY;
        if (set_size(node_elders(my.node), my.node->nodes))
            return;
        token_settle(my); /* the eldest left begins anew */
        *my.holder = my.node->self;
        token_tell_next(my, out);
        token_arrives(my, out);
        return;
    }
    if (was_senior == j)
        token_tell_next(my, out);
    if (!held)
        return;
    *my.holder = most_senior(my);
    if (*my.holder == my.node->self || my.node->without & WITHOUT_SENIORITY)
        token_arrives(my, out);
}

static void token_joined(struct token my, const struct event *event, struct effects *out)
{
    node_sees_joining(my.node, event);
    row_put(my.joined, event->node, event->view);
    if (my.node->without & WITHOUT_ESTABLISHING)
        set_add(my.established, event->node);
    bool first = my.node->welcome && most_senior(my) == my.node->self;
    /* else an earlier STATE of mine is on its way */
    for (uint64_t j = 0; first && j < my.node->nodes; j++)
        first =
            j == event->node || !set_has(node_members(my.node), j) || set_has(my.established, j);
    if (first)
        token_tell(my, event->node, out);
}

static void token_step(uint64_t *state, const struct event *event, struct effects *out)
{
    struct token my = token_of(state, out->keeper);
    switch (event->kind) {
    case EVENT_REQUEST:
        token_request(my, out);
        break;
    case EVENT_RELEASE:
        token_release(my, out);
        break;
    case EVENT_MESSAGE:
        token_message(my, event, out);
        break;
    case EVENT_DIED:
        token_died(my, event, out);
        break;
    case EVENT_JOINED:
        token_joined(my, event, out);
        break;
    case EVENT_CUT:
        node_cut(my.node, out);
        break;
    }
}

const struct message_protocol token_protocol = {
    .name = "token",
    .exclusive_only = true,
    .rows = ROWS,
    .words = token_words,
    .room = token_room,
    .carries = token_carries,
    .begin = token_begin,
    .step = token_step,
};
