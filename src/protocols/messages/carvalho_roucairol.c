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
 * Crash: only members' permissions count. Join: the members take A[j] := true, the newcomer starts
 * with all A false, so that a pair's permission is always somewhere, and never twice.
 *
 * State: one bit per mode and other node, nothing else per pair: 10^4 nodes keep 10,200 bytes each.
 * For conversions four more, and so only among CONVERTING_MOST.
 */
#include "protocols/messages/node.h"

enum {
    PLANES = MODE_NULL, /* the null mode asks nobody */
    MODE_BITS = 3,
    CONVERTING_MOST = 256
};

struct carvalho_roucairol {
    struct node *node;
    uint64_t *our, *highest, *missing; /* missing: how many permissions the waiter lacks */
    uint64_t *deferred;                /* a set */
    uint64_t *A;                       /* PLANES sets */
    size_t width;
    /* for conversions; NULL among more than CONVERTING_MOST */
    uint64_t *asked_for; /* MODE_BITS sets: in which mode those deferred have asked, bit by bit */
    uint64_t *earlier;   /* a set: of those deferred for what is kept, who are before me */
};

static size_t carvalho_roucairol_words(uint32_t nodes)
{
    const unsigned sets = 1 + PLANES + (nodes <= CONVERTING_MOST ? MODE_BITS + 1 : 0);
    return node_words(nodes) + sets * set_words(nodes);
}

static size_t carvalho_roucairol_room(uint32_t nodes)
{
    return 2 * set_words(nodes);
}

static struct carvalho_roucairol carvalho_roucairol_of(uint64_t *state)
{
    struct node *node = (struct node *)state;
    const size_t width = set_words(node->nodes);
    uint64_t *own = state + node_words(node->nodes);
    const bool converts = node->nodes <= CONVERTING_MOST;
    return (struct carvalho_roucairol){
        .node = node,
        .our = node->own,
        .highest = node->own + 1,
        .missing = node->own + 2,
        .deferred = own,
        .A = own + width,
        .width = width,
        .asked_for = converts ? own + (1 + PLANES) * width : NULL,
        .earlier = converts ? own + (1 + PLANES + MODE_BITS) * width : NULL,
    };
}

static uint64_t *permissions(struct carvalho_roucairol my, uint64_t mode)
{
    return my.A + mode * my.width;
}

static bool permitted(struct carvalho_roucairol my, uint64_t j)
{
    return my.node->mode == MODE_NULL || set_has(permissions(my, my.node->mode), j);
}

static void defer(struct carvalho_roucairol my, uint64_t j, unsigned mode, bool earlier)
{
    set_add(my.deferred, j);
    if (earlier)
        set_add(my.earlier, j);
    for (unsigned bit = 0; my.asked_for && bit < MODE_BITS; bit++)
        if (mode >> bit & 1)
            set_add(my.asked_for + bit * my.width, j);
}

static void defer_no_longer(struct carvalho_roucairol my, uint64_t j)
{
    set_remove(my.deferred, j);
    if (my.earlier)
        set_remove(my.earlier, j);
    for (unsigned bit = 0; my.asked_for && bit < MODE_BITS; bit++)
        set_remove(my.asked_for + bit * my.width, j);
}

static unsigned deferred_mode(struct carvalho_roucairol my, uint64_t j)
{
    unsigned mode = MODE_EXCLUSIVE;
    for (unsigned bit = 0; my.asked_for && bit < MODE_BITS; bit++)
        mode |= (unsigned)set_has(my.asked_for + bit * my.width, j) << bit;
    return mode;
}

static void take_all(struct carvalho_roucairol my, uint64_t j)
{
    for (unsigned mode = 0; mode < PLANES; mode++)
        set_add(permissions(my, mode), j);
}

/* A[j] := false, for the modes that conflict with what j is given. */
static void give_up(struct carvalho_roucairol my, uint64_t j, unsigned given)
{
    for (unsigned mode = 0; mode < PLANES; mode++)
        if (modes_conflict(mode, given))
            set_remove(permissions(my, mode), j);
}

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
    return (struct message){
        .kind = MESSAGE_REQUEST, .mode = (uint8_t)my.node->mode, .number = *my.our};
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
    node_send(my.node, out, j, (struct message){.kind = MESSAGE_REPLY});
    if (!had)
        return;
    *my.missing += 1;
    if (!(my.node->without & WITHOUT_ASKING_AGAIN))
        node_send(my.node, out, j, carvalho_roucairol_request(my));
}

/* TREAT-REQUEST-MESSAGE */
static void carvalho_roucairol_asked(struct carvalho_roucairol my, const struct message *request,
                                     struct effects *out)
{
    const uint32_t j = request->from;
    *my.highest = larger(*my.highest, request->number);
    const bool our_priority = before(*my.our, my.node->self, request->number, j);
    const bool using = modes_conflict(node_inside(my.node), request->mode);
    const bool lax = my.node->without & WITHOUT_INSIDE_TEST ||
                     (my.node->kept && my.node->without & WITHOUT_KEEPING);
    const bool waiting = waits(my) && modes_conflict(my.node->mode, request->mode);
    if ((using && !lax) || (waiting && our_priority && !(my.node->without & WITHOUT_DEFERRING)))
        defer(my, j, request->mode, my.node->kept && !our_priority);
    else
        reply(my, j, request->mode, out);
}

/* TREAT-REPLY-MESSAGE: "A[j] := true" */
static void carvalho_roucairol_replied(struct carvalho_roucairol my, uint64_t j,
                                       struct effects *out)
{
    if (waits(my) && j == my.node->self)
        node_enter(my.node, out); /* WITHOUT_INDIVISIBILITY: "Waiting := false; Using := true" */
    if (!waits(my) || permitted(my, j))
        return;
    for (unsigned mode = 0; mode < PLANES; mode++)
        if (modes_include(my.node->mode, mode))
            set_add(permissions(my, mode), j);
    *my.missing -= 1;
    carvalho_roucairol_try(my, out);
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
        carvalho_roucairol_replied(my, message->from, out);
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
    uint64_t *again = effects_keep(out, those, my.width);
    for (uint32_t j = 0; j < my.node->nodes; j++) {
        if (!set_has(those, j))
            continue;
        const unsigned its = deferred_mode(my, j);
        if (!waits(my) || !modes_conflict(my.node->mode, its) || !permitted(my, j))
            set_remove(again, j);
        give_up(my, j, its);
        defer_no_longer(my, j);
    }
    node_send(my.node, out, TO_SET, (struct message){.kind = MESSAGE_REPLY})->set = those;
    const uint64_t asked = set_size(again, my.node->nodes);
    *my.missing += asked;
    if (asked && !(my.node->without & WITHOUT_ASKING_AGAIN))
        node_send(my.node, out, TO_SET, carvalho_roucairol_request(my))->set = again;
}

/* Inside in a mode that does not conflict with the stronger one: it is kept meanwhile. Who is
 * deferred has asked before. */
static void carvalho_roucairol_raise(struct carvalho_roucairol my, unsigned mode,
                                     struct effects *out)
{
    my.node->kept = 1 + my.node->mode;
    memcpy(my.earlier, my.deferred, my.width * sizeof *my.earlier);
    my.node->status = NODE_WAITING;
    my.node->mode = mode;
    carvalho_roucairol_ask(my, out);
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
        carvalho_roucairol_ask(my, out);
        break;
    case EVENT_RELEASE:
        if (event->number)
            node_dies_inside(my.node);
        carvalho_roucairol_release(my, out);
        break;
    case EVENT_RAISE:
        carvalho_roucairol_raise(my, event->mode, out);
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
