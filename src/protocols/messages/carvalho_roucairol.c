/* SPDX-License-Identifier: MIT */
/* `carvalho-roucairol`: a permission, once given, stays until it is asked back. 0 to 2(N-1)
 * messages, an even number.
 *
 * Carvalho and Roucairol, "On mutual exclusion in computer networks", CACM 26(2), 1983. FIFO is not
 * needed. Names as theirs: A, Using, Waiting, Our_Sequence_Number, Hgst_Sequence_Number,
 * Reply_Deferred, Our_Priority.
 *
 * Invariant: never A_i[j] and A_j[i] together. The test "all A" and entering are one step (split,
 * exclusion fails: `carvalho-roucairol-divisible`). Never first come, first served; its sequence
 * numbers are no fence, and can fall behind without bound, hence 64 bits.
 *
 * Modes (ours): a permission is for a mode. A[m][j] says that j lets me in in mode m. A REPLY gives
 * the mode asked for, and every weaker one; who gives it gives up those of its own that conflict
 * with it. The invariant becomes: modes m in A_i[j] and m' in A_j[i] never conflict, so readers
 * keep their permissions side by side. In exclusive mode it is the paper's.
 *
 * Conversions (ours). Who is inside may go on in a weaker mode: whoever it no longer keeps out is
 * answered. And it may ask for a stronger one that its own does not conflict with, while it stays
 * inside (`kept`): it defers whatever conflicts with that, and by priority what conflicts with what
 * it asks for. So what is kept is concurrent-read, which is not in the way of any other that asks
 * so: no two wait for each other.
 *
 * Ranks (ours), for precedence: requests are ordered by rank first, then by number and node. It is
 * one order for all, so nobody deadlocks; of exclusion it decides nothing. Who waits may be urged:
 * it goes on with a greater rank, and perhaps in another mode. To each pair there is one REQUEST
 * without its REPLY, at most; URGE amends it where it is deferred, and is passed over where the
 * REPLY is on its way. So a REPLY says for which mode it is given, and who gets one for less than
 * it wants by then asks anew. Needs FIFO: a REQUEST of greater rank must not overtake the REPLY
 * that its sender gave before.
 *
 * Crash: only members' permissions count. Join: the members take A[j] := true, the newcomer starts
 * with all A false, so that a pair's permission is always somewhere, and never twice.
 *
 * State: one bit per mode and other node, nothing else per pair: 10^4 nodes keep 10,200 bytes each.
 * For conversions four more, and so only among CONVERTING_MOST; for ranks a word.
 */
#include "protocols/messages/carvalho_roucairol.h"

static void carvalho_roucairol_begin(uint64_t *state, const struct beginning *how)
{
    struct node *node = node_begin(state, how);
    if (how->apart)
        node->welcome = 1; /* it promises no order that a newcomer could upset */
    if (how->view && how->without & WITHOUT_EMPTY_HANDS)
        for (uint32_t j = 0; j < how->nodes; j++)
            if (node_is_other_member(node, j))
                take_all(carvalho_roucairol_of(state), j);
}

static bool waits(struct carvalho_roucairol my)
{
    return my.node->status == NODE_WAITING && my.node->asked;
}

static void keep_nothing(struct carvalho_roucairol my)
{
    my.node->kept = 0;
    if (my.earlier)
        memset(my.earlier, 0, my.width * sizeof *my.earlier);
}

/* "waitfor (A[j] = true for all j ≠ ME); Waiting := false; Using := true" */
static void carvalho_roucairol_try(struct carvalho_roucairol my, struct effects *out)
{
    if (!waits(my) || *my.missing)
        return;
    keep_nothing(my);
    if (my.node->without & WITHOUT_INDIVISIBILITY)
        /* the one process has seen all A true; what it does next, it does after a message to
         * itself */
        node_send(my.node, out, (uint32_t)my.node->self, (struct message){.kind = MESSAGE_REPLY});
    else
        node_enter(my.node, out);
}

static struct message carvalho_roucairol_request(struct carvalho_roucairol my)
{
    return (struct message){.kind = MESSAGE_REQUEST,
                            .mode = (uint8_t)my.node->mode,
                            .rank = rank_of(*my.rank),
                            .number = *my.our};
}

