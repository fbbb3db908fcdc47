/* SPDX-License-Identifier: MIT */
/* What can happen in a state of the search over a small cluster, and does: see search.c. */
#include <stdlib.h>

#include "agent/core/parts.h"
#include "search.h"

enum kind {
    /* by itself, and at once */
    DELIVER,
    READ,
    ACCEPT,
    DIAL,
    TICK,
    TRY,
    ASK,
    TAKE_BACK,
    HEAR,
    DO_OTHER_HALF,
    /* if it pleases */
    LEAVE,
    LEAVE_TOO,
    START,
    WANT,
    WANT_SHARED,
    DIE,
    CLOSE,
    KILL,
    BREAK,
    TIME,
    PAUSE_LEASE,
    PAUSE_GRACE,
};

static const char *const kinds[] = {"takes the next of the ledger",
                                    "reads from connection",
                                    "accepts connection",
                                    "dials slot",
                                    "ticks",
                                    "tries to enter",
                                    "asks whether others have passed",
                                    "takes back",
                                    "hears that one was told",
                                    "says in what is granted who watches",
                                    "leaves",
                                    "leaves, that waited for others",
                                    "starts an agent",
                                    "wants in",
                                    "wants in, shared",
                                    "dies inside",
                                    "has the name open no more",
                                    "loses its agent",
                                    "loses connection",
                                    "time goes on",
                                    "nothing for a lease",
                                    "nothing for a grace"};

static struct searched *now; /* the state that is looked at */
static struct moves *listed; /* those that are possible in it */

static void may(bool possible, enum kind kind, unsigned machine, unsigned at)
{
    if (possible && listed->count == MOVES_MOST)
        abort();
    if (possible)
        listed->move[listed->count++] = (struct move){(uint8_t)kind, (uint8_t)machine, (uint8_t)at};
}

static int64_t due_of(const struct machine *machine)
{
    const int64_t due = machine->agent.due, peers = peers_due(&machine->agent);
    return due < peers ? due : peers;
}

static bool takes_back(const struct machine *machine)
{
    for (unsigned at = 0; at < machine->pages; at++)
        if (machine->taking_back[at] &&
            (!world_is_in_the_way(machine, NULL, machine->taking_back[at]) ||
             !machine->agent.resource[at].is_busy))
            return true;
    return false;
}

/* Nobody on the machine is inside or wants in, and its agent knows a name. */
static bool can_close(const struct machine *machine)
{
    for (unsigned at = 0; at < machine->agent.resources; at++)
        if (machine->agent.resource[at].length)
            return !machine->process[0].inside && !machine->process[0].wants &&
                   !machine->process[1].inside && !machine->process[1].wants;
    return false;
}

static void moves_of_links(const struct machine *machine)
{
    const unsigned number = machine->number;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        may(links_can_dial(machine, slot), DIAL, number, slot);
    for (unsigned at = 0; at < 2 * CONNECTIONS_MOST; at++) {
        const struct connection *connection = &now->world.connection[at / 2];
        const struct end *end = &connection->end[at % 2], *from = &connection->end[1 - at % 2];
        if (!connection->used || !end->open || end->machine != number)
            continue;
        may(!end->told, ACCEPT, number, at);
        may(end->told && (from->read < from->count || !from->open || end->forgotten), READ, number,
            at);
        may(end->told && now->left.breaks, BREAK, number, at);
    }
}

static void moves_of(const struct machine *machine)
{
    const unsigned number = machine->number;
    /* who waits inside the region of the space sleeps on what is granted */
    const bool marked = world_has_half(machine) && now->world.halves == HALF_MARKED;
    may(!marked && world_would_try(&now->world, number), TRY, number, 0);
    may(world_has_half(machine), DO_OTHER_HALF, number, 0);
    may((!marked || machine->process[1].passing) && world_would_ask(&now->world, number), ASK,
        number, 0);
    may(machine->process[0].inside, LEAVE, number, 0);
    may(machine->process[1].inside, LEAVE_TOO, number, 0);
    const bool may_want = !machine->process[0].inside && !machine->process[0].wants &&
                          now->wants_left[number] && !marked;
    may(may_want, WANT, number, 0);
    may(may_want && now->left.modes, WANT_SHARED, number, 0);
    may(machine->process[0].inside && now->left.deaths, DIE, number, 0);
    may(!machine->running, START, number, 0);
    if (!machine->running)
        return;
    may(machine->cursor < now->world.logged, DELIVER, number, 0);
    may(due_of(machine) <= now->world.now, TICK, number, 0);
    may(takes_back(machine), TAKE_BACK, number, 0);
    may(machine->told_unheard, HEAR, number, 0);
    may(now->left.closes && can_close(machine), CLOSE, number, 0);
    may(now->left.kills, KILL, number, 0);
    moves_of_links(machine);
}

