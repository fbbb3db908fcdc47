/* SPDX-License-Identifier: MIT */
/* Links beside the ledger: which message is taken when it comes, which is held, which is lost.
 *
 * The notices of changes reach each node in one order, at its own moment; messages are first in,
 * first out from one node to another, and have no order in common with the notices. A link belongs
 * to two incarnations, so three things can be wrong with a message that comes: it was meant for an
 * earlier incarnation of the receiver; its sender is buried, as the receiver knows; or the receiver
 * does not know its sender yet. Then it is held until all changes that are on their way to the
 * receiver have come, and all that comes meanwhile is held behind it.
 */
#include "common/grow.h"
#include "protocols/messages/messages.h"
#include "simulate/world.h"

static const struct node *head_of(struct world *world, uint32_t node)
{
    return (const struct node *)world_state(world, node);
}

uint64_t links_incarnation(struct world *world, uint32_t node)
{
    return head_of(world, node)->joined;
}

void links_bury(struct world *world, uint32_t node)
{
    if (!grow(&world->burials, world->burials_count, &world->burials_room, sizeof *world->burials,
              64)) {
        world->failed = true;
        return;
    }
    world->burials[world->burials_count++] = (struct burial){.node = node, .view = world->view};
}

/* The receiver has installed the burial of that incarnation. */
static bool is_buried(const struct world *world, const struct node *receiver, uint32_t from,
                      uint64_t incarnation)
{
    for (size_t at = world->burials_count; at-- > 0 && world->burials[at].view > incarnation;)
        if (world->burials[at].node == from && world->burials[at].view <= receiver->view)
            return true;
    return false;
}

static bool without(const struct world *world, uint64_t rule)
{
    return (world->how->variant->without & rule) != 0;
}

static void hold(struct world *world, const struct due *due)
{
    struct peer *peer = &world->peers[due->node];
    if (!peer->held)
        peer->held_until = peer->floor > world->now ? peer->floor : world->now + 1;
    if (peer->held_until < world->now)
        peer->held_until = world->now; /* those held were put off: it stood still */
    peer->held++;
    world_put(world, peer->held_until, DUE_HELD, due->node, due->what);
}

enum link_answer links_arrive(struct world *world, const struct due *due)
{
    struct peer *peer = &world->peers[due->node];
    const struct shipment *parcel = &world->parcels[due->what];
    const struct node *receiver = head_of(world, due->node);
    const bool held = (due->kind & ~(unsigned)DUE_DEFERRED) == DUE_HELD;
    const bool early = parcel->view > receiver->view;
    if (held)
        peer->held--;
    if (parcel->message.view < receiver->joined && !without(world, WITHOUT_INCARNATIONS))
        return LINK_LOSES;
    if (early && without(world, WITHOUT_HOLDING))
        return LINK_LOSES;
    if (early || (peer->held && !held)) {
        hold(world, due);
        return LINK_HOLDS;
    }
    return is_buried(world, receiver, parcel->message.from, parcel->view) &&
                   !without(world, WITHOUT_CLOSING)
               ? LINK_LOSES
               : LINK_TAKES;
}