/* REQUEST-RESOURCE: "for j := 1 step 1 until N do if j ≠ ME and (not A[j]) then send (REQUEST (…),
 * j)" */
static void carvalho_roucairol_ask(struct carvalho_roucairol my, struct effects *out)
{
    if (my.node->status != NODE_WAITING || my.node->asked || !my.node->welcome)
        return;
    *my.our = *my.highest + 1;
    my.node->asked = 1;
    uint64_t *lacking = effects_keep(out, node_members(my.node), my.width);
    set_remove(lacking, my.node->self);
    for (size_t w = 0; w < my.width; w++)
        lacking[w] &= my.node->mode == MODE_NULL ? 0 : ~permissions(my, my.node->mode)[w];
    *my.missing = set_size(lacking, my.node->nodes);
    if (*my.missing)
        node_send(my.node, out, TO_SET, carvalho_roucairol_request(my))->set = lacking;
    carvalho_roucairol_try(my, out);
}

/* "if Waiting and A[j] and (not Our_Priority) then …; send (REQUEST (Our_Sequence_Number, ME),
 * j)" */
static void reply(struct carvalho_roucairol my, uint32_t j, unsigned mode, struct effects *out)
{
    const bool had = waits(my) && modes_conflict(my.node->mode, mode) && permitted(my, j);
    give_up(my, j, mode);
    node_send(my.node, out, j,
              (struct message){.kind = MESSAGE_REPLY, .mode = (uint8_t)(my.ranks ? mode : 0)});
    if (!had)
        return;
    *my.missing += 1;
    if (!(my.node->without & WITHOUT_ASKING_AGAIN))
        node_send(my.node, out, j, carvalho_roucairol_request(my));
}

static bool comes_before(struct carvalho_roucairol my, const struct message *request)
{
    const int rank = rank_of(*my.rank);
    if (rank != request->rank && !(my.node->without & WITHOUT_RANK_FIRST))
        return rank > request->rank;
    return before(*my.our, my.node->self, request->number, request->from);
}

/* TREAT-REQUEST-MESSAGE */
static void carvalho_roucairol_asked(struct carvalho_roucairol my, const struct message *request,
                                     struct effects *out)
{
    const uint32_t j = request->from;
    *my.highest = larger(*my.highest, request->number);
    const bool our_priority = comes_before(my, request);
    const bool using = modes_conflict(node_inside(my.node), request->mode);
    const bool lax = my.node->without & WITHOUT_INSIDE_TEST ||
                     (my.node->kept && my.node->without & WITHOUT_KEEPING);
    const bool waiting = waits(my) && modes_conflict(my.node->mode, request->mode);
    if ((using && !lax) || (waiting && our_priority && !(my.node->without & WITHOUT_DEFERRING)))
        defer(my, request, my.node->kept && !our_priority);
    else
        reply(my, j, request->mode, out);
}

/* TREAT-REPLY-MESSAGE: "A[j] := true" */
static void carvalho_roucairol_replied(struct carvalho_roucairol my, uint32_t j, unsigned given,
                                       struct effects *out)
{
    if (waits(my) && j == my.node->self)
        node_enter(my.node, out); /* WITHOUT_INDIVISIBILITY: "Waiting := false; Using := true" */
    if (!waits(my) || permitted(my, j))
        return;
    for (unsigned mode = 0; mode < PLANES; mode++)
        if (modes_include(my.node->mode, mode) && modes_include(given, mode))
            set_add(permissions(my, mode), j);
    if (!permitted(my, j)) { /* it was given before the URGE came */
        node_send(my.node, out, j, carvalho_roucairol_request(my));
        return;
    }
    *my.missing -= 1;
    carvalho_roucairol_try(my, out);
}

/* It amends the REQUEST, if that is deferred. Else the REPLY is on its way. */
static void carvalho_roucairol_urged(struct carvalho_roucairol my, const struct message *urge,
                                     struct effects *out)
{
    *my.highest = larger(*my.highest, urge->number);
    if (!set_has(my.deferred, urge->from) && !(my.node->without & WITHOUT_ONE_REPLY))
        return;
    defer_no_longer(my, urge->from);
    carvalho_roucairol_asked(my, urge, out);
}