bool is_settled(const struct moves *moves)
{
    for (size_t at = 0; at < moves->count; at++)
        if (moves->move[at].kind < LEAVE)
            return false;
    return true;
}

void list_moves(struct searched *state, struct moves *moves)
{
    now = state;
    listed = moves;
    listed->count = 0;
    for (unsigned number = 0; number < MACHINES_HERE; number++)
        moves_of(&now->world.machine[number]);
    may(now->left.times, TIME, 0, 0);
    may(now->left.pauses, PAUSE_LEASE, 0, 0);
    may(now->left.pauses, PAUSE_GRACE, 0, 0);
}

const char *move_words(struct move move)
{
    return kinds[move.kind];
}

static int64_t next_due(void)
{
    int64_t next = INT64_MAX;
    for (unsigned number = 0; number < MACHINES_HERE; number++) {
        const struct machine *machine = &now->world.machine[number];
        const int64_t due = machine->running ? due_of(machine) : INT64_MAX;
        if (due > now->world.now && due < next)
            next = due;
        for (unsigned at = 0; at < PROCESSES; at++)
            if (machine->process[at].wants && machine->process[at].next_demand > now->world.now &&
                machine->process[at].next_demand < next)
                next = machine->process[at].next_demand;
    }
    return next == INT64_MAX ? now->world.now : next;
}

static void want(unsigned number, unsigned mode)
{
    now->wants_left[number]--;
    world_want(&now->world, number, mode);
    world_try_to_enter(&now->world, number);
}

void make_move(struct searched *state, struct move move)
{
    now = state;
    struct machine *machine = &now->world.machine[move.machine];
    struct connection *connection = &now->world.connection[move.at / 2 % CONNECTIONS_MOST];
    now->steps++;
    clear_gaps(now);
    switch ((enum kind)move.kind) {
    case DELIVER:
        world_deliver_next(&now->world, machine);
        break;
    case READ:
        links_read(machine, connection, move.at % 2);
        break;
    case ACCEPT:
        links_accept(machine, connection, &connection->end[move.at % 2]);
        break;
    case DIAL:
        links_dial(machine, move.at);
        break;
    case TICK:
        world_feed(machine, (struct agent_event){.kind = ON_TICK});
        break;
    case TRY:
        world_try_to_enter(&now->world, move.machine);
        break;
    case ASK:
        world_ask(&now->world, move.machine);
        break;
    case TAKE_BACK:
        world_take_back(machine);
        break;
    case HEAR:
        world_hear_told(machine);
        break;
    case DO_OTHER_HALF:
        world_do_other_half(machine);
        break;
    case LEAVE:
        world_leave(&now->world, move.machine);
        break;
    case LEAVE_TOO:
        world_leave_too(&now->world, move.machine);
        break;
    case START:
        world_start(&now->world, move.machine);
        break;
    case WANT:
        want(move.machine, PERMISSION_EXCLUSIVE);
        break;
    case WANT_SHARED:
        want(move.machine, PERMISSION_SHARED);
        break;
    case DIE:
        now->left.deaths--;
        world_die(&now->world, move.machine);
        break;
    case CLOSE:
        now->left.closes--;
        world_close_all(&now->world, move.machine);
        break;
    case KILL:
        now->left.kills--;
        world_kill(&now->world, move.machine);
        break;
    case BREAK:
        now->left.breaks--;
        links_close(machine, &connection->end[move.at % 2]);
        break;
    case TIME:
        now->left.times--;
        now->world.now = next_due();
        break;
    case PAUSE_LEASE:
        now->left.pauses--;
        now->world.now += now->world.lease;
        break;
    case PAUSE_GRACE:
        now->left.pauses--;
        now->world.now += now->world.grace;
        break;
    }
}
