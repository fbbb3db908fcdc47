/* SPDX-License-Identifier: MIT */
/* Peers: afteryou's own, by its public header: every register protocol, and bounds on overtaking.
 */
#include <string.h>
#include <unistd.h>

#include "doorway.h"
#include "loops.h"

static ay_space *space; /* one for a process, however many regions it opens */

static int make(const struct peer *peer, struct meeting *meeting)
{
    (void)peer;
    (void)meeting; /* who joins first creates the space */
    return 0;
}

static void unmake(struct meeting *meeting)
{
    unlink(meeting->file);
}

/* A protocol whose cost grows with the places there are gets as many as will be open. */
static ay_options options_of(const struct peer *peer, const struct meeting *meeting)
{
    ay_options options = *peer->options;
    if (options.places != 0)
        options.places = meeting->members < 2 ? 2 : meeting->members;
    return options;
}

static int join(const struct peer *peer, struct member *member)
{
    struct meeting *meeting = member->meeting;
    const ay_options options = options_of(peer, meeting);
    const ay_spec spec = {.name = "x",
                          .mode = member->reads ? AY_SHARED : AY_EXCLUSIVE,
                          .slots = meeting->slots > 1 ? meeting->slots : 0};
    ay_region *region;
    int result = space ? 0 : ay_open(meeting->file, &options, &space);
    if (result == 0)
        result = ay_region_open(space, &spec, &region);
    if (result != 0)
        return peer_fail(meeting, result, "%s", ay_message());
    member->lock = region;
    return 0;
}

static int join_seen(const struct peer *peer, struct member *member)
{
    const int result = join(peer, member);
    return result ? result : doorway_show(member);
}

static inline void enter(struct member *member)
{
    ay_enter(member->lock);
}

static inline void leave(struct member *member)
{
    ay_leave(member->lock);
}

LOOPS(loops, enter, leave)

enum {
    COURTESY_CAN = PEER_PLACES | PEER_READERS | PEER_SLOTS | PEER_RECOVERS,
    AS_MANY_AS_OPEN = 1 /* ay_options.places: see options_of */
};

#define OURS .loops = &loops, .shared_loops = &loops, .make = make, .join = join, .unmake = unmake

#define COURTESY                                                                                   \
    .loops = &loops, .shared_loops = &loops, .make = make, .join = join_seen, .unmake = unmake,    \
    .queued = doorway_passed

const struct peer peers_ours[] = {
    {.name = "courtesy",
     .what = "ours, the default: strict order",
     .can = COURTESY_CAN,
     .options = &(const ay_options){.overtake = 0},
     COURTESY},
    {.name = "courtesy-1",
     .what = "ours: one that sleeps is overtaken once at most",
     .can = COURTESY_CAN | PEER_SWEEP,
     .options = &(const ay_options){.overtake = 1},
     COURTESY},
    {.name = "courtesy-4",
     .what = "ours: 4 times at most",
     .can = COURTESY_CAN | PEER_SWEEP,
     .options = &(const ay_options){.overtake = 4},
     COURTESY},
    {.name = "courtesy-16",
     .what = "ours: 16 times at most",
     .can = COURTESY_CAN | PEER_SWEEP,
     .options = &(const ay_options){.overtake = 16},
     COURTESY},
    {.name = "courtesy-64",
     .what = "ours: 64 times at most",
     .can = COURTESY_CAN,
     .options = &(const ay_options){.overtake = 64},
     COURTESY},
    {.name = "courtesy-256",
     .what = "ours: 256 times at most",
     .can = COURTESY_CAN | PEER_SWEEP,
     .options = &(const ay_options){.overtake = 256},
     COURTESY},
    {.name = "courtesy-retain",
     .what = "ours: with retained permission",
     .can = COURTESY_CAN,
     .options = &(const ay_options){.retain = 1},
     COURTESY},
    {.name = "bakery",
     .what = "ours: Lamport's",
     .can = PEER_PLACES | PEER_READERS | PEER_RECOVERS,
     .options = &(const ay_options){.protocol = "bakery"},
     OURS},
    {.name = "region",
     .what = "ours: Lamport's general algorithm",
     .can = PEER_PLACES | PEER_READERS | PEER_RECOVERS,
     .members_most = 64,
     .options = &(const ay_options){.protocol = "region", .places = AS_MANY_AS_OPEN},
     OURS},
    {.name = "forks",
     .what = "ours: slots, in order of arrival",
     .can = PEER_PLACES | PEER_SLOTS | PEER_RECOVERS,
     .members_most = 16,
     .options = &(const ay_options){.protocol = "forks", .places = AS_MANY_AS_OPEN},
     OURS},
    {.name = "clock",
     .what = "ours: Rivest and Pratt's, with linear waiting",
     .can = PEER_PLACES | PEER_RECOVERS,
     .members_most = 64,
     .options = &(const ay_options){.protocol = "clock", .places = AS_MANY_AS_OPEN},
     OURS},
    {.name = "races",
     .what = "ours: Rivest and Pratt's, of races",
     .can = PEER_PLACES | PEER_RECOVERS,
     .options = &(const ay_options){.protocol = "races", .places = AS_MANY_AS_OPEN},
     OURS},
    {.name = "pair",
     .what = "ours: Rivest and Pratt's, for two",
     .can = PEER_PLACES | PEER_RECOVERS,
     .members_most = 2,
     .options = &(const ay_options){.protocol = "pair", .places = AS_MANY_AS_OPEN},
     OURS},
};

const size_t peers_ours_count = sizeof peers_ours / sizeof *peers_ours;