static void carvalho_roucairol_message(struct carvalho_roucairol my, const struct message *message,
                                       struct effects *out)
{
    if (!node_hears(my.node, message))
        return;
    switch (message->kind) {
    case MESSAGE_REQUEST:
        carvalho_roucairol_asked(my, message, out);
        break;
    case MESSAGE_REPLY:
        carvalho_roucairol_replied(
            my, message->from,
            my.node->without & WITHOUT_REPLY_MODE ? MODE_EXCLUSIVE : message->mode, out);
        break;
    case MESSAGE_URGE:
        carvalho_roucairol_urged(my, message, out);
        break;
    case MESSAGE_WELCOME:
        *my.highest = larger(*my.highest, message->number);
        my.node->welcome = 1;
        carvalho_roucairol_ask(my, out);
        break;
    }
}

/* RELEASE-RESOURCE: "if Reply_Deferred[j] then A[j] := Reply_Deferred[j] := false; send (REPLY
 * (ME), j)". It is given up for all modes, since I am outside. */
static void carvalho_roucairol_release(struct carvalho_roucairol my, struct effects *out)
{
    node_leave(my.node);
    *my.our = 0;
    if (set_size(my.deferred, my.node->nodes) == 0)
        return;
    for (unsigned mode = 0; mode < PLANES; mode++)
        for (size_t w = 0; w < my.width; w++)
            permissions(my, mode)[w] &= ~my.deferred[w];
    node_send(my.node, out, TO_SET, (struct message){.kind = MESSAGE_REPLY})->set =
        effects_keep(out, my.deferred, my.width);
    memset(my.deferred, 0, my.width * sizeof *my.deferred);
    if (my.asked_for)
        memset(my.asked_for, 0, (MODE_BITS + 1) * my.width * sizeof *my.asked_for);
    if (my.ranks)
        memset(my.ranks, 0, my.node->nodes * sizeof *my.ranks);
}

/* Those deferred that are answered when it is inside in `mode` from now on. Who waits, and keeps
 * nothing any more, still defers those who come after it. */
static uint64_t *let_in(struct carvalho_roucairol my, unsigned mode, struct effects *out)
{
    const bool waiting = my.node->status == NODE_WAITING && !(my.node->without & WITHOUT_EARLIER);
    uint64_t *those = effects_keep(out, waiting ? my.earlier : my.deferred, my.width);
    for (uint32_t j = 0; j < my.node->nodes; j++)
        if (set_has(those, j) && modes_conflict(mode, deferred_mode(my, j)))
            set_remove(those, j);
    return those;
}

/* A set is given permission. Ranked, it is told for which mode: the strongest that leaves me the
 * one in which I am inside or wait. */
static void let_all_in(struct carvalho_roucairol my, unsigned mode, uint64_t *those,
                       struct effects *out)
{
    const unsigned given = modes_beside(mode);
    uint64_t *again = effects_keep(out, those, my.width);
    for (uint32_t j = 0; j < my.node->nodes; j++) {
        if (!set_has(those, j))
            continue;
        const unsigned its = my.ranks ? given : deferred_mode(my, j);
        if (!waits(my) || !modes_conflict(my.node->mode, its) || !permitted(my, j))
            set_remove(again, j);
        give_up(my, j, its);
        defer_no_longer(my, j);
    }
    node_send(my.node, out, TO_SET,
              (struct message){.kind = MESSAGE_REPLY, .mode = (uint8_t)(my.ranks ? given : 0)})
        ->set = those;
    const uint64_t asked = set_size(again, my.node->nodes);
    *my.missing += asked;
    if (asked && !(my.node->without & WITHOUT_ASKING_AGAIN))
        node_send(my.node, out, TO_SET, carvalho_roucairol_request(my))->set = again;
}

/* Inside, or kept: from now on in a weaker mode. */
static void carvalho_roucairol_lower(struct carvalho_roucairol my, unsigned mode,
                                     struct effects *out)
{
    uint64_t *those = let_in(my, mode, out);
    if (my.node->status == NODE_INSIDE)
        my.node->mode = mode;
    else
        keep_nothing(my);
    if (set_size(those, my.node->nodes) == 0 || my.node->without & WITHOUT_LETTING_IN)
        return;
    let_all_in(my, mode, those, out);
}

/* Inside in a mode that does not conflict with the stronger one: it is kept meanwhile. Who is
 * deferred has asked before. */
static void carvalho_roucairol_raise(struct carvalho_roucairol my, const struct event *event,
                                     struct effects *out)
{
    my.node->kept = 1 + my.node->mode;
    *my.rank = (uint32_t)event->rank;
    memcpy(my.earlier, my.deferred, my.width * sizeof *my.earlier);
    keep_before_me(my);
    my.node->status = NODE_WAITING;
    my.node->mode = event->mode;
    carvalho_roucairol_ask(my, out);
}

/* Those deferred that are in the way of the mode that is waited for no longer. */
static void let_in_beside(struct carvalho_roucairol my, struct effects *out)
{
    uint64_t *those = effects_keep(out, my.deferred, my.width);
    for (uint32_t j = 0; j < my.node->nodes; j++)
        if (set_has(those, j) && modes_conflict(my.node->mode, deferred_mode(my, j)))
            set_remove(those, j);
    if (set_size(those, my.node->nodes))
        let_all_in(my, (unsigned)my.node->mode, those, out);
}

/* Who waits goes on with a greater rank. Those whose permission it lacks have its REQUEST; whatever
 * it has of theirs for weaker modes is nobody's until they have answered. */
static void carvalho_roucairol_urge(struct carvalho_roucairol my, const struct event *event,
                                    struct effects *out)
{
    struct node *node = my.node;
    if (node->status != NODE_WAITING || event->rank <= rank_of(*my.rank))
        return;
    *my.rank = (uint32_t)event->rank;
    if (!node->asked) {
        node->mode = node->kept ? node->mode : event->mode;
        return;
    }
    *my.highest = larger(*my.highest, *my.our);
    *my.our = *my.highest + 1;
    uint64_t *asked = effects_keep(out, node_members(node), my.width);
    uint64_t *lacking = effects_keep(out, node_members(node), my.width);
    const unsigned before = (unsigned)node->mode;
    node->mode = node->kept ? node->mode : event->mode;
    for (uint32_t j = 0; j < node->nodes; j++) {
        const bool has = !node_is_other_member(node, j) || before == MODE_NULL ||
                         set_has(permissions(my, before), j);
        if (has)
            set_remove(asked, j);
        else if (!(node->without & WITHOUT_AWAITING))
            give_up(my, j, MODE_EXCLUSIVE);
        if (!has || !node_is_other_member(node, j) || permitted(my, j))
            set_remove(lacking, j);
    }
    *my.missing = set_size(asked, node->nodes) + set_size(lacking, node->nodes);
    struct message urge = carvalho_roucairol_request(my);
    if (set_size(lacking, node->nodes))
        node_send(node, out, TO_SET, urge)->set = lacking;
    urge.kind = MESSAGE_URGE;
    if (set_size(asked, node->nodes) && !(node->without & WITHOUT_URGING))
        node_send(node, out, TO_SET, urge)->set = asked;
    if (node->kept)
        keep_before_me(my);
    else
        let_in_beside(my, out);
    carvalho_roucairol_try(my, out);
}

static void carvalho_roucairol_died(struct carvalho_roucairol my, const struct event *event,
                                    struct effects *out)
{
    const uint32_t j = event->node;
    const bool lacked = waits(my) && !permitted(my, j);
    /* it may have been inside: whoever is has everybody's permission */
    if (my.node->apart && !node_trusts_farewell(my.node, event) &&
        !set_has(permissions(my, MODE_EXCLUSIVE), j) &&
        !(my.node->without & WITHOUT_DEATH_AT_BURIAL))
        my.node->died = larger(my.node->died, event->view << FENCE_VIEW_SHIFT);
    node_sees_death(my.node, event);
    defer_no_longer(my, j);
    give_up(my, j, MODE_EXCLUSIVE);
    if (lacked && !(my.node->without & WITHOUT_IMPLIED_REPLY))
        *my.missing -= 1;
    carvalho_roucairol_try(my, out);
    carvalho_roucairol_ask(my, out);
}

static void carvalho_roucairol_joined(struct carvalho_roucairol my, const struct event *event,
                                      struct effects *out)
{
    node_sees_joining(my.node, event);
    if (!my.node->apart)
        node_welcomes(my.node, out, event->node, *my.highest);
    if (!(my.node->without & WITHOUT_GIFT))
        take_all(my, event->node);
    else if (waits(my) && my.node->mode != MODE_NULL)
        *my.missing += 1;
}

static void carvalho_roucairol_step(uint64_t *state, const struct event *event, struct effects *out)
{
    struct carvalho_roucairol my = carvalho_roucairol_of(state);
    switch (event->kind) {
    case EVENT_REQUEST:
        my.node->status = NODE_WAITING;
        my.node->mode = event->mode;
        *my.rank = (uint32_t)event->rank;
        carvalho_roucairol_ask(my, out);
        break;
    case EVENT_RELEASE:
        if (event->number)
            node_dies_inside(my.node);
        *my.rank = 0;
        carvalho_roucairol_release(my, out);
        break;
    case EVENT_RAISE:
        carvalho_roucairol_raise(my, event, out);
        break;
    case EVENT_URGE:
        carvalho_roucairol_urge(my, event, out);
        break;
    case EVENT_LOWER:
        if (event->number)
            node_dies_inside(my.node);
        carvalho_roucairol_lower(my, event->mode, out);
        break;
    case EVENT_TOLD:
        node_told(my.node, event->number);
        break;
    case EVENT_MESSAGE:
        carvalho_roucairol_message(my, event->message, out);
        break;
    case EVENT_DIED:
        carvalho_roucairol_died(my, event, out);
        break;
    case EVENT_JOINED:
        carvalho_roucairol_joined(my, event, out);
        break;
    case EVENT_CUT:
        node_cut(my.node, out);
        break;
    }
}

static const uint64_t *carvalho_roucairol_deferred(uint64_t *state)
{
    return carvalho_roucairol_of(state).deferred;
}

static bool carvalho_roucairol_lacks(uint64_t *state, uint32_t node, unsigned mode)
{
    return mode != MODE_NULL && !set_has(permissions(carvalho_roucairol_of(state), mode), node);
}

static void carvalho_roucairol_shed(uint64_t *state)
{
    struct carvalho_roucairol my = carvalho_roucairol_of(state);
    memset(my.A, 0, PLANES * my.width * sizeof *my.A);
}

static unsigned carvalho_roucairol_deferred_mode(uint64_t *state, uint32_t node)
{
    return deferred_mode(carvalho_roucairol_of(state), node);
}

static int carvalho_roucairol_deferred_rank(uint64_t *state, uint32_t node)
{
    return rank_of(carvalho_roucairol_of(state).ranks[node]);
}

static void ranked_begin(uint64_t *state, const struct beginning *how)
{
    ((struct node *)state)->ranked = true;
    carvalho_roucairol_begin(state, how);
}

const struct message_protocol carvalho_roucairol_ranked_protocol = {
    .name = "carvalho-roucairol",
    .fifo = true,
    .tells = true,
    .converts = true,
    .ranked = true,
    .words = ranked_words,
    .room = ranked_room,
    .begin = ranked_begin,
    .step = carvalho_roucairol_step,
    .deferred = carvalho_roucairol_deferred,
    .deferred_mode = carvalho_roucairol_deferred_mode,
    .deferred_rank = carvalho_roucairol_deferred_rank,
    .lacks = carvalho_roucairol_lacks,
    .shed = carvalho_roucairol_shed,
};

const struct message_protocol carvalho_roucairol_protocol = {
    .name = "carvalho-roucairol",
    .tells = true,
    .converts = true,
    .words = carvalho_roucairol_words,
    .room = carvalho_roucairol_room,
    .begin = carvalho_roucairol_begin,
    .step = carvalho_roucairol_step,
    .deferred = carvalho_roucairol_deferred,
    .deferred_mode = carvalho_roucairol_deferred_mode,
    .lacks = carvalho_roucairol_lacks,
    .shed = carvalho_roucairol_shed,
};
